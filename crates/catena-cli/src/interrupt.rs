//! Ctrl-C: while a model is learned, the first keeps the best so far; any other ends the program and leaves no unfinished file.
//!
//! `ctrlc` because it calls the handler on a thread of its own, where files may be removed, and works on every system.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Models that are being learned; there may be several at once.
static LEARNING: AtomicUsize = AtomicUsize::new(0);
static IS_ASKED_TO_STOP: AtomicBool = AtomicBool::new(false);

/// What shells expect of a program that was interrupted.
const EXIT_CODE: i32 = 130;

/// Handles Ctrl-C from now on.
pub(crate) fn install() {
    let handler = || {
        if LEARNING.load(Ordering::SeqCst) > 0 && !IS_ASKED_TO_STOP.swap(true, Ordering::SeqCst) {
            crate::console::complain(&"stopping with the best model so far; press Ctrl-C again to give up");
            return;
        }
        catena_io::write::remove_unfinished_files();
        std::process::exit(EXIT_CODE);
    };
    // Without a handler Ctrl-C ends the program as it always does.
    let _ = ctrlc::set_handler(handler);
}

/// While this is alive, the first Ctrl-C is a wish to stop learning.
pub(crate) struct Learning;

impl Learning {
    /// Learning begins.
    pub(crate) fn begin() -> Self {
        LEARNING.fetch_add(1, Ordering::SeqCst);
        Self
    }

    /// Whether the user wants it to stop.
    pub(crate) fn is_asked_to_stop(&self) -> bool {
        IS_ASKED_TO_STOP.load(Ordering::Relaxed)
    }
}

impl Drop for Learning {
    fn drop(&mut self) {
        LEARNING.fetch_sub(1, Ordering::SeqCst);
    }
}
