//! What was measured, as a table for people or as JSON for machines.
#![expect(clippy::print_stdout, reason = "printing is what this program is for")]

use crate::cases::Case;
use crate::pinning::Pinning;
use crate::sections::Section;
use crate::timing::{Rounds, Samples};
use serde_json::{Value, json};
use std::io::Write as _;

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people.
    Table,
    /// For machines.
    Json,
}

/// Where the numbers come from.
pub(crate) struct Machine {
    processor: String,
    instructions: &'static str,
    pinning: Pinning,
}

impl Machine {
    /// This machine.
    pub(crate) fn describe(pinning: Pinning) -> Self {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let processor = model.map_or_else(|| std::env::consts::ARCH.into(), |(_, name)| name.to_owned());
        Self { processor, instructions: instructions(), pinning }
    }
}

fn instructions() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        return "AVX2 and FMA";
    }
    "baseline"
}

/// One contender's time over another's.
pub(crate) struct Ratio {
    pub(crate) label: String,
    pub(crate) value: f64,
}

/// One case with all that was measured on it.
pub(crate) struct Row {
    label: String,
    n_points: usize,
    samples: Vec<Samples>,
    ratios: Vec<Ratio>,
}

impl Row {
    /// A row of the report.
    pub(crate) fn new(case: &Case, label: String, samples: Vec<Samples>, ratios: Vec<Ratio>) -> Self {
        Self { label, n_points: case.n_points, samples, ratios }
    }

    fn microseconds(&self, seconds: f64) -> f64 {
        1e6 * seconds / self.n_points as f64
    }

    fn to_json(&self) -> Value {
        let times: serde_json::Map<String, Value> = self
            .samples
            .iter()
            .map(|sample| {
                let median = self.microseconds(sample.median());
                let fastest = self.microseconds(sample.fastest());
                (sample.name.into(), json!({ "median": median, "fastest": fastest }))
            })
            .collect();
        let ratios: serde_json::Map<String, Value> =
            self.ratios.iter().map(|ratio| (ratio.label.clone(), json!(ratio.value))).collect();
        json!({
            "case": self.label,
            "points": self.n_points,
            "microseconds_per_point": times,
            "ratios": ratios,
        })
    }

    fn print(&self) {
        println!("\n{}, C = {}", self.label, self.n_points);
        for sample in &self.samples {
            let median = self.microseconds(sample.median());
            let fastest = self.microseconds(sample.fastest());
            println!("  {:<26} {median:>9.4} µs/point   (fastest {fastest:.4})", sample.name);
        }
        for ratio in &self.ratios {
            println!("  {:<38} {:>7.2} ×", ratio.label, ratio.value);
        }
    }
}

/// All sections that ran.
pub(crate) struct Report {
    machine: Machine,
    rounds: Rounds,
    sections: Vec<(&'static str, &'static str, Vec<Row>)>,
}

impl Report {
    /// A report without any section yet.
    pub(crate) fn new(machine: Machine, rounds: Rounds) -> Self {
        Self { machine, rounds, sections: vec![] }
    }

    /// Appends a section.
    pub(crate) fn add(&mut self, section: &Section, rows: Vec<Row>) {
        self.sections.push((section.name, section.claim, rows));
    }

    /// To standard output.
    pub(crate) fn print(&self, format: Format) {
        match format {
            Format::Json => println!("{:#}", self.to_json()),
            Format::Table => self.print_table(),
        }
    }

    fn to_json(&self) -> Value {
        let sections: Vec<Value> = self
            .sections
            .iter()
            .map(|(name, claim, rows)| {
                let rows: Vec<Value> = rows.iter().map(Row::to_json).collect();
                json!({ "section": name, "claim": claim, "rows": rows })
            })
            .collect();
        json!({
            "machine": self.machine.processor,
            "instructions": self.machine.instructions,
            "pinning": self.machine.pinning.describe(),
            "rounds": self.rounds.get(),
            "version": env!("CARGO_PKG_VERSION"),
            "sections": sections,
        })
    }

    fn print_table(&self) {
        let machine = &self.machine;
        println!("{}, {}, {}", machine.processor, machine.instructions, machine.pinning.describe());
        println!("medians of {} interleaved rounds; ratios are medians within rounds", self.rounds.get());
        for (name, claim, rows) in &self.sections {
            println!("\n== {name}: {claim}");
            rows.iter().for_each(Row::print);
        }
    }
}

/// One line for the person at the terminal, who may have closed it.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}
