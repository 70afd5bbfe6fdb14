//! An estimate as text and as JSON.

use std::fmt;

use super::ErrorEstimate;
use super::Estimated;
use crate::json::number;
use crate::json::object;
use crate::json::text;

impl fmt::Display for ErrorEstimate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n_sampled, n_neighbors, seconds, .. } = self;
        let with_error =
            |estimated: Estimated| format!("{:.4e} ± {:.1e}", estimated.value, estimated.standard_error);
        writeln!(
            formatter,
            "against dense posteriors on {n_neighbors} neighbors of {n_sampled} sampled rows ({seconds:.2} s):"
        )?;
        writeln!(formatter, "means differ by {} (RMS, output units)", with_error(self.mean_difference))?;
        writeln!(formatter, "that is {} posterior standard deviations", with_error(self.in_deviations))?;
        writeln!(formatter, "deviations differ by {} (RMS)", with_error(self.deviation_difference))?;
        write!(
            formatter,
            "and are {:.3} times the dense ones; halved neighborhoods change dense means by {:.1e}",
            self.deviation_ratio, self.reference_change
        )?;
        self.warnings.iter().try_for_each(|warning| write!(formatter, "\nwarning: {warning}"))
    }
}

impl ErrorEstimate {
    /// The estimate as one JSON object. A number that is not finite becomes `null`.
    pub fn to_json(&self) -> String {
        let with_error = |estimated: Estimated| {
            object(&[
                ("value", number(estimated.value)),
                ("standard_error", number(estimated.standard_error)),
            ])
        };
        let warnings: Vec<String> = self.warnings.iter().map(|warning| text(&warning.to_string())).collect();
        object(&[
            ("mean_difference", with_error(self.mean_difference)),
            ("in_deviations", with_error(self.in_deviations)),
            ("deviation_difference", with_error(self.deviation_difference)),
            ("deviation_ratio", number(self.deviation_ratio)),
            ("reference_change", number(self.reference_change)),
            ("n_sampled", self.n_sampled.to_string()),
            ("n_neighbors", self.n_neighbors.to_string()),
            ("seconds", number(self.seconds)),
            ("warnings", format!("[{}]", warnings.join(","))),
        ])
    }
}
