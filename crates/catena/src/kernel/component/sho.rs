//! The stochastically driven damped harmonic oscillator, from over-damped through critical (Matérn-3/2) to under-damped.

use crate::kernel::{Block, Dynamics, Step};
use crate::units::{LengthScale, Quality};

/// The oscillator x'' + 2b x' + x = white noise, in time `u = Δ/ℓ`, with damping `b = 1/(2·quality)`; the state is (x, x').
/// Its frequency is 1/ℓ, and at quality ½ it is Matérn-3/2. With `w² = 1 − b²`, `c = e^−bu cos wu`, `s = e^−bu sin(wu)/w`:
///
/// ```text
/// A = [[c + bs, s], [−s, c − bs]],   Q = 4b ∫₀ᵘ v vᵀ = I − AAᵀ,   v = (s, c − bs) = (s, s')
/// ```
///
/// Above critical damping w is imaginary, and the same functions are written with real exponentials.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sho {
    frequency: f64,
    damping: f64,
}

impl Sho {
    /// The oscillator with this length-scale and quality.
    pub(crate) fn new(length_scale: LengthScale, quality: Quality) -> Self {
        Self { frequency: length_scale.get().recip(), damping: 0.5 / quality.get() }
    }

    /// Whether Q is computed by quadrature, which is exact to rounding over short times; closed forms would cancel there.
    #[inline(always)]
    fn is_short(self, u: f64) -> bool {
        if self.damping > STRONG { u * self.damping < 1.0 } else { u * self.damping.max(1.0) < 1.5 }
    }

    /// u, limited to where cosines are defined.
    #[inline(always)]
    fn time(self, distance: f64) -> f64 {
        (self.frequency * distance).min(1e300)
    }
}

/// Above this damping everything is written with the two real exponentials: c and bs are nearly equal, and their difference
/// would cancel.
const STRONG: f64 = 1.5;

/// The entries c + bs, s and c − bs of A at one time, or their derivatives in the damping b.
#[derive(Clone, Copy)]
struct Swing {
    first: f64,
    sine: f64,
    last: f64,
}

/// Above critical damping, with rates p = b − w and q = b + w = 1/p, where `w² = b² − 1`:
/// `s = (e^−pu − e^−qu)/2w`, `c + bs = (q e^−pu − p e^−qu)/2w`, `c − bs = s' = (q e^−qu − p e^−pu)/2w`.
#[derive(Clone, Copy)]
struct Rates {
    half_gap: f64,
    slow: f64,
    fast: f64,
}

/// `Σ_k (−x²)^k/(2k)!` and `Σ_k (−x²)^k/(2k+1)!`: cos x and sin(x)/x for x² of either sign, |x²| < 1e-3.
#[inline(always)]
fn near_critical(square: f64) -> (f64, f64) {
    let cosine = 1.0 - square / 2.0 * (1.0 - square / 12.0 * (1.0 - square / 30.0 * (1.0 - square / 56.0)));
    let ratio = 1.0 - square / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0 * (1.0 - square / 72.0)));
    (cosine, ratio)
}

/// `(cos x − sin(x)/x)/x²` for |x²| < 1, of either sign: `Σ_{k≥1} (−1)^k (x²)^(k−1) 2k/(2k+1)!`.
#[inline(always)]
fn lag_series(square: f64) -> f64 {
    let (mut sum, mut term) = (0.0, -1.0 / 3.0);
    for k in 1..=10 {
        sum += term;
        let k = f64::from(k);
        term *= -square * (k + 1.0) / (k * (2.0 * k + 2.0) * (2.0 * k + 3.0));
    }
    sum
}

impl Rates {
    #[inline(always)]
    fn of(damping: f64) -> Self {
        // Two roots, since a square of the damping may overflow.
        let half_gap = (damping - 1.0).sqrt() * (damping + 1.0).sqrt();
        let fast = damping + half_gap;
        Self { half_gap, slow: fast.recip(), fast }
    }

    #[inline(always)]
    fn swing(self, u: f64) -> Swing {
        let Self { half_gap, slow, fast } = self;
        let (long, short) = ((-slow * u).exp(), (-fast * u).exp());
        let over = 0.5 / half_gap;
        Swing {
            first: over * (fast * long - slow * short),
            sine: over * long * -(-2.0 * half_gap * u).exp_m1(),
            last: over * (fast * short - slow * long),
        }
    }

    /// Derivatives in the damping: since only F₂₂ = −2b depends on it, `∂A/∂b = −2 ∫₀ᵘ (column 2 of A(u − t)) (row 2 of A(t)) dt`.
    #[inline(always)]
    fn derivatives(self, damping: f64, u: f64, sine: f64) -> Swing {
        let Self { half_gap, slow, fast } = self;
        let (long, short) = (u * (-slow * u).exp(), u * (-fast * u).exp());
        // q·u may overflow where the exponential has vanished.
        let fast_times_short = if short == 0.0 { 0.0 } else { fast * short };
        let over = 0.5 / half_gap / half_gap;
        Swing {
            first: over * (long + short - 2.0 * sine),
            sine: over * (slow * long + fast_times_short - 2.0 * damping * sine),
            last: over * (2.0 * sine - slow * slow * long - fast * fast_times_short),
        }
    }

    /// `Q = (b/w²) (E(2p) + E(2q) − 2E(2b))` and, for the second component, the same with the squares of the rates before
    /// the first two; E(k) = ∫₀ᵘ e^−kt dt. For bu above 1 the first term dominates, so nothing cancels.
    #[inline(always)]
    fn noise(self, damping: f64, u: f64, sine: f64) -> [f64; 3] {
        let Self { half_gap, slow, fast } = self;
        let [of_slow, of_fast, of_both] = [slow, fast, damping].map(|rate| decayed(2.0 * rate, u));
        let scale = damping / half_gap / half_gap;
        [
            scale * (of_slow + of_fast - 2.0 * of_both),
            2.0 * damping * sine * sine,
            scale * (slow * slow * of_slow + fast * (fast * of_fast) - 2.0 * of_both),
        ]
    }

    /// Derivatives of the noise in the logarithm of the damping; dp/dlog b = −pb/w and dq/dlog b = qb/w.
    #[inline(always)]
    fn noise_derivatives(self, damping: f64, u: f64, (sine, sine_derivative): (f64, f64)) -> [f64; 3] {
        let Self { half_gap, slow, fast } = self;
        let [of_slow, of_fast, of_both] = [slow, fast, damping].map(|rate| decayed(2.0 * rate, u));
        let [slow_end, fast_end, both_end] = [slow, fast, damping].map(|rate| u * (-2.0 * rate * u).exp());
        let scale = damping / half_gap / half_gap;
        let ratio = damping / half_gap;
        let own = 1.0 - 2.0 * ratio * ratio;
        let first = of_slow + of_fast - 2.0 * of_both;
        let last = slow * slow * of_slow + fast * (fast * of_fast) - 2.0 * of_both;
        let of_products = 2.0 * (both_end - of_both);
        let first_derivative = ratio * ((fast_end - of_fast) - (slow_end - of_slow)) - of_products;
        let last_derivative =
            ratio * (fast * (fast * (of_fast + fast_end)) - slow * slow * (of_slow + slow_end)) - of_products;
        [
            scale * (own * first + first_derivative),
            2.0 * damping * sine * (sine + 2.0 * damping * sine_derivative),
            scale * (own * last + last_derivative),
        ]
    }
}

/// `∫₀ᵘ e^−kt dt`.
#[inline(always)]
fn decayed(rate: f64, u: f64) -> f64 {
    -(-rate * u).exp_m1() / rate
}

impl Swing {
    #[inline(always)]
    fn at(damping: f64, u: f64) -> Self {
        // w² as a product, which does not cancel near critical damping.
        let squared_frequency = (1.0 - damping) * (1.0 + damping);
        let square = squared_frequency * u * u;
        let (cosine, sine) = if square.abs() < 1e-3 {
            let decay = (-damping * u).exp();
            let (cosine, ratio) = near_critical(square);
            (decay * cosine, decay * ratio * u)
        } else if squared_frequency > 0.0 {
            let decay = (-damping * u).exp();
            let frequency = squared_frequency.sqrt();
            let (sine, cosine) = (frequency * u).sin_cos();
            (decay * cosine, decay * sine / frequency)
        } else if damping > STRONG {
            return Rates::of(damping).swing(u);
        } else {
            let rate = (-squared_frequency).sqrt();
            // The slow exponent −b + w without its cancellation.
            let slow = (-u / (damping + rate)).exp();
            let fast = (-2.0 * rate * u).exp();
            (0.5 * slow * (1.0 + fast), 0.5 * slow * (1.0 - fast) / rate)
        };
        Self { first: cosine + damping * sine, sine, last: cosine - damping * sine }
    }

    /// Derivatives in b. With `g = (u c − s)/w²`: `∂(c + bs)/∂b = −g` and `∂s/∂b = −u s − b g`.
    #[inline(always)]
    fn derivatives(self, damping: f64, u: f64) -> Self {
        let Self { first, sine, last } = self;
        if first == 0.0 && sine == 0.0 {
            return Self { first: 0.0, sine: 0.0, last: 0.0 };
        }
        let squared_frequency = (1.0 - damping) * (1.0 + damping);
        let square = squared_frequency * u * u;
        let cosine = 0.5 * (first + last);
        let lag = if square.abs() < 1.0 {
            (-damping * u).exp() * u * u * u * lag_series(square)
        } else if damping > STRONG {
            return Rates::of(damping).derivatives(damping, u, sine);
        } else {
            (u * cosine - sine) / squared_frequency
        };
        Self {
            first: -lag,
            sine: -u * sine - damping * lag,
            last: 2.0 * damping * u * sine - u * cosine - sine + damping * damping * lag,
        }
    }

    /// A, or its derivative.
    #[inline(always)]
    fn matrix(self) -> Block<2> {
        [[self.first, self.sine], [-self.sine, self.last]]
    }
}

/// Nodes and weights of the Gauss–Legendre rule with ten points on (−1, 1), by symmetry half of them.
const NODES: [(f64, f64); 5] = [
    (0.148_874_338_981_631_22, 0.295_524_224_714_752_87),
    (0.433_395_394_129_247_2, 0.269_266_719_309_996_35),
    (0.679_409_568_299_024_4, 0.219_086_362_515_982_04),
    (0.865_063_366_688_984_5, 0.149_451_349_150_580_6),
    (0.973_906_528_517_171_7, 0.066_671_344_308_688_14),
];

/// The integral from 0 to u, entry by entry.
#[inline(always)]
fn integral(u: f64, integrand: impl Fn(f64) -> [f64; 3]) -> [f64; 3] {
    let half = 0.5 * u;
    let mut sums = [0.0; 3];
    for (node, weight) in NODES {
        let (low, high) = (integrand(half * (1.0 - node)), integrand(half * (1.0 + node)));
        for entry in 0..3 {
            sums[entry] += weight * (low[entry] + high[entry]);
        }
    }
    sums.map(|sum| half * sum)
}

/// The symmetric matrix of these three entries.
#[inline(always)]
fn symmetric([first, cross, last]: [f64; 3]) -> Block<2> {
    [[first, cross], [cross, last]]
}

impl Dynamics<2> for Sho {
    /// Over a long time, since `c² + w²s² = e^−2bu`: `Q₁₁ = 1 − e^−2bu − 2bs(c + bs)` and `Q₂₂ = 1 − e^−2bu + 2bs(c − bs)`,
    /// in which nothing cancels however small b is.
    #[inline(always)]
    fn step(self, distance: f64) -> Step<2> {
        let (u, b) = (self.time(distance), self.damping);
        let swing = Swing::at(b, u);
        let Swing { first, sine, last } = swing;
        let noise = if self.is_short(u) {
            let integrand = |t: f64| {
                let Swing { sine, last, .. } = Swing::at(b, t);
                [4.0 * b * sine * sine, 4.0 * b * sine * last, 4.0 * b * last * last]
            };
            integral(u, integrand)
        } else if b > STRONG {
            Rates::of(b).noise(b, u, sine)
        } else {
            let lost = -(-2.0 * b * u).exp_m1();
            [lost - 2.0 * b * sine * first, 2.0 * b * sine * sine, lost + 2.0 * b * sine * last]
        };
        Step { transition: swing.matrix(), noise: symmetric(noise) }
    }

    /// `dA/du = F A` with `F = [[0, 1], [−1, −2b]]`, `dQ/du = 4b v vᵀ`; u is inversely proportional to ℓ.
    #[inline(always)]
    fn length_scale_derivative(self, distance: f64) -> Step<2> {
        let (u, b) = (self.time(distance), self.damping);
        let Swing { first, sine, last } = Swing::at(b, u);
        if first == 0.0 && sine == 0.0 && last == 0.0 {
            return Step::ZERO;
        }
        // A product of time and damping may overflow; with the entries of v it does not.
        let (damped, timed) = ([b * sine, b * last], [u * sine, u * last]);
        let noise = [damped[0] * timed[0], damped[0] * timed[1], damped[1] * timed[1]];
        Step {
            transition: [[timed[0], -timed[1]], [timed[1], u * (sine + 2.0 * b * last)]],
            noise: symmetric(noise.map(|entry| -4.0 * entry)),
        }
    }

    /// In the logarithm of the quality, which is minus that of the damping.
    #[inline(always)]
    fn shape_derivative(self, distance: f64) -> Step<2> {
        let (u, b) = (self.time(distance), self.damping);
        let swing = Swing::at(b, u);
        let derivatives = swing.derivatives(b, u);
        let noise = if self.is_short(u) {
            let integrand = |t: f64| {
                let swing = Swing::at(b, t);
                let derivatives = swing.derivatives(b, t);
                let ([s, d], [s_derivative, d_derivative]) =
                    ([swing.sine, swing.last], [derivatives.sine, derivatives.last]);
                [
                    4.0 * b * s * (s + 2.0 * b * s_derivative),
                    4.0 * b * (s * d + b * (s_derivative * d + s * d_derivative)),
                    4.0 * b * d * (d + 2.0 * b * d_derivative),
                ]
            };
            integral(u, integrand)
        } else if b > STRONG {
            Rates::of(b).noise_derivatives(b, u, (swing.sine, derivatives.sine))
        } else {
            // Of I − AAᵀ.
            let (a, derivative) = (swing.matrix(), derivatives.matrix());
            let entry = |i: usize, j: usize| -> f64 {
                -b * (0..2).map(|k| derivative[i][k] * a[j][k] + a[i][k] * derivative[j][k]).sum::<f64>()
            };
            [entry(0, 0), entry(0, 1), entry(1, 1)]
        };
        Step {
            transition: derivatives.matrix().map(|row| row.map(|entry| -b * entry)),
            noise: symmetric(noise.map(|entry| -entry)),
        }
    }

    fn root_covariance(self) -> Block<2> {
        [[1.0, 0.0], [0.0, 1.0]]
    }
}
