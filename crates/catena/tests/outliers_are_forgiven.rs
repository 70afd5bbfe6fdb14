//! Student-t noise: the sweep finds the fixed point that plain matrices find, its bound lies below the evidence and says by how
//! much, and a value that is far off moves the mean little.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::data::{InputPoints, Observations};
use catena::index::RowIndex;
use catena::kernel::{Kernel, StateKind};
use catena::likelihood::{
    Approximation, ApproximationSettings, ApproximationStop, Gaussian, LikelihoodError, StudentT, approximate,
};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::structure::{Tree, sorted_chain};
use catena::units::{LengthScale, UnitError, Variance};
use catena_testkit::compare::{Tolerance, assert_close};
use catena_testkit::reference::DensePrior;
use catena_testkit::scenario::{Limits, Scenario, Shape};
use std::f64::consts::{PI, TAU};

/// The lower triangle of a positive definite matrix's factor, row-major.
fn cholesky(n: usize, matrix: &[f64]) -> Vec<f64> {
    let mut factor = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let inner: f64 = (0..j).map(|k| factor[i * n + k] * factor[j * n + k]).sum();
            let left = matrix[i * n + j] - inner;
            factor[i * n + j] = if i == j { left.sqrt() } else { left / factor[j * n + j] };
        }
    }
    factor
}

/// `L⁻¹ b`.
fn forward(factor: &[f64], mut column: Vec<f64>) -> Vec<f64> {
    let n = column.len();
    for i in 0..n {
        let inner: f64 = (0..i).map(|k| factor[i * n + k] * column[k]).sum();
        column[i] = (column[i] - inner) / factor[i * n + i];
    }
    column
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// log Γ(a) and its derivative, by Euler's integral over the logarithm of its variable. The trapezoidal rule is exact to
/// rounding for a smooth integrand that vanishes at both ends.
fn gamma(a: f64) -> (f64, f64) {
    let (top, width) = (a.ln(), a.sqrt().recip());
    let step = (0.25 * width).min(0.15);
    let (left, right) = (top - (50.0 / a).max(12.0 * width), top + 12.0 * width);
    let height = a * top - a;
    let (mut mass, mut moment) = (0.0, 0.0);
    for at in 0..((right - left) / step) as usize {
        let u = left + step * at as f64;
        let density = (a * u - u.exp() - height).exp();
        mass += step * density;
        moment += step * density * (u - top);
    }
    (height + mass.ln(), top + moment / mass)
}

/// An observed cell: its place in the row-major table, its value and the squared scale of its noise.
#[derive(Clone, Copy)]
struct Cell {
    place: usize,
    value: f64,
    noise: f64,
}

/// A table under the prior of its structure, in plain matrices.
struct Judge {
    /// The covariance of all places of the table.
    prior: Vec<f64>,
    n_places: usize,
    cells: Vec<Cell>,
}

/// What plain matrices say after some rounds.
struct Judged {
    means: Vec<f64>,
    variances: Vec<f64>,
    bound: f64,
    /// By cell, the expected square of its residual in units of the noise.
    squares: Vec<f64>,
}

impl Judge {
    fn new(model: &Lmc, tree: &Tree, observations: &Observations) -> Self {
        let (n_rows, n_outputs) = (observations.n_rows(), observations.n_outputs());
        let n_places = n_rows * n_outputs;
        let nothing = Observations::from_dense(n_rows, n_outputs, &vec![f64::NAN; n_places]).unwrap();
        let dense = DensePrior::on_structure(model, tree).condition(&nothing).unwrap();
        let mut prior = vec![0.0; n_places * n_places];
        for i in 0..n_rows {
            for j in 0..n_rows {
                let block = dense.output_cross_covariance(RowIndex::new(i), RowIndex::new(j));
                for (at, entry) in block.into_iter().enumerate() {
                    let (d, e) = (at / n_outputs, at % n_outputs);
                    prior[(i * n_outputs + d) * n_places + j * n_outputs + e] = entry;
                }
            }
        }
        let cells = observations.cells().map(|(row, cell)| Cell {
            place: row.get() * n_outputs + cell.output.get(),
            value: cell.value,
            noise: cell.noise_variance.unwrap_or(model.noise()[cell.output.get()].get()),
        });
        Self { prior, n_places, cells: cells.collect() }
    }

    fn covariance(&self, place: usize, other: usize) -> f64 {
        self.prior[place * self.n_places + other]
    }

    /// The covariance of the cells, without noise.
    fn of_cells(&self) -> Vec<f64> {
        let of_row = |one: &Cell| -> Vec<f64> {
            self.cells.iter().map(|other| self.covariance(one.place, other.place)).collect()
        };
        self.cells.iter().flat_map(of_row).collect()
    }

    /// So many rounds of `q(f)` and `q(w)` in turn, and the bound by its definition.
    fn rounds(&self, degrees: f64, n_rounds: usize) -> Judged {
        let n = self.cells.len();
        let kernel = self.of_cells();
        let values: Vec<f64> = self.cells.iter().map(|cell| cell.value).collect();
        let mut weights = vec![1.0; n];
        let mut judged = Judged { means: vec![], variances: vec![], bound: 0.0, squares: vec![] };
        for _ in 0..n_rounds {
            let noise: Vec<f64> =
                self.cells.iter().zip(&weights).map(|(cell, weight)| cell.noise / weight).collect();
            let mut total = kernel.clone();
            (0..n).for_each(|at| total[at * n + at] += noise[at]);
            let factor = cholesky(n, &total);
            let white = forward(&factor, values.clone());
            let columns: Vec<Vec<f64>> = (0..self.n_places)
                .map(|place| {
                    let column = self.cells.iter().map(|cell| self.covariance(cell.place, place));
                    forward(&factor, column.collect())
                })
                .collect();
            judged.means = columns.iter().map(|column| dot(column, &white)).collect();
            let variance =
                |place: usize| self.covariance(place, place) - dot(&columns[place], &columns[place]);
            judged.variances = (0..self.n_places).map(variance).collect();
            let square = |cell: &Cell| {
                let residual = cell.value - judged.means[cell.place];
                (residual * residual + judged.variances[cell.place]) / cell.noise
            };
            judged.squares = self.cells.iter().map(square).collect();
            weights = judged.squares.iter().map(|square| (degrees + 1.0) / (degrees + square)).collect();
            judged.bound = self.expected_log_joint(degrees, &judged.squares)
                - divergence(&factor, &noise, &judged, &self.cells);
        }
        judged
    }

    /// `E[log p(y | f, w)] − KL(q(w) ‖ p(w))`, summed over cells, with q(w) = Gamma(a, b).
    fn expected_log_joint(&self, degrees: f64, squares: &[f64]) -> f64 {
        let (prior, a) = (0.5 * degrees, 0.5 * (degrees + 1.0));
        let ((log_gamma, digamma), (log_gamma_of_prior, _)) = (gamma(a), gamma(prior));
        let of_cell = |(cell, square): (&Cell, &f64)| {
            let b = 0.5 * (degrees + square);
            let (weight, log_weight) = (a / b, digamma - b.ln());
            let density = 0.5 * (log_weight - (TAU * cell.noise).ln() - weight * square);
            let log_q = a * b.ln() - log_gamma + (a - 1.0) * log_weight - b * weight;
            let log_p = prior * prior.ln() - log_gamma_of_prior + (prior - 1.0) * log_weight - prior * weight;
            density + log_p - log_q
        };
        self.cells.iter().zip(squares).map(of_cell).sum()
    }
}

/// `KL(q(f) ‖ p(f))` over the observed cells. With S = K + R, the posterior covariance V = K − K S⁻¹ K has K⁻¹V = S⁻¹R, and
/// K⁻¹m = S⁻¹y = R⁻¹(y − m): no singular K is inverted.
fn divergence(factor: &[f64], noise: &[f64], judged: &Judged, cells: &[Cell]) -> f64 {
    let n = cells.len();
    let mut sum = -(n as f64);
    for (at, cell) in cells.iter().enumerate() {
        let mut unit = vec![0.0; n];
        unit[at] = 1.0;
        let column = forward(factor, unit);
        let mean = judged.means[cell.place];
        sum += noise[at] * dot(&column, &column) + mean * (cell.value - mean) / noise[at];
        sum += 2.0 * factor[at * n + at].ln() - noise[at].ln();
    }
    0.5 * sum
}

fn student(scenario: &Scenario, degrees: f64, settings: ApproximationSettings) -> Approximation<'_> {
    let likelihood = StudentT::new(degrees).unwrap();
    approximate(&scenario.model, &scenario.tree, &scenario.observations, &likelihood, settings).unwrap()
}

/// The bound may fall by rounding: ten digits of a sum of one term of order 1 per cell.
fn assert_never_falls(label: &str, found: &Approximation<'_>, n_observed: usize) {
    let rounding = 1e-10 * (1.0 + n_observed as f64);
    let falls = found.bounds.windows(2).find(|pair| pair[1] < pair[0] - rounding);
    assert!(falls.is_none(), "{falls:?}, {label}");
    assert_eq!(found.bounds.last(), Some(&found.lower_bound), "{label}");
}

#[test]
fn sweeps_find_what_plain_matrices_find() {
    let settings = ApproximationSettings { max_rounds: 25, tolerance: 1e-9 };
    let mut n_with_own_noise = 0;
    let mut n_with_holes = 0;
    for shape in [Shape::Chain, Shape::Tree, Shape::Line] {
        for scenario in Scenario::drawn(shape, Limits::NOISY, 3000..3016) {
            let judge = Judge::new(&scenario.model, &scenario.tree, &scenario.observations);
            let (n_outputs, n_observed) = (scenario.model.n_outputs(), scenario.observations.n_observed());
            n_with_own_noise += usize::from(n_observed > 0 && scenario.observations.has_cell_noise());
            n_with_holes += usize::from(n_outputs > 1 && (1..judge.n_places).contains(&n_observed));
            for degrees in [0.7, 4.0, 1e3] {
                let found = student(&scenario, degrees, settings);
                let expected = judge.rounds(degrees, found.n_rounds());
                let named = |what: &str| format!("{what}, ν = {degrees}, {}", scenario.label);
                assert!(!matches!(found.stop, ApproximationStop::Fell { .. }), "{}", named("stop"));
                assert_never_falls(&named("bound"), &found, n_observed);
                // The library keeps ten digits in each sweep, and rounds that converge add up to a few of them.
                let tolerance = Tolerance::relative(1e-9);
                let (means, variances) = (found.prediction.means(), found.prediction.variances());
                assert_close(&named("means"), n_outputs, means, &expected.means, tolerance);
                assert_close(&named("variances"), n_outputs, variances, &expected.variances, tolerance);
                let tolerance = tolerance.with_scale_at_least(1.0 + n_observed as f64);
                assert_close(&named("bound"), 1, &[found.lower_bound], &[expected.bound], tolerance);
            }
        }
    }
    assert!(n_with_own_noise >= 5 && n_with_holes >= 20, "{n_with_own_noise}, {n_with_holes}");
}

/// Two rows of two outputs, one cell missing: three cells, few enough to integrate over all of them.
fn three_cells() -> (Lmc, Tree, Observations) {
    let latent = |length_scale: f64| {
        Latent::new(Kernel::Matern32, StateKind::Value, LengthScale::new(length_scale).unwrap()).unwrap()
    };
    let mixing = MixingMatrix::shared(2, 2, vec![0.9, 0.3, -0.4, 0.8]).unwrap();
    let noise = vec![Variance::new(0.3).unwrap(), Variance::new(0.5).unwrap()];
    let model = Lmc::new(vec![latent(1.0), latent(3.0)], mixing, noise).unwrap();
    let tree = sorted_chain(&InputPoints::from_column(vec![0.0, 0.8]).unwrap()).unwrap();
    let observations = Observations::from_dense(2, 2, &[0.4, f64::NAN, 2.5, -1.1]).unwrap();
    (model, tree, observations)
}

/// `log ∫ p(f) Π t(y_i; f_i, s_i) df` over three cells, f = Lz, by the trapezoidal rule in z. The nearest pole of the integrand
/// lies √ν·s/|L| ≥ 0.55 off the real axis, so that the rule is off by about exp(−2π·0.55/0.1) = 1e-15.
fn log_evidence_by_quadrature(judge: &Judge, degrees: f64) -> f64 {
    const STEP: f64 = 0.1;
    const REACH: i32 = 90;
    let factor = cholesky(3, &judge.of_cells());
    let log_constant = gamma(0.5 * (degrees + 1.0)).0 - gamma(0.5 * degrees).0 - 0.5 * (PI * degrees).ln();
    let density = |at: usize, f: f64| {
        let cell = judge.cells[at];
        let square = (cell.value - f).powi(2) / cell.noise;
        (-0.5 * (degrees + 1.0) * (square / degrees).ln_1p()).exp()
    };
    let grid: Vec<(f64, f64)> = (-REACH..=REACH)
        .map(|at| (STEP * f64::from(at), STEP * (-0.5 * (STEP * f64::from(at)).powi(2)).exp() / TAU.sqrt()))
        .collect();
    let mut mass = 0.0;
    for (z0, mass0) in &grid {
        let outer = mass0 * density(0, factor[0] * z0);
        for (z1, mass1) in &grid {
            let middle = outer * mass1 * density(1, factor[3] * z0 + factor[4] * z1);
            let inner: f64 = grid
                .iter()
                .map(|(z2, mass2)| mass2 * density(2, factor[6] * z0 + factor[7] * z1 + factor[8] * z2))
                .sum();
            mass += middle * inner;
        }
    }
    let scales: f64 = judge.cells.iter().map(|cell| log_constant - 0.5 * cell.noise.ln()).sum();
    mass.ln() + scales
}

#[test]
fn the_bound_lies_below_the_evidence_by_what_theory_says() {
    let (model, tree, observations) = three_cells();
    let judge = Judge::new(&model, &tree, &observations);
    let settings = ApproximationSettings { max_rounds: 500, tolerance: 1e-13 };
    let mut last_gap = f64::INFINITY;
    for degrees in [1.0, 4.0, 30.0, 1e4] {
        let likelihood = StudentT::new(degrees).unwrap();
        let found = approximate(&model, &tree, &observations, &likelihood, settings).unwrap();
        assert_never_falls("three cells", &found, 3);
        let evidence = log_evidence_by_quadrature(&judge, degrees);
        let gap = evidence - found.lower_bound;
        assert!(gap > 0.0 && gap < last_gap, "ν = {degrees}: {gap}, before {last_gap}");
        last_gap = gap;
    }
    // log t − log N = (q² − 2q − 1)/4ν + O(ν⁻²), with q the squared residual in units of the noise. The evidence has the mean
    // of q², the bound the square of the mean: their gap is Σ Var(q)/4ν. A square of N(μ, v) has variance 4μ²v + 2v².
    let judged = judge.rounds(1e300, 1);
    let variance_of_square = |cell: &Cell| {
        let (mean, variance) = (cell.value - judged.means[cell.place], judged.variances[cell.place]);
        (4.0 * mean * mean + 2.0 * variance) * variance / (cell.noise * cell.noise)
    };
    let expected = judge.cells.iter().map(variance_of_square).sum::<f64>() / 4e4;
    // The next order is smaller by ν, times powers of q up to the fourth: some hundreds.
    assert!((last_gap / expected - 1.0).abs() < 0.05, "{last_gap:e} instead of {expected:e}");
}

#[test]
fn with_many_degrees_it_is_gaussian_noise() {
    for shape in [Shape::Chain, Shape::Tree] {
        for scenario in Scenario::drawn(shape, Limits::NOISY, 3100..3112) {
            let dense = DensePrior::on_structure(&scenario.model, &scenario.tree);
            let dense = dense.condition(&scenario.observations).unwrap();
            let judge = Judge::new(&scenario.model, &scenario.tree, &scenario.observations);
            let n_outputs = scenario.model.n_outputs();
            for degrees in [1e2, 1e4, 1e8, 1e15, 1e300] {
                let found = student(&scenario, degrees, ApproximationSettings::default());
                // A cell's term is at least log N − (q + ½)/2ν and at most log N + q²/4ν, because log Γ(x + ½) − log Γ(x) lies
                // between ½log x − 1/8x and ½log x, and log(1 + x) between x − x²/2 and x. The Gaussian posterior makes
                // the first a bound from below, the one found makes the second a bound from above.
                let gaussian = judge.rounds(degrees, 1).squares;
                let settled = judge.rounds(degrees, found.n_rounds()).squares;
                let below: f64 = gaussian.iter().map(|q| (q + 0.5) / (2.0 * degrees)).sum();
                let above: f64 = settled.iter().map(|q| q * q / (4.0 * degrees)).sum();
                let rounding = 1e-10 * (1.0 + gaussian.len() as f64);
                let difference = found.lower_bound - dense.log_evidence();
                let allowed = -below - rounding..=above + rounding;
                assert!(allowed.contains(&difference), "{difference:e}, {allowed:?}, {}", scenario.label);
            }
            let found = student(&scenario, 1e15, ApproximationSettings::default());
            let tolerance = Tolerance::relative(1e-9);
            assert_close(&scenario.label, n_outputs, found.prediction.means(), &dense.means(), tolerance);
        }
    }
}

/// One output along a line with neighbors close enough that they know a cell better than the cell does.
fn wave(n_rows: usize, noise: f64) -> (Lmc, Tree, Vec<f64>) {
    let times: Vec<f64> = (0..n_rows).map(|row| row as f64).collect();
    let latent =
        Latent::new(Kernel::Matern52, StateKind::Derivative, LengthScale::new(6.0).unwrap()).unwrap();
    let mixing = MixingMatrix::shared(1, 1, vec![1.0]).unwrap();
    let model = Lmc::new(vec![latent], mixing, vec![Variance::new(noise).unwrap()]).unwrap();
    // Residuals of about one deviation, drawn once.
    let value = |time: &f64| (time / 6.0).sin() + noise.sqrt() * 1.4 * (time * 12.9898).sin();
    let values = times.iter().map(value).collect();
    (model, sorted_chain(&InputPoints::from_column(times).unwrap()).unwrap(), values)
}

#[test]
fn a_value_fifty_deviations_off_moves_the_mean_little() {
    const OUTLIER: usize = 12;
    const DEVIATIONS: f64 = 50.0;
    let (noise, degrees) = (0.01_f64, 4.0);
    let (model, tree, mut values) = wave(30, noise);
    let n_rows = values.len();
    values[OUTLIER] += DEVIATIONS * noise.sqrt();
    let with = Observations::from_dense(n_rows, 1, &values).unwrap();
    values[OUTLIER] = f64::NAN;
    let without = Observations::from_dense(n_rows, 1, &values).unwrap();

    let student = StudentT::new(degrees).unwrap();
    let forgiving = |table: &Observations| {
        let found = approximate(&model, &tree, table, &student, ApproximationSettings::default()).unwrap();
        assert_eq!(found.stop, ApproximationStop::Converged);
        found.prediction
    };
    let strict = |table: &Observations| {
        approximate(&model, &tree, table, &Gaussian, ApproximationSettings::default()).unwrap().prediction
    };
    let (left_out, strict_left_out) = (forgiving(&without), strict(&without));
    let forgiven: Vec<f64> =
        forgiving(&with).means().iter().zip(left_out.means()).map(|(with, without)| with - without).collect();
    let moved: Vec<f64> = strict(&with)
        .means()
        .iter()
        .zip(strict_left_out.means())
        .map(|(with, without)| with - without)
        .collect();

    // Without the cell its place has mean m and variance v; the cell, with noise r, moves the mean by (y − m)·v/(v + r). Gaussian
    // noise keeps r = s². Student's t has r = (ν s² + e)/(ν + 1), and e is at least the square of the residual. The value is off by 50
    // deviations and less than 2 of noise, m by less than 2: y − m is between 46 and 54 deviations, and after a move of less
    // than one the residual is at least 45.
    let off = |means: &[f64]| (means[OUTLIER] - (OUTLIER as f64 / 6.0).sin()).abs() / noise.sqrt();
    assert!(off(left_out.means()) < 2.0 && off(strict_left_out.means()) < 2.0);
    let (v, v_strict) = (left_out.variances()[OUTLIER], strict_left_out.variances()[OUTLIER]);
    let r = (degrees * noise + 45.0_f64.powi(2) * noise) / (degrees + 1.0);
    // Half of it, for the weights of the other cells answer to the move as well, by less than the move itself.
    let factor = 0.5 * (46.0 / 54.0) * (v_strict / (v_strict + noise)) / (v / (v + r));
    assert!(factor > 50.0, "{factor}");
    assert!(forgiven[OUTLIER].abs() < noise.sqrt(), "{}", forgiven[OUTLIER]);
    let measured = moved[OUTLIER] / forgiven[OUTLIER].abs();
    assert!(measured > factor, "moved {measured} times less, expected more than {factor}");
    let farthest = |moves: &[f64]| moves.iter().fold(0.0_f64, |farthest, one| farthest.max(one.abs()));
    assert!(farthest(&forgiven) * factor < farthest(&moved), "{forgiven:?}");
}

#[test]
fn a_cell_alone_settles_where_its_own_equation_does() {
    let (model, tree, _) = wave(1, 0.04);
    let (prior, noise, degrees, value) = (1.0, 0.04, 3.0, 10.0);
    let table = Observations::from_dense(1, 1, &[value]).unwrap();
    let settings = ApproximationSettings { max_rounds: 1000, tolerance: 0.0 };
    let found = approximate(&model, &tree, &table, &StudentT::new(degrees).unwrap(), settings).unwrap();
    let mut r = noise;
    for _ in 0..1000 {
        let share = prior / (prior + r);
        let square = (value * (1.0 - share)).powi(2) + share * r;
        r = (degrees * noise + square) / (degrees + 1.0);
    }
    let share = prior / (prior + r);
    // The bound is flat to rounding where the mean is within the root of that.
    assert!((found.prediction.means()[0] - value * share).abs() < 1e-6, "{:?}", found.prediction);
    assert!((found.prediction.variances()[0] - share * r).abs() < 1e-6, "{:?}", found.prediction);
}

#[test]
fn the_same_table_gives_the_same_bits() {
    for shape in [Shape::Chain, Shape::Tree] {
        let scenario = Scenario::draw(shape, Limits::MODERATE, 3202);
        let once = student(&scenario, 3.0, ApproximationSettings::default());
        let again = student(&scenario, 3.0, ApproximationSettings::default());
        assert_eq!(
            (&once.prediction, &once.bounds, once.stop),
            (&again.prediction, &again.bounds, again.stop)
        );
    }
}

#[test]
fn bad_degrees_and_numbers_that_overflow_are_errors() {
    for bad in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = StudentT::new(bad).unwrap_err();
        assert!(matches!(error, UnitError::DegreesOfFreedom(found) if found.to_bits() == bad.to_bits()));
        assert!(error.to_string().contains("degrees of freedom"), "{error}");
    }
    let (model, tree, _) = wave(3, 0.04);
    let student = StudentT::new(4.0).unwrap();
    let table = Observations::from_dense(3, 1, &[0.0, 1e200, 0.0]).unwrap();
    let error = approximate(&model, &tree, &table, &student, ApproximationSettings::default()).unwrap_err();
    assert!(matches!(error, LikelihoodError::Inference(_) | LikelihoodError::Density { .. }), "{error:?}");
    // So few degrees that their own ratio overflows, and as many as there are: a number or an error, no panic.
    let table = Observations::from_dense(3, 1, &[0.0, 1.0, f64::NAN]).unwrap();
    for degrees in [f64::MIN_POSITIVE, 1e-300, 1e-9, 1e300, f64::MAX] {
        let extreme = StudentT::new(degrees).unwrap();
        match approximate(&model, &tree, &table, &extreme, ApproximationSettings::default()) {
            Ok(found) => assert!(found.lower_bound.is_finite(), "{degrees:e}"),
            Err(error) => assert!(matches!(error, LikelihoodError::Density { .. }), "{degrees:e}: {error:?}"),
        }
    }
}
