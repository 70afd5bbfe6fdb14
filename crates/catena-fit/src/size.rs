//! Refuses tables whose fit needs too much memory or far too much time, before anything is allocated.

use catena::data::Dataset;
use catena_methods::{Bytes, MemoryLimit};

use crate::cost::{FEWEST_ITERATIONS, FEWEST_ROWS, RowSize, TableSize, duration_text};
use crate::error::FitError;
use crate::options::{Budget, FitOptions, MOST_WITH_OWN_SEASONS, MethodChoice};

/// The size of a fit, for estimates before anything is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FitSize {
    /// Rows of the table.
    pub n_rows: usize,
    /// Inputs.
    pub n_inputs: usize,
    /// Outputs.
    pub n_outputs: usize,
    /// Observed cells.
    pub n_observed: usize,
}

impl FitSize {
    /// The size of a table.
    pub fn of(table: &Dataset) -> Self {
        let TableSize { n_rows, n_inputs, n_outputs } = TableSize::of(table);
        Self { n_rows, n_inputs, n_outputs, n_observed: table.observations().n_observed() }
    }

    /// The memory of message passing with this state size, in bytes; or of exact inference. Within a factor of about two.
    pub fn memory(self, state_size: f64, method: MethodChoice) -> f64 {
        let (rows, outputs) = (self.n_rows as f64, self.n_outputs as f64);
        // The table as text, in user units and in model units; the state marginals of every row; matrices over pairs of outputs.
        let cells = rows * (outputs + self.n_inputs as f64);
        let states = rows * (state_size * state_size + 4.0 * state_size);
        let swept = 8.0 * (6.0 * cells + states + 4.0 * outputs * outputs);
        let is_dense = method == MethodChoice::Exact;
        if is_dense { swept + 16.0 * (self.n_observed as f64).powi(2) } else { swept }
    }

    /// Refuses a model with this state size on a table of this size if it needs more memory than the limit.
    ///
    /// # Errors
    /// [`FitError::Memory`].
    pub fn check_memory(
        self,
        state_size: f64,
        method: MethodChoice,
        limit: MemoryLimit,
    ) -> Result<(), FitError> {
        let (needed, limit) = (Bytes::about(self.memory(state_size, method)), limit.get());
        if needed > limit { Err(FitError::Memory { needed, limit }) } else { Ok(()) }
    }
}

/// The size of a query of a fit, for estimates before anything is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuerySize {
    /// Points of the query.
    pub n_points: usize,
    /// Numbers at each point, of each draw.
    pub n_per_point: usize,
    /// Joint draws; `None` for marginal distributions.
    pub n_draws: Option<usize>,
}

impl QuerySize {
    /// The memory of the results in bytes, within a factor of about two.
    fn memory(self, state_size: f64) -> f64 {
        let points = self.n_points as f64;
        // The results in model units, in user units and as columns of a table.
        let results = 3.0 * points * self.n_per_point as f64;
        let (draws, states) = match self.n_draws {
            None => (1.0, 0.0),
            // The points become part of the structure.
            Some(n_draws) => (n_draws as f64, points * (state_size * state_size + 4.0 * state_size)),
        };
        8.0 * (draws * results + states)
    }

    /// Refuses a query of a model with this state size that needs more memory than the limit.
    ///
    /// # Errors
    /// [`FitError::QueryMemory`].
    pub fn check_memory(self, state_size: f64, limit: MemoryLimit) -> Result<(), FitError> {
        let (needed, limit) = (Bytes::about(self.memory(state_size)), limit.get());
        if needed > limit { Err(FitError::QueryMemory { needed, limit }) } else { Ok(()) }
    }
}

/// Shared latents that the choice of the family rarely exceeds.
const USUAL_LATENTS: usize = 6;
/// State size of a latent: between Matérn-1/2 and Matérn-3/2.
const STATES_PER_LATENT: f64 = 1.5;
/// Evaluations of the log evidence per iteration: 1.5 to 2.8 were measured on tables of 200 to 500 outputs.
const EVALUATIONS: f64 = 2.5;

impl FitOptions {
    /// The state size of the model that these options probably lead to.
    pub fn expected_state_size(&self, n_outputs: usize) -> f64 {
        if let Some(parameters) = &self.parameters {
            return STATES_PER_LATENT * parameters.length_scales.len() as f64;
        }
        match self.time {
            // One latent per output, each with a level, an oscillator and four harmonics of a season.
            Some(_) if n_outputs <= MOST_WITH_OWN_SEASONS => 11.0 * n_outputs as f64,
            // Many outputs share two groups of four harmonics.
            Some(_) => 3.0 * n_outputs as f64 + 16.0,
            None => STATES_PER_LATENT * self.expected_latents(n_outputs) as f64,
        }
    }

    fn expected_latents(&self, n_outputs: usize) -> usize {
        let shared = self.latents.unwrap_or(USUAL_LATENTS.min(n_outputs));
        let private = if self.tries_private(n_outputs) { n_outputs } else { 0 };
        shared.saturating_add(private)
    }

    /// Refuses a fit that needs more memory than the limit, or whose least work takes far longer than its budget.
    ///
    /// # Errors
    /// [`FitError::Memory`] and [`FitError::TooWide`].
    pub fn check_size(&self, size: FitSize) -> Result<(), FitError> {
        size.check_memory(self.expected_state_size(size.n_outputs), self.method, self.memory)?;
        if self.has_parameters() || self.time.is_some() {
            return Ok(());
        }
        // The longest time of one core that a fit may take at least, and the fewest iterations of the chosen candidate.
        let (seconds, n_last) = match self.budget {
            Budget::Quick => (300.0, 25),
            Budget::Default => (1200.0, 30),
            Budget::Thorough => (7200.0, 50),
        };
        // Ten candidates with the fewest iterations, then the chosen one. Time linear in the rows is no reason to refuse.
        let n_latents = self.expected_latents(size.n_outputs);
        let state_size = n_latents.saturating_add(n_latents / 4);
        let rows = (10 * FEWEST_ITERATIONS + n_last) * size.n_rows.min(FEWEST_ROWS);
        let row = RowSize { state_size, n_latents, n_outputs: size.n_outputs };
        let least = 1e-6 * EVALUATIONS * rows as f64 * row.microseconds();
        if least > seconds {
            let least = duration_text(least);
            return Err(FitError::TooWide { n_outputs: size.n_outputs, least });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_beyond_memory_or_patience_are_refused() {
        let size = |n_rows: usize, n_outputs: usize| FitSize {
            n_rows,
            n_inputs: 1,
            n_outputs,
            n_observed: n_rows * n_outputs,
        };
        for budget in [Budget::Quick, Budget::Default, Budget::Thorough] {
            let options = FitOptions { budget, ..FitOptions::default() };
            for usual in [size(4000, 7), size(1_000_000, 7), size(1000, 120), size(3, 500), size(12, 300)] {
                assert_eq!(options.check_size(usual), Ok(()), "{usual:?}");
            }
            let wide = options.check_size(size(3, 100_000)).unwrap_err();
            assert!(matches!(wide, FitError::Memory { .. }), "{wide}");
            let few = FitOptions { latents: Some(3), private: Some(false), ..options.clone() };
            let private = FitOptions { private: Some(true), ..options.clone() };
            for (n_rows, n_outputs) in [(3, 8000), (3, 3000), (500, 600)] {
                let wide = private.check_size(size(n_rows, n_outputs)).unwrap_err();
                assert!(matches!(wide, FitError::TooWide { .. }), "{wide}");
                // The way out.
                assert_eq!(few.check_size(size(n_rows, n_outputs)), Ok(()));
            }
        }
        let exact = FitOptions { method: MethodChoice::Exact, ..FitOptions::default() };
        assert!(matches!(exact.check_size(size(100_000, 1)), Err(FitError::Memory { .. })));
    }
}
