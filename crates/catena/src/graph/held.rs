//! A reference that is borrowed or shared.

use std::ops::Deref;
use std::sync::Arc;

/// Either `&T` or `Arc<T>`.
#[derive(Debug)]
pub enum Held<'a, T> {
    /// Borrowed from the caller.
    Borrowed(&'a T),
    /// Shared with the caller.
    Shared(Arc<T>),
}

impl<T> Clone for Held<'_, T> {
    fn clone(&self) -> Self {
        match self {
            Self::Borrowed(part) => Self::Borrowed(part),
            Self::Shared(part) => Self::Shared(Arc::clone(part)),
        }
    }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Borrowed(part) => part,
            Self::Shared(part) => part,
        }
    }
}

impl<'a, T> From<&'a T> for Held<'a, T> {
    fn from(part: &'a T) -> Self {
        Self::Borrowed(part)
    }
}

impl<T> From<Arc<T>> for Held<'_, T> {
    fn from(part: Arc<T>) -> Self {
        Self::Shared(part)
    }
}
