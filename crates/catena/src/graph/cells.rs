//! Observed cells in the structure's order, grouped by mask.

use crate::data::Observations;
use crate::structure::Tree;
use std::collections::HashMap;

/// Observed cells by position. Positions with the same observed outputs share a mask.
#[derive(Debug)]
pub(crate) struct Cells {
    n_outputs: usize,
    /// Cells of position i are `start[i]..start[i + 1]`.
    start: Vec<usize>,
    values: Vec<f64>,
    noise_variances: Option<Vec<f64>>,
    /// The mask of each position.
    mask_of: Vec<u32>,
    /// The outputs of each mask, ascending.
    masks: Vec<Vec<usize>>,
    /// By mask, the first position that has it, and how many have it.
    first_of_mask: Vec<usize>,
    positions_of_mask: Vec<usize>,
}

impl Cells {
    /// The cells of a table in the order of a structure over its rows.
    pub(super) fn new(tree: &Tree, observations: &Observations) -> Self {
        let mut cells = Self {
            n_outputs: observations.n_outputs(),
            start: Vec::with_capacity(tree.len() + 1),
            values: Vec::with_capacity(observations.n_observed()),
            noise_variances: observations.has_cell_noise().then(Vec::new),
            mask_of: Vec::with_capacity(tree.len()),
            masks: vec![],
            first_of_mask: vec![],
            positions_of_mask: vec![],
        };
        cells.start.push(0);
        let mut known_masks: HashMap<Vec<usize>, u32> = HashMap::new();
        let mut outputs = vec![];
        for position in tree.positions() {
            outputs.clear();
            for cell in observations.row(tree.row_at(position)) {
                outputs.push(cell.output.get());
                cells.values.push(cell.value);
                if let (Some(all), Some(own)) = (&mut cells.noise_variances, cell.noise_variance) {
                    all.push(own);
                }
            }
            let mask = match known_masks.get(&outputs) {
                Some(&mask) => mask,
                None => {
                    let mask = cells.masks.len() as u32;
                    known_masks.insert(outputs.clone(), mask);
                    cells.masks.push(outputs.clone());
                    cells.first_of_mask.push(position.get());
                    cells.positions_of_mask.push(0);
                    mask
                }
            };
            cells.positions_of_mask[mask as usize] += 1;
            cells.mask_of.push(mask);
            cells.start.push(cells.values.len());
        }
        cells
    }

    /// The number of outputs, D.
    pub(crate) fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    /// The number of positions.
    pub(crate) fn n_positions(&self) -> usize {
        self.mask_of.len()
    }

    /// By mask, the first position that has it.
    pub(crate) fn first_of_mask(&self) -> &[usize] {
        &self.first_of_mask
    }

    /// By mask, how many positions have it.
    pub(crate) fn positions_of_mask(&self) -> &[usize] {
        &self.positions_of_mask
    }

    /// The mask of a position.
    #[inline(always)]
    pub(crate) fn mask_of(&self, position: usize) -> usize {
        self.mask_of[position] as usize
    }

    /// The outputs observed at a position, ascending.
    #[inline(always)]
    pub(crate) fn outputs(&self, position: usize) -> &[usize] {
        &self.masks[self.mask_of(position)]
    }

    /// The observed values of a position, in the order of its mask.
    #[inline(always)]
    pub(crate) fn values(&self, position: usize) -> &[f64] {
        &self.values[self.start[position]..self.start[position + 1]]
    }

    /// The known noise variances of a position's cells, if cells carry their own.
    #[inline(always)]
    pub(crate) fn noise_variances(&self, position: usize) -> Option<&[f64]> {
        self.noise_variances.as_ref().map(|all| &all[self.start[position]..self.start[position + 1]])
    }

    /// Whether cells carry their own noise variances.
    #[inline(always)]
    pub(crate) fn has_own_noise(&self) -> bool {
        self.noise_variances.is_some()
    }

    /// The smallest known noise variance of each output's cells, if cells carry their own.
    pub(crate) fn smallest_own_noise(&self) -> Option<Vec<f64>> {
        let own = self.noise_variances.as_ref()?;
        let mut smallest = vec![f64::INFINITY; self.n_outputs];
        for position in 0..self.n_positions() {
            let outputs = &self.masks[self.mask_of(position)];
            for (&output, &noise) in outputs.iter().zip(&own[self.start[position]..]) {
                smallest[output] = smallest[output].min(noise);
            }
        }
        Some(smallest)
    }

    /// How many cells of each output are observed.
    pub(crate) fn counts_by_output(&self) -> Vec<usize> {
        let mut counts = vec![0; self.n_outputs];
        for (mask, positions) in self.masks.iter().zip(&self.positions_of_mask) {
            mask.iter().for_each(|&output| counts[output] += positions);
        }
        counts
    }
}
