//! Pins the process to one core, where the system allows it.

/// The core to which the process is pinned.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pinning {
    /// Pinned to this core.
    Core(usize),
    /// Not pinned.
    Unpinned,
}

impl Pinning {
    /// A description for the report.
    pub(crate) fn describe(self) -> String {
        match self {
            Self::Core(core) => format!("pinned to core {core}"),
            Self::Unpinned => "not pinned (try `taskset -c 1`)".into(),
        }
    }
}

/// Pins to the last core available to this process: the first one usually serves interrupts.
#[cfg(target_os = "linux")]
pub(crate) fn pin_to_one_core() -> Pinning {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let allowed = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    let Some(core) = (0..CpuSet::MAX_CPU).rev().find(|&core| allowed.is_set(core)) else {
        return Pinning::Unpinned;
    };
    let mut only = CpuSet::new();
    only.set(core);
    match sched_setaffinity(None, &only) {
        Ok(()) => Pinning::Core(core),
        Err(_) => Pinning::Unpinned,
    }
}

/// Other systems have no portable way to pin.
#[cfg(not(target_os = "linux"))]
pub(crate) fn pin_to_one_core() -> Pinning {
    Pinning::Unpinned
}
