//! Which missing cells `impute` leaves empty: those in long gaps and those that are too uncertain.

use std::collections::HashSet;

use catena_fit::Predictive;
use catena_io::select::{Frame, WideColumns, cells_in_long_gaps, nearest_name};
use catena_io::units::Duration;
use clap::Args;

use crate::arguments::positive;
use crate::error::CliError;

/// Options of `impute` for cells that stay empty.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct LimitOptions {
    /// Leave gaps empty that are longer than this, from the observed value before to the one after: a duration, or a number if the
    /// input is numeric.
    #[arg(long, value_name = "LENGTH")]
    pub(crate) max_gap: Option<String>,
    /// Leave cells empty whose standard deviation is larger than this; OUTPUT=X for one output.
    #[arg(long, value_name = "X", value_delimiter = ',')]
    pub(crate) max_std: Vec<String>,
}

/// The limits for a table.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    /// By cell, whether it is in a gap that is too long; empty without a limit.
    in_long_gap: Vec<bool>,
    /// By output, the largest standard deviation.
    max_std: Vec<f64>,
}

/// Numbers of cells that were left empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LeftEmpty {
    pub(crate) by_gap: usize,
    pub(crate) by_std: usize,
}

impl LeftEmpty {
    /// The number of cells.
    pub(crate) fn total(self) -> usize {
        self.by_gap + self.by_std
    }

    /// The end of a sentence about filled cells.
    pub(crate) fn text(self) -> String {
        let reasons = [
            (self.by_gap, "in gaps longer than --max-gap"),
            (self.by_std, "with a standard deviation above --max-std"),
        ];
        let reasons = reasons.iter().filter(|(count, _)| *count > 0);
        let reasons: Vec<String> = reasons.map(|(count, reason)| format!("{count} {reason}")).collect();
        match reasons.is_empty() {
            true => String::new(),
            false => format!("; left {} empty: {}", self.total(), reasons.join(", ")),
        }
    }
}

impl LimitOptions {
    /// The limits for the selected columns of a table.
    pub(crate) fn for_table(&self, frame: &Frame) -> Result<Limits, CliError> {
        let in_long_gap = match &self.max_gap {
            None => vec![],
            Some(text) => cells_in_long_gaps(frame, longest_gap(text, frame)?),
        };
        Ok(Limits { in_long_gap, max_std: self.largest_deviations(&frame.outputs, frame.wide.as_ref())? })
    }

    /// The limits that need no gaps, for a table that is read in blocks.
    pub(crate) fn for_outputs(&self, outputs: &[String]) -> Result<Limits, CliError> {
        Ok(Limits { in_long_gap: vec![], max_std: self.largest_deviations(outputs, None)? })
    }

    fn largest_deviations(
        &self,
        outputs: &[String],
        wide: Option<&WideColumns>,
    ) -> Result<Vec<f64>, CliError> {
        let mut largest = vec![f64::INFINITY; outputs.len()];
        for text in &self.max_std {
            let (name, number) = match text.rsplit_once('=') {
                Some((name, number)) => (Some(name.trim()), number),
                None => (None, text.as_str()),
            };
            let number = positive(number).ok_or_else(|| CliError::MaxStd { text: text.clone() })?;
            match name {
                None => largest.fill(number),
                Some(name) => match outputs_of(name, outputs, wide)[..] {
                    [] => {
                        let nearest = nearest_name(name, outputs.iter().map(String::as_str));
                        let nearest = nearest.map(str::to_owned);
                        return Err(CliError::UnknownOutput { name: name.to_owned(), nearest });
                    }
                    ref found => found.iter().for_each(|at| largest[*at] = number),
                },
            }
        }
        Ok(largest)
    }
}

/// The outputs that a name means: one of them, or all that were made of a column.
fn outputs_of(name: &str, outputs: &[String], wide: Option<&WideColumns>) -> Vec<usize> {
    let made = wide.filter(|wide| wide.values.iter().any(|value| value == name));
    let made = made.iter().flat_map(|wide| wide.names.iter().map(|own| WideColumns::output(name, own)));
    let wanted: HashSet<String> = made.chain([name.to_owned()]).collect();
    (0..outputs.len()).filter(|at| wanted.contains(&outputs[*at])).collect()
}

fn longest_gap(text: &str, frame: &Frame) -> Result<f64, CliError> {
    let [input] = frame.inputs.as_slice() else {
        return Err(CliError::GapInputs { file: frame.file.clone(), found: frame.inputs.len() });
    };
    if input.time.is_some() {
        return Ok(text.parse::<Duration>().map_err(CliError::MaxGap)?.seconds());
    }
    positive(text).ok_or_else(|| CliError::GapNeedsTime {
        file: frame.file.clone(),
        column: input.name.clone(),
        gap: text.to_owned(),
    })
}

impl Limits {
    /// Why a missing cell stays empty; `None` if it is filled. Cells are counted row by row.
    pub(crate) fn reason(&self, predictive: &Predictive, at: usize) -> Option<EmptyReason> {
        if self.in_long_gap.get(at).copied().unwrap_or(false) {
            return Some(EmptyReason::Gap);
        }
        let largest = self.max_std.get(at % self.max_std.len().max(1)).copied().unwrap_or(f64::INFINITY);
        (predictive.deviation(at) > largest).then_some(EmptyReason::Deviation)
    }
}

/// Why a cell stays empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EmptyReason {
    Gap,
    Deviation,
}

impl LeftEmpty {
    /// Counts a cell.
    pub(crate) fn count(&mut self, reason: EmptyReason) {
        match reason {
            EmptyReason::Gap => self.by_gap += 1,
            EmptyReason::Deviation => self.by_std += 1,
        }
    }
}
