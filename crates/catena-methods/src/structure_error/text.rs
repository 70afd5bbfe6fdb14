//! An estimate as text.

use std::fmt;

use super::ErrorEstimate;
use super::Estimated;

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
