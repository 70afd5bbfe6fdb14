//! Blocks of several lengths, for tables along a line without gaps.

use catena::data::Observations;
use catena::index::{OutputIndex, RowIndex};
use rand_chacha::ChaCha8Rng;

use super::cell::{GroupEnds, HeldOutCell, can_be_held_out};
use super::random::{below, uniform};

/// The fraction of an output's cells that is held out.
const SHARE: f64 = 0.15;
/// The longest block, as a fraction of the output's cells.
const LONGEST: f64 = 0.2;

/// Blocks of consecutive cells of each output. Their lengths are spread evenly by their logarithm, from single cells to a fifth
/// of the rows: short gaps alone do not reveal overconfidence, and long ones alone say little about single cells.
pub(super) fn random_blocks(
    observations: &Observations,
    (rows, groups): (&[RowIndex], &GroupEnds),
    outputs: &[OutputIndex],
    generator: &mut ChaCha8Rng,
) -> Vec<HeldOutCell> {
    let (mut held_out, mut n_blocks) = (vec![], 0);
    let can_be = can_be_held_out(observations);
    for (number, &output) in outputs.iter().enumerate() {
        let places: Vec<usize> =
            (0..rows.len()).filter(|&place| observations.is_observed(rows[place], output)).collect();
        if !can_be[output.get()] {
            continue;
        }
        // The longest is a fraction of the cells of the group that has most.
        let by_group = places.chunk_by(|a, b| groups.around(*a) == groups.around(*b));
        let longest = (by_group.map(<[usize]>::len).max().unwrap_or(0) as f64 * LONGEST).max(1.0);
        let mut left = ((places.len() as f64 * SHARE) as usize).max(1);
        let mut is_left = vec![true; places.len()];
        while left > 0 {
            let length = (longest.powf(uniform(generator)) as usize).clamp(1, left);
            let begin = below(generator, places.len() - length + 1);
            // A block ends with its group.
            let end_of_group = groups.around(places[begin]).end;
            for at in (begin..begin + length).take_while(|&at| places[at] < end_of_group) {
                if std::mem::replace(&mut is_left[at], false) {
                    held_out.push((places[at], number, n_blocks));
                    left -= 1;
                }
            }
            n_blocks += 1;
        }
    }
    held_out
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::rand_core::SeedableRng;

    #[test]
    fn lengths_reach_from_single_cells_to_long_blocks() {
        let values: Vec<f64> = (0..2000).map(f64::from).collect();
        let observations = Observations::from_dense(1000, 2, &values).unwrap();
        let rows: Vec<RowIndex> = (0..1000).map(RowIndex::new).collect();
        let outputs = [OutputIndex::new(0), OutputIndex::new(1)];
        let mut lengths = vec![];
        for seed in 0..10 {
            let cells = random_blocks(
                &observations,
                (&rows, &GroupEnds::one(rows.len())),
                &outputs,
                &mut ChaCha8Rng::seed_from_u64(seed),
            );
            assert_eq!(cells.len(), 2 * 150);
            lengths.extend(cells.chunk_by(|a, b| a.2 == b.2).map(<[_]>::len));
        }
        assert!(lengths.iter().any(|length| *length <= 2) && lengths.iter().any(|length| *length >= 60));
    }
}
