//! Estimates the memory and time of a command, for `--dry-run`.

use catena_fit::{FitOptions, FitParts, FitSize, MethodChoice};
use catena_io::select::Frame;
use serde_json::{Value, json};

use crate::arguments::Bytes;
use crate::console::Console;
use crate::error::CliError;

/// The size of a fit. Memory is an estimate within a factor of about three, time within a factor of about two.
pub(crate) struct Plan {
    n_rows: usize,
    n_observed: usize,
    n_missing: usize,
    inputs: Vec<String>,
    outputs: Vec<String>,
    memory: Bytes,
    seconds: f64,
}

impl Plan {
    /// The plan of a fit to the selected columns.
    pub(crate) fn new(frame: &Frame, options: &FitOptions) -> Self {
        let state = options.expected_state_size(frame.n_outputs());
        Self::sized(frame, state, options.method, options.expected_seconds(size_of(frame)))
    }

    /// The plan of conditioning a saved model on the selected columns.
    pub(crate) fn with_model(frame: &Frame, parts: &FitParts) -> Self {
        let (n_rows, n_outputs) = (frame.n_rows() as f64, frame.n_outputs() as f64);
        let state = parts.model.state_dim() as f64;
        let sweep = 2e-9 * n_rows * (state * state * (n_outputs + state) + 50.0);
        Self::sized(frame, state, parts.method, sweep)
    }

    /// The plan for a state size and the seconds of one core between reading and writing.
    fn sized(frame: &Frame, state: f64, method: MethodChoice, seconds: f64) -> Self {
        let (n_rows, n_outputs, n_observed) = (frame.n_rows(), frame.n_outputs(), frame.n_observed());
        let cells = (n_rows * (n_outputs + frame.inputs.len())) as f64;
        Self {
            n_rows,
            n_observed,
            n_missing: n_rows * n_outputs - n_observed,
            inputs: frame.inputs.iter().map(|input| input.name.clone()).collect(),
            outputs: frame.outputs.clone(),
            memory: Bytes(size_of(frame).memory(state, method)),
            seconds: 1e-6 * cells + seconds,
        }
    }

    /// Prints the plan: as JSON on standard output, or as text on standard error.
    pub(crate) fn show(&self, verb: &str, json: bool, console: Console) -> Result<(), CliError> {
        if json {
            return crate::scoreboard::print_json(&self.to_json(verb));
        }
        console.say(format!(
            "{verb}: {} rows; inputs {}; outputs {}; {} observed and {} missing values",
            self.n_rows,
            self.inputs.join(", "),
            self.outputs.join(", "),
            self.n_observed,
            self.n_missing
        ));
        console.say(format!(
            "estimate: about {} of memory and {} s of one core",
            self.memory,
            rounded(self.seconds)
        ));
        console.say("dry run: nothing was learned or written");
        Ok(())
    }

    fn to_json(&self, verb: &str) -> Value {
        json!({
            "verb": verb, "rows": self.n_rows, "inputs": self.inputs, "outputs": self.outputs,
            "observed": self.n_observed, "missing": self.n_missing, "holes": self.n_missing,
            "memory_bytes": self.memory.0, "seconds": self.seconds,
        })
    }
}

/// Seconds with no more digits than an estimate deserves.
fn rounded(seconds: f64) -> String {
    match seconds {
        ..10.0 => format!("{:.0}", seconds.ceil()),
        _ => format!("{:.0}", 5.0 * (seconds / 5.0).round()),
    }
}

/// The size of a fit to the selected columns.
pub(crate) fn size_of(frame: &Frame) -> FitSize {
    FitSize {
        n_rows: frame.n_rows(),
        n_inputs: frame.inputs.len(),
        n_outputs: frame.n_outputs(),
        n_observed: frame.n_observed(),
    }
}
