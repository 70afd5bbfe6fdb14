//! A part that is borrowed for a while or shared for good.

use std::ops::Deref;
use std::sync::Arc;

/// A reference that is either borrowed or shared: `&T` and `Arc<T>` both become one.
#[derive(Debug)]
pub enum Held<'a, T> {
    /// Someone else keeps it alive.
    Borrowed(&'a T),
    /// Kept alive here.
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
