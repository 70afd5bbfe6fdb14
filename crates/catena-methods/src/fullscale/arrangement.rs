//! Places, their neighbors and the inducing points: everything that depends on the inputs of the table only.

use std::collections::HashMap;

use catena::data::{Dataset, InputPoints};
use catena::index::RowIndex;
use catena::structure::KdTree;

use super::FullScaleSize;
use crate::DenseMethodError;
use crate::kmeans::{PAPER_ROUNDS, Start, k_means};
use crate::neighbors::{nearest, predecessors};

/// A table's places arranged for the full-scale method. It depends on no hyperparameter and no value, only on which rows
/// have a cell, so one arrangement serves a whole optimization.
#[derive(Clone, Debug)]
pub struct Arrangement {
    size: FullScaleSize,
    /// A hash of the rows with a cell and of their inputs.
    fingerprint: u64,
    /// Rows of place i are `rows[row_start[i]..row_start[i + 1]]`: all rows with a cell at exactly these inputs.
    rows: Vec<RowIndex>,
    row_start: Vec<usize>,
    /// Neighbors of place i are `neighbors[neighbor_start[i]..neighbor_start[i + 1]]`, ascending.
    neighbors: Vec<usize>,
    neighbor_start: Vec<usize>,
    /// The places, for prediction; `None` if no row has a cell.
    tree: Option<KdTree>,
    inducing: Option<InputPoints>,
}

impl Arrangement {
    /// Arranges the rows of a table that have a cell. Neighbors are the nearest predecessors in maxmin order; inducing points
    /// are k-means centers. Requests for more neighbors or inducing points than there are places are reduced.
    ///
    /// # Errors
    /// If the places cannot be used as points.
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
            let mut by_place = vec![vec![]; places.len()];
            for (place, near) in predecessors(&points, size.n_neighbors)? {
                by_place[place] = near;
            }
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

    /// The requested numbers of inducing points and neighbors.
    pub fn size(&self) -> FullScaleSize {
        self.size
    }

    /// The number of distinct places with a cell.
    pub fn n_places(&self) -> usize {
        self.row_start.len() - 1
    }

    /// The rows at a place.
    ///
    /// # Panics
    /// If there is no such place.
    pub fn rows_at(&self, place: usize) -> &[RowIndex] {
        &self.rows[self.row_start[place]..self.row_start[place + 1]]
    }

    /// The places that a place is conditioned on, ascending.
    ///
    /// # Panics
    /// If there is no such place.
    pub fn neighbors_of(&self, place: usize) -> &[usize] {
        &self.neighbors[self.neighbor_start[place]..self.neighbor_start[place + 1]]
    }

    /// The inducing points, shared by all latents that have features.
    pub fn inducing(&self) -> Option<&InputPoints> {
        self.inducing.as_ref()
    }

    /// The places nearest to a point, ascending; ties by the earlier place.
    pub(super) fn nearest(&self, point: &[f64]) -> Vec<usize> {
        self.tree.as_ref().map_or(vec![], |tree| nearest(tree, point, self.size.n_neighbors))
    }

    /// Whether this arrangement is of a table with the same rows with a cell at the same inputs.
    pub fn fits(&self, dataset: &Dataset) -> bool {
        self.fingerprint == fingerprint(dataset)
    }
}

/// FNV-1a over the numbers and coordinates of the rows with a cell.
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

/// Rows with a cell, grouped by place; places are in the order of their first row.
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

/// Offsets of consecutive ranges with these lengths, and the end of the last.
fn starts(lengths: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut starts = vec![0];
    let mut end = 0;
    for length in lengths {
        end += length;
        starts.push(end);
    }
    starts
}
