//! Four models swept together and one after the other: what multi-start learning gains.
//!
//! Claim: together they are at least 2.5 times as fast at L = 3, D = 4 and at 6 shared and 7 private latents.

use std::hint::black_box;

use catena::inference::{Form, Gradient, InferenceError, Workspace};
use catena::kernel::Kernel;
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::units::LengthScale;
use serde_json::json;

use crate::cases::{Case, FOUR_LATENTS, LEARNED_ROUGH, LEARNED_SMOOTH, SCALAR, Spacing, THREE_LATENTS};
use crate::pinning::pin_to_one_core;
use crate::report::Table;
use crate::timing::{ROUNDS, Task, interleaved};
use crate::workload::Workload;
use crate::{Failure, Options, tasks};

/// Multipliers of the length-scales of the starts.
const MULTIPLIERS: [f64; 4] = [1.0, 0.3, 3.0, 1.5];
/// The required ratio, for the cases that have one.
const GOAL: f64 = 2.5;

const CASES: [(Case, Option<f64>); 7] = [
    (Case { n_points: 4000, ..SCALAR }, None),
    (Case { n_points: 4000, ..THREE_LATENTS }, Some(GOAL)),
    (
        Case { name: "L=3 D=4, regular grid", n_points: 4000, spacing: Spacing::Regular, ..THREE_LATENTS },
        None,
    ),
    (Case { n_points: 4000, ..FOUR_LATENTS }, None),
    (LEARNED_ROUGH, Some(GOAL)),
    (LEARNED_SMOOTH, Some(GOAL)),
    (
        Case {
            name: "L=8 D=60, Matérn-1/2",
            n_shared: 8,
            n_outputs: 60,
            n_points: 1000,
            kernel: Kernel::Matern12,
            ..SCALAR
        },
        None,
    ),
];

/// Measures and prints.
pub(crate) fn run(options: &Options<'_>) -> Result<(), Failure> {
    let pinning = pin_to_one_core();
    let note = format!(
        "evidence + gradient of four models, microseconds per row, medians of {ROUNDS} interleaved rounds, {pinning}"
    );
    let mut table = Table::new("starts", options.json, &note);
    for (case, goal) in CASES {
        let workload = Workload::new(&case)?;
        let graph = tasks::graph(&workload)?;
        let models = models(&workload.model)?;
        let graphs = models.iter().map(|model| graph.with_model(model)).collect::<Result<Vec<_>, _>>()?;
        let (mut singles, mut batch) =
            (Workspace::with_form(Form::Covariance), Workspace::with_form(Form::Covariance));
        let mut tasks = [
            task("one by one", || graphs.iter().map(|graph| singles.gradient(graph)).collect()),
            task("together", || batch.gradients(&graphs).into_iter().collect()),
        ];
        let samples = interleaved(&mut tasks, ROUNDS)?;
        let per_row = |at: usize| json!(1e6 * samples[at].median() / case.n_points as f64);
        table.row(&[
            ("case", json!(case.name)),
            ("one_by_one_us", per_row(0)),
            ("together_us", per_row(1)),
            ("speedup", json!(samples[0].times(&samples[1]))),
            ("goal", json!(goal)),
        ]);
    }
    Ok(())
}

/// The sum of the log evidences.
fn task<'a>(
    name: &'static str,
    mut gradients: impl FnMut() -> Result<Vec<Gradient>, InferenceError> + Send + 'a,
) -> Task<'a> {
    let run = move || Ok(black_box(gradients()?).iter().map(|gradient| gradient.log_evidence).sum());
    Task { name, run: Box::new(run) }
}

/// The model with other length-scales and weights.
fn models(model: &Lmc) -> Result<Vec<Lmc>, Failure> {
    let mixing = model.mixing();
    let n_shared = mixing.n_shared();
    let changed = |multiplier: f64| -> Result<Lmc, Failure> {
        let latent = |latent: &Latent| -> Result<Latent, Failure> {
            Ok(latent.with_length_scale(LengthScale::new(multiplier * latent.length_scale().get())?))
        };
        let latents = model.latents().iter().map(latent).collect::<Result<Vec<_>, _>>()?;
        let weight = |weight: f64| weight * (0.8 + 0.2 * multiplier);
        let dense = mixing.to_dense();
        let rows = || dense.chunks_exact(model.n_latents());
        let shared = rows().flat_map(|row| row[..n_shared].to_vec()).map(weight).collect();
        let own = rows().enumerate().filter(|_| mixing.has_private());
        let private = own.map(|(output, row)| weight(row[n_shared + output])).collect();
        let mixing = MixingMatrix::with_private(model.n_outputs(), n_shared, shared, private)?;
        Ok(Lmc::new(latents, mixing, model.noise().to_vec())?)
    };
    MULTIPLIERS.iter().map(|&multiplier| changed(multiplier)).collect()
}
