//! `fullscale[:M,K]`: full-scale inference, M inducing points and K neighbors for the residual process.

use std::sync::{Arc, Mutex, PoisonError};

use catena::data::{Dataset, InputPoints};
use catena::model::Lmc;
use catena::prediction::Prediction;
use catena_methods::fullscale::{Arrangement, FullScale, FullScaleSize};
use catena_methods::{DenseMethodError, Gradient, Joint, MemoryLimit, Problem};

use super::dense::{DensePosterior, WithRows};
use super::method::{Differentiable, Evidence, Fitted, Method};
use super::named::NamedMethod;
use crate::error::MethodError;
use crate::options::MethodChoice;

pub(super) struct Definition;

impl Definition {
    fn size(choice: MethodChoice) -> Option<FullScaleSize> {
        if let MethodChoice::FullScale { size } = choice { size } else { None }
    }
}

impl NamedMethod for Definition {
    fn word(&self) -> &'static str {
        "fullscale"
    }

    fn usages(&self) -> Vec<&'static str> {
        vec!["fullscale", "fullscale:M,K (M inducing points, K neighbors)"]
    }

    /// `M,K`: inducing points and neighbors, not both 0.
    fn parse(&self, counts: Option<&str>) -> Option<MethodChoice> {
        let Some(counts) = counts else { return Some(MethodChoice::FullScale { size: None }) };
        let (inducing, neighbors) = counts.split_once(',')?;
        let size = FullScaleSize::new(inducing.trim().parse().ok()?, neighbors.trim().parse().ok()?);
        (size.n_inducing + size.n_neighbors > 0).then_some(MethodChoice::FullScale { size: Some(size) })
    }

    fn counts_text(&self, choice: MethodChoice) -> Option<String> {
        Self::size(choice).map(|size| format!("{},{}", size.n_inducing, size.n_neighbors))
    }

    fn counts(&self, choice: MethodChoice) -> [usize; 2] {
        let size = Self::size(choice).unwrap_or_default();
        [size.n_inducing, size.n_neighbors]
    }

    fn with_counts(&self, [n_inducing, n_neighbors]: [usize; 2]) -> MethodChoice {
        MethodChoice::FullScale { size: Some(FullScaleSize { n_inducing, n_neighbors }) }
    }

    fn dense(&self, choice: MethodChoice, seed: u64, memory: MemoryLimit) -> Option<Box<dyn Differentiable>> {
        let size = Self::size(choice).unwrap_or_default();
        Some(Box::new(FullScaleMethod::new(size, seed).with_memory(memory)))
    }

    fn full_scale_likelihood(&self, choice: MethodChoice, _is_selected: bool) -> Option<FullScaleSize> {
        Some(Self::size(choice).unwrap_or_default())
    }
}

/// Full-scale inference. The arrangement of a table's points is kept between models, so that an optimization computes it once.
#[derive(Debug, Default)]
pub struct FullScaleMethod {
    // Constant: the kept arrangement depends on them.
    size: FullScaleSize,
    seed: u64,
    memory: MemoryLimit,
    latest: Mutex<Option<Arc<Arrangement>>>,
}

impl FullScaleMethod {
    /// The method with this size; `seed` places the inducing points.
    pub fn new(size: FullScaleSize, seed: u64) -> Self {
        Self { size, seed, ..Self::default() }
    }

    /// The method with this memory limit.
    pub fn with_memory(self, memory: MemoryLimit) -> Self {
        Self { memory, ..self }
    }

    /// The arrangement of a table; the latest one if it fits.
    fn arrangement(&self, dataset: &Dataset) -> Result<Arc<Arrangement>, DenseMethodError> {
        let latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(arrangement) = latest.filter(|arrangement| arrangement.fits(dataset)) {
            return Ok(arrangement);
        }
        // Not under the lock: the computation is parallel, and a waiting thread may run a job that needs the lock.
        let arrangement = Arc::new(Arrangement::new(dataset, self.size, self.seed)?);
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&arrangement));
        Ok(arrangement)
    }

    fn posterior(&self, problem: Problem<'_>) -> Result<FullScale, DenseMethodError> {
        FullScale::fit(problem, self.arrangement(problem.dataset())?, self.memory)
    }
}

impl DensePosterior for FullScale {
    fn model(&self) -> &Lmc {
        self.model()
    }

    fn evidence(&self) -> Result<Evidence, DenseMethodError> {
        Ok(Evidence::Approximate(self.log_evidence()))
    }

    fn predict_function(&self, at: &InputPoints) -> Result<Prediction, DenseMethodError> {
        self.predict(at)
    }

    fn joint(&self, at: &InputPoints) -> Option<Result<Joint, DenseMethodError>> {
        Some(self.joint(at))
    }
}

impl Method for FullScaleMethod {
    fn name(&self) -> &'static str {
        "fullscale"
    }

    fn fit(&self, problem: Problem<'_>) -> Result<Box<dyn Fitted>, MethodError> {
        Ok(WithRows::new(self.posterior(problem)?, problem))
    }
}

impl Differentiable for FullScaleMethod {
    fn gradient(&self, problem: Problem<'_>) -> Result<Gradient, MethodError> {
        Ok(self.posterior(problem)?.gradient()?)
    }
}
