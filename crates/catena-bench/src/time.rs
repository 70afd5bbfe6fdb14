//! Microseconds per point of evidence and gradient for models along time, and seconds to learn one.
//!
//! D = 7, 4000 regular rows of a made-up station, latents that are sums: an oscillator alone (n = 14), with one harmonic of a day
//! (n = 28), with a level and three harmonics (n = 63). `benchmarks/seasons.py` runs statsmodels on matrices of the same sizes.

use std::hint::black_box;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::time::Instant;

use catena::data::OutputScaling;
use catena::graph::FactorGraph;
use catena::inference::{Form, Workspace};
use catena::kernel::Component;
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::structure::sorted_chain;
use catena::units::{LengthScale, Quality, Variance};
use catena_fit::fit::{FitOptions, fit};
use catena_fit::time::{Term, TimeOptions, TimeSpec};
use catena_testkit::station_table::station_table;

use crate::Failure;
use crate::pinning::pin_to_one_core;
use crate::timing::median;

const N_ROWS: usize = 4000;
const N_OUTPUTS: usize = 7;
const ROUNDS: usize = 7;
/// The learning of the largest model, in seconds on two cores.
const GOAL: f64 = 15.0;

/// State sizes, with the harmonics of a day and whether there is a level.
const CASES: [(usize, usize, bool); 3] = [(14, 0, false), (28, 1, false), (63, 3, true)];

/// Measures the sweeps and the learning, and prints a table, or one JSON object per line.
///
/// # Errors
/// When a library refuses the generated data.
pub(crate) fn run(json: bool) -> Result<(), Failure> {
    let table = station_table(N_ROWS, 0).dataset()?;
    let mut out = std::io::stdout().lock();
    // Learning uses all cores, so it comes before the pinning.
    let terms = [Term::Level, Term::Season { period: 24.0, harmonics: Some(3) }];
    let spec = terms.into_iter().fold(TimeSpec::of(Term::Oscillator), |spec, term| spec.with(term));
    let time = Some(TimeOptions { spec: Some(spec), ..TimeOptions::default() });
    let begin = Instant::now();
    let fitted = fit(&table, &FitOptions { time, ..FitOptions::default() }, &|_| ControlFlow::Continue(()))?;
    let learning = begin.elapsed().as_secs_f64();
    let evaluations = fitted.summary().n_evaluations;
    let observations = OutputScaling::standardizing(table.observations())?.apply(table.observations())?;
    let tree = sorted_chain(table.inputs())?;
    let pinning = pin_to_one_core().describe();
    if !json {
        writeln!(out, "{N_ROWS} rows, D = {N_OUTPUTS}, median of {ROUNDS}, {pinning}")?;
        writeln!(out, "states   evidence us/point   with gradient us/point   ratio")?;
    }
    for (n_states, n_harmonics, has_level) in CASES {
        let model = model(n_harmonics, has_level)?;
        assert_eq!(model.state_dim(), n_states, "the states of a case");
        let graph = FactorGraph::new(&model, &tree, &observations)?;
        let mut sweeps = Workspace::with_form(Form::Covariance);
        let (mut evidence, mut gradient) = (vec![], vec![]);
        for _ in 0..=ROUNDS {
            let begin = Instant::now();
            black_box(sweeps.log_evidence(&graph)?);
            evidence.push(begin.elapsed().as_secs_f64());
            let begin = Instant::now();
            black_box(sweeps.gradient(&graph)?);
            gradient.push(begin.elapsed().as_secs_f64());
        }
        // The first round fills caches.
        let per_point = |seconds: Vec<f64>| 1e6 * median(seconds[1..].to_vec()) / N_ROWS as f64;
        let (evidence, gradient) = (per_point(evidence), per_point(gradient));
        if json {
            let line = serde_json::json!({
                "bench": "time", "states": n_states, "rows": N_ROWS, "evidence_us": evidence,
                "gradient_us": gradient, "pinning": pinning,
            });
            writeln!(out, "{line}")?;
        } else {
            writeln!(out, "{n_states:>6} {evidence:>19.2} {gradient:>24.2} {:>7.2}", gradient / evidence)?;
        }
    }
    if json {
        let line = serde_json::json!({
            "bench": "time", "learning_seconds": learning, "goal": GOAL, "evaluations": evaluations,
        });
        writeln!(out, "{line}")?;
    } else {
        writeln!(
            out,
            "learning sho+rw+qp(24,3), 63 states: {learning:.1} s (goal {GOAL}), {evaluations} joint evaluations"
        )?;
    }
    Ok(())
}

/// Seven sums with weights between all latents and outputs.
fn model(n_harmonics: usize, has_level: bool) -> Result<Lmc, Failure> {
    let length = LengthScale::new;
    let mut latents = vec![];
    for latent in 0..N_OUTPUTS {
        let quality = Quality::new(0.4 + 0.2 * latent as f64)?;
        latents.push(Latent::component(Component::Sho { quality }, length(2.0 + latent as f64)?));
        if has_level {
            latents.push(Latent::component(Component::RandomWalk, length(4e4)?));
        }
        for harmonic in 1..=n_harmonics {
            latents.push(Latent::component(
                Component::Cycle { period: length(24.0 / harmonic as f64)? },
                length(720.0)?,
            ));
        }
    }
    let weight = |at: usize| {
        let (output, column) = (at / latents.len(), at % latents.len());
        let own = column / (latents.len() / N_OUTPUTS) == output;
        if own { 0.5 } else { 0.1 * ((3 * output + column) as f64).sin() }
    };
    let weights = (0..N_OUTPUTS * latents.len()).map(weight).collect();
    let mixing = MixingMatrix::shared(N_OUTPUTS, latents.len(), weights)?;
    Ok(Lmc::new(latents, mixing, vec![Variance::new(0.02)?; N_OUTPUTS])?)
}
