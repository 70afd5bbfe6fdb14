//! The summary as text.

use super::summary::{HeldOut, Summary};

/// How the decision of a fit begins whose forecasts were not checked.
pub(crate) const UNCHECKED: &str = "forecasts are not checked on known rows";

impl Summary {
    /// The summary, with lengths along the first input formatted by `length` (for example as durations).
    pub fn to_text(&self, length: &dyn Fn(f64) -> String) -> String {
        let mut lines =
            vec![format!("{}, {} rows, {} outputs", self.method, self.n_rows, self.outputs.len())];
        lines.push(format!("log evidence {}; {}", self.evidence_text(), self.ending));
        lines.extend(self.decisions.iter().map(|decision| format!("  {decision}")));
        lines.push(String::new());
        let sums = self.sum_lines(length);
        lines.extend(if sums.is_empty() { self.latent_lines(length) } else { sums });
        lines.push(String::new());
        lines.extend(self.output_lines());
        if self.outputs.len() > 1 && self.outputs.len() <= 12 {
            lines.push(String::new());
            lines.extend(self.correlation_lines());
        }
        if !self.members.is_empty() {
            lines.push(String::new());
            lines.extend(self.member_lines());
        }
        if !self.held_out.is_empty() {
            lines.push(String::new());
            lines.extend(self.held_out_lines(length));
        }
        if !self.warnings.is_empty() {
            lines.push(String::new());
            lines.extend(self.warnings.iter().map(|warning| format!("warning: {warning}")));
        }
        lines.join("\n") + "\n"
    }

    /// How forecasts of known rows did beside simple rules, with the length of the forecasts formatted by `length`, or why there were
    /// none; empty for fits that were not asked for forecasts.
    pub fn check_lines(&self, length: &dyn Fn(f64) -> String) -> Vec<String> {
        match self.origins {
            Some(_) => self.held_out_lines(length),
            None => self.decisions.iter().filter(|line| line.starts_with(UNCHECKED)).cloned().collect(),
        }
    }

    /// Scores on held-out cells or from origins inside the table.
    fn held_out_lines(&self, length: &dyn Fn(f64) -> String) -> Vec<String> {
        let mut lines = vec![];
        let heading = match &self.origins {
            None => "on held-out cells".to_owned(),
            Some(origins) => {
                let of = origins.n_origins;
                format!("from {of} origins, to {} ahead", length(origins.reach))
            }
        };
        let names = self.held_out.iter().map(|held_out| held_out.name.chars().count());
        let width = names.chain([heading.chars().count(), 28]).max().unwrap_or(28);
        lines.push(format!("{heading:<width$} {:>8} {:>10} {:>9}", "RMSE/sd", "log score", "in 95 %"));
        lines.extend(self.held_out.iter().map(|held_out| {
            let percent = 100.0 * held_out.coverage;
            format!(
                "{:<width$} {:>8.3} {:>10.3} {:>8.1}%",
                held_out.name, held_out.rmse, held_out.log_score, percent
            )
        }));
        lines
    }

    /// The log evidence, and that of the standardized table, to which the scores of candidates compare.
    pub fn evidence_text(&self) -> String {
        let standardized = self.standardized_log_evidence.map(|value| format!(" (standardized: {value:.2})"));
        format!("{:.2}{}", self.log_evidence, standardized.unwrap_or_default())
    }

    /// The members of a pool with their weights and their scores alone.
    fn member_lines(&self) -> Vec<String> {
        let heading = ["member of the pool", "weight", "sd ×", "RMSE/sd", "log score", "in 95 %"];
        let width =
            self.members.iter().map(|member| member.alone.name.chars().count()).max().unwrap_or(0).max(28);
        let [name, weight, widening, rmse, nats, inside] = heading;
        let mut lines =
            vec![format!("{name:<width$} {weight:>7} {widening:>6} {rmse:>8} {nats:>9} {inside:>9}")];
        lines.extend(self.members.iter().map(|member| {
            let HeldOut { name, rmse, log_score, coverage, .. } = &member.alone;
            let (weight, widening) = (100.0 * member.weight, member.widening);
            format!(
                "{name:<width$} {weight:>6.0}% {widening:>6.2} {rmse:>8.3} {log_score:>9.3} {:>8.1}%",
                100.0 * coverage
            )
        }));
        lines
    }

    fn latent_lines(&self, length: &dyn Fn(f64) -> String) -> Vec<String> {
        let mut lines = vec![format!("{:<28} {:<12} {:>9}  length-scale", "latent", "kernel", "variance")];
        let mut n_shared = 0;
        for latent in &self.latents {
            let name = match &latent.private_to {
                Some(output) => format!("private to {output}"),
                None => {
                    n_shared += 1;
                    format!("shared {n_shared}")
                }
            };
            let scales: Vec<String> = match latent.length_scales.as_slice() {
                [along] => vec![length(*along)],
                several => {
                    let names = self.input_names.iter().map(String::as_str).chain(std::iter::repeat("input"));
                    several.iter().zip(names).map(|(scale, name)| format!("{scale:.3} ({name})")).collect()
                }
            };
            let percent = 100.0 * latent.share;
            let kernel = latent.kernel_text(length);
            lines.push(format!("{name:<28} {kernel:<12} {percent:>8.1}%  {}", scales.join(", ")));
        }
        lines
    }

    fn output_lines(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "{:<28} {:>9} {:>8} {:>8} {:>8}  noise sd",
            "output", "observed", "shared", "private", "noise"
        )];
        for output in &self.outputs {
            let name = output.power.label(&output.name);
            lines.push(format!(
                "{name:<28} {:>9} {:>7.1}% {:>7.1}% {:>7.1}%  {:.4}",
                output.n_observed,
                100.0 * output.shared_share,
                100.0 * output.private_share,
                100.0 * output.noise_share,
                output.noise_deviation
            ));
        }
        lines
    }

    fn correlation_lines(&self) -> Vec<String> {
        let n_outputs = self.outputs.len();
        let mut lines = vec!["correlation of the outputs, without noise".to_owned()];
        for (row, output) in self.correlation.chunks_exact(n_outputs).zip(&self.outputs) {
            let entries: Vec<String> = row.iter().map(|entry| format!("{entry:>6.2}")).collect();
            lines.push(format!("{:<20} {}", output.name, entries.join(" ")));
        }
        lines
    }
}
