//! The common part of the posteriors of dense methods.

use catena::data::InputPoints;
use catena::index::RowIndex;
use catena::model::Lmc;
use catena::prediction::Prediction;
use catena_methods::{DenseMethodError, Joint, Problem};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use super::method::{Evidence, Fitted, Quantity};
use crate::error::MethodError;

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

/// The common part of dense posteriors.
pub(crate) trait DensePosterior: Send + Sync {
    fn model(&self) -> &Lmc;
    fn evidence(&self) -> Result<Evidence, DenseMethodError>;
    fn predict_function(&self, at: &InputPoints) -> Result<Prediction, DenseMethodError>;

    /// The joint distribution at several points; `None` for methods with variances only.
    fn joint(&self, _at: &InputPoints) -> Option<Result<Joint, DenseMethodError>> {
        None
    }

    /// Joint draws at several points, from standard normal numbers; `None` for methods with variances only.
    fn draws(
        &self,
        at: &InputPoints,
        n_draws: usize,
        normal: &mut dyn FnMut() -> f64,
    ) -> Option<Result<Vec<f64>, DenseMethodError>> {
        Some(self.joint(at)?.and_then(|joint| joint.draws(n_draws, normal)))
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
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let mut normal = || StandardNormal.sample(&mut generator);
        let draws = self.posterior.draws(at, n_draws, &mut normal);
        Ok(draws.ok_or(MethodError::NotOffered { what: "joint draws" })??)
    }
}

/// A posterior that was fitted to the rows in another order.
pub(crate) struct InTableOrder {
    pub(crate) fitted: Box<dyn Fitted>,
    /// The rows in the order of the table.
    pub(crate) rows: InputPoints,
}

impl Fitted for InTableOrder {
    fn evidence(&self) -> Result<Option<Evidence>, MethodError> {
        self.fitted.evidence()
    }

    fn predict(&self, at: &InputPoints, quantity: Quantity) -> Result<Prediction, MethodError> {
        self.fitted.predict(at, quantity)
    }

    fn predict_rows(&self, quantity: Quantity) -> Result<Prediction, MethodError> {
        self.fitted.predict(&self.rows, quantity)
    }

    fn covariances(&self, at: &InputPoints) -> Result<Vec<f64>, MethodError> {
        self.fitted.covariances(at)
    }

    fn draws(&self, at: &InputPoints, n_draws: usize, seed: u64) -> Result<Vec<f64>, MethodError> {
        self.fitted.draws(at, n_draws, seed)
    }
}
