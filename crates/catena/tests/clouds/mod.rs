//! Point clouds that are hard on a neighbor search: ties, duplicates, clusters, and plain random ones.
#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses a part, and a test may panic")]

use catena::data::InputPoints;
use catena_testkit::random::SplitMix64;
use proptest::prelude::*;

/// A stream of numbers from a seed.
pub(crate) struct Numbers(SplitMix64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    pub(crate) fn unit(&mut self) -> f64 {
        self.0.unit()
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.unit() * limit as f64) as usize
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Random,
    /// Integer coordinates: nearly every distance is a tie.
    Lattice,
    AllEqual,
    /// Tight groups far apart.
    Clustered,
    /// Random, rounded to a grid and with at least 4 % exact duplicates, as measured loads are.
    Quantized,
    /// Magnitudes from 1e-200 to 1e200: squares overflow and vanish.
    Extreme,
    /// A line in space: only one direction matters.
    Line,
}

pub(crate) const KINDS: [Kind; 7] = [
    Kind::Random,
    Kind::Lattice,
    Kind::AllEqual,
    Kind::Clustered,
    Kind::Quantized,
    Kind::Extreme,
    Kind::Line,
];

pub(crate) fn cloud(kind: Kind, n_rows: usize, dim: usize, seed: u64) -> InputPoints {
    let mut numbers = Numbers::new(seed);
    let side = (n_rows as f64).powf(1.0 / dim as f64).ceil() as usize + 1;
    let mut values = Vec::with_capacity(n_rows * dim);
    for row in 0..n_rows {
        let group = numbers.below(5) as f64;
        let along = numbers.unit();
        let copied = (kind == Kind::Quantized && row > 0 && row % 20 < 2).then(|| numbers.below(row));
        for column in 0..dim {
            let value = match kind {
                Kind::Random => numbers.unit(),
                Kind::Lattice => numbers.below(side) as f64,
                Kind::AllEqual => 0.3,
                Kind::Clustered => 100.0 * group + 0.01 * numbers.unit(),
                Kind::Quantized => match copied {
                    Some(earlier) => values[earlier * dim + column],
                    None => ((numbers.unit() * 1e3).round() / 1e3 - 0.47) / 0.29,
                },
                Kind::Extreme => (numbers.unit() - 0.5) * 10_f64.powi(numbers.below(401) as i32 - 200),
                Kind::Line => along * (column + 1) as f64 / 7.0,
            };
            values.push(value);
        }
    }
    InputPoints::new(n_rows, dim, values).unwrap()
}

/// Any kind, up to `most` rows, in 1 to 8 dimensions.
pub(crate) fn any_cloud(most: usize) -> impl Strategy<Value = InputPoints> {
    (prop::sample::select(KINDS.to_vec()), 1..=most, 1..=8_usize, any::<u64>())
        .prop_map(|(kind, n_rows, dim, seed)| cloud(kind, n_rows, dim, seed))
}
