//! Counts allocations in tests.

#![allow(unsafe_code, reason = "an allocator is unsafe; this one only counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator with a counter per thread.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count_one() {
    // The counter of an ending thread may be gone.
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every call is passed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_one();
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count_one();
        // SAFETY: as promised by the caller.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

/// The number of allocations of this thread during the work.
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
