//! The only place where a run-time size picks compiled code, and a machine its instruction set.

use super::arithmetic::Arithmetic;
use super::shape::{Fixed, FourSlots, Layout};
use super::state_algebra::StateAlgebra;

/// Work that can be compiled for any shape and arithmetic. `run` must be inlined always, down to its innermost loop:
/// code that is not inlined would be compiled for the lowest instruction set.
pub(crate) trait Job {
    /// What comes out.
    type Output;
    /// Does the work.
    fn run<A: Arithmetic, S: StateAlgebra>(self, shape: S) -> Self::Output;
}

/// Runs the job in the version compiled for this layout, if there is one, and for this machine.
pub(crate) fn dispatch<J: Job>(layout: &Layout, job: J) -> J::Output {
    let dynamic = layout.dynamic();
    macro_rules! try_shapes {
        ($(($width:literal, $parts:literal)),*) => {
            $(if dynamic.is_uniform($width, $parts) {
                return with_instruction_set(Fixed::<$width, $parts, { $width * $parts }>, job);
            })*
        };
    }
    try_shapes!((1, 1), (1, 2), (2, 1), (2, 2));
    if dynamic.is_uniform(4, 1) {
        return with_instruction_set(FourSlots::<1>, job);
    }
    if dynamic.is_uniform(4, 2) {
        return with_instruction_set(FourSlots::<2>, job);
    }
    with_instruction_set(dynamic, job)
}

#[cfg(target_arch = "x86_64")]
use super::arithmetic::{Avx2, Separate};

#[cfg(target_arch = "x86_64")]
fn with_instruction_set<J: Job, S: StateAlgebra>(shape: S, job: J) -> J::Output {
    #[target_feature(enable = "avx2,fma")]
    fn with_avx2<J: Job, S: StateAlgebra>(shape: S, job: J) -> J::Output {
        job.run::<Avx2, S>(shape)
    }
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        #[expect(unsafe_code, reason = "twice as fast; the other branch is its safe twin")]
        // SAFETY: the function needs AVX2 and FMA, and both were just found on this machine.
        return unsafe { with_avx2(shape, job) };
    }
    job.run::<Separate, S>(shape)
}

#[cfg(target_arch = "aarch64")]
fn with_instruction_set<J: Job, S: StateAlgebra>(shape: S, job: J) -> J::Output {
    job.run::<super::arithmetic::Fused, S>(shape)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn with_instruction_set<J: Job, S: StateAlgebra>(shape: S, job: J) -> J::Output {
    job.run::<super::arithmetic::Separate, S>(shape)
}
