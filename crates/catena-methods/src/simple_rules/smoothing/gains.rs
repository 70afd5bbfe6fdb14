//! The gains of exponential smoothing: how an error moves later forecasts.

/// The range of the damping of a trend.
const DAMPING: (f64, f64) = (0.8, 0.995);

/// The shares of an error by which the state moves, and the damping of the slope in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gains {
    pub(super) level: f64,
    pub(super) slope: f64,
    pub(super) season: f64,
    pub(super) damping: f64,
}

impl Gains {
    /// Gains at unconstrained coordinates: of the level, the season, the slope and the damping; the last two only with a trend.
    pub(super) fn at(coordinates: &[f64], is_seasonal: bool) -> Self {
        let share = |at: usize| 1.0 / (1.0 + (-coordinates[at]).exp());
        let level = share(0);
        let season = if is_seasonal { (1.0 - level) * share(1) } else { 0.0 };
        let (slope, damping) = match coordinates.len() {
            4 => (level * share(2), DAMPING.0 + (DAMPING.1 - DAMPING.0) * share(3)),
            _ => (0.0, 0.0),
        };
        Self { level, slope, season, damping }
    }

    /// The sum of the squares of the responses from one step ahead to this many, in closed form.
    pub(super) fn spread(&self, n_steps: usize, period: usize) -> f64 {
        let Self { level, slope, season, damping } = *self;
        let count = n_steps as f64;
        let n_seasons = if period > 1 { n_steps / period } else { 0 };
        let of_level = count * level * level;
        let of_season = n_seasons as f64 * season * (2.0 * level + season);
        if slope == 0.0 {
            return of_level + of_season;
        }
        // The damped sum after j steps is Φ (1 − φʲ): sums of geometric series.
        let geometric = |ratio: f64, count: usize| ratio * (1.0 - ratio.powi(count as i32)) / (1.0 - ratio);
        let whole = damping / (1.0 - damping);
        let sum = whole * (count - geometric(damping, n_steps));
        let squares = whole
            * whole
            * (count - 2.0 * geometric(damping, n_steps) + geometric(damping * damping, n_steps));
        let at_seasons = whole * (n_seasons as f64 - geometric(damping.powi(period as i32), n_seasons));
        of_level
            + of_season
            + 2.0 * level * slope * sum
            + slope * slope * squares
            + 2.0 * slope * season * at_seasons
    }

    /// The sum of the powers of the damping up to a number of steps.
    pub(super) fn damped(&self, ahead: usize) -> f64 {
        let damping = self.damping;
        damping * (1.0 - damping.powi(ahead as i32)) / (1.0 - damping)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Gains {
        /// The share of an error that the forecast this many steps after it has.
        pub(crate) fn response(&self, ahead: usize, period: usize) -> f64 {
            let season = if period > 1 && ahead.is_multiple_of(period) { self.season } else { 0.0 };
            self.level + self.slope * self.damped(ahead) + season
        }
    }

    const GAINS: Gains = Gains { level: 0.4, slope: 0.1, season: 0.3, damping: 0.9 };

    #[test]
    fn spreads_are_sums_of_squared_responses() {
        for gains in [GAINS, Gains { slope: 0.0, damping: 0.0, ..GAINS }] {
            for (n_steps, period) in [(0, 4), (3, 4), (4, 4), (25, 4), (40, 12), (9, 1)] {
                let direct: f64 = (1..=n_steps).map(|ahead| gains.response(ahead, period).powi(2)).sum();
                let found = gains.spread(n_steps, period);
                let season = if period == 1 { Gains { season: 0.0, ..gains } } else { gains };
                assert!((season.spread(n_steps, period) - direct).abs() < 1e-12 && found.is_finite());
            }
        }
    }
}
