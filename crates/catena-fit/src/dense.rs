//! Exact, sparse and nearest-neighbor inference behind the common interface.

use catena::data::{DataError, InputPoints};
use catena::index::RowIndex;
use catena::model::Lmc;
use catena::prediction::Prediction;
use catena_methods::exact::{Exact, ExactOptions};
use catena_methods::kmeans::{PAPER_ROUNDS, Start, k_means};
use catena_methods::nngp::{Nngp, NngpOptions};
use catena_methods::svgp::{Approximation, Svgp, SvgpOptions};
use catena_methods::{DenseMethodError, Gradient, Joint, Problem};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use crate::method::{Differentiable, Evidence, Fitted, Method, MethodError, Quantity};

/// Exact inference with dense matrices.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ExactMethod(pub ExactOptions);

/// Sparse inference through inducing values at centers of k-means (started by k-means++) over the rows with an observation,
/// shared by all latents.
#[derive(Clone, PartialEq, Debug)]
pub struct SvgpMethod {
    /// The number of centers.
    pub n_inducing: usize,
    /// The seed of the starting rows.
    pub seed: u64,
    /// How the method works.
    pub options: SvgpOptions,
}

/// Nearest-neighbor inference.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NngpMethod(pub NngpOptions);

/// A posterior with the rows it was fitted to.
pub(crate) struct WithRows<P> {
    posterior: P,
    rows: InputPoints,
}

impl<P> WithRows<P> {
    pub(crate) fn new(posterior: P, problem: Problem<'_>) -> Box<Self> {
        Box::new(Self { posterior, rows: problem.dataset().inputs().clone() })
    }
}

/// What dense posteriors have in common.
pub(crate) trait DensePosterior: Send + Sync {
    fn model(&self) -> &Lmc;
    fn evidence(&self) -> Result<Evidence, DenseMethodError>;
    fn predict_function(&self, at: &InputPoints) -> Result<Prediction, DenseMethodError>;

    /// What is known of several points together; `None` for methods that know variances only.
    fn joint(&self, _at: &InputPoints) -> Option<Result<Joint, DenseMethodError>> {
        None
    }
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

    fn covariances(&self, at: &InputPoints) -> Result<Vec<f64>, MethodError> {
        let of_row = |row: RowIndex| -> Result<Vec<f64>, MethodError> {
            let alone = InputPoints::new(1, at.dim(), at.point(row).to_vec())?;
            let joint = self.posterior.joint(&alone);
            Ok(joint.ok_or(MethodError::NotOffered { what: "covariances of outputs" })??.covariance)
        };
        let rows: Vec<RowIndex> = at.rows().collect();
        let blocks: Result<Vec<Vec<f64>>, MethodError> = rows.par_iter().map(|&row| of_row(row)).collect();
        Ok(blocks?.concat())
    }

    fn draws(&self, at: &InputPoints, n_draws: usize, seed: u64) -> Result<Vec<f64>, MethodError> {
        let joint = self.posterior.joint(at).ok_or(MethodError::NotOffered { what: "joint draws" })??;
        let (root, size) = (joint.root(), joint.means.len());
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let mut draws = Vec::with_capacity(n_draws * size);
        for _ in 0..n_draws {
            let mut draw = joint.means.clone();
            for column in root.chunks_exact(size) {
                let fresh: f64 = StandardNormal.sample(&mut generator);
                draw.iter_mut().zip(column).for_each(|(value, entry)| *value += fresh * entry);
            }
            draws.extend(draw);
        }
        Ok(draws)
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
}

impl DensePosterior for Svgp {
    fn model(&self) -> &Lmc {
        self.model()
    }

    fn evidence(&self) -> Result<Evidence, DenseMethodError> {
        let value = self.log_evidence();
        Ok(match self.approximation() {
            Approximation::Fitc => Evidence::Approximate(value),
            Approximation::Collapsed => Evidence::LowerBound(value),
        })
    }

    fn predict_function(&self, at: &InputPoints) -> Result<Prediction, DenseMethodError> {
        self.predict(at)
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
        Self { n_inducing, seed: 0, options: SvgpOptions::default() }
    }

    /// The sparse posterior, inducing points placed.
    fn posterior(&self, problem: Problem<'_>) -> Result<Svgp, DenseMethodError> {
        let start = Start::PlusPlus { n_centers: self.n_inducing, seed: self.seed };
        let inducing = k_means(&observed_points(problem)?, start, PAPER_ROUNDS)?;
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
