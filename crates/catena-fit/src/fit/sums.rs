//! The sums of a time model, assembled from its latents for the summary.

use std::ops::Range;

use super::summary::{LatentSummary, QUADRATURE, Summary};

/// One sum of a time model.
#[derive(Clone, Debug, PartialEq)]
pub struct SumSummary {
    /// The name.
    pub name: String,
    /// The components in the order of the specification; harmonics of a season are one.
    pub components: Vec<ComponentSummary>,
    /// The columns of the mixing matrix.
    pub columns: Range<usize>,
}

/// One component of a sum.
#[derive(Clone, Debug, PartialEq)]
pub struct ComponentSummary {
    /// The kernel.
    pub kernel: String,
    /// The period in units of the input, and the number of harmonics.
    pub season: Option<(f64, usize)>,
    /// The length-scale, in units of the input.
    pub length_scale: f64,
    /// The fraction of the modelled variance of all outputs.
    pub share: f64,
    /// The columns of the mixing matrix.
    pub columns: Range<usize>,
}

impl SumSummary {
    /// The specification, with periods formatted by `length`.
    pub fn kernel_text(&self, length: impl Fn(f64) -> String) -> String {
        self.components.iter().map(|component| component.kernel_text(&length)).collect::<Vec<_>>().join("+")
    }

    /// The fraction of the modelled variance of all outputs.
    pub fn share(&self) -> f64 {
        self.components.iter().map(|component| component.share).sum()
    }
}

impl ComponentSummary {
    /// The kernel with its period and harmonics, formatted by `length`.
    pub fn kernel_text(&self, length: impl Fn(f64) -> String) -> String {
        match self.season {
            Some((period, harmonics)) => format!("{}({},{harmonics})", self.kernel, length(period)),
            None => self.kernel.clone(),
        }
    }

    /// A name in words: `level`, `trend`, `oscillator`, `season` with its period formatted by `length`, or the kernel.
    pub fn plain_name(&self, length: impl Fn(f64) -> String) -> String {
        match (self.season, split_detail(&self.kernel).0) {
            (Some((period, _)), _) => {
                let text = length(period);
                // Numbers have four decimals.
                let is_number = text.contains('.') && text.ends_with(|last: char| last.is_ascii_digit());
                let short = if is_number { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
                format!("season {short}")
            }
            (None, "rw") => "level".to_owned(),
            (None, "llt" | "dt") => "trend".to_owned(),
            (None, "sho") => "oscillator".to_owned(),
            (None, kernel) => kernel.to_owned(),
        }
    }

    /// Adds the next harmonic of the same season or the quadrature component of its last one; returns any other latent.
    fn join<'a>(&mut self, latent: &'a LatentSummary) -> Option<&'a LatentSummary> {
        if latent.kernel == QUADRATURE {
            self.share += latent.share;
            self.columns.end += 1;
            return None;
        }
        let (Some((period, harmonics)), Some(next)) = (&mut self.season, latent.period) else {
            return Some(latent);
        };
        let expected = *period / (*harmonics + 1) as f64;
        let has_its_pace = (latent.length_scales[0] / self.length_scale - 1.0).abs() < 1e-9;
        if (next / expected - 1.0).abs() > 1e-9 || !has_its_pace {
            return Some(latent);
        }
        *harmonics += 1;
        self.share += latent.share;
        self.columns.end += 1;
        None
    }
}

impl Summary {
    /// The sums of a time model; empty for other models.
    pub fn sums(&self) -> Vec<SumSummary> {
        let mut sums: Vec<SumSummary> = vec![];
        for (at, latent) in self.latents.iter().enumerate() {
            let Some(number) = latent.sum else { return vec![] };
            if sums.len() <= number {
                sums.push(SumSummary { name: self.sum_name(number), components: vec![], columns: at..at });
            }
            let Some(sum) = sums.get_mut(number) else { return vec![] };
            sum.columns.end = at + 1;
            let left = match sum.components.last_mut() {
                Some(component) => component.join(latent),
                None => Some(latent),
            };
            if let Some(latent) = left {
                sum.components.push(ComponentSummary {
                    kernel: latent.kernel.clone(),
                    season: latent.period.map(|period| (period, 1)),
                    length_scale: latent.length_scales.first().copied().unwrap_or(f64::NAN),
                    share: latent.share,
                    columns: at..at + 1,
                });
            }
        }
        sums
    }

    /// The first sums correspond to the outputs; further ones are shared seasons.
    fn sum_name(&self, number: usize) -> String {
        match self.outputs.get(number) {
            Some(output) => format!("sum {}, as {}", number + 1, output.name),
            None => format!("season {}, shared", number + 1 - self.outputs.len()),
        }
    }

    /// The standard deviation of a sum in an output, with the sign of its first weight, in units of the output.
    pub fn sum_weight(&self, output: usize, sum: &SumSummary) -> f64 {
        let row = &self.mixing[output * self.latents.len()..][sum.columns.clone()];
        let sizes = self.latents[sum.columns.clone()].iter().map(|latent| latent.deviation);
        let square: f64 = row.iter().zip(sizes).map(|(weight, size)| (weight * size).powi(2)).sum();
        // Each output has an amplitude and a phase of a shared season, and no sign.
        let has_phase = self.latents[sum.columns.clone()].iter().any(|latent| latent.kernel == QUADRATURE);
        let sign = if has_phase { 1.0 } else { row.first().copied().unwrap_or(1.0) };
        square.sqrt().copysign(sign)
    }

    /// The sums as lines of text: a column per component with its fraction of the variance and its length-scale.
    pub(super) fn sum_lines(&self, length: &dyn Fn(f64) -> String) -> Vec<String> {
        let cell = |component: &ComponentSummary| {
            let (_, detail) = split_detail(&component.kernel);
            let detail = detail.map_or_else(String::new, |detail| format!(" {detail}"));
            format!("{:.1}% {}{detail}", 100.0 * component.share, length(component.length_scale))
        };
        let heading = |sum: &SumSummary| -> Vec<String> {
            let name = |component: &ComponentSummary| match component.season {
                Some(_) => component.kernel_text(length),
                None => split_detail(&component.kernel).0.to_owned(),
            };
            sum.components.iter().map(name).collect()
        };
        let mut lines = vec![];
        for block in self.sums().chunk_by(|a, b| heading(a) == heading(b)) {
            let names = heading(&block[0]);
            let rows: Vec<Vec<String>> =
                block.iter().map(|sum| sum.components.iter().map(cell).collect()).collect();
            let width = |at: usize| {
                let all = rows.iter().map(|row| &row[at]).chain([&names[at]]);
                all.map(|text| text.chars().count()).max().unwrap_or(0)
            };
            let line = |first: String, cells: &[String]| {
                let padded = cells.iter().enumerate().map(|(at, cell)| format!("  {cell:<0$}", width(at)));
                (first + &padded.collect::<String>()).trim_end().to_owned()
            };
            lines.push(line(format!("{:<28} {:>9}", "latent", "variance"), &names));
            for (sum, cells) in block.iter().zip(&rows) {
                lines.push(line(format!("{:<28} {:>8.1}%", sum.name, 100.0 * sum.share()), cells));
            }
        }
        lines
    }
}

/// Splits `sho(q=0.7)` into the name and the text in parentheses.
fn split_detail(kernel: &str) -> (&str, Option<&str>) {
    match kernel.split_once('(') {
        Some((name, detail)) => (name, Some(detail.trim_end_matches(')'))),
        None => (kernel, None),
    }
}
