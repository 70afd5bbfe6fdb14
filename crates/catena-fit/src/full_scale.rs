//! The full-scale method behind the common interface: low rank plus neighbors.

use std::sync::{Arc, Mutex, PoisonError};

use catena::data::{Dataset, InputPoints};
use catena::model::Lmc;
use catena::prediction::Prediction;
use catena_methods::fullscale::{Arrangement, FullScale, FullScaleSize};
use catena_methods::{DenseMethodError, Gradient, Joint, MemoryLimit, Problem};

use crate::dense::{DensePosterior, WithRows};
use crate::method::{Differentiable, Evidence, Fitted, Method, MethodError};

/// Low rank plus neighbors. The arrangement of a table's places is kept from one model to the next, so that a climb arranges
/// once.
#[derive(Debug, Default)]
pub struct FullScaleMethod {
    // Fixed once the method is made: the arrangement that is kept was made with them.
    size: FullScaleSize,
    seed: u64,
    memory: MemoryLimit,
    latest: Mutex<Option<Arc<Arrangement>>>,
}

impl FullScaleMethod {
    /// The method at this size; `seed` is that of the inducing points.
    pub fn new(size: FullScaleSize, seed: u64) -> Self {
        Self { size, seed, ..Self::default() }
    }

    /// The method with another limit of memory.
    pub fn with_memory(self, memory: MemoryLimit) -> Self {
        Self { memory, ..self }
    }

    /// The arrangement of a table: the latest one if it still fits.
    fn arrangement(&self, dataset: &Dataset) -> Result<Arc<Arrangement>, DenseMethodError> {
        let latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(arrangement) = latest.filter(|arrangement| arrangement.fits(dataset)) {
            return Ok(arrangement);
        }
        // Not under the lock: arranging is parallel, and a thread that waits may be handed work that needs it too.
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
