//! The only place where the size of a state selects compiled code, and the machine its instruction set.

use super::arithmetic::Arithmetic;
use super::instruction_sets::Separate;
use super::packed::Packed;
use super::registers::{Four, One, Two};
use super::shape::{Fixed, InLanes, Layout};
use super::state_algebra::StateAlgebra;

/// Work that is compiled for several shapes and arithmetics. `run` must be inlined down to its innermost loop:
/// other code would be compiled for the base instruction set.
pub(crate) trait Job {
    type Output;
    fn run<A: Arithmetic, S: StateAlgebra>(self, shape: S) -> Self::Output;
}

/// Returns the job's result if the layout is one of these.
macro_rules! try_shapes {
    ($layout:expr, $job:expr, $wrap:expr => $(($width:literal, $parts:literal)),*) => {
        $(if $layout.dynamic().is_uniform($width, $parts) {
            return compiled_for($wrap(Fixed::<$width, $parts, { $width * $parts }>), $layout, $job);
        })*
    };
}

/// Runs the job compiled for this layout, if there is such a version, and for this machine.
pub(crate) fn dispatch<J: Job>(layout: &Layout, job: J) -> J::Output {
    match (layout.n_slots(), layout.dynamic().uniform_parts()) {
        (1, Some(1)) => return compiled_for(Packed::<One, 1, 1>::SHAPE, layout, job),
        (1, Some(2)) => return compiled_for(Packed::<One, 1, 2>::SHAPE, layout, job),
        (2, Some(1)) => return compiled_for(Packed::<Two, 2, 1>::SHAPE, layout, job),
        (2, Some(2)) => return compiled_for(Packed::<Two, 2, 2>::SHAPE, layout, job),
        (3, Some(1)) => return compiled_for(Packed::<Four, 3, 1>::SHAPE, layout, job),
        (3, Some(2)) => return compiled_for(Packed::<Four, 3, 2>::SHAPE, layout, job),
        (4, Some(1)) => return compiled_for(Packed::<Four, 4, 1>::SHAPE, layout, job),
        (4, Some(2)) => return compiled_for(Packed::<Four, 4, 2>::SHAPE, layout, job),
        _ => {}
    }
    try_shapes!(layout, job, InLanes => (8, 1), (16, 1), (16, 2));
    dispatch_once(layout, job)
}

/// The same for jobs that gain less: versions for small states only.
pub(crate) fn dispatch_small<J: Job>(layout: &Layout, job: J) -> J::Output {
    try_shapes!(layout, job, std::convert::identity => (1, 1), (1, 2), (2, 1), (2, 2));
    try_shapes!(layout, job, InLanes => (4, 1), (4, 2));
    dispatch_machine(layout, job)
}

/// Runs the job in one of four versions: four latents (padded) with one or two components, whole lanes, and everything else.
pub(crate) fn dispatch_lanes<J: Job>(layout: &Layout, job: J) -> J::Output {
    try_shapes!(layout, job, InLanes => (4, 1), (4, 2));
    dispatch_once(layout, job)
}

/// Runs the job in one of two versions, for whole lanes and everything else: for work that is done once.
pub(crate) fn dispatch_once<J: Job>(layout: &Layout, job: J) -> J::Output {
    let dynamic = layout.dynamic();
    match dynamic.is_in_lanes() {
        true => compiled_for(InLanes(dynamic), layout, job),
        false => compiled_for(dynamic, layout, job),
    }
}

/// Runs the job in one version for every layout.
pub(crate) fn dispatch_machine<J: Job>(layout: &Layout, job: J) -> J::Output {
    compiled_for(layout.dynamic(), layout, job)
}

/// Runs the version for this shape on machines with AVX2 or fused arithmetic, elsewhere one plain version
/// for all layouts: the shapes are not compiled a second time for rare machines.
fn compiled_for<J: Job, S: StateAlgebra>(shape: S, layout: &Layout, job: J) -> J::Output {
    match with_instruction_set(shape, job) {
        Ok(output) => output,
        Err(job) => without_instruction_set(layout, job),
    }
}

/// The plain version. Inlined, it would be compiled for every shape: half of the crate's code.
#[inline(never)]
fn without_instruction_set<J: Job>(layout: &Layout, job: J) -> J::Output {
    job.run::<Separate, _>(layout.dynamic())
}

/// The job's result, or the job if the machine lacks the instruction set.
#[cfg(target_arch = "x86_64")]
fn with_instruction_set<J: Job, S: StateAlgebra>(shape: S, job: J) -> Result<J::Output, J> {
    #[target_feature(enable = "avx2,fma")]
    fn with_avx2<J: Job, S: StateAlgebra>(shape: S, job: J) -> J::Output {
        job.run::<super::instruction_sets::Avx2, S>(shape)
    }
    #[cfg(test)]
    if tests::WITHOUT_VECTORS.get() {
        return Err(job);
    }
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        #[expect(unsafe_code, reason = "twice as fast; the plain version is its safe twin")]
        // SAFETY: the function needs AVX2 and FMA, and both were just detected.
        return Ok(unsafe { with_avx2(shape, job) });
    }
    Err(job)
}

#[cfg(target_arch = "aarch64")]
fn with_instruction_set<J: Job, S: StateAlgebra>(shape: S, job: J) -> Result<J::Output, J> {
    Ok(job.run::<super::instruction_sets::Fused, S>(shape))
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn with_instruction_set<J: Job, S: StateAlgebra>(_: S, job: J) -> Result<J::Output, J> {
    Err(job)
}

/// Runs work on this thread as on a machine without vector instructions.
#[cfg(test)]
pub(crate) fn without_vectors<T>(work: impl FnOnce() -> T) -> T {
    tests::WITHOUT_VECTORS.set(true);
    let found = work();
    tests::WITHOUT_VECTORS.set(false);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::state_algebra::{ReadoutRow, StepDerivatives};

    thread_local! {
        pub(super) static WITHOUT_VECTORS: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    }

    /// Runs every operation of the state algebra once and returns all results, matrices by their products with vectors.
    #[derive(Clone, Copy)]
    struct EveryOperation {
        n_latents: usize,
    }

    /// Numbers between −1 and 1; zero where a slot has no latent.
    fn numbers(count: usize, seed: usize, (width, n_latents): (usize, usize)) -> Vec<f64> {
        let number = |at: usize| ((at * 37 + seed * 101) as f64).sin();
        (0..count).map(|at| if at % width < n_latents { number(at) } else { 0.0 }).collect()
    }

    /// A positive definite matrix; zero where a slot has no latent.
    fn positive(size: usize, seed: usize, slots: (usize, usize)) -> Vec<f64> {
        let root: Vec<f64> = (0..size).flat_map(|i| numbers(size, seed * 50 + i, slots)).collect();
        let entry = |i: usize, j: usize| -> f64 {
            if i % slots.0 >= slots.1 || j % slots.0 >= slots.1 {
                return 0.0;
            }
            let product: f64 = (0..size).map(|k| root[i * size + k] * root[j * size + k]).sum();
            if i == j { product + 1.0 } else { product }
        };
        (0..size * size).map(|at| entry(at / size, at % size)).collect()
    }

    impl Job for EveryOperation {
        type Output = Vec<f64>;

        #[inline(always)]
        fn run<A: Arithmetic, S: StateAlgebra>(self, shape: S) -> Vec<f64> {
            let (size, width, parts) = (shape.size(), shape.width(), shape.n_parts());
            let slots = (width, self.n_latents);
            let numbers = |count: usize, seed: usize| numbers(count, seed, slots);
            let transition = numbers(parts * parts * width, 1);
            let noise = numbers(parts * (parts + 1) / 2 * width, 2);
            let mut mean = numbers(size, 3);
            let mut covariance = vec![0.0; shape.covariance_len()];
            shape.pack_covariance(&positive(size, 4, slots), &mut covariance);
            let mut predicted = vec![0.0; shape.covariance_len()];
            let mut scratch = vec![0.0; (parts + 2) * size];
            shape.predict::<A>((&transition, &noise), &covariance, &mut predicted, &mut scratch);
            let weights = numbers(width, 5);
            let touched: Vec<u32> = (0..width as u32).filter(|slot| slot % 3 != 1).collect();
            let mut sparse = vec![0.0; width];
            touched.iter().for_each(|&slot| sparse[slot as usize] = weights[slot as usize]);
            let dense = ReadoutRow { weights: &weights, touched: None };
            let sparse = ReadoutRow { weights: &sparse, touched: Some(&touched) };
            let (mut vector, mut matrix) = (numbers(size, 6), vec![0.0; size * size]);
            shape.pack_adjoint(&positive(size, 7, slots), &mut matrix);
            let (mut gain, mut projected) = (vec![0.0; size], vec![0.0; size]);
            let mut all = vec![];
            for row in [dense, sparse] {
                let update = shape.condition::<A>(row, 0.7, (&mut mean, &mut covariance), &mut gain);
                let adjoint = (&mut vector[..], &mut matrix[..]);
                let adjoint_update =
                    shape.update_adjoint::<A>(row, (&gain, update), adjoint, &mut projected, &mut scratch);
                all.extend([update.innovation, update.signal, update.inverse]);
                all.extend([adjoint_update.residual, adjoint_update.explained]);
                all.extend(gain.iter().chain(&projected));
            }
            let (mut value_mean, mut value_covariance) = (vec![0.0; width], vec![0.0; width * width]);
            let mut products = vec![0.0; 4 * size];
            shape.posterior_of_values::<A>(
                self.n_latents,
                (&mean, &covariance),
                (&vector, &matrix),
                &mut products,
                (&mut value_mean, &mut value_covariance),
            );
            all.extend(value_mean.into_iter().chain(value_covariance));
            let (transition_derivatives, noise_derivatives) =
                (numbers(2 * transition.len(), 9), numbers(2 * noise.len(), 10));
            let step = StepDerivatives {
                transition: &transition,
                transition_derivatives: &transition_derivatives,
                noise_derivatives: &noise_derivatives,
            };
            let (mut sums, mut smoothed) = (vec![0.0; 2 * width], vec![0.0; size]);
            for _ in 0..2 {
                shape.symmetrize_covariance(&mut covariance);
                shape.symmetrize_adjoint(&mut matrix);
                shape.retreat_with_gradient::<A>(
                    step,
                    (&mut vector, &mut matrix),
                    (&mean, &covariance),
                    (&mut smoothed, &mut sums),
                    &mut scratch,
                );
            }
            let x = numbers(size, 11);
            shape.product::<A>(&x, &matrix, &mut projected);
            all.extend(&projected);
            shape.retreat::<A>(&transition, (&mut vector, &mut matrix), &mut scratch);
            shape.product::<A>(&x, &matrix, &mut projected);
            all.extend(&projected);
            for covariance in [&predicted, &covariance] {
                shape.covariance_times::<A>(&x, covariance, &mut projected);
                all.extend(&projected);
                shape.product_with_values::<A>(&x, covariance, &mut projected);
                all.extend(&projected[..width]);
                shape.read::<A>(dense, covariance, &mut projected);
                all.extend(&projected);
            }
            let mut square = vec![0.0; size * size];
            shape.unpack_covariance(&covariance, &mut square);
            all.extend(&square);
            shape.unpack_adjoint(&matrix, &mut square);
            all.extend(&square);
            all.extend([shape.inner::<A>(&x, &vector), shape.read_vector::<A>(dense, &x)]);
            all.into_iter().chain([mean, vector, sums, smoothed].into_iter().flatten()).collect()
        }
    }

    /// The versions that `dispatch` selects agree with plain arithmetic.
    #[test]
    fn compiled_shapes_and_vector_lanes_agree_with_plain_loops() {
        for dims in [
            &[1][..],
            &[2],
            &[3],
            &[1; 2],
            &[2; 2],
            &[1; 3],
            &[2; 3],
            &[3; 3],
            &[1; 4],
            &[2; 4],
            &[3; 4],
            &[1; 8],
            &[2; 8],
            &[1; 16],
            &[2; 16],
            &[1; 12],
            &[2; 24],
            &[3; 20],
        ] {
            let layout = Layout::new(dims);
            let job = EveryOperation { n_latents: dims.len() };
            let expected = job.run::<Separate, _>(layout.dynamic());
            let actual = dispatch(&layout, job);
            assert_eq!(actual.len(), expected.len());
            let scale = expected.iter().fold(1.0_f64, |largest, number| largest.max(number.abs()));
            for (at, (a, b)) in actual.iter().zip(&expected).enumerate() {
                assert!((a - b).abs() <= 1e-13 * scale, "{dims:?}, number {at}: {a} instead of {b}");
            }
        }
    }
}
