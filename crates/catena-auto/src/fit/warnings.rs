//! What a user should know before trusting a fit.

use catena::index::{LatentIndex, OutputIndex};
use catena::learning::{Extent, Learned, Stop};
use catena::model::Lmc;

use super::{FitOptions, HeldOut};
use crate::ground::Ground;

/// Warnings about a fitted model, most important first.
pub(super) fn warnings(
    model: &Lmc,
    ground: &Ground,
    learned: Option<&Learned>,
    held_out: &[HeldOut],
    options: &FitOptions,
) -> Vec<String> {
    let mut warnings = lost_races(held_out);
    for &(output, count) in &ground.constant {
        let name = options.output_name(output.get());
        let cells =
            if count == 1 { "has a single value".to_owned() } else { format!("has {count} equal values") };
        warnings.push(format!(
            "{name} {cells}: it is predicted to stay there, with a width of its size over their number"
        ));
    }
    if let Some(learned) = learned {
        warnings.extend(of_learning(model, ground.extent, learned, options));
    }
    for (output, count) in ground.dataset.observations().counts_by_output().into_iter().enumerate() {
        if (2..8).contains(&count) {
            let name = options.output_name(output);
            warnings.push(format!("{name} has only {count} values: what is said of it leans on the priors"));
        }
    }
    warnings
}

/// Says when a simple predictor did better on the hidden cells.
fn lost_races(held_out: &[HeldOut]) -> Vec<String> {
    let Some((own, others)) = held_out.split_first() else { return vec![] };
    let mut warnings = vec![];
    for other in others {
        if other.rmse < own.rmse {
            warnings.push(format!(
                "{} was more accurate on hidden cells: error {:.3} against {:.3} standard deviations",
                other.name, other.rmse, own.rmse
            ));
        }
        if other.mnll < own.mnll {
            warnings.push(format!(
                "{} had the better log score on hidden cells: {:.3} against {:.3} nats per cell",
                other.name, -other.mnll, -own.mnll
            ));
        }
    }
    if own.n_cells >= 50 && !(0.88..=0.99).contains(&own.coverage) {
        warnings.push(format!("95 % intervals covered {:.0} % of hidden cells", 100.0 * own.coverage));
    }
    warnings
}

fn of_learning(model: &Lmc, extent: Extent, learned: &Learned, options: &FitOptions) -> Vec<String> {
    let mut warnings = vec![];
    match learned.stop {
        Stop::IterationLimit => warnings.push(
            "learning stopped at its limit of iterations before it converged; a larger budget may gain"
                .to_owned(),
        ),
        Stop::Stalled => warnings.push("learning stalled before it converged".to_owned()),
        Stop::Interrupted => {
            warnings.push("learning was interrupted; this is the best model so far".to_owned())
        }
        Stop::Converged | Stop::NoValue => {}
    }
    for output in 0..model.n_outputs() {
        if model.noise()[output].get() < 2.0 * options.noise_floor {
            warnings.push(format!(
                "noise of {} is at its bound, {:.0e} of its variance: its values repeat others or have no noise",
                options.output_name(output),
                options.noise_floor
            ));
        }
    }
    let n_shared = model.mixing().n_shared();
    for (at, latent) in model.latents().iter().enumerate() {
        let name = match at.checked_sub(n_shared) {
            None => format!("shared latent {}", at + 1),
            Some(output) => format!("the private latent of {}", options.output_name(output)),
        };
        let index = LatentIndex::new(at);
        let weights =
            (0..model.n_outputs()).map(|output| model.mixing().weight(OutputIndex::new(output), index));
        let strongest = weights.fold(0.0_f64, |largest, weight| largest.max(weight.abs()));
        let length = latent.length_scale().get();
        if strongest < 0.03 {
            // An unused private latent is no news.
            if at < n_shared {
                warnings.push(format!("{name} is unused: fewer latents would do"));
            }
        } else if length > 2.0 * extent.span {
            warnings.push(format!(
                "the length-scale of {name} is beyond the span of the data: it acts as a drift"
            ));
        } else if length < 0.3 * extent.spacing {
            warnings.push(format!(
                "the length-scale of {name} is below the spacing of the data: it acts as noise"
            ));
        }
    }
    warnings
}
