//! The damped oscillator, from a slow forgetting over the critical Matérn-3/2 to swings that go on for long.

use crate::kernel::{Block, Dynamics, Step};
use crate::units::{LengthScale, Quality};

/// The oscillator x'' + 2b x' + x = white noise, in time `u = Δ/ℓ`, with damping `b = 1/(2·quality)`; the state is (x, x').
/// Its frequency is 1/ℓ, and at quality ½ it is Matérn-3/2. With `w² = 1 − b²`, `c = e^−bu cos wu`, `s = e^−bu sin(wu)/w`:
///
/// ```text
/// A = [[c + bs, s], [−s, c − bs]],   Q = 4b ∫₀ᵘ v vᵀ = I − AAᵀ,   v = (s, c − bs)
/// ```
///
/// Above critical damping w is imaginary, and the same functions are written with real exponentials.
#[derive(Clone, Copy, Debug)]
pub struct Sho {
    frequency: f64,
    damping: f64,
}

impl Sho {
    /// The oscillator with this length-scale and quality.
    pub fn new(length_scale: LengthScale, quality: Quality) -> Self {
        Self { frequency: length_scale.get().recip(), damping: 0.5 / quality.get() }
    }

    /// Whether Q is the integral, whose integrand is smooth enough over so short a time; else the difference `I − AAᵀ`
    /// has lost nothing.
    #[inline(always)]
    fn is_short(self, u: f64) -> bool {
        u * self.damping.max(1.0) < 1.5
    }

    /// u, kept where cosines are still defined.
    #[inline(always)]
    fn time(self, distance: f64) -> f64 {
        (self.frequency * distance).min(1e300)
    }
}

/// c and s at one time, with their slopes in the damping b if they were asked for.
#[derive(Clone, Copy)]
struct Swing {
    cosine: f64,
    sine: f64,
    cosine_slope: f64,
    sine_slope: f64,
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
        } else {
            let rate = (-squared_frequency).sqrt();
            // The slow exponent −b + w without its cancellation.
            let slow = (-u / (damping + rate)).exp();
            let fast = (-2.0 * rate * u).exp();
            (0.5 * slow * (1.0 + fast), 0.5 * slow * (1.0 - fast) / rate)
        };
        Self { cosine, sine, cosine_slope: 0.0, sine_slope: 0.0 }
    }

    /// With `g = (u c − s)/w²`: `∂c/∂b = −u c + b u s` and `∂s/∂b = −u s − b g`.
    #[inline(always)]
    fn with_slopes_at(damping: f64, u: f64) -> Self {
        let swing = Self::at(damping, u);
        let Self { cosine, sine, .. } = swing;
        if cosine == 0.0 && sine == 0.0 {
            return swing;
        }
        let squared_frequency = (1.0 - damping) * (1.0 + damping);
        let square = squared_frequency * u * u;
        let lag = if square.abs() < 1.0 {
            (-damping * u).exp() * u * u * u * lag_series(square)
        } else {
            (u * cosine - sine) / squared_frequency
        };
        let cosine_slope = -u * cosine + damping * u * sine;
        let sine_slope = -u * sine - damping * lag;
        Self { cosine_slope, sine_slope, ..swing }
    }

    /// A.
    #[inline(always)]
    fn transition(self, damping: f64) -> Block<2> {
        let Self { cosine, sine, .. } = self;
        [[cosine + damping * sine, sine], [-sine, cosine - damping * sine]]
    }

    /// ∂A/∂b.
    #[inline(always)]
    fn transition_slope(self, damping: f64) -> Block<2> {
        let Self { sine, cosine_slope, sine_slope, .. } = self;
        let swung = sine + damping * sine_slope;
        [[cosine_slope + swung, sine_slope], [-sine_slope, cosine_slope - swung]]
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
    #[inline(always)]
    fn step(self, distance: f64) -> Step<2> {
        let (u, b) = (self.time(distance), self.damping);
        let transition = Swing::at(b, u).transition(b);
        let noise = if self.is_short(u) {
            let spread = |t: f64| {
                let [_, [_, last]] = Swing::at(b, t).transition(b);
                let first = Swing::at(b, t).sine;
                [4.0 * b * first * first, 4.0 * b * first * last, 4.0 * b * last * last]
            };
            integral(u, spread)
        } else {
            let [[a, s], [_, d]] = transition;
            [1.0 - a * a - s * s, 2.0 * b * s * s, 1.0 - s * s - d * d]
        };
        Step { transition, noise: symmetric(noise) }
    }

    /// `dA/du = F A` with `F = [[0, 1], [−1, −2b]]`, `dQ/du = 4b v vᵀ`; u is inversely proportional to ℓ.
    #[inline(always)]
    fn slope(self, distance: f64) -> Step<2> {
        let (u, b) = (self.time(distance), self.damping);
        let a = Swing::at(b, u).transition(b);
        if a == [[0.0; 2]; 2] {
            return Step::ZERO;
        }
        let mut slope = Step::ZERO;
        for j in 0..2 {
            slope.transition[0][j] = -u * a[1][j];
            slope.transition[1][j] = u * (a[0][j] + 2.0 * b * a[1][j]);
            for i in 0..2 {
                slope.noise[i][j] = -4.0 * b * u * a[i][1] * a[j][1];
            }
        }
        slope
    }

    /// In the logarithm of the quality, which is minus that of the damping.
    #[inline(always)]
    fn shape_slope(self, distance: f64) -> Step<2> {
        let (u, b) = (self.time(distance), self.damping);
        let swing = Swing::with_slopes_at(b, u);
        let (a, slope) = (swing.transition(b), swing.transition_slope(b));
        let noise = if self.is_short(u) {
            let spread = |t: f64| {
                let swing = Swing::with_slopes_at(b, t);
                let ([_, [_, last]], [_, [_, last_slope]]) = (swing.transition(b), swing.transition_slope(b));
                let (first, first_slope) = (swing.sine, swing.sine_slope);
                [
                    4.0 * first * (first + 2.0 * b * first_slope),
                    4.0 * (first * last + b * (first_slope * last + first * last_slope)),
                    4.0 * last * (last + 2.0 * b * last_slope),
                ]
            };
            integral(u, spread)
        } else {
            let entry = |i: usize, j: usize| -> f64 {
                -(0..2).map(|k| slope[i][k] * a[j][k] + a[i][k] * slope[j][k]).sum::<f64>()
            };
            [entry(0, 0), entry(0, 1), entry(1, 1)]
        };
        Step {
            transition: slope.map(|row| row.map(|entry| -b * entry)),
            noise: symmetric(noise.map(|entry| -b * entry)),
        }
    }

    fn root_covariance(self) -> Block<2> {
        [[1.0, 0.0], [0.0, 1.0]]
    }
}
