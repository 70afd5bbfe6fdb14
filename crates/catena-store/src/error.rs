//! Why a fit cannot be kept, opened or shown.

use catena_fit::FitError;
use catena_io::FileName;
use catena_io::model_file::ModelFileError;
use catena_report::ReportError;
use thiserror::Error;

/// A fit that cannot be kept, opened or shown.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] ModelFileError),
    /// The model in the file cannot be conditioned on its table.
    #[error("{file}: {cause}")]
    Fit {
        /// The file.
        file: FileName,
        /// What went wrong.
        cause: Box<FitError>,
    },
    /// A header of JSON holds finite numbers only.
    #[error(
        "the model has numbers that are not finite and cannot be kept; check the table for extreme values"
    )]
    NotKept,
    /// The page cannot be drawn.
    #[error("{file}: the page cannot be made ({cause})")]
    Page {
        /// The data it is about.
        file: FileName,
        /// What went wrong.
        cause: ReportError,
    },
}
