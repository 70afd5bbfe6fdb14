//! Warnings about a fitted model.

use catena::data::Dataset;
use catena::index::{LatentIndex, OutputIndex};
use catena::learning::{Learned, StopReason};
use catena::model::Lmc;

use super::summary::HeldOut;
use crate::folds::SimpleRule;
use crate::options::{Budget, FitOptions, RELEARN};
use crate::prepare::TableStatistics;

/// The smallest advantage of a simple rule that is reported, in standard deviations or nats per cell.
const WORTH_REPORTING: f64 = 0.01;

/// Up to this many outputs have a sentence each; more share one.
const MOST_SINGLE: usize = 4;

/// One warning about several outputs or latents: a sentence each if they are few, else one sentence.
struct GroupedWarning<'a> {
    grouped: &'a dyn Fn(&str) -> String,
    /// Names and sentences.
    single: Vec<(String, String)>,
}

impl<'a> GroupedWarning<'a> {
    fn new(grouped: &'a dyn Fn(&str) -> String) -> Self {
        Self { grouped, single: vec![] }
    }

    fn add(&mut self, name: &str, sentence: String) {
        self.single.push((name.to_owned(), sentence));
    }

    fn into_messages(self) -> Vec<String> {
        let count = self.single.len();
        if count <= MOST_SINGLE {
            return self.single.into_iter().map(|(_, sentence)| sentence).collect();
        }
        let first: Vec<&str> = self.single[..MOST_SINGLE - 1].iter().map(|(name, _)| name.as_str()).collect();
        vec![(self.grouped)(&format!("{} and {} more", first.join(", "), count - first.len()))]
    }
}

/// Warnings about a fitted model, most important first.
pub(super) fn warnings(
    model: &Lmc,
    (statistics, counts): (&TableStatistics, &[usize]),
    learned: Option<&Learned>,
    held_out: &[HeldOut],
    (options, is_pool): (&FitOptions, bool),
) -> Vec<String> {
    let mut warnings = score_warnings(held_out);
    let no_values =
        |names: &str| format!("{names} have no observed values; their predictions come from the prior");
    let mut empty = GroupedWarning::new(&no_values);
    let constants = |names: &str| {
        format!(
            "{names} are constant; each is predicted as constant with standard deviation abs(value)/n for n values"
        )
    };
    let mut constant = GroupedWarning::new(&constants);
    for &(output, count) in &statistics.constant {
        let name = &options.output_name(output.get());
        let predicted = "predicted as constant with standard deviation abs(value)";
        match count {
            0 => {
                empty.add(name, format!("{name} has no observed values; its predictions come from the prior"))
            }
            1 => constant.add(name, format!("{name} has a single value; {predicted}")),
            _ => {
                constant.add(name, format!("{name} is constant ({count} equal values); {predicted}/{count}"))
            }
        }
    }
    warnings.extend(empty.into_messages().into_iter().chain(constant.into_messages()));
    if let Some(learned) = learned {
        // Members of a pool are learned with as few iterations as on the folds.
        if !(is_pool && learned.stop == StopReason::IterationLimit) {
            warnings.extend(stop_warning(learned, options));
        }
        warnings.extend(parameter_warnings(model, statistics, options));
    }
    let few_values =
        |names: &str| format!("{names} have only 2 to 7 values; their predictions rely mostly on the priors");
    let mut few = GroupedWarning::new(&few_values);
    for (output, count) in counts.iter().enumerate().filter(|(_, count)| (2..8).contains(*count)) {
        let name = &options.output_name(output);
        few.add(name, format!("{name} has only {count} values; its predictions rely mostly on the priors"));
    }
    warnings.extend(few.into_messages());
    warnings
}

/// Warnings about simple rules with better held-out scores, and about the coverage of intervals.
fn score_warnings(held_out: &[HeldOut]) -> Vec<String> {
    let Some((own, others)) = held_out.split_first() else { return vec![] };
    let mut warnings = vec![];
    for other in others {
        if other.name == SimpleRule::OtherGroups.name() {
            if other.rmse + WORTH_REPORTING < own.rmse {
                warnings.push(format!(
                    "the other groups at the same input predict held-out cells better than the model, error {:.3} against {:.3} \
                     standard deviations; make them outputs, with --wide instead of --group (a column per group in Python)",
                    other.rmse, own.rmse
                ));
            }
            continue;
        }
        if other.rmse + WORTH_REPORTING < own.rmse {
            warnings.push(format!(
                "{} was more accurate on held-out cells: error {:.3} against {:.3} standard deviations",
                other.name, other.rmse, own.rmse
            ));
        }
        if other.log_score > own.log_score + WORTH_REPORTING {
            warnings.push(format!(
                "{} had the better log score on held-out cells: {:.3} against {:.3} nats per cell",
                other.name, other.log_score, own.log_score
            ));
        }
    }
    if own.n_cells >= 50 && !(0.88..=0.99).contains(&own.coverage) {
        warnings.push(format!("95 % intervals covered {:.0} % of held-out cells", 100.0 * own.coverage));
    }
    warnings
}

/// Warnings about outputs whose new values leave the earlier range by more than a quarter of it.
pub(crate) fn range_warnings(before: &Dataset, more: &Dataset, names: &[&str]) -> Vec<String> {
    let ranges = |table: &Dataset| {
        let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); names.len()];
        for (_, cell) in table.observations().cells() {
            let (low, high) = &mut ranges[cell.output.get()];
            (*low, *high) = (low.min(cell.value), high.max(cell.value));
        }
        ranges
    };
    let (known, new) = (ranges(before), ranges(more));
    let warning = |(output, name): (usize, &&str)| {
        let ((low, high), (least, most)) = (known[output], new[output]);
        let margin = 0.25 * (high - low);
        let far = if most > high + margin { most } else { least };
        (most > high + margin || least < low - margin).then(|| {
            format!("{name} reaches {far}, but was learned on values from {low} to {high}; if this persists, update with {RELEARN}")
        })
    };
    names.iter().enumerate().filter_map(warning).collect()
}

fn stop_warning(learned: &Learned, options: &FitOptions) -> Option<String> {
    let iterations = learned.path.len().saturating_sub(1);
    match learned.stop {
        StopReason::IterationLimit => {
            let hint = match options.budget {
                Budget::Quick => "; rerun with budget default to continue",
                Budget::Default => "; rerun with budget thorough to continue",
                Budget::Thorough => "",
            };
            Some(format!("learning stopped after {iterations} iterations without converging{hint}"))
        }
        StopReason::Stalled => {
            Some(format!("learning stalled after {iterations} iterations without converging"))
        }
        StopReason::Interrupted => Some("learning was interrupted; this is the best model so far".to_owned()),
        StopReason::Converged | StopReason::NoValue => None,
    }
}

/// Warnings about noise at its lower bound, unused latents, and length-scales outside the data's spacing and span.
fn parameter_warnings(model: &Lmc, statistics: &TableStatistics, options: &FitOptions) -> Vec<String> {
    let TableStatistics { extent, constant } = statistics;
    let floor = options.noise_floor;
    let at_bounds = |names: &str| {
        format!(
            "the noises of {names} are at their lower bound, {floor:.0e} of their variance; values may repeat others or have no noise"
        )
    };
    let mut bounded = GroupedWarning::new(&at_bounds);
    for output in 0..model.n_outputs() {
        // The noise of a constant output is not learned.
        let is_learned = constant.iter().all(|(constant, _)| constant.get() != output);
        if is_learned && model.noise()[output].get() < 2.0 * floor {
            let name = &options.output_name(output);
            let hint = "its values may repeat others or have no noise";
            let what =
                format!("the noise of {name} is at its lower bound, {floor:.0e} of its variance; {hint}");
            bounded.add(name, what);
        }
    }
    let mut warnings = bounded.into_messages();
    let all_long =
        |names: &str| format!("the length-scales of {names} exceed the span of the data; they act as drifts");
    let all_short = |names: &str| {
        format!("the length-scales of {names} are below the spacing of the data; they act as noise")
    };
    let mut long = GroupedWarning::new(&all_long);
    let mut short = GroupedWarning::new(&all_short);
    let n_shared = model.mixing().n_shared();
    // A constant output needs no latent, so as many latents as there are constant outputs may be unused.
    let mut n_spare = constant.len();
    // The components of a time model are parts of one latent: a pure season needs no other part, and their length-scales need not
    // lie between spacing and span.
    let is_time_model =
        options.time.is_some() || model.latents().iter().any(|latent| latent.kernel().is_none());
    let checked = if is_time_model { &[] } else { model.latents() };
    let is_only = model.n_latents() == 1;
    for (at, latent) in checked.iter().enumerate() {
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
            // An unused private latent is not worth a warning.
            if at < n_shared && n_spare > 0 {
                n_spare -= 1;
            } else if is_only {
                let what = "the outputs do not depend on the input as far as the model can tell; predictions are near their means";
                warnings.push(what.to_owned());
            } else if at < n_shared && options.latents.is_some() {
                // A number that the fit chose itself is nothing to act on; the table of latents shows the share of each.
                warnings.push(format!("{name} is unused; fewer latents suffice"));
            }
        } else if length > 2.0 * extent.span {
            let what = format!("the length-scale of {name} exceeds the span of the data; it acts as a drift");
            long.add(&name, what);
        } else if length < 0.3 * extent.spacing {
            let what =
                format!("the length-scale of {name} is below the spacing of the data; it acts as noise");
            short.add(&name, what);
        }
    }
    warnings.extend(long.into_messages().into_iter().chain(short.into_messages()));
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena::data::{InputPoints, Observations};

    #[test]
    fn many_outputs_share_a_sentence() {
        let grouped = |names: &str| format!("{names} are empty");
        let messages = |count: usize| {
            let mut warning = GroupedWarning::new(&grouped);
            (0..count).for_each(|at| warning.add(&format!("s{at}"), format!("s{at} is empty")));
            warning.into_messages()
        };
        assert!(messages(0).is_empty());
        assert_eq!(messages(4), ["s0 is empty", "s1 is empty", "s2 is empty", "s3 is empty"]);
        assert_eq!(messages(120), ["s0, s1, s2 and 117 more are empty"]);
    }

    #[test]
    fn new_values_out_of_range_are_reported() {
        let table = |values: &[f64]| {
            let inputs =
                InputPoints::from_column((0..values.len() / 2).map(|row| row as f64).collect()).unwrap();
            Dataset::new(inputs, Observations::from_dense(values.len() / 2, 2, values).unwrap()).unwrap()
        };
        let before = table(&[0.0, 5.0, 4.0, f64::NAN, 2.0, 9.0]);
        assert!(range_warnings(&before, &table(&[4.9, 9.5]), &["a", "b"]).is_empty());
        let found = range_warnings(&before, &table(&[-1.5, f64::NAN, 2.0, 7.0]), &["a", "b"]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("a reaches -1.5, but was learned on values from 0 to 4"), "{found:?}");
    }
}
