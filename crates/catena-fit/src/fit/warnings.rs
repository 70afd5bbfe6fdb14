//! What a user should know before trusting a fit.

use catena::data::Dataset;
use catena::index::{LatentIndex, OutputIndex};
use catena::learning::{Learned, StopReason};
use catena::model::Lmc;

use super::{FitOptions, HeldOut, RELEARN};
use crate::ground::Facts;

/// By how much, in standard deviations or nats per cell, a simple predictor must do better to be told of.
const WORTH_TELLING: f64 = 0.01;

/// So many outputs are each told of in a sentence of its own; more share one.
const MOST_APART: usize = 4;

/// The same news of several outputs: a name and a sentence for each, which give way to one sentence about all where they are many.
struct News<'a> {
    all: &'a dyn Fn(&str) -> String,
    each: Vec<(String, String)>,
}

impl<'a> News<'a> {
    fn new(all: &'a dyn Fn(&str) -> String) -> Self {
        Self { all, each: vec![] }
    }

    fn add(&mut self, name: &str, sentence: String) {
        self.each.push((name.to_owned(), sentence));
    }

    fn told(self) -> Vec<String> {
        if self.each.len() <= MOST_APART {
            return self.each.into_iter().map(|(_, sentence)| sentence).collect();
        }
        let first: Vec<&str> = self.each[..MOST_APART - 1].iter().map(|(name, _)| name.as_str()).collect();
        vec![(self.all)(&format!("{} and {} more", first.join(", "), self.each.len() - first.len()))]
    }
}

/// Warnings about a fitted model, most important first.
pub(super) fn warnings(
    model: &Lmc,
    (facts, counts): (&Facts, &[usize]),
    learned: Option<&Learned>,
    held_out: &[HeldOut],
    options: &FitOptions,
) -> Vec<String> {
    let mut warnings = lost_races(held_out);
    let all =
        |names: &str| format!("{names} have no value: what is said of them is what the model says alone");
    let mut empty = News::new(&all);
    let all = |names: &str| {
        format!(
            "{names} have equal values only: each is predicted to stay there, with a width of its size over their number"
        )
    };
    let mut constant = News::new(&all);
    for &(output, count) in &facts.constant {
        let name = &options.output_name(output.get());
        let stays = "it is predicted to stay there, with a width of its size over their number";
        match count {
            0 => empty
                .add(name, format!("{name} has no value: what is said of it is what the model says alone")),
            1 => constant.add(name, format!("{name} has a single value: {stays}")),
            _ => constant.add(name, format!("{name} has {count} equal values: {stays}")),
        }
    }
    warnings.extend(empty.told().into_iter().chain(constant.told()));
    if let Some(learned) = learned {
        warnings.extend(of_learning(model, facts, learned, options));
    }
    let all =
        |names: &str| format!("{names} have only 2 to 7 values: what is said of them leans on the priors");
    let mut few = News::new(&all);
    for (output, count) in counts.iter().enumerate() {
        if (2..8).contains(count) {
            let name = &options.output_name(output);
            few.add(name, format!("{name} has only {count} values: what is said of it leans on the priors"));
        }
    }
    warnings.extend(few.told());
    warnings
}

/// Says when a simple predictor did better on the hidden cells.
fn lost_races(held_out: &[HeldOut]) -> Vec<String> {
    let Some((own, others)) = held_out.split_first() else { return vec![] };
    let mut warnings = vec![];
    for other in others {
        if other.rmse + WORTH_TELLING < own.rmse {
            warnings.push(format!(
                "{} was more accurate on hidden cells: error {:.3} against {:.3} standard deviations",
                other.name, other.rmse, own.rmse
            ));
        }
        if other.mnll + WORTH_TELLING < own.mnll {
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

/// A warning for each output whose new values leave the range of those before by more than a quarter of it.
pub(super) fn left_range(before: &Dataset, more: &Dataset, names: &[&str]) -> Vec<String> {
    let ranges = |table: &Dataset| {
        let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); names.len()];
        for (_, cell) in table.observations().cells() {
            let (low, high) = &mut ranges[cell.output.get()];
            (*low, *high) = (low.min(cell.value), high.max(cell.value));
        }
        ranges
    };
    let (known, new) = (ranges(before), ranges(more));
    let told = |(output, name): (usize, &&str)| {
        let ((low, high), (least, most)) = (known[output], new[output]);
        let margin = 0.25 * (high - low);
        let far = if most > high + margin { most } else { least };
        (most > high + margin || least < low - margin).then(|| {
            format!("{name} reaches {far}, but was learned on values from {low} to {high}: if that is to stay, update with {RELEARN}")
        })
    };
    names.iter().enumerate().filter_map(told).collect()
}

fn of_learning(model: &Lmc, facts: &Facts, learned: &Learned, options: &FitOptions) -> Vec<String> {
    let Facts { extent, constant } = facts;
    let mut warnings = vec![];
    match learned.stop {
        StopReason::IterationLimit => warnings.push(
            "learning stopped at its limit of iterations before it converged; a larger budget may gain"
                .to_owned(),
        ),
        StopReason::Stalled => warnings.push("learning stalled before it converged".to_owned()),
        StopReason::Interrupted => {
            warnings.push("learning was interrupted; this is the best model so far".to_owned())
        }
        StopReason::Converged | StopReason::NoValue => {}
    }
    let floor = options.noise_floor;
    let all = |names: &str| {
        format!(
            "noises of {names} are at their bound, {floor:.0e} of their variance: values repeat others or have no noise"
        )
    };
    let mut bounded = News::new(&all);
    for output in 0..model.n_outputs() {
        // The noise of an output that never varies follows from the number of its cells, not from learning.
        let is_learned = constant.iter().all(|(constant, _)| constant.get() != output);
        if is_learned && model.noise()[output].get() < 2.0 * floor {
            let name = &options.output_name(output);
            let what = "its values repeat others or have no noise";
            bounded
                .add(name, format!("noise of {name} is at its bound, {floor:.0e} of its variance: {what}"));
        }
    }
    warnings.extend(bounded.told());
    let all = |names: &str| {
        format!("the length-scales of {names} are beyond the span of the data: they act as drifts")
    };
    let mut long = News::new(&all);
    let all = |names: &str| {
        format!("the length-scales of {names} are below the spacing of the data: they act as noise")
    };
    let mut short = News::new(&all);
    let n_shared = model.mixing().n_shared();
    for (at, latent) in model.latents().iter().enumerate() {
        let name = match at.checked_sub(n_shared) {
            None => format!("shared latent {}", at + 1),
            Some(output) => format!("the private latent of {}", options.output_name(output)),
        };
        // What wanders or repeats has no length-scale that should lie inside the data.
        if latent.kernel().is_none() {
            continue;
        }
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
            let what = "is beyond the span of the data: it acts as a drift";
            long.add(&name, format!("the length-scale of {name} {what}"));
        } else if length < 0.3 * extent.spacing {
            let what = "is below the spacing of the data: it acts as noise";
            short.add(&name, format!("the length-scale of {name} {what}"));
        }
    }
    warnings.extend(long.told().into_iter().chain(short.told()));
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena::data::{InputPoints, Observations};

    #[test]
    fn many_outputs_share_a_sentence() {
        let all = |names: &str| format!("{names} are empty");
        let told = |count: usize| {
            let mut news = News::new(&all);
            (0..count).for_each(|at| news.add(&format!("s{at}"), format!("s{at} is empty")));
            news.told()
        };
        assert!(told(0).is_empty());
        assert_eq!(told(4), ["s0 is empty", "s1 is empty", "s2 is empty", "s3 is empty"]);
        assert_eq!(told(120), ["s0, s1, s2 and 117 more are empty"]);
    }

    #[test]
    fn new_values_out_of_range_are_told() {
        let table = |values: &[f64]| {
            let inputs =
                InputPoints::from_column((0..values.len() / 2).map(|row| row as f64).collect()).unwrap();
            Dataset::new(inputs, Observations::from_dense(values.len() / 2, 2, values).unwrap()).unwrap()
        };
        let before = table(&[0.0, 5.0, 4.0, f64::NAN, 2.0, 9.0]);
        assert!(left_range(&before, &table(&[4.9, 9.5]), &["a", "b"]).is_empty());
        let told = left_range(&before, &table(&[-1.5, f64::NAN, 2.0, 7.0]), &["a", "b"]);
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with("a reaches -1.5, but was learned on values from 0 to 4"), "{told:?}");
    }
}
