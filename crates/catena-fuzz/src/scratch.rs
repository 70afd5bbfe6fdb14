//! A file for targets that need one, of this process and thread alone.

use std::path::PathBuf;

/// Where a file of this name may be written; a name is one target's.
pub(crate) fn scratch_path(name: &str) -> PathBuf {
    // In memory where there is such a place: a target runs thousands of times a second.
    let memory = PathBuf::from("/dev/shm");
    let folder = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let thread = format!("{:?}", std::thread::current().id());
    let thread: String = thread.chars().filter(char::is_ascii_digit).collect();
    folder.join(format!("catena-fuzz-{}-{thread}-{name}", std::process::id()))
}
