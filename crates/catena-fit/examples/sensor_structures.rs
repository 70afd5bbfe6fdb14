//! Compares chain, tree and ensemble on the paper's sensor network: `sensor_structures scores|estimates N_SEEDS`.
//!
//! `scores` prints RMSE and MNLL (noise included) by structure, with the paper's fixed hyperparameters; `estimates` prints
//! the estimated error of chain and tree beside the true difference to the exact posterior.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use catena::data::OutputScaling;
use catena::graph::FactorGraph;
use catena::inference::marginals;
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc};
use catena::posterior::{Combination, combine};
use catena::prediction::Prediction;
use catena::structure::{Tree, chain_ensemble, spanning_tree};
use catena_fit::structure_error::{EstimateOptions, estimate_structure_error};
use catena_methods::Problem;
use catena_methods::exact::{Exact, ExactOptions};
use catena_studies::sensor_study::sensor_study;
use catena_studies::study::{Scores, Study};

const N_CHAINS: usize = 8;
const METHODS: [&str; 5] =
    ["chain, derivative", "chain, value", "tree, value", "8 chains, mixture", "8 chains, product"];

/// A prediction of all rows, and its name.
type Named = (&'static str, Prediction);

fn with_value_states(model: &Lmc) -> Result<Lmc, Box<dyn Error>> {
    let value = |latent: &Latent| {
        Latent::new(latent.kernel().unwrap_or(Kernel::Matern32), StateKind::Value, latent.length_scale())
    };
    let latents = model.latents().iter().map(value).collect::<Result<_, _>>()?;
    Ok(Lmc::new(latents, model.mixing().clone(), model.noise().to_vec())?)
}

/// Every structure counts distances in units of the greedy chain's median gap.
fn swept(study: &Study, model: &Lmc, structure: Tree) -> Result<Prediction, Box<dyn Error>> {
    let structure = structure.with_distance_scale(study.distance_scale)?;
    let graph = FactorGraph::new(model, &structure, study.dataset.observations())?;
    Ok(marginals(&graph)?.prediction)
}

fn of_single_structures(study: &Study) -> Result<Vec<Named>, Box<dyn Error>> {
    let value = with_value_states(&study.model)?;
    let tree = spanning_tree(study.dataset.inputs())?;
    Ok(vec![
        (METHODS[0], swept(study, &study.model, study.chain.clone())?),
        (METHODS[1], swept(study, &value, study.chain.clone())?),
        (METHODS[2], swept(study, &value, tree)?),
    ])
}

fn of_all_structures(study: &Study, seed: u32) -> Result<Vec<Named>, Box<dyn Error>> {
    let mut predictions = of_single_structures(study)?;
    let value = with_value_states(&study.model)?;
    let chains = chain_ensemble(study.dataset.inputs(), N_CHAINS, u64::from(seed))?
        .into_iter()
        .map(|chain| chain.with_distance_scale(study.distance_scale))
        .collect::<Result<Vec<_>, _>>()?;
    let observations = study.dataset.observations();
    let members = chains
        .iter()
        .map(|chain| Ok(marginals(&FactorGraph::new(&value, chain, observations)?)?.prediction))
        .collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    let combinations = [Combination::Mixture, Combination::ProductOfExperts];
    for (name, combination) in METHODS[3..].iter().zip(combinations) {
        predictions.push((name, combine(&members, combination)?));
    }
    Ok(predictions)
}

fn at_test_rows(study: &Study, prediction: &Prediction) -> Result<Prediction, Box<dyn Error>> {
    let n_outputs = prediction.n_outputs();
    let pick = |numbers: &[f64]| -> Vec<f64> {
        let rows = study.test_rows.iter();
        rows.flat_map(|row| &numbers[row.get() * n_outputs..][..n_outputs]).copied().collect()
    };
    let (means, variances) = (pick(prediction.means()), pick(prediction.variances()));
    Ok(Prediction::new(study.test_rows.len(), n_outputs, means, variances)?)
}

fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0).max(1.0) / count).sqrt())
}

/// Mean over seeds, and the paired change against the paper's chain with its standard error.
fn print_scores(n_seeds: u32) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "M   structure            RMSE     change (s.e.)        MNLL     change (s.e.)")?;
    for dim in [2, 4, 8, 32] {
        let mut scores: Vec<Vec<Scores>> = vec![vec![]; METHODS.len()];
        for seed in 0..n_seeds {
            let study = sensor_study(dim, seed)?;
            for ((_, prediction), scores) in of_all_structures(&study, seed)?.iter().zip(&mut scores) {
                scores.push(study.score(&at_test_rows(&study, prediction)?));
            }
        }
        for (name, own) in METHODS.iter().zip(&scores) {
            let pairs = || own.iter().zip(&scores[0]);
            let relative: Vec<f64> =
                pairs().map(|(own, chain)| 100.0 * (own.rmse / chain.rmse - 1.0)).collect();
            let nats: Vec<f64> =
                pairs().map(|(own, chain)| own.mnll_with_noise - chain.mnll_with_noise).collect();
            let (rmse, _) = mean_and_error(&own.iter().map(|own| own.rmse).collect::<Vec<_>>());
            let (mnll, _) = mean_and_error(&own.iter().map(|own| own.mnll_with_noise).collect::<Vec<_>>());
            let ((relative, relative_error), (nats, nats_error)) =
                (mean_and_error(&relative), mean_and_error(&nats));
            writeln!(
                out,
                "{dim:<3} {name:<18} {rmse:>8.5} {relative:>+7.2} % ({relative_error:.2}) {mnll:>11.4} \
                 {nats:>+8.4} ({nats_error:.4})"
            )?;
        }
    }
    Ok(())
}

/// The RMS difference of the test rows' means, in output units.
fn true_difference(study: &Study, prediction: &Prediction, exact: &Prediction) -> f64 {
    let scales = study.output_scaling.iter().map(|(_, scale)| scale).cycle();
    let pairs = prediction.means().iter().zip(exact.means()).zip(scales);
    let squares: f64 = pairs.map(|((own, exact), scale)| (scale * (own - exact)).powi(2)).sum();
    (squares / exact.means().len() as f64).sqrt()
}

fn print_estimates(n_seeds: u32) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "M seed structure           true  estimated (s.e.)  ratio  in sd  halving  seconds")?;
    for dim in [2, 4, 8] {
        for seed in 0..n_seeds {
            let study = sensor_study(dim, seed)?;
            let problem = Problem::new(&study.model, &study.dataset, study.distance_scale)?;
            let exact = Exact::fit(problem, ExactOptions::default())?.predict(&study.test_inputs()?)?;
            let scaling = OutputScaling::with_shifts_and_scales(&study.output_scaling)?;
            for (name, prediction) in of_single_structures(&study)? {
                let options = EstimateOptions::default();
                let rows = &study.test_rows;
                let estimate = estimate_structure_error(problem, &prediction, rows, &scaling, options)?;
                let truth = true_difference(&study, &at_test_rows(&study, &prediction)?, &exact);
                let found = estimate.mean_difference;
                writeln!(
                    out,
                    "{dim} {seed:<4} {name:<18} {truth:.5}  {:.5} ({:.5}) {:>6.3} {:>6.3}  {:.5}  {:.2}",
                    found.value,
                    found.standard_error,
                    found.value / truth,
                    estimate.in_deviations.value,
                    estimate.reference_change,
                    estimate.seconds
                )?;
            }
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let n_seeds = arguments.get(1).and_then(|count| count.parse().ok()).unwrap_or(10);
    let done = match arguments.first().map(String::as_str) {
        Some("scores") | None => print_scores(n_seeds),
        Some("estimates") => print_estimates(n_seeds),
        Some(other) => Err(format!("unknown table {other}: scores or estimates").into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
