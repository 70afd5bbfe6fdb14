//! The encoding of a model as plain numbers and words.

use catena::index::OutputIndex;
use catena::kernel::{Component, Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix, Process};
use catena::units::{LengthScale, Variance};
use serde::{Deserialize, Serialize};

/// The kind of a latent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatentKind {
    /// The kernel or component.
    pub kernel: String,
    /// The state: `derivative`, `value`, `piece` (a time component) or `turn` (a quadrature component).
    pub state: String,
}

impl LatentKind {
    /// The kind of a latent.
    pub fn of(latent: &Latent) -> Self {
        let (kernel, state) = match latent.process() {
            Process::Stationary(kernel, StateKind::Derivative) => (kernel.name(), "derivative"),
            Process::Stationary(kernel, StateKind::Value) => (kernel.name(), "value"),
            Process::Component(component) => (component.name(), "piece"),
            Process::Quadrature => ("qp", "turn"),
        };
        Self { kernel: kernel.to_owned(), state: state.to_owned() }
    }

    /// The latent of this kind with these parameters; `before` is the latent before it. `None` if invalid.
    pub fn latent(&self, length_scale: f64, shape: f64, before: Option<&Latent>) -> Option<Latent> {
        let length_scale = LengthScale::new(length_scale).ok()?;
        let state = match self.state.as_str() {
            "turn" => return Latent::quadrature_of(before?),
            "piece" => return Some(Latent::component(Component::named(&self.kernel, shape)?, length_scale)),
            "derivative" => StateKind::Derivative,
            "value" => StateKind::Value,
            _ => return None,
        };
        let kernel = Kernel::ALL.iter().copied().find(|kernel| kernel.name() == self.kernel)?;
        Latent::new(kernel, state, length_scale).ok()
    }
}

/// All parameters of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlainModel {
    /// The kinds of the latents.
    pub latents: Vec<LatentKind>,
    /// Their length-scales.
    pub length_scales: Vec<f64>,
    /// The shape parameter of each latent that has one.
    pub shapes: Vec<Option<f64>>,
    /// Weights of shared latents, row-major.
    pub shared: Vec<f64>,
    /// Weights of private latents; empty for a model without private latents.
    pub private: Vec<f64>,
    /// The noise variances.
    pub noise: Vec<f64>,
}

impl PlainModel {
    /// The parameters of a model.
    pub fn of(model: &Lmc) -> Self {
        let outputs = || (0..model.n_outputs()).map(OutputIndex::new);
        let latents = model.latents().iter();
        Self {
            latents: latents.clone().map(LatentKind::of).collect(),
            length_scales: latents.clone().map(|latent| latent.length_scale().get()).collect(),
            shapes: latents.map(Latent::shape).collect(),
            shared: outputs().flat_map(|output| model.mixing().shared_row(output).to_vec()).collect(),
            private: outputs().filter_map(|output| model.mixing().private_weight(output)).collect(),
            noise: model.noise().iter().map(|noise| noise.get()).collect(),
        }
    }

    /// The model with these parameters; `None` if invalid.
    pub fn model(&self) -> Option<Lmc> {
        let n_latents = self.latents.len();
        if self.length_scales.len() != n_latents || self.shapes.len() != n_latents || self.noise.is_empty() {
            return None;
        }
        let mut latents: Vec<Latent> = Vec::with_capacity(n_latents);
        for (at, kind) in self.latents.iter().enumerate() {
            let shape = self.shapes[at].unwrap_or(f64::NAN);
            latents.push(kind.latent(self.length_scales[at], shape, latents.last())?);
        }
        let n_outputs = self.noise.len();
        let n_shared = self.shared.len() / n_outputs;
        let mixing =
            MixingMatrix::with_private(n_outputs, n_shared, self.shared.clone(), self.private.clone());
        let noise: Option<Vec<Variance>> =
            self.noise.iter().map(|&noise| Variance::new(noise).ok()).collect();
        Lmc::new(latents, mixing.ok()?, noise?).ok()
    }
}
