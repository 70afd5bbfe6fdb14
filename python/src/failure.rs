//! Converts errors to the exceptions of `catena.errors`.

use catena::data::DataError;
use catena::structure::StructureError;
use catena_fit::fit::FitError;
use catena_fit::method::MethodError;
use catena_store::StoreError;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// An error by kind of exception.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Invalid table or option.
    #[error("{0}")]
    Input(String),
    /// Numerical failure.
    #[error("{0}")]
    Numerical(String),
    /// Invalid model file.
    #[error("{0}")]
    File(String),
    /// A thread panicked.
    #[error("a worker thread failed; please report this as a bug")]
    Lost,
}

impl Failure {
    /// An invalid argument.
    pub(crate) fn input(error: impl std::fmt::Display) -> Self {
        Self::Input(error.to_string())
    }
}

impl From<FitError> for Failure {
    fn from(error: FitError) -> Self {
        if error.is_numerical() { Self::Numerical(error.to_string()) } else { Self::Input(error.to_string()) }
    }
}

impl From<MethodError> for Failure {
    fn from(error: MethodError) -> Self {
        FitError::from(error).into()
    }
}

impl From<StructureError> for Failure {
    fn from(error: StructureError) -> Self {
        FitError::from(error).into()
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        FitError::from(error).into()
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Fit { cause, .. } => (*cause).into(),
            StoreError::NotFinite => Self::Numerical(error.to_string()),
            other => Self::File(other.to_string()),
        }
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        let name = match failure {
            Failure::Input(_) => "InputError",
            Failure::Numerical(_) => "NumericalError",
            Failure::File(_) => "ModelFileError",
            Failure::Lost => return PyRuntimeError::new_err(failure.to_string()),
        };
        Python::attach(|py| {
            let class = py.import("catena.errors").and_then(|module| module.getattr(name));
            match class.and_then(|class| Ok(class.cast_into::<PyType>()?)) {
                Ok(class) => Self::from_type(class, failure.to_string()),
                Err(error) => error,
            }
        })
    }
}
