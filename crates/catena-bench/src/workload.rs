//! A model, a chain and a table with missing values, from a seed.

use crate::Failure;
use crate::cases::{Case, Spacing};
use crate::paper_recursion::ChainProblem;
use crate::random::Random;
use catena::data::{InputPoints, Observations};
use catena::index::RowIndex;
use catena::kernel::StateKind;
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::structure::{Tree, sorted_chain};
use catena::units::{LengthScale, Variance};

/// Length-scales of shared latents, in mean gaps: those of the paper's seven-output study, then two more. Further latents repeat them.
const SHARED_LENGTH_SCALES: [f64; 6] = [4.0, 12.0, 24.0, 48.0, 8.0, 96.0];
/// The length-scale of every private latent, in mean gaps.
const PRIVATE_LENGTH_SCALE: f64 = 5.0;
/// Noise variance of every output.
const NOISE: f64 = 0.1;

/// The data of a task.
pub(crate) struct Workload {
    pub(crate) model: Lmc,
    pub(crate) inputs: InputPoints,
    pub(crate) tree: Tree,
    pub(crate) observations: Observations,
    shared_weights: Vec<f64>,
}

impl Workload {
    /// The data of a case: the same on every machine.
    pub(crate) fn new(case: &Case) -> Result<Self, Failure> {
        let mut random = Random::new(20_240_607);
        let (n_outputs, n_shared) = (case.n_outputs, case.n_shared);
        let shared_weights: Vec<f64> = (0..n_outputs * n_shared).map(|_| 0.5 * random.normal()).collect();
        let private = if case.has_private { vec![0.5; n_outputs] } else { vec![] };
        let mut latents = vec![];
        for latent in 0..n_shared + private.len() {
            let scale = match latent < n_shared {
                true => SHARED_LENGTH_SCALES[latent % SHARED_LENGTH_SCALES.len()],
                false => PRIVATE_LENGTH_SCALE,
            };
            latents.push(Latent::new(case.kernel, StateKind::Derivative, LengthScale::new(scale)?)?);
        }
        let mixing = MixingMatrix::with_private(n_outputs, n_shared, shared_weights.clone(), private)?;
        let model = Lmc::new(latents, mixing, vec![Variance::new(NOISE)?; n_outputs])?;
        let inputs = InputPoints::from_column(times(case, &mut random))?;
        let table = table(case, inputs.values(), &shared_weights, &mut random);
        let observations = Observations::from_dense(case.n_points, n_outputs, &table)?;
        Ok(Self { model, tree: sorted_chain(&inputs)?, inputs, observations, shared_weights })
    }

    /// The same problem as flat arrays, for the paper's recursion.
    pub(crate) fn chain_problem(&self) -> ChainProblem {
        let (mut row_start, mut cell_outputs, mut cell_values) = (vec![0], vec![], vec![]);
        for row in (0..self.observations.n_rows()).map(RowIndex::new) {
            for cell in self.observations.row(row) {
                cell_outputs.push(cell.output.get());
                cell_values.push(cell.value);
            }
            row_start.push(cell_values.len());
        }
        ChainProblem {
            steps: self.tree.steps().to_vec(),
            length_scales: self.model.latents().iter().map(|latent| latent.length_scale().get()).collect(),
            mixing: self.shared_weights.clone(),
            noise: self.model.noise().iter().map(|noise| noise.get()).collect(),
            row_start,
            cell_outputs,
            cell_values,
        }
    }
}

/// Ascending times with a mean gap of 1.
fn times(case: &Case, random: &mut Random) -> Vec<f64> {
    let mut now = 0.0;
    (0..case.n_points)
        .map(|_| {
            now += match case.spacing {
                Spacing::Irregular => random.exponential(),
                Spacing::Regular => 1.0,
            };
            now
        })
        .collect()
}

/// Waves of different periods mixed into the outputs, with noise, and `NaN` for missing values.
fn table(case: &Case, times: &[f64], weights: &[f64], random: &mut Random) -> Vec<f64> {
    let n_shared = case.n_shared;
    let mut table = Vec::with_capacity(times.len() * case.n_outputs);
    for &time in times {
        let is_empty_row = random.uniform() < case.empty_rows;
        for output in 0..case.n_outputs {
            let row = &weights[output * n_shared..][..n_shared];
            let waves =
                row.iter().zip(SHARED_LENGTH_SCALES).map(|(weight, scale)| weight * (time / scale).sin());
            let value = waves.sum::<f64>() + NOISE.sqrt() * random.normal();
            let is_missing = random.uniform() < case.missing;
            table.push(if is_empty_row || is_missing { f64::NAN } else { value });
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::Workload;
    use crate::cases::{self, Case};

    #[test]
    fn the_missing_rate_is_that_of_the_case() {
        let case = Case { n_points: 4000, ..cases::THREE_LATENTS };
        let workload = Workload::new(&case).unwrap();
        let observed = workload.observations.n_observed() as f64 / (4000.0 * 4.0);
        // Half the rows and 0.7 of their cells: 0.35, with a standard error of about 0.006.
        assert!((observed - 0.35).abs() < 0.03, "{observed}");
        assert_eq!(workload.chain_problem().cell_values.len(), workload.observations.n_observed());
    }

    #[test]
    fn equal_seeds_give_equal_data() {
        let case = Case { n_points: 50, ..cases::FOUR_LATENTS };
        let (a, b) = (Workload::new(&case).unwrap(), Workload::new(&case).unwrap());
        assert_eq!(a.observations, b.observations);
        assert_eq!(a.tree, b.tree);
    }
}
