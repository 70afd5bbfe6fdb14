//! Writes one reply per line.

use std::fmt::Write as _;

use super::StreamFormat;
use crate::select::Input;
use crate::write::{number_text, write_cell};

/// Writes replies: the number of the line, its group, its inputs, `NAME_mean` and `NAME_std` of the outputs, and on request their `NAME_deviation`.
#[derive(Debug)]
pub struct ReplyWriter {
    format: StreamFormat,
    /// Column names of groups as JSON strings.
    group_keys: Vec<String>,
    inputs: Vec<Input>,
    /// Column names as JSON strings.
    keys: Vec<String>,
    /// Those of deviations, by output; empty without deviations.
    deviation_keys: Vec<String>,
    header: String,
}

/// What is replied about one output.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Answer {
    /// Mean and standard deviation; `None` without a prediction.
    pub predicted: Option<(f64, f64)>,
    /// The deviation of an observed value from what all other values say, in standard deviations.
    pub deviation: Option<f64>,
}

impl ReplyWriter {
    /// A writer for a model with these inputs, and replies about these outputs.
    pub fn new(format: StreamFormat, inputs: &[Input], outputs: &[String]) -> Self {
        let of_output = |name: &String| [format!("{name}_mean"), format!("{name}_std")];
        let names: Vec<String> =
            inputs.iter().map(|input| input.name.clone()).chain(outputs.iter().flat_map(of_output)).collect();
        let mut header = b"line".to_vec();
        for name in &names {
            header.push(b',');
            // Writing to memory cannot fail.
            let _ = write_cell(&mut header, name.as_bytes(), b',');
        }
        header.push(b'\n');
        let keys = names.iter().map(|name| serde_json::Value::from(name.as_str()).to_string()).collect();
        let header = String::from_utf8_lossy(&header).into_owned();
        Self { format, group_keys: vec![], inputs: inputs.to_vec(), keys, deviation_keys: vec![], header }
    }

    /// Replies also have the columns of groups, after the number of the line.
    #[must_use]
    pub fn with_groups(mut self, columns: &[String]) -> Self {
        let mut header = b"line".to_vec();
        for name in columns {
            header.push(b',');
            // Writing to memory cannot fail.
            let _ = write_cell(&mut header, name.as_bytes(), b',');
        }
        self.header = self.header.replacen("line", &String::from_utf8_lossy(&header), 1);
        self.group_keys =
            columns.iter().map(|name| serde_json::Value::from(name.as_str()).to_string()).collect();
        self
    }

    /// Replies also tell how far observed values of these outputs deviate, after all other columns.
    #[must_use]
    pub fn with_deviations(mut self, outputs: &[String]) -> Self {
        let names: Vec<String> = outputs.iter().map(|name| format!("{name}_deviation")).collect();
        let mut header = self.header.trim_end().as_bytes().to_vec();
        for name in &names {
            header.push(b',');
            // Writing to memory cannot fail.
            let _ = write_cell(&mut header, name.as_bytes(), b',');
        }
        header.push(b'\n');
        self.header = String::from_utf8_lossy(&header).into_owned();
        self.deviation_keys =
            names.iter().map(|name| serde_json::Value::from(name.as_str()).to_string()).collect();
        self
    }

    /// Whether replies tell of deviations.
    pub fn has_deviations(&self) -> bool {
        !self.deviation_keys.is_empty()
    }

    /// Appends the first line: the CSV header, or a JSON object with the number of lines applied before.
    pub fn push_ready(&self, text: &mut String, applied: u64) {
        match self.format {
            StreamFormat::Csv => text.push_str(&self.header),
            StreamFormat::Json => {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{{\"ready\":true,\"applied\":{applied}}}");
            }
        }
    }

    /// Appends the reply to a line, with the names of its group and the answer for each output.
    pub fn push_answer(
        &self,
        text: &mut String,
        line: u64,
        (groups, inputs): (&[String], &[f64]),
        answers: &[Answer],
    ) {
        match self.format {
            StreamFormat::Csv => {
                let _ = write!(text, "{line}");
                for name in groups {
                    let mut cell = b",".to_vec();
                    // Writing to memory cannot fail.
                    let _ = write_cell(&mut cell, name.as_bytes(), b',');
                    text.push_str(&String::from_utf8_lossy(&cell));
                }
                for (input, value) in self.inputs.iter().zip(inputs) {
                    text.push(',');
                    match &input.time {
                        Some(axis) => text.push_str(&axis.print(*value)),
                        None => text.push_str(&number_text(*value, input.style)),
                    }
                }
                let style = crate::table::NumberStyle::Double;
                for answer in answers {
                    match answer.predicted {
                        None => text.push_str(",,"),
                        Some((mean, deviation)) => {
                            let _ = write!(
                                text,
                                ",{},{}",
                                number_text(mean, style),
                                number_text(deviation, style)
                            );
                        }
                    }
                }
                for (answer, _) in answers.iter().zip(&self.deviation_keys) {
                    text.push(',');
                    if let Some(deviation) = answer.deviation {
                        text.push_str(&number_text(deviation, style));
                    }
                }
                text.push('\n');
            }
            StreamFormat::Json => {
                let _ = write!(text, "{{\"line\":{line}");
                for (key, name) in self.group_keys.iter().zip(groups) {
                    let _ = write!(text, ",{key}:{}", serde_json::Value::from(name.as_str()));
                }
                for ((input, value), key) in self.inputs.iter().zip(inputs).zip(&self.keys) {
                    match &input.time {
                        Some(axis) => {
                            let _ = write!(text, ",{key}:{}", serde_json::Value::from(axis.print(*value)));
                        }
                        None => push_number(text, key, *value),
                    }
                }
                for (answer, keys) in answers.iter().zip(self.keys[self.inputs.len()..].chunks(2)) {
                    if let (Some((mean, deviation)), [of_mean, of_deviation]) = (answer.predicted, keys) {
                        push_number(text, of_mean, mean);
                        push_number(text, of_deviation, deviation);
                    }
                }
                for (answer, key) in answers.iter().zip(&self.deviation_keys) {
                    if let Some(deviation) = answer.deviation {
                        push_number(text, key, deviation);
                    }
                }
                text.push_str("}\n");
            }
        }
    }

    /// Appends the reply to a skipped line: its number and, in JSON, the reason.
    pub fn push_skipped(&self, text: &mut String, line: u64, why: Option<&str>) {
        let _ = match (self.format, why) {
            (StreamFormat::Csv, _) => {
                let n_cells = self.group_keys.len() + self.keys.len() + self.deviation_keys.len();
                writeln!(text, "{line}{}", ",".repeat(n_cells))
            }
            (StreamFormat::Json, None) => writeln!(text, "{{\"line\":{line}}}"),
            (StreamFormat::Json, Some(why)) => {
                writeln!(text, "{{\"line\":{line},\"error\":{}}}", serde_json::Value::from(why))
            }
        };
    }
}

fn push_number(text: &mut String, key: &str, value: f64) {
    let _ = if value.is_finite() { write!(text, ",{key}:{value:?}") } else { write!(text, ",{key}:null") };
}
