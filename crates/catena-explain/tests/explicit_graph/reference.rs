//! The dense reference: the joint Gaussian of all states, conditioned on all observed cells at once.
//!
//! It takes A, Q and P₀ from the kernels and nothing from the graph.

use super::cases::Case;
use super::dense::{Dense, apply, combine, inner, invert, multiply, transpose, zeros};
use catena::index::{LatentIndex, OutputIndex, RowIndex};
use catena::kernel::{Dynamics, VisitDynamics};
use catena_explain::Edge;

pub(crate) struct Reference<'a> {
    case: &'a Case,
    /// The prior covariance of all states, stacked by position.
    covariance: Dense,
    /// One row per observed cell: what it reads of the stacked states.
    readings: Dense,
    values: Vec<f64>,
    /// The inverse of the covariance of the observed cells.
    precision: Dense,
    pub(crate) log_evidence: f64,
}

impl<'a> Reference<'a> {
    pub(crate) fn new(case: &'a Case) -> Self {
        let covariance = prior_covariance(case);
        let (mut readings, mut values, mut noise) = (vec![], vec![], vec![]);
        for (row, cell) in case.observations.cells() {
            readings.push(output_reading(case, row, cell.output));
            values.push(cell.value);
            noise.push(cell.noise_variance.unwrap_or(case.model.noise()[cell.output.get()].get()));
        }
        if values.is_empty() {
            return Self { case, covariance, readings, values, precision: vec![], log_evidence: 0.0 };
        }
        let mut marginal = multiply(&multiply(&readings, &covariance), &transpose(&readings));
        noise.iter().enumerate().for_each(|(i, r)| marginal[i][i] += r);
        let (precision, log_determinant) = invert(&marginal);
        let constant = values.len() as f64 * std::f64::consts::TAU.ln();
        let log_evidence = -0.5 * (inner(&values, &apply(&precision, &values)) + log_determinant + constant);
        Self { case, covariance, readings, values, precision, log_evidence }
    }

    /// Posterior mean and covariance of linear functions of the stacked states, one per row of `functions`.
    fn posterior(&self, functions: &Dense) -> (Vec<f64>, Dense) {
        let prior = multiply(&multiply(functions, &self.covariance), &transpose(functions));
        if self.values.is_empty() {
            return (vec![0.0; functions.len()], prior);
        }
        let cross = multiply(&multiply(functions, &self.covariance), &transpose(&self.readings));
        let gain = multiply(&cross, &self.precision);
        (apply(&gain, &self.values), combine(&prior, -1.0, &multiply(&gain, &transpose(&cross))))
    }

    /// Mean and row-major covariance of the variable on an edge.
    pub(crate) fn on_edge(&self, edge: Edge) -> (Vec<f64>, Vec<f64>) {
        let functions = match edge {
            Edge::State(row) | Edge::Readout(row) => state_reading(self.case, row),
            Edge::Parent(row) => state_reading(self.case, parent(self.case, row)),
            Edge::Drift(row) => {
                let step = self.case.tree.step_into(self.case.tree.position_of(row));
                multiply(&step_matrices(self.case, step).0, &state_reading(self.case, parent(self.case, row)))
            }
            Edge::Outputs(row) | Edge::Join(row, _) | Edge::Selection(row, _) => {
                (0..self.case.model.n_outputs())
                    .map(|output| output_reading(self.case, row, OutputIndex::new(output)))
                    .collect()
            }
            Edge::Output(row, output) => vec![output_reading(self.case, row, output)],
            Edge::Observation(row, output) => {
                let cell = self.case.observations.row(row).find(|cell| cell.output == output).unwrap();
                return (vec![cell.value], vec![0.0]);
            }
        };
        let (mean, covariance) = self.posterior(&functions);
        (mean, covariance.concat())
    }
}

fn parent(case: &Case, row: RowIndex) -> RowIndex {
    case.tree.row_at(case.tree.parent(case.tree.position_of(row)).unwrap())
}

/// Where a row's state stands in the stack.
fn offset(case: &Case, row: RowIndex) -> usize {
    case.tree.position_of(row).get() * case.model.state_dim()
}

fn state_reading(case: &Case, row: RowIndex) -> Dense {
    let n = case.model.state_dim();
    let mut reading = zeros(n, n * case.tree.len());
    (0..n).for_each(|i| reading[i][offset(case, row) + i] = 1.0);
    reading
}

fn output_reading(case: &Case, row: RowIndex, output: OutputIndex) -> Vec<f64> {
    let mut reading = vec![0.0; case.model.state_dim() * case.tree.len()];
    let mut at = offset(case, row);
    for (latent, process) in case.model.latents().iter().enumerate() {
        reading[at] = case.model.mixing().weight(output, LatentIndex::new(latent));
        at += process.state_dim();
    }
    reading
}

/// `Cov(z_c, z_j) = A Cov(z_p, z_j)` for every earlier j, `Cov(z_c, z_c) = A Cov(z_p, z_p) Aᵀ + Q`.
fn prior_covariance(case: &Case) -> Dense {
    let n = case.model.state_dim();
    let mut whole = zeros(n * case.tree.len(), n * case.tree.len());
    for position in case.tree.positions() {
        let start = position.get() * n;
        let Some(above) = case.tree.parent(position) else {
            let (_, _, root) = step_matrices(case, 0.0);
            (0..n).for_each(|i| whole[i][..n].copy_from_slice(&root[i]));
            continue;
        };
        let (a, q, _) = step_matrices(case, case.tree.step_into(position));
        let parent_rows: Dense = (0..n).map(|i| whole[above.get() * n + i][..start].to_vec()).collect();
        let cross = multiply(&a, &parent_rows);
        for i in 0..n {
            for j in 0..start {
                whole[start + i][j] = cross[i][j];
                whole[j][start + i] = cross[i][j];
            }
        }
        let with_parent: Dense = cross.iter().map(|row| row[above.get() * n..][..n].to_vec()).collect();
        let own = combine(&multiply(&with_parent, &transpose(&a)), 1.0, &q);
        (0..n).for_each(|i| whole[start + i][start..start + n].copy_from_slice(&own[i]));
    }
    whole
}

/// A, Q and P₀ of all latents.
fn step_matrices(case: &Case, distance: f64) -> (Dense, Dense, Dense) {
    let n = case.model.state_dim();
    let (mut a, mut q, mut root) = (zeros(n, n), zeros(n, n), zeros(n, n));
    let mut start = 0;
    for latent in case.model.latents() {
        let blocks = latent.visit_dynamics(Blocks { distance }).unwrap();
        let dim = latent.state_dim();
        for i in 0..dim {
            for j in 0..dim {
                a[start + i][start + j] = blocks[0][i][j];
                q[start + i][start + j] = blocks[1][i][j];
                root[start + i][start + j] = blocks[2][i][j];
            }
        }
        start += dim;
    }
    (a, q, root)
}

struct Blocks {
    distance: f64,
}

impl VisitDynamics for Blocks {
    type Output = [Dense; 3];
    fn visit<const K: usize>(self, dynamics: impl Dynamics<K>) -> [Dense; 3] {
        let nested = |block: [[f64; K]; K]| block.iter().map(|row| row.to_vec()).collect::<Dense>();
        let step = dynamics.step(self.distance);
        [nested(step.transition), nested(step.noise), nested(dynamics.root_covariance())]
    }
}
