//! What depends on the table's inputs alone: places, their order, their neighbors, the inducing points.

use std::collections::HashMap;

use catena::data::{Dataset, InputPoints};
use catena::index::RowIndex;
use catena::structure::KdTree;
use rayon::prelude::*;

use super::FullScaleSize;
use crate::DenseMethodError;
use crate::kmeans::{PAPER_ROUNDS, Start, k_means};
use crate::maxmin::maxmin_order;

/// A table's places arranged for the full-scale method. It knows no hyperparameter, so one arrangement serves a whole
/// climb; only which rows have a cell matters to it, not what is in them.
#[derive(Clone, Debug)]
pub struct Arrangement {
    size: FullScaleSize,
    /// What tells this table's places from another's.
    fingerprint: u64,
    /// Rows of place i are `rows[row_start[i]..row_start[i + 1]]`: all rows with a cell at exactly these inputs.
    rows: Vec<RowIndex>,
    row_start: Vec<usize>,
    /// Neighbors of place i are `neighbors[neighbor_start[i]..neighbor_start[i + 1]]`, ascending.
    neighbors: Vec<usize>,
    neighbor_start: Vec<usize>,
    /// The places, for prediction; `None` when no row has a cell.
    tree: Option<KdTree>,
    inducing: Option<InputPoints>,
}

impl Arrangement {
    /// Arranges the rows of a table that have a cell. Neighbors are the nearest places that come earlier in maxmin order;
    /// inducing points are centers of k-means. More neighbors or inducing points than places are all of them.
    ///
    /// # Errors
    /// When the table's places cannot be used as points.
    pub fn new(dataset: &Dataset, size: FullScaleSize, seed: u64) -> Result<Self, DenseMethodError> {
        let places = places_of(dataset);
        let dim = dataset.inputs().dim();
        let mut arrangement = Self {
            size,
            fingerprint: fingerprint(dataset),
            rows: places.concat(),
            row_start: starts(places.iter().map(Vec::len)),
            neighbors: vec![],
            neighbor_start: vec![0; places.len() + 1],
            tree: None,
            inducing: None,
        };
        if places.is_empty() {
            return Ok(arrangement);
        }
        let coordinates = places.iter().flat_map(|rows| dataset.inputs().point(rows[0])).copied();
        let points = InputPoints::new(places.len(), dim, coordinates.collect())?;
        if size.n_neighbors > 0 {
            let by_place = predecessors(&points, size.n_neighbors)?;
            arrangement.neighbor_start = starts(by_place.iter().map(Vec::len));
            arrangement.neighbors = by_place.concat();
        }
        if size.n_inducing > 0 {
            let n_centers = size.n_inducing.min(places.len());
            arrangement.inducing = Some(k_means(&points, Start::PlusPlus { n_centers, seed }, PAPER_ROUNDS)?);
        }
        arrangement.tree = Some(KdTree::new(&points));
        Ok(arrangement)
    }

    /// How many inducing points and neighbors were asked for.
    pub fn size(&self) -> FullScaleSize {
        self.size
    }

    /// The number of different places with a cell.
    pub fn n_places(&self) -> usize {
        self.row_start.len() - 1
    }

    /// The rows at a place.
    ///
    /// # Panics
    /// When there is no such place.
    pub fn rows_at(&self, place: usize) -> &[RowIndex] {
        &self.rows[self.row_start[place]..self.row_start[place + 1]]
    }

    /// The places that a place is conditioned on, ascending.
    ///
    /// # Panics
    /// When there is no such place.
    pub fn neighbors_of(&self, place: usize) -> &[usize] {
        &self.neighbors[self.neighbor_start[place]..self.neighbor_start[place + 1]]
    }

    /// The inducing points, shared by all latents that have features; `None` when there are none.
    pub fn inducing(&self) -> Option<&InputPoints> {
        self.inducing.as_ref()
    }

    /// The places nearest to a point, ascending; ties by the earlier place.
    pub(super) fn nearest(&self, point: &[f64]) -> Vec<usize> {
        let Some(tree) = &self.tree else { return vec![] };
        let mut neighbors = Vec::with_capacity(self.size.n_neighbors + 1);
        tree.k_nearest(point, self.size.n_neighbors, &mut neighbors);
        let mut places: Vec<usize> = neighbors.iter().map(|neighbor| neighbor.row.get()).collect();
        places.sort_unstable();
        places
    }

    /// Whether this arrangement is of a table with the same rows at the same places, the same ones with a cell.
    pub fn fits(&self, dataset: &Dataset) -> bool {
        self.fingerprint == fingerprint(dataset)
    }
}

/// A number that changes when a row with a cell comes, goes or moves (FNV-1a over their numbers and coordinates).
fn fingerprint(dataset: &Dataset) -> u64 {
    let (inputs, observations) = (dataset.inputs(), dataset.observations());
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut take = |number: u64| hash = (hash ^ number).wrapping_mul(0x0100_0000_01b3);
    take(inputs.dim() as u64);
    for row in inputs.rows().filter(|&row| observations.row(row).len() > 0) {
        take(row.get() as u64);
        inputs.point(row).iter().for_each(|coordinate| take(coordinate.to_bits()));
    }
    hash
}

/// Rows with a cell by place, places in the order of their first row.
fn places_of(dataset: &Dataset) -> Vec<Vec<RowIndex>> {
    let (inputs, observations) = (dataset.inputs(), dataset.observations());
    let mut known: HashMap<Vec<u64>, usize> = HashMap::new();
    let mut places: Vec<Vec<RowIndex>> = vec![];
    for row in inputs.rows().filter(|&row| observations.row(row).len() > 0) {
        // Adding 0 makes −0 and 0 the same place.
        let key = inputs.point(row).iter().map(|coordinate| (coordinate + 0.0).to_bits()).collect();
        let place = *known.entry(key).or_insert(places.len());
        if place == places.len() {
            places.push(vec![]);
        }
        places[place].push(row);
    }
    places
}

/// For every place its nearest predecessors in maxmin order; equally near ones by that order.
fn predecessors(points: &InputPoints, count: usize) -> Result<Vec<Vec<usize>>, DenseMethodError> {
    let order = maxmin_order(points);
    // Numbered by their position in the order, predecessors are the numbers below.
    let in_order: Vec<f64> = order.iter().flat_map(|&place| points.point(place)).copied().collect();
    let tree = KdTree::new(&InputPoints::new(points.n_rows(), points.dim(), in_order)?);
    let mut position_of = vec![0; order.len()];
    order.iter().enumerate().for_each(|(position, place)| position_of[place.get()] = position);
    let of_place = |place: usize| {
        let mut neighbors = Vec::with_capacity(count + 1);
        let before = RowIndex::new(position_of[place]);
        tree.k_nearest_before(points.point(RowIndex::new(place)), count, before, &mut neighbors);
        let mut places: Vec<usize> =
            neighbors.iter().map(|neighbor| order[neighbor.row.get()].get()).collect();
        places.sort_unstable();
        places
    };
    Ok((0..points.n_rows()).into_par_iter().map(of_place).collect())
}

/// Where each of some stretches begins when they lie one after the other, and where the last ends.
fn starts(lengths: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut starts = vec![0];
    let mut end = 0;
    for length in lengths {
        end += length;
        starts.push(end);
    }
    starts
}
