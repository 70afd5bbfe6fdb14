//! Which electricity table a study is about is decided by the order in which columns are summed: `ett_summation ETTh1.csv`.
//!
//! Prints the mean log loss of message passing over ten seeds beside the paper's sixteen digits, for columns summed as on the
//! authors' machine and as in the port that scores by seed come from, and how many rows of the two chains differ.

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;

use catena::graph::FactorGraph;
use catena::inference;
use catena_studies::ett_study::ett_study_summed;
use catena_studies::study::Study;
use catena_studies::summation::Summation;

/// (N, the paper's mean MNLL of SS-LMC).
const PRINTED: [(usize, f64); 5] = [
    (500, 4.333310848697207),
    (1000, 3.754669444766513),
    (2000, 11.27769661559979),
    (4000, 7.1689132078253595),
    (8000, 3.275974060557284),
];
const SEEDS: u32 = 10;
const DROPOUT: f64 = 0.3;
/// The authors' repair of gaps that are zero.
const SHORTEST_GAP: f64 = 1e-3;

fn log_loss(study: &Study) -> Result<f64, Box<dyn Error>> {
    let chain = study.chain_with_shortest_gap(SHORTEST_GAP)?;
    let graph = FactorGraph::new(&study.model, &chain, study.dataset.observations())?;
    let prediction = study.at_test_rows(&inference::marginals(&graph)?.prediction)?;
    Ok(study.score(&prediction).mnll_latent)
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("give the path of ETTh1.csv")?;
    let csv = std::fs::read_to_string(path)?;
    println!(
        "   N               paper  as the authors sum  difference     as the port sums  difference  rows elsewhere"
    );
    for (n_training, printed) in PRINTED {
        let mut means = [0.0; 2];
        let mut n_elsewhere = 0;
        for seed in 0..SEEDS {
            let study = |summation| ett_study_summed(&csv, n_training, DROPOUT, seed, summation);
            let studies = [study(Summation::Authors)?, study(Summation::Port)?];
            for (mean, study) in means.iter_mut().zip(&studies) {
                *mean += log_loss(study)? / f64::from(SEEDS);
            }
            let [authors, port] = studies.map(|study| study.chain);
            n_elsewhere = authors.positions().filter(|&at| authors.row_at(at) != port.row_at(at)).count();
        }
        let [authors, port] = means.map(|mean| (mean, mean / printed - 1.0));
        println!(
            "{n_training:>4} {printed:>19.15} {:>19.15} {:>11.0e} {:>20.15} {:>11.0e} {n_elsewhere:>15}",
            authors.0, authors.1, port.0, port.1
        );
    }
    Ok(())
}
