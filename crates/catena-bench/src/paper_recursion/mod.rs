//! The paper's recursion, for comparison with the sweep: scalar Joseph updates forward, Rauch–Tung–Striebel smoother backward.
//!
//! It shares no code with the library and computes what the paper does: the unscaled state (g, g'), `Q = P∞ − A P∞ Aᵀ` with
//! eigenvalues clamped at 1e-12, one Joseph update per observed cell, a gain from `P_pred + 1e-12·I`. There are two
//! implementations, both compiled for a fixed state size, with reused buffers, and with AVX2 and FMA where available:
//! [`as_written`] is the recursion line by line; [`tuned`] is the fastest arrangement of the same arithmetic we found: values
//! precede derivatives so that a transition is a few vector operations, rows are padded to whole registers, Joseph factors are
//! applied as rank-one changes, and output variances are computed four at a time.

mod arithmetic;
mod as_written;
mod steps;
#[cfg(test)]
mod tests;
mod tuned;

use arithmetic::{Fused, MultiplyAdd, Separate};
use as_written::AsWritten;
use tuned::Tuned;

/// Added to the diagonal of every predicted covariance before it is factorized, as in the paper.
const JITTER: f64 = 1e-12;

/// A Matérn-3/2 coregionalization model on a chain, as flat arrays in chain order.
pub(crate) struct ChainProblem {
    /// Distance to the previous point; the first entry is unused.
    pub(crate) steps: Vec<f64>,
    /// One length-scale per latent.
    pub(crate) length_scales: Vec<f64>,
    /// W (D×L), row-major.
    pub(crate) mixing: Vec<f64>,
    /// One noise variance per output.
    pub(crate) noise: Vec<f64>,
    /// Cells of point i are `row_start[i]..row_start[i + 1]` of the two lists below.
    pub(crate) row_start: Vec<usize>,
    /// The output of each observed cell.
    pub(crate) cell_outputs: Vec<usize>,
    /// The value of each observed cell.
    pub(crate) cell_values: Vec<f64>,
}

/// Posterior of every output at every point, and the log evidence.
#[derive(Default)]
pub(crate) struct Smoothed {
    /// C×D, row-major.
    pub(crate) means: Vec<f64>,
    /// C×D, row-major, of the function without noise.
    pub(crate) variances: Vec<f64>,
    /// ln p(y).
    pub(crate) log_evidence: f64,
}

/// Which of the two implementations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Coding {
    /// Line by line.
    AsWritten,
    /// The fastest arrangement we found.
    Tuned,
}

/// The recursion compiled for one state size, with its buffers.
pub(crate) struct PaperRecursion {
    smoother: Box<dyn Smoother + Send>,
    instructions: Instructions,
}

/// The instruction set of the machine.
#[derive(Clone, Copy)]
enum Instructions {
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2Fma,
}

impl PaperRecursion {
    /// The recursion for this many latents; `None` for a state size it is not compiled for.
    pub(crate) fn new(coding: Coding, n_latents: usize) -> Option<Self> {
        // Tuned: latents, state size, and latents rounded up so that a row is whole vector registers.
        let smoother: Box<dyn Smoother + Send> = match (coding, n_latents) {
            (Coding::AsWritten, 1) => Box::<AsWritten<2>>::default(),
            (Coding::AsWritten, 2) => Box::<AsWritten<4>>::default(),
            (Coding::AsWritten, 3) => Box::<AsWritten<6>>::default(),
            (Coding::AsWritten, 4) => Box::<AsWritten<8>>::default(),
            (Coding::Tuned, 1) => Box::<Tuned<1, 2, 1>>::default(),
            (Coding::Tuned, 2) => Box::<Tuned<2, 4, 2>>::default(),
            (Coding::Tuned, 3) => Box::<Tuned<3, 6, 4>>::default(),
            (Coding::Tuned, 4) => Box::<Tuned<4, 8, 4>>::default(),
            _ => return None,
        };
        Some(Self { smoother, instructions: Instructions::detect() })
    }

    /// One forward and one backward pass.
    pub(crate) fn smooth(&mut self, problem: &ChainProblem, result: &mut Smoothed) {
        self.smoother.smooth(problem, result, self.instructions);
    }
}

impl Instructions {
    fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            return Self::Avx2Fma;
        }
        Self::Baseline
    }
}

/// An implementation that can be compiled for either arithmetic.
trait Recursion {
    /// Both passes.
    fn run<F: MultiplyAdd>(&mut self, problem: &ChainProblem, result: &mut Smoothed);
}

/// Hides the state size, so that it can be chosen at run time.
trait Smoother {
    fn smooth(&mut self, problem: &ChainProblem, result: &mut Smoothed, instructions: Instructions);
}

impl<R: Recursion> Smoother for R {
    fn smooth(&mut self, problem: &ChainProblem, result: &mut Smoothed, instructions: Instructions) {
        match instructions {
            Instructions::Baseline => self.run::<Separate>(problem, result),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2Fma => {
                #[expect(unsafe_code, reason = "a function compiled for AVX2 can only be called this way")]
                // SAFETY: `Avx2Fma` is only made after both features were detected on this machine.
                unsafe {
                    run_with_avx2_fma(self, problem, result);
                }
            }
        }
    }
}

/// The same code, compiled for 4 numbers per register and fused multiply-add.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_with_avx2_fma<R: Recursion>(recursion: &mut R, problem: &ChainProblem, result: &mut Smoothed) {
    recursion.run::<Fused>(problem, result);
}
