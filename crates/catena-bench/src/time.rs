//! Microseconds per point of evidence and gradient for models along time, and seconds to learn one.
//!
//! D = 7, 4000 regular rows of a simulated station, latents that are sums of components: an oscillator (n = 14), with one harmonic
//! of a day (n = 28), with a level and three harmonics (n = 63). `benchmarks/seasons.py` runs statsmodels on matrices of the same sizes.

use std::ops::ControlFlow;

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
use serde_json::json;

use crate::pinning::pin_to_one_core;
use crate::report::Table;
use crate::tasks;
use crate::timing::{ROUNDS, interleaved, seconds};
use crate::{Failure, Options};

const N_ROWS: usize = 4000;
const N_OUTPUTS: usize = 7;
/// Maximum time to learn the largest model, in seconds on two cores.
const GOAL: f64 = 15.0;

/// State size, harmonics of a day, and whether there is a level.
const CASES: [(usize, usize, bool); 3] = [(14, 0, false), (28, 1, false), (63, 3, true)];

/// Measures and prints.
///
/// # Errors
/// If a library rejects the generated data.
pub(crate) fn run(options: &Options<'_>) -> Result<(), Failure> {
    let data = station_table(N_ROWS, 0).dataset()?;
    // Learning uses all cores, so it precedes the pinning.
    let terms = [Term::Level, Term::Season { period: 24.0, harmonics: Some(3) }];
    let spec = terms.into_iter().fold(TimeSpec::of(Term::Oscillator), |spec, term| spec.with(term));
    let time = Some(TimeOptions { spec: Some(spec), ..TimeOptions::default() });
    let mut evaluations = 0;
    let learning = seconds(|| {
        let fitted =
            fit(&data, &FitOptions { time, ..FitOptions::default() }, &|_| ControlFlow::Continue(()))?;
        evaluations = fitted.summary().n_evaluations;
        Ok(())
    })?;
    let observations = OutputScaling::standardizing(data.observations())?.apply(data.observations())?;
    let tree = sorted_chain(data.inputs())?;
    let pinning = pin_to_one_core();
    let note = format!("microseconds per point, {N_ROWS} rows, D = {N_OUTPUTS}, {pinning}");
    let mut table = Table::new("time", options.json, &note);
    for (n_states, n_harmonics, has_level) in CASES {
        let model = model(n_harmonics, has_level)?;
        assert_eq!(model.state_dim(), n_states, "state size");
        let graph = FactorGraph::new(&model, &tree, &observations)?;
        let workspace = || Workspace::with_form(Form::Covariance);
        let mut tasks = [tasks::evidence(&graph, workspace()), tasks::gradient(&graph, workspace())];
        let samples = interleaved(&mut tasks, ROUNDS)?;
        let per_point = |at: usize| json!(1e6 * samples[at].median() / N_ROWS as f64);
        table.row(&[
            ("states", json!(n_states)),
            ("rows", json!(N_ROWS)),
            ("evidence_us", per_point(0)),
            ("gradient_us", per_point(1)),
            ("gradient_over_evidence", json!(samples[1].times(&samples[0]))),
        ]);
    }
    let note = "seconds to learn sho+rw+qp(24,3), 63 states, two cores";
    Table::new("time learning", options.json, note).row(&[
        ("learning_seconds", json!(learning)),
        ("goal", json!(GOAL)),
        ("evaluations", json!(evaluations)),
    ]);
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
