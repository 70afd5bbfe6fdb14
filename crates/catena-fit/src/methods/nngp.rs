//! `nngp[:K]`: nearest-neighbor inference with K neighbors.

use catena::data::InputPoints;
use catena::model::Lmc;
use catena::prediction::Prediction;
use catena_methods::nngp::{Nngp, NngpOptions};
use catena_methods::{DenseMethodError, Gradient, MemoryLimit, Problem};

use super::dense::{DensePosterior, WithRows};
use super::method::{Differentiable, Evidence, Fitted, Method};
use super::named::NamedMethod;
use crate::error::MethodError;
use crate::options::{MethodChoice, positive_count};

/// The default number of neighbors.
const NEIGHBORS: usize = 16;

/// Nearest-neighbor inference.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NngpMethod(pub NngpOptions);

pub(super) struct Definition;

impl Definition {
    fn count(choice: MethodChoice) -> usize {
        if let MethodChoice::Nngp { n_neighbors } = choice { n_neighbors } else { 0 }
    }
}

impl NamedMethod for Definition {
    fn word(&self) -> &'static str {
        "nngp"
    }

    fn usages(&self) -> Vec<&'static str> {
        vec!["nngp", "nngp:K"]
    }

    fn parse(&self, counts: Option<&str>) -> Option<MethodChoice> {
        Some(MethodChoice::Nngp { n_neighbors: counts.map_or(Some(0), positive_count)? })
    }

    fn counts_text(&self, choice: MethodChoice) -> Option<String> {
        Some(Self::count(choice)).filter(|count| *count > 0).map(|count| count.to_string())
    }

    fn counts(&self, choice: MethodChoice) -> [usize; 2] {
        [Self::count(choice), 0]
    }

    fn with_counts(&self, [n_neighbors, _]: [usize; 2]) -> MethodChoice {
        MethodChoice::Nngp { n_neighbors }
    }

    fn for_rows(&self, choice: MethodChoice, n_rows: usize) -> MethodChoice {
        match Self::count(choice) {
            0 => MethodChoice::Nngp { n_neighbors: NEIGHBORS.min(n_rows) },
            _ => choice,
        }
    }

    fn dense(
        &self,
        choice: MethodChoice,
        _seed: u64,
        _memory: MemoryLimit,
    ) -> Option<Box<dyn Differentiable>> {
        Some(Box::new(NngpMethod(NngpOptions::new(Self::count(choice)))))
    }
}

impl DensePosterior for Nngp {
    fn model(&self) -> &Lmc {
        self.model()
    }

    fn evidence(&self) -> Result<Evidence, DenseMethodError> {
        Ok(Evidence::Approximate(self.log_evidence()?))
    }

    fn predict_function(&self, at: &InputPoints) -> Result<Prediction, DenseMethodError> {
        self.predict(at)
    }
}

impl Method for NngpMethod {
    fn name(&self) -> &'static str {
        "nngp"
    }

    fn fit(&self, problem: Problem<'_>) -> Result<Box<dyn Fitted>, MethodError> {
        Ok(WithRows::new(Nngp::fit(problem, self.0)?, problem))
    }
}

impl Differentiable for NngpMethod {
    fn gradient(&self, problem: Problem<'_>) -> Result<Gradient, MethodError> {
        Ok(Nngp::fit(problem, self.0)?.gradient()?)
    }
}
