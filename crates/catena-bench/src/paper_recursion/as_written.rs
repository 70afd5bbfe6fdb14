//! The recursion line by line as the paper writes it: dense products of fixed size, nothing rearranged.
//!
//! Compared with the tuned form it shows how much of a speed ratio is due to the implementation.

use super::arithmetic::MultiplyAdd;
use super::steps::latent_step;
use super::{ChainProblem, JITTER, Recursion, Smoothed};

type Vector<const N: usize> = [f64; N];
type Matrix<const N: usize> = [[f64; N]; N];

/// Moments at a point before and after its observations, and the transition into it.
#[derive(Clone, Copy)]
struct Step<const N: usize> {
    transition: Matrix<N>,
    predicted_mean: Vector<N>,
    predicted_covariance: Matrix<N>,
    filtered_mean: Vector<N>,
    filtered_covariance: Matrix<N>,
}

/// Buffers; the state is (g_1, g_1', g_2, g_2', …).
#[derive(Default)]
pub(super) struct AsWritten<const N: usize> {
    steps: Vec<Step<N>>,
}

impl<const N: usize> Recursion for AsWritten<N> {
    #[inline(always)]
    fn run<F: MultiplyAdd>(&mut self, problem: &ChainProblem, result: &mut Smoothed) {
        let n_cells = problem.steps.len() * problem.noise.len();
        result.means.resize(n_cells, 0.0);
        result.variances.resize(n_cells, 0.0);
        result.log_evidence = self.filter::<F>(problem);
        self.smooth_backward::<F>(problem, result);
    }
}

impl<const N: usize> AsWritten<N> {
    #[inline(always)]
    fn filter<F: MultiplyAdd>(&mut self, problem: &ChainProblem) -> f64 {
        let n_latents = N / 2;
        let rates: Vec<f64> = problem.length_scales.iter().map(|scale| 3.0_f64.sqrt() / scale).collect();
        let (mut mean, mut covariance) = ([0.0; N], [[0.0; N]; N]);
        for latent in 0..n_latents {
            covariance[2 * latent][2 * latent] = 1.0;
            covariance[2 * latent + 1][2 * latent + 1] = rates[latent] * rates[latent];
        }
        let mut log_evidence = 0.0;
        self.steps.clear();
        for (at, &distance) in problem.steps.iter().enumerate() {
            let mut transition = [[0.0; N]; N];
            if at > 0 {
                let mut noise = [[0.0; N]; N];
                for latent in 0..n_latents {
                    let step = latent_step(rates[latent], distance);
                    let (value, derivative) = (2 * latent, 2 * latent + 1);
                    let [a11, a12, a21, a22] = step.transition;
                    let [q11, q12, q22] = step.noise;
                    [transition[value][value], transition[value][derivative]] = [a11, a12];
                    [transition[derivative][value], transition[derivative][derivative]] = [a21, a22];
                    [noise[value][value], noise[value][derivative]] = [q11, q12];
                    [noise[derivative][value], noise[derivative][derivative]] = [q12, q22];
                }
                mean = times_vector::<F, N>(&transition, &mean);
                let advanced = product::<F, N>(&transition, &covariance, &[[0.0; N]; N]);
                covariance = product_transposed::<F, N>(&advanced, &transition, &noise);
            }
            let (predicted_mean, predicted_covariance) = (mean, covariance);
            for cell in problem.row_start[at]..problem.row_start[at + 1] {
                let output = problem.cell_outputs[cell];
                let readout = readout::<N>(problem, output);
                let observed = (problem.cell_values[cell], problem.noise[output]);
                log_evidence += joseph_update::<F, N>(&readout, observed, &mut mean, &mut covariance);
            }
            let (filtered_mean, filtered_covariance) = (mean, covariance);
            self.steps.push(Step {
                transition,
                predicted_mean,
                predicted_covariance,
                filtered_mean,
                filtered_covariance,
            });
        }
        log_evidence
    }

    #[inline(always)]
    fn smooth_backward<F: MultiplyAdd>(&self, problem: &ChainProblem, result: &mut Smoothed) {
        let Some(last) = self.steps.last() else { return };
        let (mut mean, mut covariance) = (last.filtered_mean, last.filtered_covariance);
        emit::<F, N>(problem, (&mean, &covariance), self.steps.len() - 1, result);
        for (at, pair) in self.steps.windows(2).enumerate().rev() {
            let [here, next] = [&pair[0], &pair[1]];
            let cross = product::<F, N>(&next.transition, &here.filtered_covariance, &[[0.0; N]; N]);
            let gain = transposed(&solve::<F, N>(&next.predicted_covariance, cross));
            let (mut shift, mut excess) = ([0.0; N], [[0.0; N]; N]);
            for row in 0..N {
                shift[row] = mean[row] - next.predicted_mean[row];
                for column in 0..N {
                    excess[row][column] = covariance[row][column] - next.predicted_covariance[row][column];
                }
            }
            let moved = times_vector::<F, N>(&gain, &shift);
            mean = here.filtered_mean;
            add_scaled::<F, N>(&mut mean, 1.0, &moved);
            let half = product::<F, N>(&gain, &excess, &[[0.0; N]; N]);
            covariance = product_transposed::<F, N>(&half, &gain, &here.filtered_covariance);
            emit::<F, N>(problem, (&mean, &covariance), at, result);
        }
    }
}

/// h: the weights of one output on the values of the state.
#[inline(always)]
fn readout<const N: usize>(problem: &ChainProblem, output: usize) -> Vector<N> {
    let weights = &problem.mixing[output * (N / 2)..][..N / 2];
    let mut readout = [0.0; N];
    for latent in 0..N / 2 {
        readout[2 * latent] = weights[latent];
    }
    readout
}

/// `P ← (I − K hᵀ) P (I − K hᵀ)ᵀ + K r Kᵀ`; returns the cell's share of the log evidence.
#[inline(always)]
fn joseph_update<F: MultiplyAdd, const N: usize>(
    readout: &Vector<N>,
    (value, noise): (f64, f64),
    mean: &mut Vector<N>,
    covariance: &mut Matrix<N>,
) -> f64 {
    let projected = symmetric_times_vector::<F, N>(covariance, readout);
    let variance = dot::<F, N>(readout, &projected) + noise;
    let innovation = value - dot::<F, N>(readout, mean);
    let gain = scaled(1.0 / variance, &projected);
    add_scaled::<F, N>(mean, innovation, &gain);
    // (I − K hᵀ) P first, then its product with (I − K hᵀ)ᵀ, plus K r Kᵀ.
    for row in 0..N {
        add_scaled::<F, N>(&mut covariance[row], -gain[row], &projected);
        let remainder = dot::<F, N>(&covariance[row], readout) - noise * gain[row];
        add_scaled::<F, N>(&mut covariance[row], -remainder, &gain);
    }
    -0.5 * (innovation * innovation / variance + (std::f64::consts::TAU * variance).ln())
}

/// Means and variances of all outputs at one point.
#[inline(always)]
fn emit<F: MultiplyAdd, const N: usize>(
    problem: &ChainProblem,
    (mean, covariance): (&Vector<N>, &Matrix<N>),
    at: usize,
    result: &mut Smoothed,
) {
    let n_outputs = problem.noise.len();
    for output in 0..n_outputs {
        let readout = readout::<N>(problem, output);
        let projected = symmetric_times_vector::<F, N>(covariance, &readout);
        result.means[at * n_outputs + output] = dot::<F, N>(&readout, mean);
        result.variances[at * n_outputs + output] = dot::<F, N>(&readout, &projected);
    }
}

/// `(P + 1e-12·I)⁻¹ B` by a Cholesky factorization and two substitutions.
#[inline(always)]
fn solve<F: MultiplyAdd, const N: usize>(covariance: &Matrix<N>, mut right: Matrix<N>) -> Matrix<N> {
    let mut factor = [[0.0; N]; N];
    let mut diagonal_inverse = [0.0; N];
    for row in 0..N {
        for column in 0..=row {
            let mut rest = covariance[row][column] + if row == column { JITTER } else { 0.0 };
            for inner in 0..column {
                rest = F::multiply_add(-factor[row][inner], factor[column][inner], rest);
            }
            factor[row][column] = if row == column { rest.sqrt() } else { rest * diagonal_inverse[column] };
        }
        diagonal_inverse[row] = 1.0 / factor[row][row];
    }
    for row in 0..N {
        let mut solved = right[row];
        for inner in 0..row {
            add_scaled::<F, N>(&mut solved, -factor[row][inner], &right[inner]);
        }
        right[row] = scaled(diagonal_inverse[row], &solved);
    }
    for row in (0..N).rev() {
        let mut solved = right[row];
        for inner in row + 1..N {
            add_scaled::<F, N>(&mut solved, -factor[inner][row], &right[inner]);
        }
        right[row] = scaled(diagonal_inverse[row], &solved);
    }
    right
}

/// `sum + factor·row`.
#[inline(always)]
fn add_scaled<F: MultiplyAdd, const N: usize>(sum: &mut Vector<N>, factor: f64, row: &Vector<N>) {
    for k in 0..N {
        sum[k] = F::multiply_add(factor, row[k], sum[k]);
    }
}

#[inline(always)]
fn scaled<const N: usize>(factor: f64, row: &Vector<N>) -> Vector<N> {
    let mut result = *row;
    for entry in &mut result {
        *entry *= factor;
    }
    result
}

/// A·B + C.
#[inline(always)]
fn product<F: MultiplyAdd, const N: usize>(a: &Matrix<N>, b: &Matrix<N>, c: &Matrix<N>) -> Matrix<N> {
    let mut result = *c;
    for row in 0..N {
        let mut sum = c[row];
        for inner in 0..N {
            add_scaled::<F, N>(&mut sum, a[row][inner], &b[inner]);
        }
        result[row] = sum;
    }
    result
}

/// A·Bᵀ + C.
#[inline(always)]
fn product_transposed<F: MultiplyAdd, const N: usize>(
    a: &Matrix<N>,
    b: &Matrix<N>,
    c: &Matrix<N>,
) -> Matrix<N> {
    product::<F, N>(a, &transposed(b), c)
}

#[inline(always)]
fn transposed<const N: usize>(a: &Matrix<N>) -> Matrix<N> {
    let mut result = [[0.0; N]; N];
    for row in 0..N {
        for column in 0..N {
            result[row][column] = a[column][row];
        }
    }
    result
}

/// P·x for a symmetric P, as a sum of rows.
#[inline(always)]
fn symmetric_times_vector<F: MultiplyAdd, const N: usize>(p: &Matrix<N>, x: &Vector<N>) -> Vector<N> {
    let mut sum = [0.0; N];
    for inner in 0..N {
        add_scaled::<F, N>(&mut sum, x[inner], &p[inner]);
    }
    sum
}

#[inline(always)]
fn times_vector<F: MultiplyAdd, const N: usize>(a: &Matrix<N>, x: &Vector<N>) -> Vector<N> {
    let mut result = [0.0; N];
    for row in 0..N {
        result[row] = dot::<F, N>(&a[row], x);
    }
    result
}

#[inline(always)]
fn dot<F: MultiplyAdd, const N: usize>(a: &Vector<N>, b: &Vector<N>) -> f64 {
    let mut sum = 0.0;
    for at in 0..N {
        sum = F::multiply_add(a[at], b[at], sum);
    }
    sum
}
