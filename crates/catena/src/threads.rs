//! Parallel iterators: those of `rayon` with the feature `threads`, sequential ones of the same names without it.

#[cfg(feature = "threads")]
pub(crate) use rayon::prelude::*;

#[cfg(not(feature = "threads"))]
pub(crate) use sequential::*;

#[cfg(not(feature = "threads"))]
mod sequential {
    use std::slice::{ChunksExactMut, Iter, IterMut};

    pub(crate) trait IntoParallelIterator: IntoIterator + Sized {
        fn into_par_iter(self) -> Self::IntoIter {
            self.into_iter()
        }
    }

    impl<I: IntoIterator> IntoParallelIterator for I {}

    pub(crate) trait ParallelSlice<T> {
        fn par_iter(&self) -> Iter<'_, T>;
        fn par_iter_mut(&mut self) -> IterMut<'_, T>;
        fn par_chunks_exact_mut(&mut self, size: usize) -> ChunksExactMut<'_, T>;
    }

    impl<T> ParallelSlice<T> for [T] {
        fn par_iter(&self) -> Iter<'_, T> {
            self.iter()
        }

        fn par_iter_mut(&mut self) -> IterMut<'_, T> {
            self.iter_mut()
        }

        fn par_chunks_exact_mut(&mut self, size: usize) -> ChunksExactMut<'_, T> {
            self.chunks_exact_mut(size)
        }
    }

    pub(crate) trait ParallelIterator: Iterator + Sized {
        fn with_min_len(self, _: usize) -> Self {
            self
        }

        fn map_init<S, R>(
            self,
            init: impl FnOnce() -> S,
            mut map: impl FnMut(&mut S, Self::Item) -> R,
        ) -> impl Iterator<Item = R> {
            let mut state = init();
            self.map(move |item| map(&mut state, item))
        }
    }

    impl<I: Iterator> ParallelIterator for I {}
}
