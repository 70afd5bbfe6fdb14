//! Components along time obey the laws of dynamics and agree with 80-digit references (written by `components/make_components.py`).

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::kernel::{Component, Dynamics, Step, VisitDynamics};
use catena::units::{LengthScale, Quality};

const FIXTURE: &str = include_str!("components/components.txt");

/// What kernels are allowed, too: about 50 units in the last place.
const ROUNDING: f64 = 1e-14;

/// A step, its slopes in length-scale and shape, and the root's covariance, as lists.
#[derive(Clone, Debug)]
struct Written {
    dim: usize,
    step: Vec<f64>,
    slope: Vec<f64>,
    shape_derivative: Vec<f64>,
    root: Vec<f64>,
}

struct At(f64);

impl VisitDynamics for At {
    type Output = Written;

    fn visit<const K: usize>(self, dynamics: impl Dynamics<K>) -> Written {
        let list = |step: Step<K>| flat(step.transition).into_iter().chain(flat(step.noise)).collect();
        Written {
            dim: K,
            step: list(dynamics.step(self.0)),
            slope: list(dynamics.length_scale_derivative(self.0)),
            shape_derivative: list(dynamics.shape_derivative(self.0)),
            root: flat(dynamics.root_covariance()),
        }
    }
}

fn flat<const K: usize>(block: [[f64; K]; K]) -> Vec<f64> {
    block.into_iter().flatten().collect()
}

/// A hexadecimal `f64` as Python prints it.
fn from_hex(text: &str) -> f64 {
    let (mantissa, exponent) = text.strip_prefix("0x").unwrap().split_once('p').unwrap();
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let number = u64::from_str_radix(&format!("{whole}{fraction}"), 16).unwrap();
    number as f64 * 2.0_f64.powi(exponent.parse::<i32>().unwrap() - 4 * fraction.len() as i32)
}

fn component(name: &str, shape: f64) -> Component {
    match name {
        "sho" => Component::Sho { quality: Quality::new(shape).unwrap() },
        "qp" => Component::Cycle { period: LengthScale::new(shape).unwrap() },
        "rw" => Component::RandomWalk,
        "llt" => Component::LocalLinearTrend,
        _ => Component::DampedTrend,
    }
}

/// Entries of a covariance, or of its slope, are measured by the deviations of what they are between; those of a transition by the
/// largest of their kind.
fn scales(dim: usize, exact: &[f64], noise: &[f64]) -> Vec<f64> {
    let largest = exact[..dim * dim].iter().fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
    let of_noise = |at: usize| (noise[at / dim * (dim + 1)] * noise[at % dim * (dim + 1)]).sqrt();
    (0..dim * dim).map(|_| largest).chain((0..dim * dim).map(of_noise)).collect()
}

#[test]
fn steps_and_slopes_are_right_to_rounding() {
    let mut worst = 0.0_f64;
    for line in FIXTURE.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let [length, shape, distance] = [1, 2, 3].map(|at| from_hex(fields[at]));
        let exact: Vec<f64> = fields[4..].iter().map(|number| number.parse().unwrap()).collect();
        let length_scale = LengthScale::new(length).unwrap();
        let written = component(fields[0], shape).visit_dynamics(length_scale, At(distance));
        let (dim, count) = (written.dim, 2 * written.dim * written.dim);
        assert_eq!(exact.len(), 3 * count, "{line}");
        let noise = &exact[dim * dim..count];
        // Angles and exponents are rounded where they are formed: their size is what an error is multiplied with.
        let turns = if fields[0] == "qp" { distance / shape } else { 0.0 };
        let growth = 1.0 + distance / length + std::f64::consts::TAU * turns;
        let kinds = [&written.step, &written.slope, &written.shape_derivative];
        for (kind, actual) in kinds.iter().enumerate() {
            let exact = &exact[kind * count..][..count];
            for (at, scale) in scales(dim, exact, noise).into_iter().enumerate() {
                let error = (actual[at] - exact[at]).abs();
                worst = worst.max(error / (growth * scale).max(1e-300));
                assert!(
                    error <= ROUNDING * growth * scale + 1e-300,
                    "{} of {line:.80}: entry {at} is {:e} instead of {:e} (scale {scale:e})",
                    ["step", "slope", "shape slope"][kind],
                    actual[at],
                    exact[at]
                );
            }
        }
    }
    assert!(worst > 0.0, "nothing was compared");
}

/// The product of two square matrices, the second transposed if asked.
fn product(dim: usize, a: &[f64], b: &[f64], transposed: bool) -> Vec<f64> {
    let of = |k: usize, j: usize| if transposed { b[j * dim + k] } else { b[k * dim + j] };
    let entry = |i: usize, j: usize| (0..dim).map(|k| a[i * dim + k] * of(k, j)).sum();
    (0..dim * dim).map(|at| entry(at / dim, at % dim)).collect()
}

#[test]
fn two_steps_are_one_and_stationary_pieces_stay_what_they_are() {
    let components = [0.1, 0.5, 0.50001, 3.0, 40.0].map(|quality| component("sho", quality));
    let others = [("qp", 0.8), ("qp", 24.0), ("rw", 1.0), ("llt", 1.0), ("dt", 1.0)]
        .map(|(name, shape)| component(name, shape));
    for component in components.into_iter().chain(others) {
        let length_scale = LengthScale::new(1.7).unwrap();
        let at = |distance: f64| component.visit_dynamics(length_scale, At(distance));
        for (s, t) in [(1e-9, 1e-7), (1e-4, 0.3), (0.7, 1.9), (2.6, 0.0), (5.0, 11.0)] {
            let (first, second, whole) = (at(s), at(t), at(s + t));
            let dim = whole.dim;
            let square = dim * dim;
            let turned = product(dim, &second.step[..square], &first.step[..square], false);
            let carried = product(dim, &second.step[..square], &first.step[square..], false);
            let carried = product(dim, &carried, &second.step[..square], true);
            for at in 0..square {
                assert!((turned[at] - whole.step[at]).abs() < 1e-14 * (1.0 + s + t), "{component:?} {s} {t}");
                let noise = carried[at] + second.step[square + at];
                let size = whole.step[square + at].abs().max(1e-18);
                let allowed =
                    1e-13 * whole.step[square..].iter().fold(size, |most, entry| most.max(entry.abs()));
                assert!(
                    (noise - whole.step[square + at]).abs() <= allowed,
                    "{component:?} {s} {t} entry {at}"
                );
            }
            if component.is_stationary() {
                let carried = product(dim, &whole.step[..square], &whole.root, false);
                let carried = product(dim, &carried, &whole.step[..square], true);
                for at in 0..square {
                    let sum = carried[at] + whole.step[square + at];
                    assert!((sum - whole.root[at]).abs() < 1e-14, "{component:?} {s} {t}: {sum}");
                }
            }
        }
        let nothing = at(0.0);
        let identity = |at: usize| if at / nothing.dim == at % nothing.dim { 1.0 } else { 0.0 };
        let square = nothing.dim * nothing.dim;
        let expected: Vec<f64> = (0..square).map(identity).chain(vec![0.0; square]).collect();
        assert_eq!(nothing.step, expected, "{component:?} at 0");
        for far in [1e9, 1e200, 1e308] {
            let written = at(far);
            let numbers = [written.step, written.slope, written.shape_derivative].concat();
            // A level may have wandered beyond the range of numbers; an oscillator or a cycle is forgotten.
            assert!(
                !component.is_stationary() || numbers.iter().all(|number| number.is_finite()),
                "{component:?} at {far}"
            );
        }
    }
}
