//! Fills the gaps of a small table: three thermometers of one valley, read at irregular hours, each with an outage.
//!
//! Dataset → structure → graph → posterior → prediction, with given parameters. Example 03 shows the gradient that
//! learning them needs. The readings are simulated, so the missing values are known.

#![allow(clippy::print_stdout, reason = "an example prints its result")]

use catena::prelude::*;
use catena_methods::simple_rules::LinearInterpolation;

/// A missing reading.
const GAP: f64 = f64::NAN;

const STATIONS: [&str; 3] = ["meadow", "slope", "ridge"];

/// Hour, then degrees at the three stations.
#[rustfmt::skip]
const READINGS: [[f64; 4]; 30] = [
    [ 6.0,  8.4,  4.6,  1.0], [ 7.5, 10.2,  5.4,  2.0], [ 9.5, 13.0,  GAP,  3.4], [10.5, 14.7,  9.2,  4.6],
    [14.0,  GAP, 11.7,  5.9], [16.5,  GAP, 12.0,  5.9], [19.0, 14.8, 10.5,  4.1], [20.5, 13.1,  8.4,  3.0],
    [21.5, 11.5,  GAP,  1.9], [22.5, 10.0,  GAP,  1.2], [23.5,  8.6,  GAP,  0.3], [26.0,  6.8,  GAP, -0.9],
    [29.0,  7.8,  GAP, -0.4], [31.0,  9.6,  GAP,  1.2], [32.0, 10.9,  6.2,  1.9], [33.5, 13.5,  8.0,  3.3],
    [36.5, 16.4, 10.7,  6.2], [39.5, 17.9, 11.4,  GAP], [41.5, 15.9, 10.2,  GAP], [43.5,  GAP,  7.7,  GAP],
    [45.0, 10.3,  GAP,  GAP], [46.0,  8.8,  4.5,  GAP], [48.0,  5.5,  1.8, -1.7], [49.5,  3.7,  0.7, -2.3],
    [50.5,  3.4,  0.4, -3.1], [54.0,  GAP,  GAP, -2.8], [56.0,  GAP,  3.7, -2.0], [58.0,  GAP,  7.1, -0.1],
    [59.5, 11.5,  8.8,  0.4], [61.0, 12.5, 10.3,  1.0],
];

/// The readings that are missing from the table: row, station, degrees.
const HIDDEN: [(usize, usize, f64); 20] = [
    (2, 1, 8.3),
    (4, 0, 17.8),
    (5, 0, 17.3),
    (8, 1, 7.4),
    (9, 1, 5.4),
    (10, 1, 5.0),
    (11, 1, 3.3),
    (12, 1, 3.5),
    (13, 1, 5.0),
    (17, 2, 6.4),
    (18, 2, 5.6),
    (19, 0, 13.0),
    (19, 2, 3.5),
    (20, 1, 5.8),
    (20, 2, 2.1),
    (21, 2, 0.4),
    (25, 0, 4.5),
    (25, 1, 1.9),
    (26, 0, 7.1),
    (27, 0, 9.5),
];

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let dataset = table()?;
    let scaling = OutputScaling::standardizing(dataset.observations())?;
    let observations = scaling.apply(dataset.observations())?;
    let model = model()?;

    let chain = sorted_chain(dataset.inputs())?;
    let graph = FactorGraph::new(&model, &chain, &observations)?;
    let posterior = Posterior::new(&graph)?;
    let prediction = scaling.undo(posterior.prediction().clone().with_noise(model.noise()))?;

    let straight = LinearInterpolation::fit(&dataset)?.predict(dataset.inputs())?;
    print_missing(&dataset, &prediction, &straight);
    println!(
        "\nlog evidence of the {} observed cells: {:.3}",
        observations.n_observed(),
        posterior.log_evidence()
    );
    Ok(())
}

/// The readings as a table with missing cells.
fn table() -> Outcome<Dataset> {
    let hours = READINGS.iter().map(|reading| reading[0]).collect();
    let degrees: Vec<f64> = READINGS.iter().flat_map(|reading| reading[1..].to_vec()).collect();
    let observations = Observations::from_dense(READINGS.len(), STATIONS.len(), &degrees)?;
    Ok(Dataset::new(InputPoints::from_column(hours)?, observations)?)
}

/// Two shared latents, for the valley and for the difference of the ridge, and one private latent per station. Weights and
/// noise are in units of each station's standard deviation, length-scales in hours.
fn model() -> Outcome<Lmc> {
    let latent = |hours| -> Outcome<Latent> {
        Ok(Latent::new(Kernel::Matern32, StateKind::Derivative, LengthScale::new(hours)?)?)
    };
    let shared = vec![1.0, 0.1, 0.9, -0.3, 0.9, 0.4];
    let mixing = MixingMatrix::with_private(3, 2, shared, vec![0.1; 3])?;
    let hours = [15.0, 15.0, 24.0, 24.0, 24.0];
    let latents = hours.into_iter().map(latent).collect::<Outcome<_>>()?;
    Ok(Lmc::new(latents, mixing, vec![Variance::new(0.004)?; 3])?)
}

fn print_missing(dataset: &Dataset, prediction: &Prediction, straight: &Prediction) {
    println!(
        "Three thermometers, {} of {} readings missing.\n",
        HIDDEN.len(),
        READINGS.len() * STATIONS.len()
    );
    println!("  hour  station      catena      interpolation   hidden");
    let (mut ours, mut theirs, mut inside) = (0.0, 0.0, 0);
    for (row, station, hidden) in HIDDEN {
        let (cell, name) = ((RowIndex::new(row), OutputIndex::new(station)), STATIONS[station]);
        let (mean, line) = (prediction.mean(cell.0, cell.1), straight.mean(cell.0, cell.1));
        let deviation = prediction.variance(cell.0, cell.1).sqrt();
        let hour = dataset.inputs().point(cell.0)[0];
        println!("  {hour:>4.1}  {name:<8}{mean:>7.1} ± {deviation:.1}{line:>17.1}{hidden:>9.1}");
        ours += (mean - hidden).powi(2);
        theirs += (line - hidden).powi(2);
        inside += usize::from((mean - hidden).abs() <= 2.0 * deviation);
    }
    let root_mean = |squares: f64| (squares / HIDDEN.len() as f64).sqrt();
    println!("\n  root mean square {:>6.2}{:>22.2}   error in degrees", root_mean(ours), root_mean(theirs));
    println!("  within 2 sd   {inside:>6} of {}", HIDDEN.len());
}
