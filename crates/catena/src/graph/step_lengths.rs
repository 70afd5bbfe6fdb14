//! Edge lengths in the structure's order; equal lengths are stored once, if there are few different ones.

use crate::structure::Tree;

/// A length is looked up among all others while there are at most this many; beyond that, only the last one is compared.
const MOST_COMPARED: usize = 64;

/// The step into each position; on a regular grid one step serves the whole chain. Step 0 belongs to all roots and has length 0.
#[derive(Debug)]
pub(crate) struct StepLengths {
    step_of: Vec<u32>,
    lengths: Vec<f64>,
}

impl StepLengths {
    /// The steps of a structure.
    pub(super) fn new(tree: &Tree) -> Self {
        let mut edges = Self { step_of: Vec::with_capacity(tree.len()), lengths: vec![] };
        for position in tree.positions() {
            let length = tree.step_into(position);
            if tree.parent(position).is_none() {
                // Every root takes the same step: its state has its prior.
                if edges.lengths.is_empty() {
                    edges.lengths.push(length);
                }
                edges.step_of.push(0);
                continue;
            }
            // Rounded gaps of a regular grid alternate between a few lengths; gaps over nights and weekends recur.
            let known = match edges.lengths.len() {
                ..=1 => None,
                count @ 2..=MOST_COMPARED => (1..count).rev().find(|&at| edges.lengths[at] == length),
                count => (edges.lengths[count - 1] == length).then_some(count - 1),
            };
            let step = known.unwrap_or(edges.lengths.len());
            if known.is_none() {
                edges.lengths.push(length);
            }
            edges.step_of.push(step as u32);
        }
        edges
    }

    /// The step into a position.
    #[inline(always)]
    pub(crate) fn step_of(&self, position: usize) -> usize {
        self.step_of[position] as usize
    }

    /// The steps into all positions.
    #[inline(always)]
    pub(crate) fn steps(&self) -> &[u32] {
        &self.step_of
    }

    /// The length of each step.
    pub(crate) fn lengths(&self) -> &[f64] {
        &self.lengths
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_COMPARED, StepLengths};
    use crate::data::InputPoints;
    use crate::structure::sorted_chain;

    #[test]
    fn lengths_that_recur_are_stored_once_and_irregular_ones_each() {
        let steps = |gaps: &[f64]| {
            let places = std::iter::once(0.0).chain(gaps.iter().scan(0.0, |now, gap| {
                *now += gap;
                Some(*now)
            }));
            let points = InputPoints::from_column(places.collect()).unwrap();
            let steps = StepLengths::new(&sorted_chain(&points).unwrap());
            for (at, gap) in gaps.iter().enumerate() {
                assert_eq!(steps.lengths()[steps.step_of(at + 1)], *gap);
            }
            steps.lengths().len() - 1
        };
        assert_eq!(steps(&[1.0, 1.0, 1.0, 3.0, 1.0, 1.0, 3.0, 2.0, 1.0]), 3);
        let all_different: Vec<f64> = (1..200).map(f64::from).collect();
        assert_eq!(steps(&all_different), 199);
        // Beyond the limit, equal neighbors are still stored once.
        let and_again = [&all_different[..], &[7.0, 7.0]].concat();
        assert_eq!(steps(&and_again), 200);
        const { assert!(MOST_COMPARED < 199) };
    }
}
