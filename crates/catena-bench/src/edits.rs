//! Microseconds of one edit and one query of a live posterior, compared with a full sweep over the same table.
//!
//! L = 3, D = 4, half of the rows unobserved and 30 % of the cells missing in the rest, from 10⁴ to 10⁶ points. Edits set and
//! remove cells at random rows; a query computes the marginals of another random row, or of the edited one.

use std::hint::black_box;
use std::time::Instant;

use catena::graph::FactorGraph;
use catena::index::{OutputIndex, RowIndex};
use catena::inference::Workspace;
use catena::live::LivePosterior;
use catena::model::{Latent, Lmc};
use catena::units::LengthScale;
use serde_json::json;

use crate::cases::{Case, THREE_LATENTS};
use crate::pinning::pin_to_one_core;
use crate::random::Random;
use crate::report::Table;
use crate::timing::{Task, median, repeated, seconds};
use crate::workload::Workload;
use crate::{Failure, Options};

const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];
const N_EDITS: usize = 4000;
const BATCH: usize = 1000;
const REACH_POINTS: usize = 100_000;

/// Measures and prints.
///
/// # Errors
/// If a library rejects the generated data.
pub(crate) fn run(options: &Options<'_>) -> Result<(), Failure> {
    let pinning = pin_to_one_core();
    let note =
        format!("L = 3, D = 4, microseconds; medians of {N_EDITS} edits, batches of {BATCH}, {pinning}");
    let mut table = Table::new("edits", options.json, &note);
    for n_points in SIZES {
        let workload = Workload::new(&Case { n_points, ..THREE_LATENTS })?;
        let graph = FactorGraph::new(&workload.model, &workload.tree, &workload.observations)?;
        let begin = Instant::now();
        let mut live = LivePosterior::new(&graph, &workload.inputs, &workload.observations)?;
        live.refresh();
        let build = begin.elapsed().as_secs_f64();
        let mut random = Random::new(7);
        let elsewhere = edits(&mut live, &mut random, false)?;
        let here = edits(&mut live, &mut random, true)?;
        live.refresh();
        // The evidence needs every stale element.
        let evidence = repeated(N_EDITS, || {
            edit(&mut live, &mut random)?;
            Ok(live.log_evidence()?)
        })?;
        let batch = seconds(|| {
            (0..BATCH).try_for_each(|_| edit(&mut live, &mut random).map(drop))?;
            Ok(live.log_evidence()?)
        })?;
        let messages = live.recomputed();
        let appends = appends(&mut live, &workload)?;
        table.row(&[
            ("points", json!(n_points)),
            ("build_seconds", json!(build)),
            ("edit_and_query_us", json!(microseconds(elsewhere.clone()))),
            ("percentile_99_us", json!(1e6 * quantile(elsewhere, 0.99))),
            ("at_the_edit_us", json!(microseconds(here))),
            ("edit_and_evidence_us", json!(microseconds(evidence))),
            ("in_a_batch_us", json!(1e6 * batch / BATCH as f64)),
            ("append_us", json!(microseconds(appends))),
            ("sweep_us", json!(sweep(&graph)?)),
            ("messages", json!(messages.positions + messages.pairs)),
        ]);
    }
    let note = "points that an edit changes by more than rounding, and a sweep over them instead of the segment tree";
    let mut table = Table::new("reach", options.json, note);
    for factor in [1.0, 30.0] {
        let (reach, edit, resend) = reach(factor)?;
        table.row(&[
            ("points", json!(REACH_POINTS)),
            ("length_scale_factor", json!(factor)),
            ("reach", json!(reach)),
            ("edit_and_query_us", json!(edit)),
            ("sweep_over_reach_us", json!(resend)),
        ]);
    }
    Ok(())
}

fn microseconds(seconds: Vec<f64>) -> f64 {
    1e6 * median(seconds)
}

/// The alternative to the segment tree, sending messages until they stop changing: the median number of points that an edit
/// changes by more than rounding, microseconds of an edit and a query by segments, and of a sweep over those points.
fn reach(factor: f64) -> Result<(f64, f64, f64), Failure> {
    let workload = Workload::new(&Case { n_points: REACH_POINTS, ..THREE_LATENTS })?;
    let scaled = |latent: &Latent| -> Result<Latent, Failure> {
        Ok(latent.with_length_scale(LengthScale::new(latent.length_scale().get() * factor)?))
    };
    let latents = workload.model.latents().iter().map(scaled).collect::<Result<Vec<_>, _>>()?;
    let model = Lmc::new(latents, workload.model.mixing().clone(), workload.model.noise().to_vec())?;
    let graph = FactorGraph::new(&model, &workload.tree, &workload.observations)?;
    let mut live = LivePosterior::new(&graph, &workload.inputs, &workload.observations)?;
    let mut random = Random::new(11);
    let mut reaches = vec![];
    for _ in 0..25 {
        let row = RowIndex::new(random.below(REACH_POINTS));
        reaches.push(live.affected(row, f64::EPSILON)?.len() as f64);
    }
    let (reach, edit) = (median(reaches), microseconds(edits(&mut live, &mut random, true)?));
    Ok((reach, edit, reach * sweep(&graph)? / REACH_POINTS as f64))
}

/// One random edit: removes a cell, or sets its value.
fn edit(live: &mut LivePosterior, random: &mut Random) -> Result<RowIndex, Failure> {
    let row = RowIndex::new(random.below(live.n_rows()));
    let output = OutputIndex::new(random.below(4));
    if random.uniform() < 0.3 {
        live.remove(row, output)?;
    } else {
        live.set(row, output, random.normal())?;
    }
    Ok(row)
}

/// Edits of one live posterior, each with a query elsewhere: for instruction counts.
pub(crate) fn task<'a>(
    graph: &FactorGraph<'_>,
    workload: &Workload,
    n_edits: usize,
) -> Result<Task<'a>, Failure> {
    let mut live = LivePosterior::new(graph, &workload.inputs, &workload.observations)?;
    live.refresh();
    let mut random = Random::new(7);
    let run = move || {
        let mut last = 0.0;
        for _ in 0..n_edits {
            let elsewhere = RowIndex::new(random.below(live.n_rows()));
            edit(&mut live, &mut random)?;
            last = black_box(live.marginals(elsewhere)?).means[0];
        }
        Ok(last)
    };
    Ok(Task { name: "edit + query", run: Box::new(run) })
}

/// Seconds of each edit with a query at the edited row or elsewhere.
fn edits(live: &mut LivePosterior, random: &mut Random, at_the_edit: bool) -> Result<Vec<f64>, Failure> {
    repeated(N_EDITS, || {
        let elsewhere = RowIndex::new(random.below(live.n_rows()));
        let row = edit(live, random)?;
        Ok(live.marginals(if at_the_edit { row } else { elsewhere })?)
    })
}

/// Seconds to append a point with a cell and to predict one step ahead.
fn appends(live: &mut LivePosterior, workload: &Workload) -> Result<Vec<f64>, Failure> {
    let mut now = workload.inputs.values().last().copied().unwrap_or(0.0);
    repeated(1000, || {
        now += 1.0;
        let row = live.insert(&[now])?;
        live.set(row, OutputIndex::new(0), 0.5)?;
        Ok(live.marginals_at(&[now + 1.0])?)
    })
}

/// Microseconds of a whole sweep, buffers reused.
fn sweep(graph: &FactorGraph<'_>) -> Result<f64, Failure> {
    let mut workspace = Workspace::new();
    black_box(workspace.marginals(graph)?);
    Ok(microseconds(repeated(5, || Ok(workspace.marginals(graph)?))?))
}

fn quantile(mut times: Vec<f64>, probability: f64) -> f64 {
    times.sort_by(f64::total_cmp);
    times[((times.len() - 1) as f64 * probability) as usize]
}
