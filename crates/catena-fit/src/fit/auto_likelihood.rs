//! Chooses the likelihoods of outputs: candidates by their values, decided by held-out cells.
//!
//! Distributions of counts, of values with a probability at a limit, and of continuous values are compared by one score: the log
//! probability that a value, rounded to the unit in which the output is written, is the one that was held out.

use std::collections::HashSet;

use catena::data::Dataset;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::fitted::Fit;
use super::likelihood_candidates::{Candidates, OutputValues, far_off, heavy_tailed, values_by_output};
use super::likelihoods::check_options;
use crate::error::FitError;
use crate::folds::below;
use crate::methods::Quantity;
use crate::options::{Bounds, FitOptions, LikelihoodChoice, LikelihoodOptions, LikelihoodRequest};
use crate::power::PowerTransform;
use crate::prepare::Predictive;
use crate::scores::mean_with_error;

/// Of every output one in so many cells is held out, if it has that many times this number.
const ONE_IN: usize = 5;
const FEWEST: usize = 4;

/// A gain counts from so many standard errors.
const ERRORS: f64 = 2.0;

/// Probabilities above this are differences without loss of digits.
const LEAST_PROBABILITY: f64 = 1e-9;

/// Fits a table.
pub(super) type Fitting<'a> = dyn Fn(&Dataset, &FitOptions) -> Result<Fit, FitError> + 'a;

/// What was decided.
pub(super) struct Decision {
    /// The options with all likelihoods given.
    pub(super) options: FitOptions,
    /// For the summary.
    pub(super) reasons: Vec<String>,
}

/// A candidate for an output.
struct Candidate {
    choice: LikelihoodChoice,
    reason: String,
}

/// The scores of one set of likelihoods.
struct Scored {
    choices: Vec<LikelihoodChoice>,
    /// The log probability of each held-out cell.
    scores: Vec<f64>,
}

/// Decides the open likelihoods of a table. Those that are given stay.
pub(super) fn decide(
    table: &Dataset,
    requests: &[Option<LikelihoodRequest>],
    options: &FitOptions,
    fit: &Fitting<'_>,
) -> Result<Decision, FitError> {
    let plain_choice = |request: &Option<LikelihoodRequest>| match request {
        Some(LikelihoodRequest::Given(given)) => *given,
        Some(LikelihoodRequest::Auto) | None => LikelihoodChoice::gaussian(),
    };
    let plain = with_likelihoods(options, &requests.iter().map(plain_choice).collect::<Vec<_>>());
    let stays = |reason: &str| {
        let reasons = vec![format!("likelihood auto: gaussian: {reason}")];
        Ok(Decision { options: plain.clone(), reasons })
    };
    if let Err(FitError::WithLikelihood { what }) = check_options(table, options) {
        return stays(&format!("a model with another likelihood {what}"));
    }
    let n_outputs = requests.len();
    let values = values_by_output(table);
    let bounds = options.bounds_of_outputs(n_outputs)?;
    let cells = held_out(table, options.seed);
    if cells.is_empty() {
        return stays("the table has too few cells to compare distributions on");
    }
    let places: HashSet<usize> = cells.iter().map(|(at, _)| *at).collect();
    let training = table.observations().filter(|row, cell| {
        let place = row.get() * n_outputs + cell.output.get();
        !places.contains(&place)
    });
    let training = Dataset::new(table.inputs().clone(), training)?;
    // The whole table is fitted in the rest of the time.
    let limited = FitOptions { time_limit: options.time_limit.map(|limit| limit / 4), ..plain.clone() };
    let gaussian = fit(&training, &limited)?;
    let predictive = gaussian.predict_rows(Quantity::Observation)?;
    let tails = |output: usize| {
        let own = cells.iter().filter(|(at, _)| at % n_outputs == output);
        let below: Vec<f64> = own.map(|&(at, value)| predictive.probability_below(at, value)).collect();
        (far_off(&below), below.len())
    };
    let candidates = candidates(requests, &values, &bounds, &tails);
    if candidates.iter().all(Vec::is_empty) {
        return stays(
            "no values speak for another distribution: counts, a limit that is often reached, proportions, or more values far off than \
             of a Gaussian",
        );
    }
    let units: Vec<f64> = values.iter().map(OutputValues::unit).collect();
    let of_gaussian = scores(&predictive, &cells, &units);
    // What an output has beside others with a likelihood of their own: there are no transforms.
    let usual = |output: usize| match gaussian.parts().preparation.outputs[output].power {
        PowerTransform::Log => LikelihoodChoice::log_normal(),
        _ => LikelihoodChoice::gaussian(),
    };
    let n_sets = candidates.iter().map(Vec::len).max().unwrap_or(0);
    let mut sets: Vec<Scored> = vec![];
    for set in 0..n_sets {
        let choice = |output: usize| match (&requests[output], candidates[output].as_slice()) {
            (Some(LikelihoodRequest::Given(given)), _) => *given,
            (_, []) => usual(output),
            (_, own) => own[set.min(own.len() - 1)].choice,
        };
        let choices: Vec<LikelihoodChoice> = (0..n_outputs).map(choice).collect();
        // A set whose rounds do not converge is no candidate.
        let found = fit(&training, &with_likelihoods(&limited, &choices));
        if let Ok(predictive) = found.and_then(|fit| fit.predict_rows(Quantity::Observation)) {
            sets.push(Scored { choices, scores: scores(&predictive, &cells, &units) });
        }
    }
    let mean_of = |scores: &[f64], output: usize| {
        let own = cells.iter().zip(scores).filter(|((at, _), _)| at % n_outputs == output);
        let (sum, count) = own.fold((0.0, 0.0), |(sum, count), (_, score)| (sum + score, count + 1.0));
        sum / count
    };
    let mut best = vec![];
    for output in 0..n_outputs {
        let mean = |set: &usize| mean_of(&sets[*set].scores, output);
        let Some(found) = (0..sets.len()).max_by(|a, b| mean(a).total_cmp(&mean(b))) else {
            return stays("fits with the candidates did not converge");
        };
        best.push(found);
    }
    let of_cell =
        |(cell, (at, _)): (usize, &(usize, f64))| sets[best[at % n_outputs]].scores[cell] - of_gaussian[cell];
    let gains: Vec<f64> = cells.iter().enumerate().map(of_cell).collect();
    let (gain, error) = mean_with_error(&gains, &(0..gains.len()).collect::<Vec<_>>());
    let mut reasons = vec![];
    for (output, found) in best.iter().enumerate().filter(|(output, _)| !candidates[*output].is_empty()) {
        let (own, other) = (mean_of(&sets[*found].scores, output), mean_of(&of_gaussian, output));
        let choice = sets[*found].choices[output].likelihood.name();
        let (name, why) = (options.output_name(output), &candidates[output][0].reason);
        reasons.push(format!(
            "likelihood auto: {name}: {why}; {choice} has the log score {own:.3} against {other:.3} of gaussian, in nats per held-out value"
        ));
    }
    let is_better = gain > ERRORS * error && gain.is_finite();
    let (word, n_cells) = (if is_better { "chosen" } else { "gaussian" }, cells.len());
    reasons.push(format!(
        "likelihood auto: {word}: over all outputs the log score changes by {gain:+.3} ± {error:.3} nats per value on {n_cells} \
         held-out cells"
    ));
    let choices = best.iter().enumerate().map(|(output, found)| sets[*found].choices[output]);
    let options = if is_better { with_likelihoods(options, &choices.collect::<Vec<_>>()) } else { plain };
    Ok(Decision { options, reasons })
}

/// Single cells of every output at random: row-major places and values.
fn held_out(table: &Dataset, seed: u64) -> Vec<(usize, f64)> {
    let n_outputs = table.observations().n_outputs();
    let mut own = vec![vec![]; n_outputs];
    for (row, cell) in table.observations().cells() {
        own[cell.output.get()].push((row.get() * n_outputs + cell.output.get(), cell.value));
    }
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let mut cells = vec![];
    for mut of_output in own.into_iter().filter(|own| own.len() >= ONE_IN * FEWEST) {
        for place in 0..of_output.len() / ONE_IN {
            let other = place + below(&mut generator, of_output.len() - place);
            of_output.swap(place, other);
            cells.push(of_output[place]);
        }
    }
    cells
}

/// The candidates of every output with an open likelihood. `tails` has the number of held-out values far off, if there are too many,
/// and of all.
fn candidates(
    requests: &[Option<LikelihoodRequest>],
    values: &[OutputValues],
    bounds: &[Option<Bounds>],
    tails: &dyn Fn(usize) -> (Option<usize>, usize),
) -> Vec<Vec<Candidate>> {
    let of_output = |(output, request): (usize, &Option<LikelihoodRequest>)| {
        if *request != Some(LikelihoodRequest::Auto) {
            return vec![];
        }
        if let Some(Candidates { choices, reason, .. }) = values[output].candidates(bounds[output]) {
            let candidate = |choice| Candidate { choice, reason: reason.clone() };
            return choices.into_iter().map(candidate).collect();
        }
        match (tails(output), heavy_tailed()) {
            ((Some(count), of), Some(choice)) if bounds[output].is_none() => {
                let reason =
                    format!("{count} of {of} held-out values are farther off than 3.3 standard deviations");
                vec![Candidate { choice, reason }]
            }
            _ => vec![],
        }
    };
    requests.iter().enumerate().map(of_output).collect()
}

fn with_likelihoods(options: &FitOptions, choices: &[LikelihoodChoice]) -> FitOptions {
    let named = choices.iter().enumerate();
    let by_name = named.map(|(output, choice)| (options.output_name(output), (*choice).into())).collect();
    FitOptions { likelihoods: LikelihoodOptions { others: None, by_name }, ..options.clone() }
}

/// The score of every held-out cell.
fn scores(predictive: &Predictive, cells: &[(usize, f64)], units: &[f64]) -> Vec<f64> {
    let score = |&(at, value): &(usize, f64)| log_probability(predictive, at, value, units[at % units.len()]);
    cells.iter().map(score).collect()
}

/// The log probability of a value that is rounded to a unit.
fn log_probability(predictive: &Predictive, at: usize, value: f64, unit: f64) -> f64 {
    let half = 0.5 * unit;
    let inside =
        predictive.probability_below(at, value + half) - predictive.probability_below(at, value - half);
    if inside > LEAST_PROBABILITY { inside.ln() } else { predictive.log_density(at, value) + unit.ln() }
}
