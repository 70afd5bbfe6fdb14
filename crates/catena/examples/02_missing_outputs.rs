//! A map with missing outputs: two pollutants at stations scattered in the plane, joined by a spanning tree.
//!
//! With more than one input, derivative states have no direction, so latents have value states along the tree's edges.
//! Each new place is attached to its nearest station. The readings are simulated.

#![allow(clippy::print_stdout, reason = "an example prints its result")]

use catena::Error;
use catena::prelude::*;

/// A missing reading.
const GAP: f64 = f64::NAN;

/// Kilometers east and north, then nitrogen dioxide and ozone in µg/m³; most stations measure one of the two.
#[rustfmt::skip]
const STATIONS: [[f64; 4]; 16] = [
    [0.4, 0.6, 21.0,  GAP], [1.1, 0.3,  GAP, 64.0], [1.9, 0.8, 30.0, 57.0], [2.8, 0.5, 27.0,  GAP],
    [0.7, 1.5, 27.0, 60.0], [1.6, 1.7, 41.0,  GAP], [2.4, 1.6,  GAP, 45.0], [3.3, 1.4, 31.0,  GAP],
    [0.3, 2.4,  GAP, 62.0], [1.3, 2.6, 38.0,  GAP], [2.1, 2.4, 47.0, 40.0], [3.1, 2.5,  GAP, 51.0],
    [0.8, 3.4, 24.0,  GAP], [1.8, 3.3,  GAP, 54.0], [2.7, 3.4, 33.0, 52.0], [3.5, 3.3,  GAP,  GAP],
];

/// Places without a station; the last one is far away.
const PLACES: [(&str, [f64; 2]); 3] =
    [("the market", [2.0, 2.0]), ("the school", [0.5, 1.0]), ("the coast", [12.0, 9.0])];

fn main() -> Result<(), Error> {
    let places: Vec<f64> = STATIONS.iter().flat_map(|station| station[..2].to_vec()).collect();
    let readings: Vec<f64> = STATIONS.iter().flat_map(|station| station[2..].to_vec()).collect();
    let inputs = InputPoints::new(STATIONS.len(), 2, places)?;
    let observations = Observations::from_dense(STATIONS.len(), 2, &readings)?;
    let scaling = OutputScaling::standardizing(&observations)?;
    let scaled = scaling.apply(&observations)?;

    let tree = spanning_tree(&inputs)?;
    let model = model()?;
    let graph = FactorGraph::new(&model, &tree, &scaled)?;
    let posterior = Posterior::new(&graph)?.with_inputs(&inputs)?;
    let at_stations = scaling.undo(posterior.prediction().clone())?;

    println!("Stations along the tree, with a dot for every branching above them.");
    println!("Values in brackets were not measured.\n");
    println!("  station                        NO2 (µg/m³)      ozone (µg/m³)");
    for (row, indent) in rows_with_depth(&tree) {
        let [east, north, ..] = STATIONS[row.get()];
        let station = format!("{}{east:.1} km E, {north:.1} km N", "· ".repeat(indent));
        let cell = |output| show(&observations, &at_stations, row, OutputIndex::new(output));
        println!("  {station:<28}{:>14}{:>19}", cell(0), cell(1));
    }

    let asked = InputPoints::new(PLACES.len(), 2, PLACES.iter().flat_map(|(_, place)| *place).collect())?;
    let elsewhere = posterior.predict_at(&asked)?;
    let elsewhere = scaling.undo(elsewhere)?;
    println!("\nPlaces without a station:\n");
    for ((name, [east, north]), row) in PLACES.iter().zip(asked.rows()) {
        let cell = |output| plain(&elsewhere, row, OutputIndex::new(output));
        let place = format!("{name} ({east:.1} E, {north:.1} N)");
        println!("  {place:<28}{:>14}{:>19}", cell(0), cell(1));
    }
    println!(
        "\nFar from every station the prediction is the mean, with the standard deviation of the output."
    );
    Ok(())
}

/// One latent has opposite signs for the two pollutants (traffic reduces ozone), one is shared weather.
fn model() -> Result<Lmc, Error> {
    let latent = |kilometers| -> Result<Latent, Error> {
        Ok(Latent::new(Kernel::Matern32, StateKind::Value, LengthScale::new(kilometers)?)?)
    };
    let mixing = MixingMatrix::shared(2, 2, vec![0.95, 0.25, -0.95, 0.25])?;
    Ok(Lmc::new(vec![latent(1.8)?, latent(3.0)?], mixing, vec![Variance::new(0.02)?; 2])?)
}

/// Rows in visiting order with the number of branchings above them.
fn rows_with_depth(tree: &Tree) -> Vec<(RowIndex, usize)> {
    let mut n_children = vec![0; tree.len()];
    tree.positions().filter_map(|at| tree.parent(at)).for_each(|parent| n_children[parent.get()] += 1);
    let mut depth = vec![0; tree.len()];
    for at in tree.positions() {
        if let Some(parent) = tree.parent(at) {
            depth[at.get()] = depth[parent.get()] + usize::from(n_children[parent.get()] > 1);
        }
    }
    tree.positions().map(|at| (tree.row_at(at), depth[at.get()])).collect()
}

/// Mean and standard deviation of the function itself, in brackets where nothing was measured.
fn show(observations: &Observations, found: &Prediction, row: RowIndex, output: OutputIndex) -> String {
    let text = plain(found, row, output);
    if observations.is_observed(row, output) { format!("{text} ") } else { format!("({text})") }
}

fn plain(found: &Prediction, row: RowIndex, output: OutputIndex) -> String {
    format!("{:.1} ± {:.1}", found.mean(row, output), found.variance(row, output).sqrt())
}
