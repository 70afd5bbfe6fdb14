//! Moments of the cells of an output and of their inputs, which merge without cancellation.

use serde::{Deserialize, Serialize};

use crate::power::PowerTransform;
use crate::prepare::{OutputTransform, solve_with_ridge};

/// Moments of cells and of their inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct CellMoments {
    count: f64,
    low: f64,
    high: f64,
    /// The first value. Means are relative to it, so that values that differ in their last digits only keep these digits.
    origin: f64,
    /// The mean, minus the origin.
    mean: f64,
    /// The sum of squares around the mean.
    squares: f64,
    /// The first point.
    place: Vec<f64>,
    /// The mean of each input over these cells, minus the first point.
    point: Vec<f64>,
    /// Sums of products of inputs around their means, row-major.
    spread: Vec<f64>,
    /// Sums of products of inputs and values around their means.
    along: Vec<f64>,
}

impl CellMoments {
    fn one(value: f64, point: &[f64]) -> Self {
        let dim = point.len();
        Self {
            count: 1.0,
            low: value,
            high: value,
            origin: value,
            mean: 0.0,
            squares: 0.0,
            place: point.to_vec(),
            point: vec![0.0; dim],
            spread: vec![0.0; dim * dim],
            along: vec![0.0; dim],
        }
    }

    /// Merges the means of `count` other cells without cancellation. Their mean is `origin + mean`, and that of their points is
    /// `place + point`, where no point is 0.
    fn add(&mut self, count: f64, (origin, mean): (f64, f64), (place, point): (&[f64], Option<&[f64]>)) {
        let total = self.count + count;
        let weight = self.count * count / total;
        let change = (origin - self.origin) + (mean - self.mean);
        let dim = place.len();
        let moved = |at: usize, own: &[f64]| {
            (place[at] - self.place[at]) + (point.map_or(0.0, |point| point[at]) - own[at])
        };
        for at in 0..dim {
            for other in 0..dim {
                self.spread[at * dim + other] += weight * moved(at, &self.point) * moved(other, &self.point);
            }
            self.along[at] += weight * moved(at, &self.point) * change;
        }
        for at in 0..dim {
            self.point[at] += moved(at, &self.point) * (count / total);
        }
        self.squares += weight * change * change;
        self.mean += change * (count / total);
        self.count = total;
    }

    fn merge(mut self, other: &Self) -> Self {
        self.add(other.count, (other.origin, other.mean), (&other.place, Some(&other.point)));
        (self.low, self.high) = (self.low.min(other.low), self.high.max(other.high));
        self.squares += other.squares;
        self.spread.iter_mut().zip(&other.spread).for_each(|(own, more)| *own += more);
        self.along.iter_mut().zip(&other.along).for_each(|(own, more)| *own += more);
        self
    }

    /// The transform of these cells to mean 0 and variance 1; see [`Preparation::fitted`].
    pub(super) fn transform(
        &self,
        power: PowerTransform,
        trend: bool,
        inputs: &[(f64, f64)],
    ) -> OutputTransform {
        let dim = inputs.len();
        let scaled = |at: usize| ((self.place[at] - inputs[at].0) + self.point[at]) / inputs[at].1;
        let unit = |at: usize| inputs[at].1;
        let along: Vec<f64> = (0..dim).map(|at| self.along[at] / unit(at)).collect();
        let spread: Vec<f64> =
            (0..dim * dim).map(|at| self.spread[at] / (unit(at / dim) * unit(at % dim))).collect();
        let slopes = if trend && self.low < self.high && self.count > 3.0 * (dim + 1) as f64 {
            solve_with_ridge(self.count, spread.clone(), along.clone())
        } else {
            vec![]
        };
        let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let explained: f64 = slopes
            .iter()
            .enumerate()
            .map(|(at, slope)| slope * (2.0 * along[at] - dot(&spread[at * dim..][..dim], &slopes)))
            .sum();
        let intercept = self.origin
            + (self.mean - slopes.iter().enumerate().map(|(at, slope)| slope * scaled(at)).sum::<f64>());
        let residual = self.squares - explained;
        // The difference of the sums has no digits left if slopes explain all of them.
        let varies =
            self.low < self.high && (slopes.is_empty() || residual > 4.0 * f64::EPSILON * self.squares);
        let largest = self.low.abs().max(self.high.abs());
        let scale = match varies {
            true => (residual / (self.count - 1.0).max(1.0)).sqrt(),
            false if largest > 0.0 => largest,
            false => 1.0,
        };
        OutputTransform { power, intercept, slopes, scale, likelihood: None, bounds: None }
    }
}

/// The moments of both.
pub(super) fn merged(one: Option<CellMoments>, other: Option<&CellMoments>) -> Option<CellMoments> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.merge(other)),
        (one, other) => one.or_else(|| other.cloned()),
    }
}

/// Adds a cell.
pub(super) fn push(cells: &mut Option<CellMoments>, value: f64, point: &[f64]) {
    match cells {
        None => *cells = Some(CellMoments::one(value, point)),
        Some(cells) => {
            (cells.low, cells.high) = (cells.low.min(value), cells.high.max(value));
            cells.add(1.0, (value, 0.0), (point, None));
        }
    }
}
