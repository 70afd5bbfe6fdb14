//! Observed cells as channels of unit noise, reduced without loss to as few per location as possible.
//!
//! At a location with observed outputs o, `y_o = W_o g + ε` with noise R. Whitened, `R^−½ W_o = U A` with U (o×p) of
//! orthonormal columns and A (p×L): the p numbers `Uᵀ R^−½ y_o = A g + unit noise` are a sufficient statistic for g, and
//! the residual of y_o is pure noise, which enters the evidence as a constant. If |o| exceeds the number of latents with
//! weight on o, p is that number, for any mask. So a table of N complete rows costs (N L)³ instead of (N D)³.
//!
//! - `pattern`: U and A of one set of observed outputs.
//! - `block`: independent sets of channels, each factored alone.
//! - `covariance`: of channels with each other and with a point.
//! - `adjoint`: from derivatives in the channels to derivatives in W and R.

mod adjoint;
mod block;
mod covariance;
mod pattern;

use std::collections::HashMap;

use catena::data::{Cell, InputPoints};
use catena::index::{OutputIndex, RowIndex};

use crate::correlation::Correlations;
use crate::{DenseMethodError, Jitter, Problem};
pub(crate) use adjoint::{Adjoint, BlockDerivatives};
pub(crate) use block::{Block, Run};
use pattern::Pattern;

/// Whether the observed cells of a row are reduced before a dense method uses them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CellReduction {
    /// Cells of a row are rotated into as few channels as possible: the same posterior for less work.
    Lossless,
    /// One channel per observed cell, as the paper's sparse method has it.
    AsObserved,
}

/// The observed cells of a table as channels: `ỹ_c = a_cᵀ g(x_i) + unit noise`, location by location.
#[derive(Clone, Debug)]
pub(crate) struct Channels {
    rows: Vec<RowIndex>,
    points: Vec<f64>,
    dim: usize,
    n_latents: usize,
    patterns: Vec<Pattern>,
    pattern_of: Vec<usize>,
    /// Channels of location i are `start[i]..start[i + 1]`.
    start: Vec<usize>,
    values: Vec<f64>,
    /// Whitened cells `R^−½ y_o` of location i are `cell_start[i]..cell_start[i + 1]`.
    cell_start: Vec<usize>,
    whitened: Vec<f64>,
    log_constant: f64,
}

impl Channels {
    /// The channels of a problem; `jitter` is added to the noise of every cell.
    pub(crate) fn new(
        problem: Problem<'_>,
        jitter: Jitter,
        reduction: CellReduction,
    ) -> Result<Self, DenseMethodError> {
        let inputs = problem.dataset().inputs();
        let places: Vec<[RowIndex; 1]> = inputs.rows().map(|row| [row]).collect();
        Self::at_places(problem, places.iter().map(<[RowIndex; 1]>::as_slice), (jitter, reduction))
    }

    /// [`Channels::new`] with the cells of several rows, which must have equal inputs, gathered into one location. Places
    /// without a cell are skipped.
    pub(crate) fn at_places<'r>(
        problem: Problem<'_>,
        places: impl Iterator<Item = &'r [RowIndex]>,
        (jitter, reduction): (Jitter, CellReduction),
    ) -> Result<Self, DenseMethodError> {
        problem.check_ungrouped()?;
        let (model, dataset) = (problem.model(), problem.dataset());
        let correlations = Correlations::new(model, problem.distance_scale())?;
        let mut channels = Self::empty(dataset.inputs().dim(), model.n_latents());
        let mut known: HashMap<Vec<OutputIndex>, usize> = HashMap::new();
        for rows in places {
            let mut cells: Vec<Cell> = rows.iter().flat_map(|&row| dataset.observations().row(row)).collect();
            let (Some(&row), false) = (rows.first(), cells.is_empty()) else { continue };
            cells.sort_by_key(|cell| cell.output);
            let outputs: Vec<OutputIndex> = cells.iter().map(|cell| cell.output).collect();
            // Rows with noise variances per cell do not share patterns.
            let shared =
                if dataset.observations().has_cell_noise() { None } else { known.get(&outputs).copied() };
            let pattern = match shared {
                Some(pattern) => pattern,
                None => {
                    let pattern = Pattern::new(model, &cells, jitter, reduction, correlations.first_equal())
                        .ok_or(DenseMethodError::MixingDecomposition { row })?;
                    channels.patterns.push(pattern);
                    known.insert(outputs, channels.patterns.len() - 1);
                    channels.patterns.len() - 1
                }
            };
            channels.push(row, dataset.inputs(), pattern, &cells);
        }
        Ok(channels)
    }

    fn empty(dim: usize, n_latents: usize) -> Self {
        Self {
            rows: vec![],
            points: vec![],
            dim,
            n_latents,
            patterns: vec![],
            pattern_of: vec![],
            start: vec![0],
            values: vec![],
            cell_start: vec![0],
            whitened: vec![],
            log_constant: 0.0,
        }
    }

    fn push(&mut self, row: RowIndex, inputs: &InputPoints, number: usize, cells: &[Cell]) {
        let pattern = &self.patterns[number];
        let whitened = pattern.whiten(cells);
        let values = pattern.to_channels(&whitened);
        self.log_constant += pattern.log_constant();
        // The residual of the cells is pure noise.
        self.log_constant -=
            0.5 * pattern.residual(&whitened, &values).iter().map(|rest| rest * rest).sum::<f64>();
        self.rows.push(row);
        self.points.extend_from_slice(inputs.point(row));
        self.pattern_of.push(number);
        self.values.extend(values);
        self.start.push(self.values.len());
        self.whitened.extend(whitened);
        self.cell_start.push(self.whitened.len());
    }

    /// Locations with at least one observed cell.
    pub(crate) fn n_locations(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn n_channels(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn n_latents(&self) -> usize {
        self.n_latents
    }

    pub(crate) fn dim(&self) -> usize {
        self.dim
    }

    /// The first row of a location.
    pub(crate) fn row(&self, location: usize) -> RowIndex {
        self.rows[location]
    }

    pub(crate) fn point(&self, location: usize) -> &[f64] {
        &self.points[location * self.dim..][..self.dim]
    }

    /// The channels of a location.
    pub(crate) fn of_location(&self, location: usize) -> std::ops::Range<usize> {
        self.start[location]..self.start[location + 1]
    }

    /// The loadings a_c (L) of a channel at its location.
    pub(crate) fn loadings(&self, location: usize, channel: usize) -> &[f64] {
        let within = channel - self.start[location];
        &self.patterns[self.pattern_of[location]].loadings[within * self.n_latents..][..self.n_latents]
    }

    /// The values ỹ of all channels.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// [`Channels::log_constant`] and the factor (2π)^−n/2 of the density of the channels.
    pub(crate) fn log_normalizer(&self) -> f64 {
        self.log_constant - 0.5 * self.n_channels() as f64 * std::f64::consts::TAU.ln()
    }

    /// `log p(y) − log N(ỹ; 0, K̃)`: the contribution of the whitening and of the residual noise to the log evidence.
    pub(crate) fn log_constant(&self) -> f64 {
        self.log_constant
    }
}
