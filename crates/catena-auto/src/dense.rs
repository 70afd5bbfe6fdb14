//! Exact, sparse and nearest-neighbor inference behind the common interface.

use catena::data::{DataError, InputPoints};
use catena::model::Lmc;
use catena::prediction::Prediction;
use catena_baselines::exact::{Exact, ExactOptions};
use catena_baselines::kmeans::{PAPER_ROUNDS, Start, k_means};
use catena_baselines::nngp::{Nngp, NngpOptions};
use catena_baselines::svgp::{Approximation, Inducing, Svgp, SvgpOptions};
use catena_baselines::{BaselineError, Gradient, Problem};

use crate::method::{Differentiable, Evidence, Fitted, Method, MethodError, Quantity};

/// Exact inference with dense matrices.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ExactMethod(pub ExactOptions);

/// Where a sparse method puts its inducing points.
#[derive(Clone, PartialEq, Debug)]
pub enum Placement {
    /// Centers of k-means (started by k-means++) over the rows with an observation, shared by all latents.
    KMeans {
        /// The number of centers.
        n_inducing: usize,
        /// The seed of the starting rows.
        seed: u64,
    },
    /// Points of the caller's choice.
    At(Inducing),
}

/// Sparse inference through inducing values.
#[derive(Clone, PartialEq, Debug)]
pub struct SvgpMethod {
    /// Where the inducing points are.
    pub placement: Placement,
    /// How the method works.
    pub options: SvgpOptions,
}

/// Nearest-neighbor inference.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NngpMethod(pub NngpOptions);

/// A posterior with the rows it was fitted to.
struct WithRows<P> {
    posterior: P,
    rows: InputPoints,
}

impl<P> WithRows<P> {
    fn new(posterior: P, problem: Problem<'_>) -> Box<Self> {
        Box::new(Self { posterior, rows: problem.dataset().inputs().clone() })
    }
}

/// What the three dense posteriors have in common.
trait DensePosterior: Send + Sync {
    fn model(&self) -> &Lmc;
    fn evidence(&self) -> Result<Evidence, BaselineError>;
    fn predict_function(&self, at: &InputPoints) -> Result<Prediction, BaselineError>;
}

impl<P: DensePosterior> Fitted for WithRows<P> {
    fn evidence(&self) -> Result<Option<Evidence>, MethodError> {
        Ok(Some(self.posterior.evidence()?))
    }

    fn predict(&self, at: &InputPoints, quantity: Quantity) -> Result<Prediction, MethodError> {
        let prediction = self.posterior.predict_function(at)?;
        Ok(match quantity {
            Quantity::Function => prediction,
            Quantity::Observation => prediction.with_noise(self.posterior.model().noise()),
        })
    }

    fn predict_rows(&self, quantity: Quantity) -> Result<Prediction, MethodError> {
        self.predict(&self.rows, quantity)
    }
}

impl DensePosterior for Exact {
    fn model(&self) -> &Lmc {
        self.model()
    }

    fn evidence(&self) -> Result<Evidence, BaselineError> {
        Ok(Evidence::Exact(self.log_evidence()))
    }

    fn predict_function(&self, at: &InputPoints) -> Result<Prediction, BaselineError> {
        self.predict(at)
    }
}

impl DensePosterior for Svgp {
    fn model(&self) -> &Lmc {
        self.model()
    }

    fn evidence(&self) -> Result<Evidence, BaselineError> {
        let value = self.log_evidence();
        Ok(match self.approximation() {
            Approximation::Fitc => Evidence::Approximate(value),
            Approximation::Collapsed => Evidence::LowerBound(value),
        })
    }

    fn predict_function(&self, at: &InputPoints) -> Result<Prediction, BaselineError> {
        self.predict(at)
    }
}

impl DensePosterior for Nngp {
    fn model(&self) -> &Lmc {
        self.model()
    }

    fn evidence(&self) -> Result<Evidence, BaselineError> {
        Ok(Evidence::Approximate(self.log_evidence()?))
    }

    fn predict_function(&self, at: &InputPoints) -> Result<Prediction, BaselineError> {
        self.predict(at)
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

impl SvgpMethod {
    /// The collapsed bound with this many inducing points per latent, placed by k-means.
    pub fn new(n_inducing: usize) -> Self {
        Self { placement: Placement::KMeans { n_inducing, seed: 0 }, options: SvgpOptions::default() }
    }

    /// The sparse posterior, inducing points placed.
    fn posterior(&self, problem: Problem<'_>) -> Result<Svgp, BaselineError> {
        let inducing = match &self.placement {
            Placement::At(inducing) => inducing.clone(),
            Placement::KMeans { n_inducing, seed } => {
                let start = Start::PlusPlus { n_centers: *n_inducing, seed: *seed };
                Inducing::Shared(k_means(&observed_points(problem)?, start, PAPER_ROUNDS)?)
            }
        };
        Svgp::fit(problem, &inducing, self.options)
    }
}

/// The inputs of rows with at least one observed cell.
fn observed_points(problem: Problem<'_>) -> Result<InputPoints, DataError> {
    let (inputs, observations) = (problem.dataset().inputs(), problem.dataset().observations());
    let rows = inputs.rows().filter(|&row| observations.row(row).len() > 0);
    let values: Vec<f64> = rows.flat_map(|row| inputs.point(row)).copied().collect();
    InputPoints::new(values.len() / inputs.dim(), inputs.dim(), values)
}

impl Method for SvgpMethod {
    fn name(&self) -> &'static str {
        "svgp"
    }

    fn fit(&self, problem: Problem<'_>) -> Result<Box<dyn Fitted>, MethodError> {
        Ok(WithRows::new(self.posterior(problem)?, problem))
    }
}

impl Differentiable for SvgpMethod {
    fn gradient(&self, problem: Problem<'_>) -> Result<Gradient, MethodError> {
        Ok(self.posterior(problem)?.gradient())
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
