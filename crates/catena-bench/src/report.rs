//! Output of the benchmarks: an aligned table, or one JSON object per line.

use std::io::Write as _;

use serde_json::{Map, Value};

/// Width of columns of text and of numbers.
const TEXT: usize = 34;
const NUMBER: usize = 9;

/// The rows of one section.
pub(crate) struct Table {
    section: &'static str,
    json: bool,
    has_header: bool,
}

impl Table {
    /// An empty table; `note` describes models and machine and is printed above it.
    pub(crate) fn new(section: &'static str, json: bool, note: &str) -> Self {
        if !json {
            say(&format!("== {section}: {note}"));
        }
        Self { section, json, has_header: false }
    }

    /// Prints one row of named values; the names of the first row become the header.
    pub(crate) fn row(&mut self, cells: &[(&'static str, Value)]) {
        if self.json {
            let mut object: Map<String, Value> =
                cells.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
            object.insert("bench".to_owned(), self.section.into());
            return say(&Value::Object(object).to_string());
        }
        if !self.has_header {
            let names = cells.iter().map(|(name, value)| aligned(name.replace('_', " "), name, value));
            say(&names.collect::<Vec<_>>().join("  "));
            self.has_header = true;
        }
        let values = cells.iter().map(|(name, value)| aligned(text(value), name, value));
        say(values.collect::<Vec<_>>().join("  ").trim_end());
    }
}

/// Texts to the left, numbers to the right.
fn aligned(text: String, name: &str, value: &Value) -> String {
    if value.is_string() {
        format!("{text:<TEXT$}")
    } else {
        let width = name.len().max(NUMBER);
        format!("{text:>width$}")
    }
}

/// A value with as many digits as a reader needs.
fn text(value: &Value) -> String {
    match (value, value.as_f64()) {
        (Value::String(text), _) => text.clone(),
        (Value::Null, _) => "-".to_owned(),
        (Value::Number(number), Some(float)) if number.is_f64() => match float.abs() {
            1000.0.. => format!("{float:.0}"),
            1.0.. => format!("{float:.2}"),
            0.001.. | 0.0 => format!("{float:.4}"),
            _ => format!("{float:.2e}"),
        },
        _ => value.to_string(),
    }
}

/// The processor and its instruction set.
pub(crate) fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let processor = model.map_or(std::env::consts::ARCH, |(_, name)| name);
    format!("{processor}, {}", instructions())
}

fn instructions() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        return "AVX2 and FMA";
    }
    "baseline"
}

/// Prints one line; a closed pipe is not an error.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_have_the_digits_a_reader_needs() {
        let cells =
            [json!(12_345.6), json!(1.234), json!(0.01234), json!(1.2e-5), json!(7), json!("a"), json!(null)];
        assert_eq!(cells.each_ref().map(text), ["12346", "1.23", "0.0123", "1.20e-5", "7", "a", "-"]);
        assert_eq!(aligned("7".to_owned(), "points", &json!(7)), "        7");
    }
}
