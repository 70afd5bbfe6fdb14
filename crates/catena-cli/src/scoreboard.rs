//! Results on standard output, as JSON or as aligned columns.

use std::io::{self, Write};

use catena_fit::Summary;
use serde_json::{Value, json};

use crate::error::CliError;

/// Prints a JSON value on standard output.
pub(crate) fn print_json(value: &Value) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(value).map_err(io::Error::other)?;
    print_text(&(text + "\n"))
}

/// Prints text on standard output.
pub(crate) fn print_text(text: &str) -> Result<(), CliError> {
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes())?;
    Ok(output.flush()?)
}

/// The summary of a fit as JSON.
pub(crate) fn summary_json(summary: &Summary) -> Value {
    serde_json::to_value(summary).unwrap_or(Value::Null)
}

/// One line of a table of scores.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) n_cells: usize,
    pub(crate) rmse: f64,
    /// Mean log predictive density per cell in nats; larger is better.
    pub(crate) log_score: f64,
    /// Fraction of cells inside their 95 % intervals.
    pub(crate) coverage: f64,
}

impl Line {
    /// The line as JSON.
    pub(crate) fn to_json(&self) -> Value {
        let Self { name, n_cells, rmse, log_score, coverage } = self;
        json!({"name": name, "cells": n_cells, "rmse": rmse, "log_score": log_score, "coverage95": coverage})
    }

    /// The line as aligned columns.
    pub(crate) fn to_text(&self) -> String {
        let Self { name, n_cells, rmse, log_score, coverage } = self;
        format!("{name:<28} {n_cells:>8} {rmse:>10.4} {log_score:>10.3} {:>8.1}%", 100.0 * coverage)
    }
}

/// The column headings of [`Line::to_text`].
pub(crate) fn heading(first: &str) -> String {
    format!("{first:<28} {:>8} {:>10} {:>10} {:>9}", "cells", "RMSE", "log score", "in 95 %")
}
