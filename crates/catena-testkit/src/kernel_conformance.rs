//! The laws of the kernel traits, tested against definitions evaluated in 32 digits.
//!
//! Where a difference would cancel even in 32 digits (`1 − ρ²` or `P∞ − A P∞ Aᵀ` at u = 1e-12) the reference is a power
//! series whose leading terms are dropped exactly.

use crate::reference::{DoubleDouble, correlation, drift, matrix_exponential, stationary_covariance};
use catena::kernel::{Correlation, DerivativeState, Dynamics, Kernel, StateKind, Step, VisitDynamics};
use catena::units::LengthScale;

/// About 50 units in the last place: closed forms may lose a few digits of one to regrouping, never more.
const ROUNDING: f64 = 1e-14;

/// Scaled distances from 1e-12 to 600, where Matérn kernels are down to 1e-257.
pub fn scaled_distances() -> Vec<f64> {
    let mut grid: Vec<f64> = (-24..=5).map(|half| 10.0_f64.powf(f64::from(half) / 2.0)).collect();
    grid.extend([
        0.2, 0.37, 0.5859, 0.7, 0.99, 0.999_999, 1.0, 1.000_001, 1.3, 1.7, 2.5, 3.4142, 5.0, 8.0, 20.0, 600.0,
    ]);
    grid
}

fn number(value: f64) -> DoubleDouble {
    DoubleDouble::new(value)
}

#[track_caller]
fn assert_within(what: &str, u: f64, actual: f64, expected: DoubleDouble, allowed: f64) {
    let error = (number(actual) - expected).to_f64().abs();
    assert!(error <= allowed, "{what} at u = {u:e}: {actual:e} instead of {:e}", expected.to_f64());
}

/// `u·dF/du` by seven-point differences. Below 1e-5 every function here is a polynomial of degree 6 to many digits, so a
/// wide step is exact and keeps rounding away; above, a narrow one is off by 1e-21.
fn log_slope(function: impl Fn(DoubleDouble) -> Vec<DoubleDouble>, u: f64) -> Vec<DoubleDouble> {
    let halvings = if u < 1e-5 { 4 } else { 13 };
    let step = number(u).times_power_of_two(-halvings);
    let at = |times: f64| function(number(u) + step * number(times));
    let stencil =
        [(1.0, 45.0), (2.0, -9.0), (3.0, 1.0)].map(|(times, weight)| (at(times), at(-times), weight));
    let entry = |i: usize| {
        let sum: DoubleDouble =
            stencil.iter().map(|(ahead, behind, weight)| number(*weight) * (ahead[i] - behind[i])).sum();
        sum.times_power_of_two(halvings) / number(60.0)
    };
    (0..stencil[0].0.len()).map(entry).collect()
}

/// The series of ρ in powers of u: enough terms for u ≤ 1.
fn correlation_series(kernel: Kernel) -> Vec<DoubleDouble> {
    const TERMS: usize = 60;
    let mut exponential = vec![DoubleDouble::ONE];
    for power in 1..TERMS {
        exponential.push(-exponential[power - 1] / number(power as f64));
    }
    let third = DoubleDouble::ONE / number(3.0);
    let polynomial = match kernel {
        Kernel::Matern12 => vec![DoubleDouble::ONE],
        Kernel::Matern32 => vec![DoubleDouble::ONE; 2],
        Kernel::Matern52 => vec![DoubleDouble::ONE, DoubleDouble::ONE, third],
        Kernel::SquaredExponential => {
            let mut series = vec![DoubleDouble::ZERO; TERMS];
            let mut term = DoubleDouble::ONE;
            for power in 0..TERMS / 2 {
                series[2 * power] = term;
                term = -term / number(2.0 * (power + 1) as f64);
            }
            return series;
        }
    };
    multiply_series(&polynomial, &exponential)
}

fn multiply_series(a: &[DoubleDouble], b: &[DoubleDouble]) -> Vec<DoubleDouble> {
    let coefficient = |power: usize| (0..=power.min(a.len() - 1)).map(|i| a[i] * b[power - i]).sum();
    (0..b.len()).map(coefficient).collect()
}

fn evaluate(series: &[DoubleDouble], u: DoubleDouble) -> DoubleDouble {
    series.iter().rev().fold(DoubleDouble::ZERO, |sum, &coefficient| sum * u + coefficient)
}

/// `1 − ρ(u)²`, without cancellation.
fn exact_decorrelation(kernel: Kernel, u: DoubleDouble) -> DoubleDouble {
    if u.to_f64() > 1.0 {
        let rho = correlation(kernel, u);
        return DoubleDouble::ONE - rho * rho;
    }
    let series = correlation_series(kernel);
    let mut square = multiply_series(&series, &series);
    square[0] = DoubleDouble::ZERO;
    // Powers that vanish in exact arithmetic carry rounding errors that a small u would blow up.
    for coefficient in &mut square {
        if coefficient.to_f64().abs() < 1e-29 {
            *coefficient = DoubleDouble::ZERO;
        }
    }
    -evaluate(&square, u)
}

/// Q(u) of a derivative state: `P∞ − A P∞ Aᵀ`, for small u as the series of `∫₀ᵘ q c cᵀ` with c the last column of A.
fn exact_noise(kernel: Kernel, u: DoubleDouble) -> Vec<DoubleDouble> {
    let (drift, stationary) = (drift(kernel).unwrap(), stationary_covariance(kernel).unwrap());
    let dim = drift.len().isqrt();
    if u.to_f64() > 1.0 {
        let a = matrix_exponential(&drift, u);
        let entry = |i: usize, j: usize| {
            let mut sum = stationary[i * dim + j];
            for k in 0..dim {
                for l in 0..dim {
                    sum -= a[i * dim + k] * stationary[k * dim + l] * a[j * dim + l];
                }
            }
            sum
        };
        return (0..dim * dim).map(|at| entry(at / dim, at % dim)).collect();
    }
    let last = dim - 1;
    let diffusion: DoubleDouble =
        (0..dim).map(|k| number(-2.0 * drift[last * dim + k]) * stationary[k * dim + last]).sum();
    // The series of c, component by component: F^k e_K/k!.
    const TERMS: usize = 50;
    let mut column: Vec<DoubleDouble> = (0..dim).map(|i| number(f64::from(u8::from(i == last)))).collect();
    let mut series = vec![vec![]; dim];
    for power in 1..=TERMS {
        (0..dim).for_each(|i| series[i].push(column[i]));
        column = (0..dim)
            .map(|i| (0..dim).map(|k| number(drift[i * dim + k]) * column[k]).sum::<DoubleDouble>())
            .map(|entry| entry / number(power as f64))
            .collect();
    }
    let entry = |i: usize, j: usize| {
        let integrand = multiply_series(&series[i], &series[j]);
        let mut integral = vec![DoubleDouble::ZERO];
        integral.extend(integrand.iter().enumerate().map(|(power, &c)| c / number((power + 1) as f64)));
        diffusion * evaluate(&integral, u)
    };
    (0..dim * dim).map(|at| entry(at / dim, at % dim)).collect()
}

/// The laws of [`Correlation`].
///
/// # Panics
/// When a law is broken.
pub fn check_correlation<C: Correlation>(kernel: Kernel) {
    assert!(C::correlation(0.0) == 1.0, "{}: ρ(0) is not 1", C::NAME);
    assert!(C::decorrelation(0.0) == 0.0, "{}: 1 − ρ(0)² is not 0", C::NAME);
    for far in [1e9, 1e200, f64::MAX, f64::INFINITY] {
        let values = (C::correlation(far), C::correlation_derivative(far).abs(), C::decorrelation(far));
        assert_eq!(values, (0.0, 0.0, 1.0), "{} at u = {far:e}", C::NAME);
    }
    let mut before = 1.0;
    let mut grid = scaled_distances();
    grid.sort_by(f64::total_cmp);
    for u in grid {
        let rho = C::correlation(u);
        assert!(rho <= before * (1.0 + ROUNDING) && rho >= 0.0, "{} increases before u = {u:e}", C::NAME);
        before = rho;
        let exact = correlation(kernel, number(u));
        // u²/2 in the exponent of the squared exponential is itself rounded: as many ulp as the exponent is large.
        let exponent = if kernel == Kernel::SquaredExponential { 1.0 + 0.5 * u * u } else { 1.0 };
        let allowed = ROUNDING * exponent * exact.to_f64() + 1e-280;
        assert_within("correlation", u, rho, exact, allowed);
        let slope = log_slope(|at| vec![correlation(kernel, at)], u)[0] / number(u);
        // 32 digits of ρ ≈ 1 leave about 1e-30 for its wide differences, 1e-27 for its narrow ones.
        let difference_error = if u < 1e-5 { 1e-30 / u } else { 1e-27 / u };
        let allowed = ROUNDING * exponent * slope.to_f64().abs() + difference_error;
        assert_within("correlation slope", u, C::correlation_derivative(u), slope, allowed);
        let exact = exact_decorrelation(kernel, number(u));
        assert_within("decorrelation", u, C::decorrelation(u), exact, ROUNDING * exact.to_f64());
    }
    let steepest =
        (0..200_000).map(|at| C::correlation_derivative(f64::from(at) * 1e-4).abs()).fold(0.0, f64::max);
    let ratio = steepest / C::LIPSCHITZ_CONSTANT;
    assert!((1.0 - 1e-8..=1.0 + ROUNDING).contains(&ratio), "{}: steepest slope is off by {ratio}", C::NAME);
}

/// The laws of [`DerivativeState`].
///
/// # Panics
/// When a law is broken.
pub fn check_derivative_state<C: DerivativeState<K>, const K: usize>(kernel: Kernel) {
    let expected_drift = drift(kernel).unwrap();
    assert_eq!(C::DRIFT.concat(), expected_drift, "{}: drift", C::NAME);
    let p = C::STATIONARY_COVARIANCE;
    for i in 0..K {
        for j in 0..K {
            let flow: f64 = (0..K).map(|k| C::DRIFT[i][k] * p[k][j] + p[i][k] * C::DRIFT[j][k]).sum();
            let driven = if i == K - 1 && j == K - 1 { C::DIFFUSION } else { 0.0 };
            assert!((flow + driven).abs() < ROUNDING, "{}: P∞ is not stationary at ({i}, {j})", C::NAME);
        }
    }
    for u in scaled_distances() {
        let step = C::step(u);
        check_transition(kernel, u, &step, &matrix_exponential(&expected_drift, number(u)));
        check_noise(kernel, u, &step, &exact_noise(kernel, number(u)));
        let value: f64 = (0..K).map(|k| step.transition[0][k] * p[k][0]).sum();
        let allowed = ROUNDING * C::correlation(u) + 1e-280;
        assert_within("(A P∞)₁₁", u, value, number(C::correlation(u)), allowed);
        for other in [1e-9, 1e-3, 0.4, 2.0, 30.0] {
            check_semigroup::<C, K>(u, other);
        }
    }
}

fn check_transition<const K: usize>(kernel: Kernel, u: f64, step: &Step<K>, exact: &[DoubleDouble]) {
    let largest = exact.iter().fold(0.0_f64, |largest, entry| largest.max(entry.to_f64().abs()));
    for (at, &entry) in exact.iter().enumerate() {
        // Past 0.1 an entry may vanish by cancellation (1 − u at u = 1): there the largest entry is the measure.
        let scale = if u < 0.1 { entry.to_f64().abs() } else { largest };
        let what = format!("{} transition ({}, {})", kernel.name(), at / K, at % K);
        assert_within(&what, u, step.transition[at / K][at % K], entry, ROUNDING * scale + 1e-280);
    }
}

fn check_noise<const K: usize>(kernel: Kernel, u: f64, step: &Step<K>, exact: &[DoubleDouble]) {
    for (at, &entry) in exact.iter().enumerate() {
        let (i, j) = (at / K, at % K);
        let scale = (exact[i * K + i].to_f64() * exact[j * K + j].to_f64()).sqrt();
        let what = format!("{} noise ({i}, {j})", kernel.name());
        assert_within(&what, u, step.noise[i][j], entry, ROUNDING * scale);
    }
}

fn check_semigroup<C: DerivativeState<K>, const K: usize>(s: f64, t: f64) {
    // The sum s + t is rounded; its own error times the slope of A is far below the tolerance.
    let whole = C::step(s + t).transition;
    let (first, second) = (C::step(s).transition, C::step(t).transition);
    let largest = whole.iter().flatten().fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
    // Intermediate products can be larger than what they sum to, by the square of the polynomial's size.
    let allowed = ROUNDING * (largest + first[0][0].abs() * second[0][0].abs()) * (1.0 + s + t) + 1e-280;
    for i in 0..K {
        for j in 0..K {
            let product: f64 = (0..K).map(|k| first[i][k] * second[k][j]).sum();
            assert_within("A(s)A(t) against A(s + t)", s, product, number(whole[i][j]), allowed);
        }
    }
}

/// The laws of [`Dynamics`], for a kernel in one kind of state.
///
/// # Panics
/// When a law is broken, or the kernel has no state of that kind.
pub fn check_dynamics(kernel: Kernel, state: StateKind) {
    for length_scale in [1e-3, 0.7, 1.0, 1e4] {
        let length_scale = LengthScale::new(length_scale).unwrap();
        let rate = kernel.rate(length_scale);
        kernel.visit_dynamics(state, length_scale, DynamicsLaws { kernel, state, rate }).unwrap();
    }
}

struct DynamicsLaws {
    kernel: Kernel,
    state: StateKind,
    rate: f64,
}

impl VisitDynamics for DynamicsLaws {
    type Output = ();

    fn visit<const K: usize>(self, dynamics: impl Dynamics<K>) {
        let root = dynamics.root_covariance();
        let still = dynamics.step(0.0);
        for i in 0..K {
            for j in 0..K {
                assert!(still.transition[i][j] == f64::from(u8::from(i == j)), "A(0) is not the identity");
                assert!(still.noise[i][j] == 0.0, "Q(0) is not 0");
            }
        }
        for u in scaled_distances() {
            let distance = u / self.rate;
            // What the library makes of that distance, so that both sides speak of the same u.
            let u = self.rate * distance;
            let step = dynamics.step(distance);
            for i in 0..K {
                for j in 0..K {
                    let mut moved = step.noise[i][j];
                    for k in 0..K {
                        for l in 0..K {
                            moved += step.transition[i][k] * root[k][l] * step.transition[j][l];
                        }
                    }
                    assert_within("A P₀ Aᵀ + Q", u, moved, number(root[i][j]), ROUNDING);
                }
            }
            self.check_slopes(u, &dynamics.length_scale_derivative(distance));
        }
        for far in [1e250, f64::MAX] {
            let (step, slope) = (dynamics.step(far), dynamics.length_scale_derivative(far));
            let nothing = [step.transition, slope.transition, slope.noise];
            assert!(
                nothing.iter().flatten().flatten().all(|&entry| entry == 0.0),
                "far steps: {step:?}, {slope:?}"
            );
            for i in 0..K {
                for j in 0..K {
                    let (noise, whole) = (step.noise[i][j], number(root[i][j]));
                    assert_within("Q far away, where nothing is known", far, noise, whole, ROUNDING);
                }
            }
        }
    }
}

impl DynamicsLaws {
    fn exact_step(&self, u: DoubleDouble) -> (Vec<DoubleDouble>, Vec<DoubleDouble>) {
        match self.state {
            StateKind::Value => {
                (vec![correlation(self.kernel, u)], vec![exact_decorrelation(self.kernel, u)])
            }
            StateKind::Derivative => {
                (matrix_exponential(&drift(self.kernel).unwrap(), u), exact_noise(self.kernel, u))
            }
        }
    }

    /// u falls as the length-scale grows: `d/dlog ℓ = −u d/du`.
    fn check_slopes<const K: usize>(&self, u: f64, slope: &Step<K>) {
        let minus =
            |entries: Vec<DoubleDouble>| -> Vec<_> { entries.into_iter().map(|entry| -entry).collect() };
        let transition = minus(log_slope(|at| self.exact_step(at).0, u));
        let noise = minus(log_slope(|at| self.exact_step(at).1, u));
        let exponent = if self.kernel == Kernel::SquaredExponential { 1.0 + u * u } else { 1.0 };
        let largest_of =
            |entries: &[DoubleDouble]| entries.iter().fold(0.0_f64, |most, x| most.max(x.to_f64().abs()));
        let (largest, largest_noise) = (largest_of(&transition), largest_of(&noise));
        for i in 0..K {
            for j in 0..K {
                let name = self.kernel.name();
                let allowed = ROUNDING * exponent * largest + 1e-27;
                let what = format!("{name} dA/dlog ℓ ({i}, {j})");
                assert_within(&what, u, slope.transition[i][j], transition[i * K + j], allowed);
                // Past 0.1 a component of c may vanish by cancellation: there the largest slope is the measure.
                let own = (noise[i * K + i].to_f64() * noise[j * K + j].to_f64()).sqrt();
                let scale = if u < 0.1 { own } else { largest_noise };
                let what = format!("{name} dQ/dlog ℓ ({i}, {j})");
                // Past 1 the reference is a difference of numbers of order 1, and a diagonal slope may vanish (at u = 1).
                let difference_error = if u > 0.9 { 1e-20 } else { 0.0 };
                let allowed = ROUNDING * exponent * scale + difference_error;
                assert_within(&what, u, slope.noise[i][j], noise[i * K + j], allowed);
            }
        }
    }
}
