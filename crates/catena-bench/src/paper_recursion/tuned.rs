//! The recursion itself, for L latents (state size N = 2L), in rows of two halves of H ≥ L numbers each.

use super::arithmetic::MultiplyAdd;
use super::steps::latent_step;
use super::{ChainProblem, JITTER, Recursion, Smoothed};

/// Outputs computed side by side.
const LANES: usize = 4;

/// A state vector or matrix row: L values, then L derivatives, each half padded with zeros to H.
type Row<const H: usize> = [[f64; H]; 2];

/// The results of the forward pass at a point that the backward pass needs.
#[derive(Clone, Copy)]
struct Step<const N: usize, const H: usize> {
    /// A, as the four diagonals of its blocks: value from value, value from derivative, and so on.
    transition: [[f64; H]; 4],
    predicted_mean: Row<H>,
    predicted_covariance: [Row<H>; N],
    filtered_mean: Row<H>,
    filtered_covariance: [Row<H>; N],
}

impl<const N: usize, const H: usize> Step<N, H> {
    /// The initial content of buffers.
    const ZERO: Self = Self {
        transition: [[0.0; H]; 4],
        predicted_mean: [[0.0; H]; 2],
        predicted_covariance: [[[0.0; H]; 2]; N],
        filtered_mean: [[0.0; H]; 2],
        filtered_covariance: [[[0.0; H]; 2]; N],
    };
}

/// Buffers of the recursion.
pub(super) struct Tuned<const L: usize, const N: usize, const H: usize> {
    steps: Vec<Step<N, H>>,
    /// Row d is w_d, padded to H.
    weights: Vec<[f64; H]>,
    /// For each group of outputs: L weights, then L(L + 1)/2 weight products, each for all outputs of the group.
    lanes: Vec<[f64; LANES]>,
}

impl<const L: usize, const N: usize, const H: usize> Default for Tuned<L, N, H> {
    fn default() -> Self {
        Self { steps: vec![], weights: vec![], lanes: vec![] }
    }
}

impl<const L: usize, const N: usize, const H: usize> Recursion for Tuned<L, N, H> {
    #[inline(always)]
    fn run<F: MultiplyAdd>(&mut self, problem: &ChainProblem, result: &mut Smoothed) {
        const { assert!(N == 2 * L && H >= L) };
        let n_outputs = problem.noise.len();
        let n_cells = problem.steps.len() * n_outputs;
        result.means.resize(n_cells, 0.0);
        result.variances.resize(n_cells, 0.0);
        self.lay_out_weights(problem);
        result.log_evidence = self.filter::<F>(problem);
        self.smooth_backward::<F>(n_outputs, result);
    }
}

impl<const L: usize, const N: usize, const H: usize> Tuned<L, N, H> {
    /// Latent products per group of outputs: `w_dk w_dl` for k ≤ l.
    const PRODUCTS: usize = L * (L + 1) / 2;

    fn lay_out_weights(&mut self, problem: &ChainProblem) {
        self.weights.clear();
        self.weights.extend(problem.mixing.chunks_exact(L).map(|row| {
            let mut padded = [0.0; H];
            padded[..L].copy_from_slice(row);
            padded
        }));
        self.lanes.clear();
        for group in self.weights.chunks(LANES) {
            let lane = |weight: &dyn Fn(&[f64; H]) -> f64| {
                let mut lanes = [0.0; LANES];
                lanes.iter_mut().zip(group).for_each(|(lane, row)| *lane = weight(row));
                lanes
            };
            for k in 0..L {
                self.lanes.push(lane(&|row| row[k]));
            }
            for k in 0..L {
                for l in k..L {
                    let count = if k == l { 1.0 } else { 2.0 };
                    self.lanes.push(lane(&|row| count * row[k] * row[l]));
                }
            }
        }
    }

    /// Predict, then one Joseph update per observed cell; returns the log evidence.
    #[inline(always)]
    fn filter<F: MultiplyAdd>(&mut self, problem: &ChainProblem) -> f64 {
        let rates: [f64; L] = std::array::from_fn(|latent| 3.0_f64.sqrt() / problem.length_scales[latent]);
        let mut mean = [[0.0; H]; 2];
        let mut covariance = [[[0.0; H]; 2]; N];
        for latent in 0..L {
            covariance[latent][0][latent] = 1.0;
            covariance[L + latent][1][latent] = rates[latent] * rates[latent];
        }
        let (mut sum_of_logs, mut sum_of_squares) = (0.0, 0.0);
        self.steps.resize(problem.steps.len(), Step::ZERO);
        for (at, (step, &distance)) in self.steps.iter_mut().zip(&problem.steps).enumerate() {
            if at > 0 {
                let (mut transition, mut noise) = ([[0.0; H]; 4], [[0.0; 3]; L]);
                for latent in 0..L {
                    let moved = latent_step(rates[latent], distance);
                    for block in 0..4 {
                        transition[block][latent] = moved.transition[block];
                    }
                    noise[latent] = moved.noise;
                }
                step.transition = transition;
                mean = advance::<F, H>(&transition, &mean);
                let advanced = advance_rows::<F, L, N, H>(&transition, &covariance);
                covariance = predict::<F, L, N, H>(&transition, &noise, &advanced);
            }
            (step.predicted_mean, step.predicted_covariance) = (mean, covariance);
            // One logarithm per point: the product of a row's innovation variances is far from overflow.
            let mut determinant = 1.0;
            for cell in problem.row_start[at]..problem.row_start[at + 1] {
                let output = problem.cell_outputs[cell];
                let observed = (problem.cell_values[cell], problem.noise[output]);
                let innovation =
                    joseph_update::<F, L, N, H>(&self.weights[output], observed, &mut mean, &mut covariance);
                determinant *= innovation.variance;
                sum_of_squares += innovation.square;
            }
            sum_of_logs += determinant.ln();
            (step.filtered_mean, step.filtered_covariance) = (mean, covariance);
        }
        let constant = problem.cell_values.len() as f64 * std::f64::consts::TAU.ln();
        -0.5 * (sum_of_logs + sum_of_squares + constant)
    }

    /// Rauch–Tung–Striebel from the last point to the first.
    #[inline(always)]
    fn smooth_backward<F: MultiplyAdd>(&self, n_outputs: usize, result: &mut Smoothed) {
        let Some(last) = self.steps.last() else { return };
        let (mut mean, mut covariance) = (last.filtered_mean, last.filtered_covariance);
        self.emit::<F>((&mean, &covariance), self.steps.len() - 1, n_outputs, result);
        for (at, pair) in self.steps.windows(2).enumerate().rev() {
            let [here, next] = [&pair[0], &pair[1]];
            let predicted = &next.predicted_covariance;
            let advanced = advance_rows::<F, L, N, H>(&next.transition, &here.filtered_covariance);
            let gain = transposed_gain::<F, L, N, H>(predicted, advanced);
            let mut change = [[[0.0; H]; 2]; N];
            for row in 0..N {
                let mut correction = [[0.0; H]; 2];
                for column in 0..N {
                    let excess =
                        covariance[row][column / L][column % L] - predicted[row][column / L][column % L];
                    add_scaled::<F, H>(&mut correction, excess, &gain[column]);
                }
                change[row] = correction;
            }
            let mut shift = mean;
            add_scaled::<F, H>(&mut shift, -1.0, &next.predicted_mean);
            mean = here.filtered_mean;
            for row in 0..N {
                add_scaled::<F, H>(&mut mean, shift[row / L][row % L], &gain[row]);
                let mut smoothed = here.filtered_covariance[row];
                for inner in 0..N {
                    add_scaled::<F, H>(&mut smoothed, gain[inner][row / L][row % L], &change[inner]);
                }
                covariance[row] = smoothed;
            }
            self.emit::<F>((&mean, &covariance), at, n_outputs, result);
        }
    }

    /// Means `w_dᵀ m` and variances `w_dᵀ P w_d` of all outputs at one point, a group of outputs at a time.
    #[inline(always)]
    fn emit<F: MultiplyAdd>(
        &self,
        (mean, covariance): (&Row<H>, &[Row<H>; N]),
        at: usize,
        n_outputs: usize,
        result: &mut Smoothed,
    ) {
        let means = &mut result.means[at * n_outputs..][..n_outputs];
        let variances = &mut result.variances[at * n_outputs..][..n_outputs];
        let groups = self.lanes.chunks_exact(L + Self::PRODUCTS);
        let outputs = means.chunks_mut(LANES).zip(variances.chunks_mut(LANES));
        for (group, (group_means, group_variances)) in groups.zip(outputs) {
            let (mut m, mut v) = ([0.0; LANES], [0.0; LANES]);
            let mut product = L;
            for k in 0..L {
                add_lanes::<F>(&mut m, mean[0][k], &group[k]);
                for l in k..L {
                    add_lanes::<F>(&mut v, covariance[k][0][l], &group[product]);
                    product += 1;
                }
            }
            if let (Ok(whole_means), Ok(whole_variances)) = (
                <&mut [f64; LANES]>::try_from(&mut *group_means),
                <&mut [f64; LANES]>::try_from(&mut *group_variances),
            ) {
                (*whole_means, *whole_variances) = (m, v);
            } else {
                group_means.copy_from_slice(&m[..group_means.len()]);
                group_variances.copy_from_slice(&v[..group_variances.len()]);
            }
        }
    }
}

/// `row + factor·other`.
#[inline(always)]
fn add_scaled<F: MultiplyAdd, const H: usize>(row: &mut Row<H>, factor: f64, other: &Row<H>) {
    for half in 0..2 {
        for k in 0..H {
            row[half][k] = F::multiply_add(factor, other[half][k], row[half][k]);
        }
    }
}

/// `sum + factor·lanes`.
#[inline(always)]
fn add_lanes<F: MultiplyAdd>(sum: &mut [f64; LANES], factor: f64, lanes: &[f64; LANES]) {
    for d in 0..LANES {
        sum[d] = F::multiply_add(factor, lanes[d], sum[d]);
    }
}

/// `factor·row`.
#[inline(always)]
fn scaled<const H: usize>(factor: f64, row: &Row<H>) -> Row<H> {
    let mut result = *row;
    for half in 0..2 {
        for k in 0..H {
            result[half][k] *= factor;
        }
    }
    result
}

/// A times a vector, or a row times Aᵀ: the same operation.
#[inline(always)]
fn advance<F: MultiplyAdd, const H: usize>(transition: &[[f64; H]; 4], row: &Row<H>) -> Row<H> {
    let mut advanced = [[0.0; H]; 2];
    for half in 0..2 {
        for k in 0..H {
            let from_derivative = transition[2 * half + 1][k] * row[1][k];
            advanced[half][k] = F::multiply_add(transition[2 * half][k], row[0][k], from_derivative);
        }
    }
    advanced
}

/// A P: rows of values and derivatives of the same latent are combined.
#[inline(always)]
fn advance_rows<F: MultiplyAdd, const L: usize, const N: usize, const H: usize>(
    transition: &[[f64; H]; 4],
    covariance: &[Row<H>; N],
) -> [Row<H>; N] {
    let mut advanced = [[[0.0; H]; 2]; N];
    for latent in 0..L {
        for half in 0..2 {
            let row = &mut advanced[half * L + latent];
            add_scaled::<F, H>(row, transition[2 * half][latent], &covariance[latent]);
            add_scaled::<F, H>(row, transition[2 * half + 1][latent], &covariance[L + latent]);
        }
    }
    advanced
}

/// A P Aᵀ + Q, from A P.
#[inline(always)]
fn predict<F: MultiplyAdd, const L: usize, const N: usize, const H: usize>(
    transition: &[[f64; H]; 4],
    noise: &[[f64; 3]; L],
    advanced: &[Row<H>; N],
) -> [Row<H>; N] {
    let mut predicted = *advanced;
    for row in &mut predicted {
        *row = advance::<F, H>(transition, row);
    }
    for latent in 0..L {
        let [q11, q12, q22] = noise[latent];
        predicted[latent][0][latent] += q11;
        predicted[latent][1][latent] += q12;
        predicted[L + latent][0][latent] += q12;
        predicted[L + latent][1][latent] += q22;
    }
    predicted
}

/// What one observed cell adds to the evidence.
struct Innovation {
    variance: f64,
    /// Squared innovation over its variance.
    square: f64,
}

/// `P ← (I − K hᵀ) P (I − K hᵀ)ᵀ + K r Kᵀ`, each factor applied as a rank-one change.
#[inline(always)]
fn joseph_update<F: MultiplyAdd, const L: usize, const N: usize, const H: usize>(
    weights: &[f64; H],
    (value, noise): (f64, f64),
    mean: &mut Row<H>,
    covariance: &mut [Row<H>; N],
) -> Innovation {
    let mut projected = [[0.0; H]; 2];
    for latent in 0..L {
        add_scaled::<F, H>(&mut projected, weights[latent], &covariance[latent]);
    }
    let (mut explained, mut expected) = (0.0, 0.0);
    for latent in 0..L {
        explained = F::multiply_add(weights[latent], projected[0][latent], explained);
        expected = F::multiply_add(weights[latent], mean[0][latent], expected);
    }
    let (variance, innovation) = (explained + noise, value - expected);
    let precision = 1.0 / variance;
    let gain = scaled(precision, &projected);
    // Left factor: M = P − K (P h)ᵀ. Right factor and noise: M − (M h − r K) Kᵀ, with M h = P h − K hᵀP h.
    let mut remainder = projected;
    add_scaled::<F, H>(&mut remainder, -explained, &gain);
    add_scaled::<F, H>(&mut remainder, -noise, &gain);
    for row in 0..N {
        add_scaled::<F, H>(&mut covariance[row], -gain[row / L][row % L], &projected);
        add_scaled::<F, H>(&mut covariance[row], -remainder[row / L][row % L], &gain);
    }
    add_scaled::<F, H>(mean, innovation, &gain);
    Innovation { variance, square: innovation * innovation * precision }
}

/// Gᵀ with `G = P_f Aᵀ (P_pred + 1e-12·I)⁻¹`, by a root-free Cholesky factorization and two substitutions.
#[inline(always)]
fn transposed_gain<F: MultiplyAdd, const L: usize, const N: usize, const H: usize>(
    predicted: &[Row<H>; N],
    advanced: [Row<H>; N],
) -> [Row<H>; N] {
    let (mut factor, mut solution) = (*predicted, advanced);
    for row in 0..N {
        factor[row][row / L][row % L] += JITTER;
    }
    let mut pivot_inverse = [0.0; N];
    for pivot in 0..N {
        pivot_inverse[pivot] = 1.0 / factor[pivot][pivot / L][pivot % L];
        let (factor_row, solution_row) = (factor[pivot], solution[pivot]);
        for row in pivot + 1..N {
            let multiple = -factor_row[row / L][row % L] * pivot_inverse[pivot];
            add_scaled::<F, H>(&mut factor[row], multiple, &factor_row);
            add_scaled::<F, H>(&mut solution[row], multiple, &solution_row);
        }
    }
    for pivot in (0..N).rev() {
        let solved = scaled(pivot_inverse[pivot], &solution[pivot]);
        solution[pivot] = solved;
        for row in 0..pivot {
            add_scaled::<F, H>(&mut solution[row], -factor[row][pivot / L][pivot % L], &solved);
        }
    }
    solution
}
