//! Initial weights of shared seasons, from the seasons of single outputs.
//!
//! One harmonic of a single output is a phasor that rotates once per period. Rotated back it moves slowly, and the phasors of
//! all outputs at some times form a complex matrix, outputs by times. A group of a shared season is one phasor of time with a
//! complex weight (amplitude and phase) per output: the leading singular vectors.

use std::f64::consts::TAU;

use catena::kernel::Component;
use catena::model::{Latent, Lmc};
use catena::units::LengthScale;

use super::single::Series;
use super::sums::Group;
use crate::error::FitError;
use crate::options::TimeSpec;

/// Times at which the phasors are compared.
const TIMES: usize = 48;
/// Power iterations for a singular vector.
const STEPS: usize = 200;

/// A complex number.
type Complex = (f64, f64);

fn times(a: Complex, b: Complex) -> Complex {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

fn conjugate(a: Complex) -> Complex {
    (a.0, -a.1)
}

fn square(a: Complex) -> f64 {
    a.0 * a.0 + a.1 * a.1
}

/// The groups of every shared season of a sum, from single models.
pub(super) fn groups(
    spec: &TimeSpec,
    series: &[Option<Series>],
    singles: &[Lmc],
) -> Result<Vec<Group>, FitError> {
    let n_shared: usize = spec.shared().iter().map(|(_, harmonics, _)| harmonics).sum();
    let mut column = singles.first().map_or(0, |single| single.n_latents() - n_shared);
    let mut groups = vec![];
    for (period, harmonics, count) in spec.shared() {
        // The shared length-scale is the geometric mean.
        let logs = singles.iter().map(|single| single.latents()[column].length_scale().get().ln());
        let length_scale = LengthScale::new((logs.sum::<f64>() / singles.len() as f64).exp())
            .map_err(catena::model::ModelError::from)?;
        let mut found = vec![Group { latents: vec![], weights: vec![] }; count];
        let mut pairs: Vec<Vec<Vec<(f64, f64)>>> = vec![vec![]; count];
        for order in 1..=harmonics {
            let period = period / order as f64;
            let component = Component::Cycle {
                period: LengthScale::new(period).map_err(catena::model::ModelError::from)?,
            };
            let cycle = Latent::component(component, length_scale);
            let of_groups = shared_weights(series, singles, (column, period), count)?;
            for ((group, pairs), weights) in found.iter_mut().zip(&mut pairs).zip(of_groups) {
                group.latents.extend([Some(cycle), Latent::quadrature_of(&cycle)].into_iter().flatten());
                pairs.push(weights);
            }
            column += 1;
        }
        for (group, pairs) in found.iter_mut().zip(pairs) {
            let row =
                |output: usize| pairs.iter().flat_map(move |harmonic| <[f64; 2]>::from(harmonic[output]));
            group.weights = (0..singles.len()).flat_map(row).collect();
        }
        groups.extend(found);
    }
    Ok(groups)
}

/// The weights of the leading groups, one pair per output for the cycle and its quadrature component. `column` is that of the harmonic
/// in every single model.
fn shared_weights(
    series: &[Option<Series>],
    singles: &[Lmc],
    (column, period): (usize, f64),
    groups: usize,
) -> Result<Vec<Vec<(f64, f64)>>, FitError> {
    let (first, last) = series
        .iter()
        .flatten()
        .flat_map(Series::ends)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (first, last)| {
            (low.min(first), high.max(last))
        });
    let places: Vec<f64> =
        (0..TIMES).map(|at| first + (last - first) * (at as f64 + 0.5) / TIMES as f64).collect();
    let mut phasors: Vec<Vec<Complex>> = vec![];
    for (series, single) in series.iter().zip(singles) {
        let Some(series) = series else {
            phasors.push(vec![(0.0, 0.0); TIMES]);
            continue;
        };
        let states = series.cycle_states(single, column, &places)?;
        let turned_back = |(place, state): (f64, Complex)| {
            let angle = TAU * (place / period).fract();
            times(state, (angle.cos(), angle.sin()))
        };
        phasors.push(places.iter().copied().zip(states).map(turned_back).collect());
    }
    // A weight α = a − ib times the phasor c + is has the real part a·c + b·s.
    let groups = (0..groups).map(|_| deflate(&mut phasors)).collect::<Vec<_>>();
    Ok(groups.into_iter().map(|group| group.into_iter().map(conjugate).collect()).collect())
}

/// The weights of the strongest group, which is subtracted from the phasors.
fn deflate(phasors: &mut [Vec<Complex>]) -> Vec<Complex> {
    // Start with the strongest output: it is orthogonal to the leading vector only if it is the leading vector itself.
    let size = |row: &Vec<Complex>| row.iter().copied().map(square).sum::<f64>();
    let strongest = phasors.iter().max_by(|a, b| size(a).total_cmp(&size(b)));
    let mut path: Vec<Complex> =
        strongest.map(|row| row.iter().copied().map(conjugate).collect()).unwrap_or_default();
    let mut weights = vec![(0.0, 0.0); phasors.len()];
    for _ in 0..STEPS {
        let norm = path.iter().copied().map(square).sum::<f64>().sqrt();
        if norm == 0.0 {
            return weights;
        }
        path.iter_mut().for_each(|entry| *entry = (entry.0 / norm, entry.1 / norm));
        for (weight, row) in weights.iter_mut().zip(phasors.iter()) {
            *weight = row
                .iter()
                .zip(&path)
                .map(|(a, b)| times(*a, *b))
                .fold((0.0, 0.0), |s, x| (s.0 + x.0, s.1 + x.1));
        }
        for (at, entry) in path.iter_mut().enumerate() {
            let column = phasors.iter().zip(&weights).map(|(row, weight)| times(conjugate(row[at]), *weight));
            *entry = column.fold((0.0, 0.0), |sum, x| (sum.0 + x.0, sum.1 + x.1));
        }
    }
    let norm = path.iter().copied().map(square).sum::<f64>().sqrt();
    path.iter_mut().for_each(|entry| *entry = (entry.0 / norm, entry.1 / norm));
    for (row, weight) in phasors.iter_mut().zip(&weights) {
        for (entry, along) in row.iter_mut().zip(&path) {
            let part = times(*weight, conjugate(*along));
            *entry = (entry.0 - part.0, entry.1 - part.1);
        }
    }
    // The phasor of time has a mean square of 2, 1 for each of its two states.
    let unit = (2.0 * TIMES as f64).sqrt();
    weights.into_iter().map(|weight| (weight.0 / unit, weight.1 / unit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_found_with_amplitude_and_phase() {
        let phasor = |size: f64, angle: f64| (size * angle.cos(), size * angle.sin());
        let weights = [phasor(2.0, 0.3), phasor(0.5, -1.0), phasor(1.0, 2.0)];
        let other = [phasor(0.1, 1.0), phasor(0.3, 0.4), phasor(-0.1, 0.1)];
        let path = |at: usize| phasor(2.0_f64.sqrt(), 0.02 * at as f64);
        let second = |at: usize| phasor(1.0, 0.3 * at as f64);
        let mut rows: Vec<Vec<Complex>> = (0..3)
            .map(|output| {
                (0..TIMES)
                    .map(|at| {
                        let (a, b) = (times(weights[output], path(at)), times(other[output], second(at)));
                        (a.0 + 0.1 * b.0, a.1 + 0.1 * b.1)
                    })
                    .collect()
            })
            .collect();
        let first = deflate(&mut rows);
        // Up to one angle for all, and up to the small second group.
        let turn = times(weights[0], conjugate(first[0]));
        for (found, true_weight) in first.iter().zip(weights) {
            let turned = times(*found, turn);
            let scale = square(first[0]);
            let error = square((turned.0 / scale - true_weight.0, turned.1 / scale - true_weight.1)).sqrt();
            assert!(error < 0.05, "{found:?} is not {true_weight:?}");
        }
        assert!((square(first[0]).sqrt() / 2.0 - 1.0).abs() < 0.03);
        let left: f64 = rows.iter().flatten().copied().map(square).sum();
        let again = deflate(&mut rows);
        let after: f64 = rows.iter().flatten().copied().map(square).sum();
        assert!(after < 0.2 * left && again.iter().any(|weight| square(*weight) > 0.0));
    }
}
