//! Errors of saving, loading and reporting a fit.

use catena_fit::FitError;
use catena_io::FileName;
use catena_io::journal::JournalError;
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
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("{file}: {cause}")]
    Fit { file: FileName, cause: Box<FitError> },
    #[error(
        "{file}: {field} is {value}, but must be {expected}; the file was changed after it was written: copy it again, or fit the \
         model again"
    )]
    Number { file: FileName, field: String, value: String, expected: String },
    #[error("the model has non-finite numbers and cannot be saved; check the table for extreme values")]
    NotFinite,
    #[error("{file}: cannot make the page ({cause})")]
    Page { file: FileName, cause: ReportError },
}
