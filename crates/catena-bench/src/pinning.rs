//! Pins the process to one core, where the system allows it.

/// Pins to the last core available to this process (the first one usually serves interrupts) and describes the result.
pub(crate) fn pin_to_one_core() -> String {
    match pinned_core() {
        Some(core) => format!("pinned to core {core}"),
        None => "not pinned (try `taskset -c 1`)".into(),
    }
}

#[cfg(target_os = "linux")]
fn pinned_core() -> Option<usize> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let allowed = sched_getaffinity(None).ok()?;
    let core = (0..CpuSet::MAX_CPU).rev().find(|&core| allowed.is_set(core))?;
    let mut only = CpuSet::new();
    only.set(core);
    sched_setaffinity(None, &only).ok().map(|()| core)
}

/// Other systems have no portable way to pin.
#[cfg(not(target_os = "linux"))]
fn pinned_core() -> Option<usize> {
    None
}
