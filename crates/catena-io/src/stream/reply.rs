//! Writes one reply per line.

use std::fmt::Write as _;

use super::StreamFormat;
use crate::select::Input;
use crate::write::{number_text, write_cell};

/// Writes replies: the number of the line, its inputs, and `NAME_mean` and `NAME_std` of the outputs.
#[derive(Debug)]
pub struct ReplyWriter {
    format: StreamFormat,
    inputs: Vec<Input>,
    /// Column names as JSON strings.
    keys: Vec<String>,
    header: String,
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
        Self { format, inputs: inputs.to_vec(), keys, header }
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

    /// Appends the reply to a line: mean and standard deviation of each output, `None` for outputs without a prediction.
    pub fn push_answer(&self, text: &mut String, line: u64, inputs: &[f64], answers: &[Option<(f64, f64)>]) {
        match self.format {
            StreamFormat::Csv => {
                let _ = write!(text, "{line}");
                for (input, value) in self.inputs.iter().zip(inputs) {
                    text.push(',');
                    match &input.time {
                        Some(axis) => text.push_str(&axis.print(*value)),
                        None => text.push_str(&number_text(*value, input.style)),
                    }
                }
                for answer in answers {
                    match answer {
                        None => text.push_str(",,"),
                        Some((mean, deviation)) => {
                            let style = crate::table::NumberStyle::Double;
                            let _ = write!(
                                text,
                                ",{},{}",
                                number_text(*mean, style),
                                number_text(*deviation, style)
                            );
                        }
                    }
                }
                text.push('\n');
            }
            StreamFormat::Json => {
                let _ = write!(text, "{{\"line\":{line}");
                for ((input, value), key) in self.inputs.iter().zip(inputs).zip(&self.keys) {
                    match &input.time {
                        Some(axis) => {
                            let _ = write!(text, ",{key}:{}", serde_json::Value::from(axis.print(*value)));
                        }
                        None => push_number(text, key, *value),
                    }
                }
                for (answer, keys) in answers.iter().zip(self.keys[self.inputs.len()..].chunks(2)) {
                    if let (Some((mean, deviation)), [of_mean, of_deviation]) = (answer, keys) {
                        push_number(text, of_mean, *mean);
                        push_number(text, of_deviation, *deviation);
                    }
                }
                text.push_str("}\n");
            }
        }
    }

    /// Appends the reply to a skipped line: its number and, in JSON, the reason.
    pub fn push_skipped(&self, text: &mut String, line: u64, why: Option<&str>) {
        let _ = match (self.format, why) {
            (StreamFormat::Csv, _) => writeln!(text, "{line}{}", ",".repeat(self.keys.len())),
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
