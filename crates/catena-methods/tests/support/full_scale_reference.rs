//! The full-scale model over all cells, in dense matrices and plain loops.

use catena::data::InputPoints;
use catena::index::RowIndex;
use catena_methods::fullscale::Arrangement;

use super::{Answer, Example};
use catena_testkit::reference::{DoubleDouble, correlation, rate};

/// A cell in the dense process.
struct DenseCell {
    point: Vec<f64>,
    output: usize,
    value: f64,
    noise: f64,
    /// Its place, in the numbering of the arrangement.
    place: usize,
}

type Matrix = Vec<Vec<f64>>;

/// The posterior of the full-scale model: weights v on the features, and a residual process whose cells are conditioned
/// place by place on the arrangement's neighbors.
pub(crate) fn full_scale_reference(example: &Example, arrangement: &Arrangement) -> Answer {
    let model = FullScaleModel { example, inducing: arrangement.inducing() };
    let mut cells = vec![];
    for place in 0..arrangement.n_places() {
        for &row in arrangement.rows_at(place) {
            for cell in example.dataset.observations().row(row) {
                cells.push(DenseCell {
                    point: example.dataset.inputs().point(row).to_vec(),
                    output: cell.output.get(),
                    value: cell.value,
                    noise: cell.noise_variance.unwrap_or(example.model.noise()[cell.output.get()].get()),
                    place,
                });
            }
        }
    }
    let n = cells.len();
    // An order in which each place comes after its neighbors.
    let mut order: Vec<usize> = vec![];
    while order.len() < arrangement.n_places() {
        let ready = |place: usize| arrangement.neighbors_of(place).iter().all(|near| order.contains(near));
        let next = (0..arrangement.n_places()).find(|place| !order.contains(place) && ready(*place));
        order.push(next.unwrap());
    }
    let residual = |a: usize, b: usize| {
        let noise = if a == b { cells[a].noise } else { 0.0 };
        model.residual((&cells[a].point, cells[a].output), (&cells[b].point, cells[b].output)) + noise
    };
    // The covariance of the residual process, place by place: given its neighbors a place is independent of other earlier ones.
    let mut covariance: Matrix = vec![vec![0.0; n]; n];
    let at_place = |place: usize| (0..n).filter(|&at| cells[at].place == place).collect::<Vec<_>>();
    let mut before: Vec<usize> = vec![];
    for &place in &order {
        let own = at_place(place);
        let near: Vec<usize> =
            arrangement.neighbors_of(place).iter().flat_map(|&near| at_place(near)).collect();
        let among: Matrix = near.iter().map(|&a| near.iter().map(|&b| residual(a, b)).collect()).collect();
        let weights: Matrix = own
            .iter()
            .map(|&a| solve(&among, &near.iter().map(|&b| residual(a, b)).collect::<Vec<_>>()))
            .collect();
        for (row, &a) in weights.iter().zip(&own) {
            for &b in &before {
                let value = row.iter().zip(&near).map(|(weight, &near)| weight * covariance[near][b]).sum();
                covariance[a][b] = value;
                covariance[b][a] = value;
            }
        }
        for (row, &a) in weights.iter().zip(&own) {
            for (other, &b) in weights.iter().zip(&own) {
                let mut value = residual(a, b);
                for (weight, &near_a) in row.iter().zip(&near) {
                    value -= weight * residual(near_a, b);
                    for (weight_b, &near_b) in other.iter().zip(&near) {
                        value += weight * weight_b * covariance[near_a][near_b];
                    }
                }
                covariance[a][b] = value;
            }
        }
        before.extend(own);
    }
    let features: Matrix = cells.iter().map(|cell| model.features(&cell.point, cell.output)).collect();
    let total: Matrix = (0..n)
        .map(|a| (0..n).map(|b| covariance[a][b] + inner(&features[a], &features[b])).collect())
        .collect();
    let values: Vec<f64> = cells.iter().map(|cell| cell.value).collect();
    let solved = solve(&total, &values);
    let log_evidence =
        -0.5 * (inner(&values, &solved) + log_determinant(&total) + n as f64 * std::f64::consts::TAU.ln());
    let (mut means, mut variances) = (vec![], vec![]);
    // The posterior of the weights on the features.
    let n_features = features.first().map_or(0, Vec::len);
    let column = |feature: usize| features.iter().map(|row| row[feature]).collect::<Vec<f64>>();
    let columns: Matrix = (0..n_features).map(column).collect();
    let solved_columns: Matrix = columns.iter().map(|column| solve(&total, column)).collect();
    let weights: Vec<f64> = columns.iter().map(|column| inner(column, &solved)).collect();
    for row in example.at.rows() {
        let point = example.at.point(row);
        let nearest = nearest_places(example, arrangement, point);
        let near: Vec<usize> = nearest.iter().flat_map(|&place| at_place(place)).collect();
        let among: Matrix = near.iter().map(|&a| near.iter().map(|&b| residual(a, b)).collect()).collect();
        for output in 0..example.model.n_outputs() {
            let with: Vec<f64> = near
                .iter()
                .map(|&at| model.residual((point, output), (&cells[at].point, cells[at].output)))
                .collect();
            let beta = solve(&among, &with);
            let here = model.features(point, output);
            let left: Vec<f64> = near.iter().map(|&at| values[at] - inner(&features[at], &weights)).collect();
            means.push(inner(&here, &weights) + inner(&beta, &left));
            let mut new = here.clone();
            for (weight, &at) in beta.iter().zip(&near) {
                new.iter_mut().zip(&features[at]).for_each(|(new, feature)| *new -= weight * feature);
            }
            let mut variance = model.residual((point, output), (point, output)) - inner(&beta, &with);
            for a in 0..n_features {
                for b in 0..n_features {
                    let prior = if a == b { 1.0 } else { 0.0 };
                    variance += new[a] * new[b] * (prior - inner(&columns[a], &solved_columns[b]));
                }
            }
            variances.push(variance);
        }
    }
    Answer { log_evidence, means, variances }
}

fn nearest_places(example: &Example, arrangement: &Arrangement, point: &[f64]) -> Vec<usize> {
    let place_point = |place: usize| example.dataset.inputs().point(arrangement.rows_at(place)[0]);
    let mut places: Vec<usize> = (0..arrangement.n_places()).collect();
    places.sort_by(|&a, &b| {
        let far = |place: usize| catena::data::squared_distance(point, place_point(place));
        far(a).total_cmp(&far(b)).then(a.cmp(&b))
    });
    places.truncate(arrangement.size().n_neighbors);
    places
}

struct FullScaleModel<'a> {
    example: &'a Example,
    inducing: Option<&'a InputPoints>,
}

impl FullScaleModel<'_> {
    fn kappa(&self, latent: usize, a: &[f64], b: &[f64]) -> f64 {
        let distance = catena::data::squared_distance(a, b).sqrt() / self.example.scale.get();
        let latent = &self.example.model.latents()[latent];
        let (kernel, length_scale) =
            (latent.kernel().unwrap(), DoubleDouble::new(latent.length_scale().get()));
        correlation(kernel, rate(kernel, length_scale) * DoubleDouble::new(distance)).to_f64()
    }

    fn has_features(&self, latent: usize) -> bool {
        let n_shared = self.example.model.mixing().n_shared();
        self.inducing.is_some() && (n_shared == 0 || latent < n_shared)
    }

    /// `C⁻¹ κ(Z, x)` by a Cholesky factor in three loops.
    fn latent_features(&self, latent: usize, point: &[f64]) -> Vec<f64> {
        let Some(inducing) = self.inducing.filter(|_| self.has_features(latent)) else { return vec![] };
        let places: Vec<&[f64]> = inducing.rows().map(|row: RowIndex| inducing.point(row)).collect();
        let matrix: Matrix =
            places.iter().map(|a| places.iter().map(|b| self.kappa(latent, a, b)).collect()).collect();
        let with: Vec<f64> = places.iter().map(|place| self.kappa(latent, place, point)).collect();
        forward(&cholesky(&matrix), &with)
    }

    fn features(&self, point: &[f64], output: usize) -> Vec<f64> {
        let n_latents = self.example.model.n_latents();
        let weights = self.example.model.mixing().to_dense();
        (0..n_latents)
            .flat_map(|latent| {
                let weight = weights[output * n_latents + latent];
                self.latent_features(latent, point).into_iter().map(move |feature| weight * feature)
            })
            .collect()
    }

    fn residual(&self, (x, d): (&[f64], usize), (z, e): (&[f64], usize)) -> f64 {
        let n_latents = self.example.model.n_latents();
        let weights = self.example.model.mixing().to_dense();
        (0..n_latents)
            .map(|latent| {
                let explained = inner(&self.latent_features(latent, x), &self.latent_features(latent, z));
                let left = self.kappa(latent, x, z) - explained;
                weights[d * n_latents + latent] * weights[e * n_latents + latent] * left
            })
            .sum()
    }
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn cholesky(matrix: &Matrix) -> Matrix {
    let mut factor = matrix.clone();
    for i in 0..matrix.len() {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|t| factor[i][t] * factor[j][t]).sum();
            factor[i][j] =
                if i == j { (matrix[i][i] - sum).sqrt() } else { (matrix[i][j] - sum) / factor[j][j] };
        }
    }
    factor
}

fn forward(factor: &Matrix, right: &[f64]) -> Vec<f64> {
    let mut solution: Vec<f64> = vec![];
    for (row, value) in factor.iter().zip(right) {
        let sum: f64 = row.iter().zip(&solution).map(|(a, b)| a * b).sum();
        solution.push((value - sum) / row[solution.len()]);
    }
    solution
}

fn solve(matrix: &Matrix, right: &[f64]) -> Vec<f64> {
    let factor = cholesky(matrix);
    let mut solution = forward(&factor, right);
    for i in (0..solution.len()).rev() {
        let sum: f64 = (i + 1..solution.len()).map(|t| factor[t][i] * solution[t]).sum();
        solution[i] = (solution[i] - sum) / factor[i][i];
    }
    solution
}

fn log_determinant(matrix: &Matrix) -> f64 {
    2.0 * cholesky(matrix).iter().enumerate().map(|(at, row)| row[at].ln()).sum::<f64>()
}
