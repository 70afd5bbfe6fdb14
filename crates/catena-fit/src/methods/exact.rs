//! `exact`: exact inference with dense matrices.

use catena::data::InputPoints;
use catena::model::Lmc;
use catena::prediction::Prediction;
use catena_methods::exact::{Exact, ExactOptions};
use catena_methods::fullscale::FullScaleSize;
use catena_methods::{DenseMethodError, Gradient, Joint, MemoryLimit, Problem};

use super::dense::{DensePosterior, WithRows};
use super::method::{Differentiable, Evidence, Fitted, Method};
use super::named::NamedMethod;
use crate::error::MethodError;
use crate::options::MethodChoice;

/// Exact inference with dense matrices.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ExactMethod(pub ExactOptions);

pub(super) struct Definition;

impl NamedMethod for Definition {
    fn word(&self) -> &'static str {
        "exact"
    }

    fn with_counts(&self, _counts: [usize; 2]) -> MethodChoice {
        MethodChoice::Exact
    }

    fn dense(
        &self,
        _choice: MethodChoice,
        _seed: u64,
        memory: MemoryLimit,
    ) -> Option<Box<dyn Differentiable>> {
        Some(Box::new(ExactMethod(ExactOptions { memory, ..ExactOptions::default() })))
    }

    /// If selected: exact inference needs a Cholesky factor at every iteration; the full-scale likelihood is close and cheaper.
    fn full_scale_likelihood(&self, _choice: MethodChoice, is_selected: bool) -> Option<FullScaleSize> {
        is_selected.then(FullScaleSize::default)
    }
}

impl DensePosterior for Exact {
    fn model(&self) -> &Lmc {
        self.model()
    }

    fn evidence(&self) -> Result<Evidence, DenseMethodError> {
        Ok(Evidence::Exact(self.log_evidence()))
    }

    fn predict_function(&self, at: &InputPoints) -> Result<Prediction, DenseMethodError> {
        self.predict(at)
    }

    fn joint(&self, at: &InputPoints) -> Option<Result<Joint, DenseMethodError>> {
        Some(self.joint(at))
    }

    fn draws(
        &self,
        at: &InputPoints,
        n_draws: usize,
        normal: &mut dyn FnMut() -> f64,
    ) -> Option<Result<Vec<f64>, DenseMethodError>> {
        Some(self.draws(at, n_draws, normal))
    }
}

impl Method for ExactMethod {
    fn name(&self) -> &'static str {
        "exact"
    }

    fn fit(&self, problem: Problem<'_>) -> Result<Box<dyn Fitted>, MethodError> {
        Ok(WithRows::new(Exact::fit(problem, self.0)?, problem))
    }
}

impl Differentiable for ExactMethod {
    fn gradient(&self, problem: Problem<'_>) -> Result<Gradient, MethodError> {
        Ok(Exact::fit(problem, self.0)?.gradient()?)
    }
}
