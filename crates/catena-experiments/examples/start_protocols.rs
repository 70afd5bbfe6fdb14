//! Other readings of the paper's study of starting points: `start_protocols`.
//!
//! Prints, for every M of the sensor network, the deviation of RMSE over twenty even starts (median over ten seeds) as our study
//! has it, and with one thing changed: points dealt to training by row instead of by place in the first chain, distances
//! not divided by the median gap, and one W for all seeds. The authors' starts are unknown, so the printed interval is the judge.

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;

use catena::data::{Dataset, Observations};
use catena::graph::FactorGraph;
use catena::index::RowIndex;
use catena::inference;
use catena::model::Lmc;
use catena_studies::julia_streams::JuliaStream;
use catena_studies::sensor_study::sensor_study;
use catena_studies::study::{Study, mean_and_deviation};

/// (M, the interval that the paper's figure shows).
const PRINTED: [(usize, [f64; 2]); 5] = [
    (2, [2.771e-4, 4.424e-4]),
    (4, [1.7475e-4, 3.027e-4]),
    (8, [2.9024e-4, 4.6448e-4]),
    (16, [7.9782e-4, 1.53315e-3]),
    (32, [7.1658e-4, 1.42231e-3]),
];
const SEEDS: u32 = 10;
const STARTS: usize = 20;
const SPLIT_SEED: u32 = 7777;

type Change = fn(&Study, u32) -> Result<Study, Box<dyn Error>>;

/// The same points with halves dealt by row. Outputs stay scaled as they are: a factor common to all starts.
fn dealt_by_row(study: &Study, seed: u32) -> Result<Study, Box<dyn Error>> {
    let (n_rows, n_outputs) = (study.chain.len(), study.output_scaling.len());
    let mut rows = JuliaStream::new(seed + SPLIT_SEED).randperm(n_rows);
    let test_rows = rows.split_off(n_rows / 2);
    let mut values = vec![f64::NAN; n_rows * n_outputs];
    for cell in rows.into_iter().flat_map(|row| row * n_outputs..(row + 1) * n_outputs) {
        let (shift, scale) = study.output_scaling[cell % n_outputs];
        values[cell] = (study.truth[cell] - shift) / scale;
    }
    let observations = Observations::from_dense(n_rows, n_outputs, &values)?;
    let dataset = Dataset::new(study.dataset.inputs().clone(), observations)?;
    let test_rows = test_rows.into_iter().map(RowIndex::new).collect();
    Ok(Study { dataset, test_rows, ..study.clone() })
}

fn with_first_mixing(study: &Study, _: u32) -> Result<Study, Box<dyn Error>> {
    let first = sensor_study(study.dataset.inputs().dim(), 0)?.model;
    let model =
        Lmc::new(study.model.latents().to_vec(), first.mixing().clone(), study.model.noise().to_vec())?;
    Ok(Study { model, ..study.clone() })
}

fn error(study: &Study, is_scaled: bool) -> Result<f64, Box<dyn Error>> {
    let chain = if is_scaled { study.scaled_chain()? } else { study.chain.clone() };
    let graph = FactorGraph::new(&study.model, &chain, study.dataset.observations())?;
    Ok(study.score(&study.at_test_rows(&inference::marginals(&graph)?.prediction)?).rmse)
}

fn spread(dim: usize, change: Change, is_scaled: bool) -> Result<f64, Box<dyn Error>> {
    let mut by_start = vec![vec![]; STARTS];
    for seed in 0..SEEDS {
        let study = change(&sensor_study(dim, seed)?, seed)?;
        let every = study.chain.len() / STARTS;
        for (at, errors) in by_start.iter_mut().enumerate() {
            errors.push(error(&study.starting_at(RowIndex::new(at * every))?, is_scaled)?);
        }
    }
    let middle = |errors: &mut Vec<f64>| {
        errors.sort_by(f64::total_cmp);
        0.5 * (errors[errors.len() / 2 - 1] + errors[errors.len() / 2])
    };
    Ok(mean_and_deviation(&by_start.iter_mut().map(middle).collect::<Vec<f64>>()).1)
}

fn main() -> Result<(), Box<dyn Error>> {
    println!(" M   printed interval    as studied    dealt by row    not scaled    one W");
    let same: Change = |study, _| Ok(study.clone());
    for (dim, [low, high]) in PRINTED {
        let found = [
            spread(dim, same, true)?,
            spread(dim, dealt_by_row, true)?,
            spread(dim, same, false)?,
            spread(dim, with_first_mixing, true)?,
        ];
        let words = found.map(|spread| {
            let mark = if (low..=high).contains(&spread) { ' ' } else { '!' };
            format!("{spread:>11.2e} {mark}")
        });
        println!("{dim:>2}   {low:.1e} … {high:.1e} {}", words.join("  "));
    }
    println!("\n!: outside of the printed interval");
    Ok(())
}
