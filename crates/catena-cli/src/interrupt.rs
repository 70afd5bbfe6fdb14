//! Ctrl-C: during learning the first one stops with the best model so far; any other ends the program and removes
//! unfinished files.
//!
//! `ctrlc` calls the handler on its own thread, where files may be removed, and works on every system.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Number of models being learned.
static LEARNING: AtomicUsize = AtomicUsize::new(0);
static IS_ASKED_TO_STOP: AtomicBool = AtomicBool::new(false);

/// Exit code of an interrupted program, by convention of shells.
const EXIT_CODE: i32 = 130;

/// Handles Ctrl-C from now on.
pub(crate) fn install() {
    let handler = || {
        if LEARNING.load(Ordering::SeqCst) > 0 && !IS_ASKED_TO_STOP.swap(true, Ordering::SeqCst) {
            crate::console::complain(&"stopping with the best model so far; press Ctrl-C again to abort");
            return;
        }
        catena_io::write::remove_unfinished_files();
        std::process::exit(EXIT_CODE);
    };
    // Without a handler, Ctrl-C ends the program.
    let _ = ctrlc::set_handler(handler);
}

/// Guard: while it lives, the first Ctrl-C stops learning.
pub(crate) struct Learning;

impl Learning {
    /// Starts the guard.
    pub(crate) fn begin() -> Self {
        LEARNING.fetch_add(1, Ordering::SeqCst);
        Self
    }

    /// Whether Ctrl-C was pressed.
    pub(crate) fn is_asked_to_stop(&self) -> bool {
        IS_ASKED_TO_STOP.load(Ordering::Relaxed)
    }
}

impl Drop for Learning {
    fn drop(&mut self) {
        LEARNING.fetch_sub(1, Ordering::SeqCst);
    }
}
