//! Likelihoods from their textbook formulas, and posteriors of small tables under them by integration and by a long chain.

use crate::random::SeededDraws;
use crate::reference::DensePrior;
use catena::data::Observations;
use catena::index::RowIndex;
use catena::model::Lmc;
use catena::structure::Tree;
use std::f64::consts::{PI, TAU};

/// The distribution of a value given the function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// `f + N(0, noise)`.
    Gaussian,
    /// `f + √noise·t` with these degrees of freedom.
    StudentT(f64),
    /// At the rate exposure·exp(f).
    Poisson,
    /// With the mean μ = exposure·exp(f) and the variance μ + noise·μ².
    NegativeBinomial,
    /// Among as many trials as the exposure says, with odds exp(f).
    Binomial,
    /// With the mean exp(f) and the shape 1/noise.
    Gamma,
    /// `exp(f + N(0, noise))`.
    LogNormal,
    /// With odds exp(f) of the mean and the size 1/noise.
    Beta,
    /// Gaussian, cut off below and above.
    Censored(f64, f64),
    /// Gaussian, but 0 with odds exp(−a − b f).
    ZeroInflated(f64, f64),
}

/// log Γ by Lanczos' approximation, to twelve digits.
pub fn log_gamma(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        return (PI / (PI * x).sin()).ln() - log_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let t = x + 7.5;
    let terms = COEFFICIENTS.iter().enumerate().skip(1).map(|(at, c)| c / (x + at as f64));
    0.5 * TAU.ln() + (x + 0.5) * t.ln() - t + (COEFFICIENTS[0] + terms.sum::<f64>()).ln()
}

/// The logarithm of the mass of a standard normal below z, by Simpson's rule on `∫₀^∞ exp(z t − t²/2) dt`, which is Φ(z)/φ(z).
fn log_normal_below(z: f64) -> f64 {
    if z > 6.0 {
        return -log_normal_below(-z).exp();
    }
    let (n, reach) = (800, if z < -3.0 { 36.0 / -z } else { z.max(0.0) + 12.0 });
    let step = reach / f64::from(n);
    let term = |at: i32| {
        let t = step * f64::from(at);
        let weight = if at == 0 || at == n {
            1.0
        } else if at % 2 == 1 {
            4.0
        } else {
            2.0
        };
        weight * (z * t - 0.5 * t * t).exp()
    };
    let integral = step / 3.0 * (0..=n).map(term).sum::<f64>();
    integral.ln() - 0.5 * z * z - 0.5 * TAU.ln()
}

impl Law {
    /// log p(y | f).
    pub fn log_density(self, y: f64, f: f64, noise: f64, exposure: f64) -> f64 {
        let normal = |at: f64| -0.5 * ((at - f).powi(2) / noise + noise.ln() + TAU.ln());
        match self {
            Self::Gaussian => normal(y),
            Self::StudentT(nu) => {
                log_gamma(0.5 * (nu + 1.0))
                    - log_gamma(0.5 * nu)
                    - 0.5 * (PI * nu * noise).ln()
                    - 0.5 * (nu + 1.0) * (1.0 + (y - f).powi(2) / (nu * noise)).ln()
            }
            Self::Poisson => {
                let rate = exposure * f.exp();
                y * rate.ln() - rate - log_gamma(y + 1.0)
            }
            Self::NegativeBinomial => {
                let (mean, k) = (exposure * f.exp(), 1.0 / noise);
                log_gamma(y + k) - log_gamma(k) - log_gamma(y + 1.0)
                    + k * (k / (k + mean)).ln()
                    + y * (mean / (k + mean)).ln()
            }
            Self::Binomial => {
                let p = 1.0 / (1.0 + (-f).exp());
                let ways = log_gamma(exposure + 1.0) - log_gamma(y + 1.0) - log_gamma(exposure - y + 1.0);
                ways + y * p.ln() - (exposure - y) * (1.0 + f.exp()).ln()
            }
            Self::Gamma => {
                let k = 1.0 / noise;
                k * (k / f.exp()).ln() + (k - 1.0) * y.ln() - k * y / f.exp() - log_gamma(k)
            }
            Self::LogNormal => normal(y.ln()) - y.ln(),
            Self::Beta => {
                let (p, size) = (1.0 / (1.0 + (-f).exp()), 1.0 / noise);
                let (a, b) = (p * size, (1.0 - p) * size);
                log_gamma(size) - log_gamma(a) - log_gamma(b)
                    + (a - 1.0) * y.ln()
                    + (b - 1.0) * (1.0 - y).ln()
            }
            Self::Censored(lower, _) if y <= lower => log_normal_below((lower - f) / noise.sqrt()),
            Self::Censored(_, upper) if y >= upper => log_normal_below((f - upper) / noise.sqrt()),
            Self::Censored(..) => normal(y),
            Self::ZeroInflated(a, b) => {
                let zero = 1.0 / (1.0 + (a + b * f).exp());
                if y == 0.0 { zero.ln() } else { (1.0 - zero).ln() + normal(y) }
            }
        }
    }
}

/// An observed cell with its distribution.
#[derive(Clone, Copy, Debug)]
struct LawCell {
    law: Law,
    offset: f64,
    value: f64,
    noise: f64,
    exposure: f64,
}

impl LawCell {
    fn log_density(&self, f: f64) -> f64 {
        self.law.log_density(self.value, f + self.offset, self.noise, self.exposure)
    }
}

/// The observed cells of a table with the covariance of their function values.
#[derive(Clone, Debug)]
pub struct SmallTable {
    cells: Vec<LawCell>,
    /// The lower factor of the covariance, row-major.
    factor: Vec<f64>,
}

/// Moments of the function at the observed cells, and the log evidence where it is known.
#[derive(Clone, Debug)]
pub struct SlowPosterior {
    /// The means.
    pub means: Vec<f64>,
    /// The standard deviations.
    pub deviations: Vec<f64>,
    /// log p(Y).
    pub log_evidence: Option<f64>,
}

impl SmallTable {
    /// The cells of a table under a model on a structure, with a law and an offset for each output. `exposure` is that of all cells.
    pub fn new(
        model: &Lmc,
        tree: &Tree,
        observations: &Observations,
        laws: &[(Law, f64)],
        exposure: f64,
    ) -> Self {
        let (n_rows, n_outputs) = (observations.n_rows(), observations.n_outputs());
        let nothing =
            Observations::from_dense(n_rows, n_outputs, &vec![f64::NAN; n_rows * n_outputs]).unwrap();
        let prior = DensePrior::on_structure(model, tree).condition(&nothing).unwrap();
        let places: Vec<_> = observations.cells().collect();
        let n = places.len();
        let mut covariance = vec![0.0; n * n];
        for (i, (row, cell)) in places.iter().enumerate() {
            for (j, (other_row, other)) in places.iter().enumerate() {
                let block = prior.output_cross_covariance(RowIndex::new(row.get()), *other_row);
                covariance[i * n + j] = block[cell.output.get() * n_outputs + other.output.get()];
            }
            // Rows at one place, and outputs of one latent, are fully dependent.
            covariance[i * n + i] *= 1.0 + 1e-12;
        }
        let mut factor = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let inner: f64 = (0..j).map(|k| factor[i * n + k] * factor[j * n + k]).sum();
                let left = covariance[i * n + j] - inner;
                factor[i * n + j] = if i == j { left.max(0.0).sqrt() } else { left / factor[j * n + j] };
            }
        }
        let cells = places.iter().map(|(_, cell)| {
            let (law, offset) = laws[cell.output.get()];
            let noise = model.noise()[cell.output.get()].get();
            LawCell { law, offset, value: cell.value, noise, exposure }
        });
        Self { cells: cells.collect(), factor }
    }

    fn n(&self) -> usize {
        self.cells.len()
    }

    /// Function values from independent standard normals.
    fn functions(&self, normals: &[f64]) -> Vec<f64> {
        let n = self.n();
        (0..n).map(|i| (0..=i).map(|j| self.factor[i * n + j] * normals[j]).sum()).collect()
    }

    fn log_likelihood(&self, functions: &[f64]) -> f64 {
        self.cells.iter().zip(functions).map(|(cell, f)| cell.log_density(*f)).sum()
    }

    /// By the trapezoidal rule over three cells.
    ///
    /// # Panics
    /// When there are not three cells.
    pub fn integrated(&self, step: f64) -> SlowPosterior {
        assert_eq!(self.n(), 3, "three cells are integrated");
        let reach = (8.5 / step) as i32;
        let grid: Vec<f64> = (-reach..=reach).map(|at| step * f64::from(at)).collect();
        let mass = |z: f64| step * (-0.5 * z * z).exp() / TAU.sqrt();
        let factor = &self.factor;
        let (mut total, mut first, mut second) = (0.0, [0.0; 3], [0.0; 3]);
        // Relative to the value at the prior's mean no sum overflows in these tables.
        let level = self.log_likelihood(&[0.0; 3]);
        for &z0 in &grid {
            let f0 = factor[0] * z0;
            let log0 = self.cells[0].log_density(f0) - level;
            for &z1 in &grid {
                let f1 = factor[3] * z0 + factor[4] * z1;
                let log1 = log0 + self.cells[1].log_density(f1);
                let outer = mass(z0) * mass(z1);
                if outer * (log1 + level).exp() == 0.0 {
                    continue;
                }
                for &z2 in &grid {
                    let f2 = factor[6] * z0 + factor[7] * z1 + factor[8] * z2;
                    let weight = outer * mass(z2) * (log1 + self.cells[2].log_density(f2)).exp();
                    total += weight;
                    for (at, f) in [f0, f1, f2].into_iter().enumerate() {
                        first[at] += weight * f;
                        second[at] += weight * f * f;
                    }
                }
            }
        }
        let means: Vec<f64> = first.iter().map(|sum| sum / total).collect();
        let deviations = second.iter().zip(&means).map(|(sum, mean)| (sum / total - mean * mean).sqrt());
        let deviations = deviations.collect();
        SlowPosterior { means, deviations, log_evidence: Some(total.ln() + level) }
    }

    /// By elliptical slice sampling: a chain of so many states, the first tenth of which is not counted.
    pub fn sampled(&self, n_states: usize, seed: u64) -> SlowPosterior {
        let mut draws = SeededDraws::new(seed);
        let n = self.n();
        let mut state = vec![0.0; n];
        let mut level = self.log_likelihood(&state);
        let (mut first, mut second, mut count) = (vec![0.0; n], vec![0.0; n], 0.0);
        for at in 0..n_states {
            let normals: Vec<f64> = (0..n).map(|_| draws.normal()).collect();
            let other = self.functions(&normals);
            let threshold = level + draws.uniform(0.0, 1.0).ln();
            let mut angle = draws.uniform(0.0, TAU);
            let (mut low, mut high) = (angle - TAU, angle);
            loop {
                let (sine, cosine) = angle.sin_cos();
                let tried: Vec<f64> =
                    state.iter().zip(&other).map(|(own, new)| cosine * own + sine * new).collect();
                let found = self.log_likelihood(&tried);
                if found > threshold {
                    (state, level) = (tried, found);
                    break;
                }
                if angle < 0.0 {
                    low = angle;
                } else {
                    high = angle;
                }
                angle = draws.uniform(low, high);
            }
            if at * 10 >= n_states {
                count += 1.0;
                for (i, f) in state.iter().enumerate() {
                    first[i] += f;
                    second[i] += f * f;
                }
            }
        }
        let means: Vec<f64> = first.iter().map(|sum| sum / count).collect();
        let deviations =
            second.iter().zip(&means).map(|(sum, mean)| (sum / count - mean * mean).sqrt()).collect();
        SlowPosterior { means, deviations, log_evidence: None }
    }
}
