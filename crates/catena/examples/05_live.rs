//! A posterior that takes edits: two thermometers on one boiler, one of which fails, is repaired and corrected.
//!
//! Every edit is local: the messages it changes are counted, and their number does not grow with the table.

#![allow(clippy::print_stdout, reason = "an example prints its result")]

use catena::Error;
use catena::prelude::*;

const N_ROWS: usize = 100_000;

fn main() -> Result<(), Error> {
    // One reading per minute; the second thermometer has an outage from minute 50 000 to 50 060.
    let times: Vec<f64> = (0..N_ROWS).map(|minute| minute as f64).collect();
    let heat = |time: f64| (time / 25.0).sin() + 0.3 * (time / 7.0).cos();
    let is_missing = |minute: usize| (50_000..50_060).contains(&minute);
    let second = |minute: usize| if is_missing(minute) { f64::NAN } else { 0.8 * heat(times[minute]) };
    let table: Vec<f64> = (0..N_ROWS).flat_map(|minute| [heat(times[minute]), second(minute)]).collect();
    let inputs = InputPoints::from_column(times.clone())?;
    let observations = Observations::from_dense(N_ROWS, 2, &table)?;
    let chain = sorted_chain(&inputs)?;
    let model = model()?;
    let graph = FactorGraph::new(&model, &chain, &observations)?;

    let mut live = LivePosterior::new(&graph, &inputs, &observations)?;
    let (row, thermometer) = (RowIndex::new(50_030), OutputIndex::new(1));
    live.refresh();
    report("from the first thermometer alone", &mut live, row)?;
    live.set(row, thermometer, -0.15)?;
    report("a reading arrives late", &mut live, row)?;
    live.set(row, thermometer, -0.22)?;
    report("it is corrected", &mut live, row)?;
    live.remove(row, thermometer)?;
    report("and withdrawn", &mut live, row)?;
    let reached = live.affected(row, 0.01)?;
    println!(
        "\nAn edit there changes {} of {} minutes by more than 1 % of a standard deviation.",
        reached.len(),
        live.n_rows()
    );

    let now = times[N_ROWS - 1] + 1.0;
    let next = live.insert(&[now])?;
    live.set(next, OutputIndex::new(0), heat(now))?;
    let ahead = live.marginals_at(&[now + 5.0])?;
    println!(
        "Five minutes after the next reading the second thermometer is predicted to read {:.2} ± {:.2}.",
        ahead.means[1],
        ahead.variances[1].sqrt()
    );
    Ok(())
}

fn report(what: &str, live: &mut LivePosterior, row: RowIndex) -> Result<(), Error> {
    let marginals = live.marginals(row)?;
    let sent = live.recomputed();
    println!(
        "{what:>32}: {:.3} ± {:.3}   ({} positions folded, {} pairs joined)",
        marginals.means[1],
        marginals.variances[1].sqrt(),
        sent.positions,
        sent.pairs
    );
    Ok(())
}

/// One hidden temperature, and a slow drift of the second thermometer.
fn model() -> Result<Lmc, Error> {
    let latent = |length| -> Result<Latent, Error> {
        Ok(Latent::new(Kernel::Matern52, StateKind::Derivative, LengthScale::new(length)?)?)
    };
    let mixing = MixingMatrix::shared(2, 2, vec![1.0, 0.0, 0.8, 0.1])?;
    let noise = vec![Variance::new(0.001)?, Variance::new(0.002)?];
    Ok(Lmc::new(vec![latent(15.0)?, latent(60.0)?], mixing, noise)?)
}
