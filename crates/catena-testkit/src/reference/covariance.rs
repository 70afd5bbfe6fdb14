//! The prior covariance of one latent's state at every pair of rows.

use catena::index::RowIndex;
use catena::kernel::{Component, Kernel, StateKind};
use catena::model::{Latent, Process};
use catena::structure::Tree;

use super::component::{Parameters, component_covariance, component_transition};
use super::transition::{
    Square, correlation, drift, matrix_exponential, product, rate, stationary_covariance,
};
use super::{DoubleDouble, Metric};

/// `Cov(z_i, z_j)` of one latent, by rows of the table.
pub(super) struct StateCovariance {
    /// Components of the state.
    pub(super) dim: usize,
    n_rows: usize,
    /// Row-major, (row, component) by (row, component).
    values: Vec<DoubleDouble>,
}

impl StateCovariance {
    /// The covariance of a latent with these values of its length-scale and shape parameter.
    pub(super) fn new(latent: &Latent, metric: Metric<'_>, parameters: Parameters) -> Self {
        let (kernel, state) = match latent.process() {
            Process::Stationary(kernel, state) => (kernel, state),
            Process::Component(component) => return Self::of_component(component, metric, parameters),
            // The state is that of its cycle.
            Process::Quadrature => return Self { dim: 0, n_rows: 0, values: vec![] },
        };
        let rate = rate(kernel, parameters[0]);
        match metric {
            Metric::Structure(tree) => Self::on_structure(kernel, state, tree, rate),
            Metric::Euclidean(inputs, scale) => {
                let n_rows = inputs.n_rows();
                let unit = rate / DoubleDouble::new(scale.get());
                let entry = |i: usize, j: usize| {
                    let places = [i, j].map(|row| inputs.point(RowIndex::new(row)));
                    correlation(kernel, unit * distance(places[0], places[1]))
                };
                let values = (0..n_rows * n_rows).map(|at| entry(at / n_rows, at % n_rows)).collect();
                Self { dim: 1, n_rows, values }
            }
        }
    }

    /// `Cov(z_i, z_j) = A_{i←a} P₀ A_{j←a}ᵀ` with a the common ancestor. Parents are visited first: for j visited before
    /// i, `A_{i←a}` ends in the transition of i's own edge, so the block is that transition times the block of i's
    /// parent with j.
    fn on_structure(kernel: Kernel, state: StateKind, tree: &Tree, rate: DoubleDouble) -> Self {
        let (step_drift, root): (_, Square) = match state {
            StateKind::Value => (None, vec![DoubleDouble::ONE]),
            StateKind::Derivative => {
                (drift(kernel), stationary_covariance(kernel).unwrap_or_else(|| vec![DoubleDouble::ONE]))
            }
        };
        let dim = root.len().isqrt();
        let n_rows = tree.len();
        let mut covariance = Self { dim, n_rows, values: vec![DoubleDouble::ZERO; (n_rows * dim).pow(2)] };
        for position in tree.positions() {
            let here = tree.row_at(position).get();
            covariance.set(here, here, &root);
            let Some(parent) = tree.parent(position) else { continue };
            let above = tree.row_at(parent).get();
            let u = rate * DoubleDouble::new(tree.step_into(position));
            let transition = match &step_drift {
                Some(drift) => matrix_exponential(drift, u),
                None => vec![correlation(kernel, u)],
            };
            for earlier in tree.positions().take(position.get()) {
                let other = tree.row_at(earlier).get();
                let block = product(&transition, &covariance.block(above, other), dim);
                covariance.set(here, other, &block);
            }
        }
        covariance
    }

    /// The covariance of a later point with an earlier one is the transition between them times the covariance at the
    /// earlier one. Time counts from the root, or from the first point.
    fn of_component(component: Component, metric: Metric<'_>, parameters: Parameters) -> Self {
        let times: Vec<DoubleDouble> = match metric {
            Metric::Structure(tree) => {
                let mut times = vec![DoubleDouble::ZERO; tree.len()];
                for position in tree.positions() {
                    let Some(parent) = tree.parent(position) else { continue };
                    let step = DoubleDouble::new(tree.step_into(position));
                    times[tree.row_at(position).get()] = times[tree.row_at(parent).get()] + step;
                }
                times
            }
            Metric::Euclidean(inputs, scale) => {
                let first = inputs.values().iter().copied().fold(f64::INFINITY, f64::min);
                let since = |x: &f64| {
                    (DoubleDouble::new(*x) - DoubleDouble::new(first)) / DoubleDouble::new(scale.get())
                };
                inputs.values().iter().map(since).collect()
            }
        };
        let (dim, n_rows) = (component.state_dim(), times.len());
        // Both state components of a cycle may be observed.
        let is_value_alone =
            matches!(metric, Metric::Euclidean(..)) && !matches!(component, Component::Cycle { .. });
        let dim = if is_value_alone { 1 } else { dim };
        let mut covariance = Self { dim, n_rows, values: vec![DoubleDouble::ZERO; (n_rows * dim).pow(2)] };
        for later in 0..n_rows {
            for earlier in (0..n_rows).filter(|&row| (times[later] - times[row]).to_f64() >= 0.0) {
                let transition = component_transition(component, parameters, times[later] - times[earlier]);
                let marginal = component_covariance(component, parameters, times[earlier]);
                let block = product(&transition, &marginal, component.state_dim());
                covariance.set(later, earlier, &block[..dim * dim]);
            }
        }
        covariance
    }

    /// `Cov(z_i component p, z_j component q)`.
    pub(super) fn get(&self, (i, p): (usize, usize), (j, q): (usize, usize)) -> DoubleDouble {
        self.values[(i * self.dim + p) * self.n_rows * self.dim + j * self.dim + q]
    }

    /// `Cov(z_i, z_j)`, row-major.
    pub(super) fn block(&self, i: usize, j: usize) -> Square {
        let dim = self.dim;
        (0..dim * dim).map(|at| self.get((i, at / dim), (j, at % dim))).collect()
    }

    /// Sets `Cov(z_i, z_j)` and its transpose.
    fn set(&mut self, i: usize, j: usize, block: &[DoubleDouble]) {
        let (dim, width) = (self.dim, self.n_rows * self.dim);
        for (at, &entry) in block.iter().enumerate() {
            let (p, q) = (i * dim + at / dim, j * dim + at % dim);
            self.values[p * width + q] = entry;
            self.values[q * width + p] = entry;
        }
    }
}

/// Euclidean distance.
fn distance(a: &[f64], b: &[f64]) -> DoubleDouble {
    let squares = a.iter().zip(b).map(|(&x, &y)| {
        let difference = DoubleDouble::new(x) - DoubleDouble::new(y);
        difference * difference
    });
    squares.sum::<DoubleDouble>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena::data::InputPoints;
    use catena::index::Position;
    use catena::units::LengthScale;

    /// The definition: go from both rows to their common ancestor and multiply the correlations of the edges.
    #[test]
    fn blocks_follow_the_paths_to_the_common_ancestor() {
        let places = vec![0.0, 1.0, 0.5, 2.0, -1.0, 0.3, 0.2, 4.0, 1.5, -2.0, 3.0, 3.5];
        let inputs = InputPoints::new(6, 2, places).unwrap();
        let parents = [Some(2), Some(2), None, Some(1), Some(1), Some(0)];
        let tree = Tree::from_parents(&inputs, &parents.map(|row| row.map(RowIndex::new))).unwrap();
        let latent = Latent::new(Kernel::Matern52, StateKind::Value, LengthScale::new(1.7).unwrap()).unwrap();
        let parameters = [DoubleDouble::new(1.7), DoubleDouble::ONE];
        let covariance = StateCovariance::new(&latent, Metric::Structure(&tree), parameters);
        let ancestors = |row: usize| {
            let mut path = vec![tree.position_of(RowIndex::new(row))];
            while let Some(parent) = tree.parent(*path.last().unwrap()) {
                path.push(parent);
            }
            path
        };
        for i in 0..6 {
            for j in 0..6 {
                let (from_i, from_j) = (ancestors(i), ancestors(j));
                let common = from_i.iter().find(|at| from_j.contains(at)).unwrap();
                let below = |path: &[Position]| -> f64 {
                    path.iter()
                        .take_while(|at| *at != common)
                        .map(|&at| latent.correlation(tree.step_into(at)).unwrap())
                        .product()
                };
                let expected = below(&from_i) * below(&from_j);
                assert!((covariance.get((i, 0), (j, 0)).to_f64() - expected).abs() < 1e-15);
            }
        }
    }
}
