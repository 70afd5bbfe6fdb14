//! Microseconds of one edit and one question at a live posterior, beside a full sweep over the same table.
//!
//! L = 3, D = 4, half of the rows unobserved and 30 % of the cells missing in the rest, from 10⁴ to 10⁶ points. Edits are sets
//! and removals of cells at random rows; the question is the marginals of another random row, or of the edited one.

use std::hint::black_box;
use std::io::Write as _;
use std::time::Instant;

use catena::graph::FactorGraph;
use catena::index::{OutputIndex, RowIndex};
use catena::inference::Workspace;
use catena::live::LivePosterior;
use catena::model::{Latent, Lmc};
use catena::units::LengthScale;

use crate::Failure;
use crate::cases::{Case, THREE_LATENTS};
use crate::pinning::pin_to_one_core;
use crate::random::Random;
use crate::timing::{Contender, median};
use crate::workload::Workload;

const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];
const N_EDITS: usize = 4000;
const BATCH: usize = 1000;

/// Measures all sizes and prints a table, or one JSON object per line.
///
/// # Errors
/// When a library refuses the generated data.
pub(crate) fn run(json: bool) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let pinning = pin_to_one_core().describe();
    if !json {
        writeln!(out, "L = 3, D = 4, {N_EDITS} edits each with one question, {pinning}")?;
        writeln!(
            out,
            "  points   build s   edit + question us: median     99 %   at the edit   + evidence   in a batch of {BATCH}   append   full sweep us   messages"
        )?;
    }
    for n_points in SIZES {
        let case = Case { n_points, ..THREE_LATENTS };
        let workload = Workload::new(&case)?;
        let graph = FactorGraph::new(&workload.model, &workload.tree, &workload.observations)?;
        let begin = Instant::now();
        let mut live = LivePosterior::new(&graph, &workload.inputs, &workload.observations)?;
        live.refresh();
        let build = begin.elapsed().as_secs_f64();
        let mut random = Random::new(7);
        let elsewhere = edits(&mut live, &mut random, false)?;
        let here = edits(&mut live, &mut random, true)?;
        let evidence = median(evidences(&mut live, &mut random)?);
        let batch = batch(&mut live, &mut random)?;
        let messages = live.recomputed();
        let append = appends(&mut live, &workload)?;
        let sweep = sweep(&graph)?;
        let (middle, slowest) = (median(elsewhere.clone()), quantile(elsewhere, 0.99));
        let (here, append) = (median(here), median(append));
        if json {
            let line = serde_json::json!({
                "bench": "edits", "points": n_points, "build_seconds": build, "edit_and_question_us": middle,
                "percentile_99_us": slowest, "at_the_edit_us": here, "edit_and_evidence_us": evidence, "in_a_batch_us": batch, "append_us": append,
                "sweep_us": sweep, "pinning": pinning,
            });
            writeln!(out, "{line}")?;
        } else {
            writeln!(
                out,
                "{n_points:>8} {build:>9.2} {middle:>32.1} {slowest:>8.1} {here:>13.1} {evidence:>12.1} {batch:>21.1} {append:>8.1} {sweep:>15.0}   {}+{}",
                messages.positions, messages.pairs
            )?;
        }
    }
    for factor in [1.0, 30.0] {
        let (reach, edit, resend) = reach(factor)?;
        if json {
            let line = serde_json::json!({
                "bench": "edits", "points": REACH_POINTS, "length_scale_factor": factor, "reach": reach,
                "edit_and_question_us": edit, "sending_again_us": resend,
            });
            writeln!(out, "{line}")?;
        } else {
            writeln!(
                out,
                "length-scales times {factor}: an edit reaches {reach:.0} points to rounding; sending their messages again would take \
                 {resend:.0} us, edit + question by segments takes {edit:.0} us"
            )?;
        }
    }
    Ok(())
}

const REACH_POINTS: usize = 100_000;

/// The other way to edit: sending messages again until they stop changing. Median number of points that an edit reaches to
/// rounding, microseconds of an edit and a question by segments, and what a sweep over the points within reach costs.
fn reach(factor: f64) -> Result<(f64, f64, f64), Failure> {
    let workload = Workload::new(&Case { n_points: REACH_POINTS, ..THREE_LATENTS })?;
    let stretched = |latent: &Latent| -> Result<Latent, Failure> {
        Ok(latent.with_length_scale(LengthScale::new(latent.length_scale().get() * factor)?))
    };
    let latents = workload.model.latents().iter().map(stretched).collect::<Result<Vec<_>, _>>()?;
    let model = Lmc::new(latents, workload.model.mixing().clone(), workload.model.noise().to_vec())?;
    let graph = FactorGraph::new(&model, &workload.tree, &workload.observations)?;
    let mut live = LivePosterior::new(&graph, &workload.inputs, &workload.observations)?;
    let mut random = Random::new(11);
    let mut reaches = vec![];
    for _ in 0..25 {
        let row = RowIndex::new(random.below(REACH_POINTS));
        reaches.push(live.affected(row, f64::EPSILON)?.len() as f64);
    }
    let (reach, edit) = (median(reaches), median(edits(&mut live, &mut random, true)?));
    Ok((reach, edit, reach * sweep(&graph)? / REACH_POINTS as f64))
}

/// One random edit: a cell is set if it is missing, and removed or replaced if it is not.
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

/// So many edits, each with a question elsewhere, at a live posterior that is kept: for counting.
pub(crate) fn contender<'a>(
    graph: &FactorGraph<'_>,
    workload: &Workload,
    n_edits: usize,
) -> Result<Contender<'a>, Failure> {
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
    Ok(Contender { name: "edit + question", run: Box::new(run) })
}

/// Microseconds of each edit with its question.
fn edits(live: &mut LivePosterior, random: &mut Random, ask_there: bool) -> Result<Vec<f64>, Failure> {
    let mut times = Vec::with_capacity(N_EDITS);
    for _ in 0..N_EDITS {
        let elsewhere = RowIndex::new(random.below(live.n_rows()));
        let begin = Instant::now();
        let row = edit(live, random)?;
        black_box(live.marginals(if ask_there { row } else { elsewhere })?);
        times.push(1e6 * begin.elapsed().as_secs_f64());
    }
    Ok(times)
}

/// Microseconds of one edit and the evidence, which needs everything that is stale.
fn evidences(live: &mut LivePosterior, random: &mut Random) -> Result<Vec<f64>, Failure> {
    live.refresh();
    let mut times = Vec::with_capacity(N_EDITS);
    for _ in 0..N_EDITS {
        let begin = Instant::now();
        edit(live, random)?;
        black_box(live.log_evidence()?);
        times.push(1e6 * begin.elapsed().as_secs_f64());
    }
    Ok(times)
}

/// Microseconds per edit when many are made before the evidence is asked for.
fn batch(live: &mut LivePosterior, random: &mut Random) -> Result<f64, Failure> {
    let begin = Instant::now();
    for _ in 0..BATCH {
        edit(live, random)?;
    }
    black_box(live.log_evidence()?);
    Ok(1e6 * begin.elapsed().as_secs_f64() / BATCH as f64)
}

/// Microseconds to append a point with a cell, and to ask what is expected one step later.
fn appends(live: &mut LivePosterior, workload: &Workload) -> Result<Vec<f64>, Failure> {
    let last = workload.inputs.values().last().copied().unwrap_or(0.0);
    let mut times = vec![];
    for at in 1..=1000_i32 {
        let now = last + f64::from(at);
        let begin = Instant::now();
        let row = live.insert(&[now])?;
        live.set(row, OutputIndex::new(0), 0.5)?;
        black_box(live.marginals_at(&[now + 1.0])?);
        times.push(1e6 * begin.elapsed().as_secs_f64());
    }
    Ok(times)
}

/// Microseconds of a whole sweep, buffers reused.
fn sweep(graph: &FactorGraph<'_>) -> Result<f64, Failure> {
    let mut workspace = Workspace::new();
    black_box(workspace.marginals(graph)?);
    let mut times = vec![];
    for _ in 0..5 {
        let begin = Instant::now();
        black_box(workspace.marginals(graph)?);
        times.push(1e6 * begin.elapsed().as_secs_f64());
    }
    Ok(median(times))
}

fn quantile(mut times: Vec<f64>, share: f64) -> f64 {
    times.sort_by(f64::total_cmp);
    times[((times.len() - 1) as f64 * share) as usize]
}
