//! A scratch file per target, process and thread.

use std::path::PathBuf;

/// The path of the scratch file; names differ between targets.
pub(crate) fn scratch_path(name: &str) -> PathBuf {
    // In memory if possible: a target runs thousands of times a second.
    let memory = PathBuf::from("/dev/shm");
    let folder = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let thread = format!("{:?}", std::thread::current().id());
    let thread: String = thread.chars().filter(char::is_ascii_digit).collect();
    folder.join(format!("catena-fuzz-{}-{thread}-{name}", std::process::id()))
}
