//! The closed set of likelihoods that an output can have.

use super::bernoulli::Bernoulli;
use super::beta::Beta;
use super::binomial::Binomial;
use super::cell::{CellLikelihood, CellMarginal, Expectation, ObservedCell, PseudoObservation};
use super::censored::Censored;
use super::error::LikelihoodError;
use super::gamma::Gamma;
use super::gaussian::Gaussian;
use super::log_normal::LogNormal;
use super::negative_binomial::NegativeBinomial;
use super::observation::{ObservationScale, OutputLikelihood};
use super::poisson::Poisson;
use super::student_t::StudentT;
use super::zero_inflated::ZeroInflated;
use rand_chacha::ChaCha8Rng;

/// Declares the likelihoods: one line for each file.
macro_rules! likelihoods {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// The distribution of an output's observations given the function.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Likelihood {
            $($(#[$doc])* $name($name),)*
        }

        impl Likelihood {
            /// The names of all likelihoods.
            pub const NAMES: &'static [&'static str] = &[$($name::NAME,)*];

            /// The name on the command line and in Python.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$name(_) => $name::NAME,)* }
            }

            /// Whether observations are whole numbers.
            pub fn is_whole(&self) -> bool {
                match self { $(Self::$name(_) => $name::IS_WHOLE,)* }
            }

            /// Which values are allowed, as the end of a sentence, if this one is not.
            pub fn refusal(&self, value: f64, exposure: f64) -> Option<&'static str> {
                match self { $(Self::$name(own) => own.refusal(value, exposure),)* }
            }

            /// Mean and variance of a new observation under a marginal of the function.
            pub fn moments(&self, marginal: CellMarginal, scale: ObservationScale) -> (f64, f64) {
                match self { $(Self::$name(own) => own.moments(marginal, scale),)* }
            }

            /// The probability that a new observation is at most `value`.
            pub fn cumulative(&self, value: f64, marginal: CellMarginal, scale: ObservationScale) -> f64 {
                match self { $(Self::$name(own) => own.cumulative(value, marginal, scale),)* }
            }

            /// Mean and variance of an observation given the function.
            pub fn moments_given(&self, function: f64, scale: ObservationScale) -> (f64, f64) {
                match self { $(Self::$name(own) => own.moments_given(function, scale),)* }
            }

            /// The log density of a new observation; of a count, the log probability.
            pub fn log_density(&self, value: f64, marginal: CellMarginal, scale: ObservationScale) -> f64 {
                match self { $(Self::$name(own) => own.log_density(value, marginal, scale),)* }
            }

            /// The smallest value that a new observation does not exceed with at least this probability.
            pub fn quantile(&self, probability: f64, marginal: CellMarginal, scale: ObservationScale) -> f64 {
                match self { $(Self::$name(own) => own.quantile(probability, marginal, scale),)* }
            }

            /// An observation given the function.
            pub fn draw(&self, function: f64, scale: ObservationScale, generator: &mut ChaCha8Rng) -> f64 {
                match self { $(Self::$name(own) => own.draw(function, scale, generator),)* }
            }
        }

        /// One likelihood for all cells.
        impl CellLikelihood for Likelihood {
            fn expectation(&self, cell: &ObservedCell, marginal: CellMarginal) -> Expectation {
                match self { $(Self::$name(own) => OutputLikelihood::expectation(own, cell, marginal),)* }
            }

            fn start(&self, cell: &ObservedCell) -> PseudoObservation {
                match self { $(Self::$name(own) => OutputLikelihood::start(own, cell),)* }
            }

            fn check(&self, cell: &ObservedCell) -> Result<(), LikelihoodError> {
                let ObservedCell { row, output, value, exposure, .. } = *cell;
                if !(exposure > 0.0 && exposure.is_finite()) {
                    return Err(LikelihoodError::Exposure { row, output, exposure });
                }
                match self.refusal(value, exposure) {
                    None => Ok(()),
                    Some(allowed) => {
                        Err(LikelihoodError::Value { row, output, value, likelihood: self.name(), allowed })
                    }
                }
            }
        }

        $(impl From<$name> for Likelihood {
            fn from(own: $name) -> Self {
                Self::$name(own)
            }
        }

        impl CellLikelihood for $name {
            fn expectation(&self, cell: &ObservedCell, marginal: CellMarginal) -> Expectation {
                OutputLikelihood::expectation(self, cell, marginal)
            }

            fn start(&self, cell: &ObservedCell) -> PseudoObservation {
                OutputLikelihood::start(self, cell)
            }

            fn check(&self, cell: &ObservedCell) -> Result<(), LikelihoodError> {
                Likelihood::from(*self).check(cell)
            }
        })*
    };
}

likelihoods! {
    /// See [`struct@Gaussian`].
    Gaussian,
    /// See [`StudentT`].
    StudentT,
    /// See [`struct@Poisson`].
    Poisson,
    /// See [`struct@NegativeBinomial`].
    NegativeBinomial,
    /// See [`struct@Bernoulli`].
    Bernoulli,
    /// See [`struct@Binomial`].
    Binomial,
    /// See [`struct@Gamma`].
    Gamma,
    /// See [`struct@LogNormal`].
    LogNormal,
    /// See [`struct@Beta`].
    Beta,
    /// See [`Censored`].
    Censored,
    /// See [`ZeroInflated`].
    ZeroInflated,
}
