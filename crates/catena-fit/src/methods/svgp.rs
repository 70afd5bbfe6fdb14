//! `svgp[:M]`: sparse variational inference with M inducing points.

use catena::data::{DataError, InputPoints};
use catena::model::Lmc;
use catena::prediction::Prediction;
use catena_methods::kmeans::{PAPER_ROUNDS, Start, k_means};
use catena_methods::svgp::{Approximation, Svgp, SvgpOptions};
use catena_methods::{DenseMethodError, Gradient, MemoryLimit, Problem};

use super::dense::{DensePosterior, WithRows};
use super::method::{Differentiable, Evidence, Fitted, Method};
use super::named::NamedMethod;
use crate::error::MethodError;
use crate::options::{MethodChoice, positive_count};

/// The default number of inducing points.
const INDUCING: usize = 200;

/// Sparse variational inference. Inducing points are k-means centers (started by k-means++) of the observed rows, shared by all
/// latents.
#[derive(Clone, PartialEq, Debug)]
pub struct SvgpMethod {
    /// The number of centers.
    pub n_inducing: usize,
    /// The seed of the starting rows.
    pub seed: u64,
    /// Further options.
    pub options: SvgpOptions,
}

pub(super) struct Definition;

impl Definition {
    fn count(choice: MethodChoice) -> usize {
        if let MethodChoice::Svgp { n_inducing } = choice { n_inducing } else { 0 }
    }
}

impl NamedMethod for Definition {
    fn word(&self) -> &'static str {
        "svgp"
    }

    fn usages(&self) -> Vec<&'static str> {
        vec!["svgp", "svgp:M"]
    }

    fn parse(&self, counts: Option<&str>) -> Option<MethodChoice> {
        Some(MethodChoice::Svgp { n_inducing: counts.map_or(Some(0), positive_count)? })
    }

    fn counts_text(&self, choice: MethodChoice) -> Option<String> {
        Some(Self::count(choice)).filter(|count| *count > 0).map(|count| count.to_string())
    }

    fn counts(&self, choice: MethodChoice) -> [usize; 2] {
        [Self::count(choice), 0]
    }

    fn with_counts(&self, [n_inducing, _]: [usize; 2]) -> MethodChoice {
        MethodChoice::Svgp { n_inducing }
    }

    fn for_rows(&self, choice: MethodChoice, n_rows: usize) -> MethodChoice {
        match Self::count(choice) {
            0 => MethodChoice::Svgp { n_inducing: INDUCING.min(n_rows) },
            _ => choice,
        }
    }

    fn dense(&self, choice: MethodChoice, seed: u64, memory: MemoryLimit) -> Option<Box<dyn Differentiable>> {
        let options = SvgpOptions { memory, ..SvgpOptions::default() };
        Some(Box::new(SvgpMethod { n_inducing: Self::count(choice), seed, options }))
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

impl SvgpMethod {
    /// The collapsed bound with this many inducing points per latent, placed by k-means.
    pub fn new(n_inducing: usize) -> Self {
        Self { n_inducing, seed: 0, options: SvgpOptions::default() }
    }

    /// Places the inducing points and computes the posterior.
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
