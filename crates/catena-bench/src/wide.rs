//! Microseconds per row of evidence and gradient as outputs become many, with the same mask in all rows and with one per row.
//!
//! Claim: the time grows no faster than the number of outputs.

use catena::inference::{Form, Workspace};
use catena::kernel::Kernel;
use serde_json::json;

use crate::cases::{Case, SCALAR};
use crate::pinning::pin_to_one_core;
use crate::report::Table;
use crate::timing::{ROUNDS, interleaved};
use crate::workload::Workload;
use crate::{Failure, Options, tasks};

const N_ROWS: usize = 400;
const LATENTS: [usize; 3] = [4, 8, 24];
const OUTPUTS: [usize; 4] = [30, 60, 120, 480];

/// Measures and prints.
pub(crate) fn run(options: &Options<'_>) -> Result<(), Failure> {
    let pinning = pin_to_one_core();
    let note = format!(
        "evidence + gradient, microseconds per row, medians of {ROUNDS} interleaved rounds, {pinning}"
    );
    let mut table = Table::new("wide", options.json, &note);
    for n_shared in LATENTS {
        for n_outputs in OUTPUTS {
            let case = |missing: f64| Case {
                n_shared,
                n_outputs,
                missing,
                kernel: Kernel::Matern12,
                n_points: N_ROWS,
                ..SCALAR
            };
            let (full, holed) = (Workload::new(&case(0.0))?, Workload::new(&case(0.2))?);
            let graphs = [tasks::graph(&full)?, tasks::graph(&holed)?];
            let workspace = || Workspace::with_form(Form::Covariance);
            let mut tasks = graphs.each_ref().map(|graph| tasks::gradient(graph, workspace()));
            let samples = interleaved(&mut tasks, ROUNDS)?;
            let per_row = |at: usize| json!(1e6 * samples[at].median() / N_ROWS as f64);
            table.row(&[
                ("latents", json!(n_shared)),
                ("outputs", json!(n_outputs)),
                ("one_mask_us", per_row(0)),
                ("mask_per_row_us", per_row(1)),
            ]);
        }
    }
    Ok(())
}
