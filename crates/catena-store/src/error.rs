//! Errors of saving, loading and reporting a fit.

use catena_fit::fit::FitError;
use catena_io::FileName;
use catena_io::model_file::ModelFileError;
use thiserror::Error;

use crate::report::ReportError;

/// A fit that cannot be saved, loaded or reported.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name every field")]
pub enum StoreError {
    #[error(transparent)]
    File(#[from] ModelFileError),
    #[error("{file}: {cause}")]
    Fit { file: FileName, cause: Box<FitError> },
    #[error("the model has non-finite numbers and cannot be saved; check the table for extreme values")]
    NotFinite,
    #[error("{file}: cannot make the page ({cause})")]
    Page { file: FileName, cause: ReportError },
}
