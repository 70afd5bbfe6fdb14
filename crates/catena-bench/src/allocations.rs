//! Counts what a piece of work asks of the allocator, in tests: exactly, and without any tool.

#![allow(unsafe_code, reason = "an allocator is unsafe by its nature; this one only counts and hands on")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator with a count for each thread.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count_one() {
    // While a thread ends its count may be gone already.
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every call is handed to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_one();
        // SAFETY: the caller's promise is handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is handed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count_one();
        // SAFETY: the caller's promise is handed on.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

/// How often this thread asks for memory while it works.
pub(crate) fn allocations_in<T>(work: impl FnOnce() -> T) -> u64 {
    let before = COUNT.with(Cell::get);
    std::hint::black_box(work());
    COUNT.with(Cell::get) - before
}

#[test]
fn allocations_are_counted() {
    assert_eq!(allocations_in(|| 1 + 1), 0);
    assert_eq!(allocations_in(|| vec![1_u8; 10]), 1);
}
