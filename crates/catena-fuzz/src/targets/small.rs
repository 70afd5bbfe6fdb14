//! Small tables and models from bytes.

use catena::data::{Dataset, InputPoints, Observations};
use catena::kernel::{Component, Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::prediction::Prediction;
use catena::units::{LengthScale, Quality, Variance};

use crate::Supply;

/// A table with at most this many rows and inputs; a fifth of the cells are missing.
pub(super) fn table(supply: &mut Supply<'_>, most_rows: usize, most_inputs: usize) -> Option<Dataset> {
    let n_rows = 1 + supply.below(most_rows);
    let dim = 1 + supply.below(most_inputs);
    let n_outputs = 1 + supply.below(3);
    let noise = supply.byte().is_multiple_of(8);
    let inputs = (0..n_rows * dim).map(|_| supply.finite()).collect();
    let cell = |_| if supply.byte() < 50 { f64::NAN } else { supply.finite() };
    let values: Vec<f64> = (0..n_rows * n_outputs).map(cell).collect();
    let mut observations = Observations::from_dense(n_rows, n_outputs, &values).ok()?;
    if noise {
        let variances: Vec<f64> = values.iter().map(|_| supply.positive()).collect();
        observations = observations.with_cell_noise(&variances).ok()?;
    }
    Dataset::new(InputPoints::new(n_rows, dim, inputs).ok()?, observations).ok()
}

/// A model with this many outputs and any valid parameters.
pub(super) fn model(supply: &mut Supply<'_>, n_outputs: usize, is_line: bool) -> Option<Lmc> {
    let n_shared = 1 + supply.below(3);
    let has_private = supply.byte().is_multiple_of(4);
    let n_latents = n_shared + if has_private { n_outputs } else { 0 };
    let state = if is_line { StateKind::Derivative } else { StateKind::Value };
    let latents: Option<Vec<Latent>> = (0..n_latents).map(|_| latent(supply, state)).collect();
    let shared = (0..n_outputs * n_shared).map(|_| supply.finite()).collect();
    let private = (0..if has_private { n_outputs } else { 0 }).map(|_| supply.finite()).collect();
    let mixing = MixingMatrix::with_private(n_outputs, n_shared, shared, private).ok()?;
    let noise: Option<Vec<Variance>> =
        (0..n_outputs).map(|_| Variance::new(supply.positive()).ok()).collect();
    Lmc::new(latents?, mixing, noise?).ok()
}

fn latent(supply: &mut Supply<'_>, state: StateKind) -> Option<Latent> {
    let length = LengthScale::new(supply.positive()).ok()?;
    // Pieces are for a line.
    if state == StateKind::Derivative && supply.byte().is_multiple_of(4) {
        let component = match supply.below(5) {
            0 => Component::Sho { quality: Quality::new(supply.positive()).ok()? },
            1 => Component::Cycle { period: LengthScale::new(supply.positive()).ok()? },
            2 => Component::RandomWalk,
            3 => Component::LocalLinearTrend,
            _ => Component::DampedTrend,
        };
        return Some(Latent::component(component, length));
    }
    Latent::new(supply.choice(Kernel::ALL), state, length).ok()
}

/// Checks that means and variances are finite.
pub(super) fn check_prediction(what: &str, prediction: &Prediction) {
    let (means, variances) = (prediction.means(), prediction.variances());
    assert!(means.iter().all(|mean| mean.is_finite()), "{what}: means {means:?}");
    assert!(variances.iter().all(|variance| variance.is_finite()), "{what}: variances {variances:?}");
}
