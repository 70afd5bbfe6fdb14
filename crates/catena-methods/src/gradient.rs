//! The derivative of a log evidence or bound in the hyperparameters.

use catena::model::Lmc;

/// A log evidence (or a bound on it) and its derivatives.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    /// The log evidence or bound itself.
    pub value: f64,
    /// `∂/∂w_dl`, row-major D×L; 0 where a private column has no entry.
    pub mixing: Vec<f64>,
    /// `∂/∂ℓ_l`.
    pub length_scales: Vec<f64>,
    /// `∂/∂r_d`; cells with a known noise of their own do not contribute.
    pub noise: Vec<f64>,
}

impl Gradient {
    /// A gradient of zeros.
    pub(crate) fn zero(model: &Lmc, value: f64) -> Self {
        let (n_outputs, n_latents) = (model.n_outputs(), model.n_latents());
        Self {
            value,
            mixing: vec![0.0; n_outputs * n_latents],
            length_scales: vec![0.0; n_latents],
            noise: vec![0.0; n_outputs],
        }
    }
}
