//! Checks every number of a model file when it is opened. A file can be complete and signed, and still hold numbers out of range.

use catena_fit::{HeldOut, MOST_CHAINS, Preparation, StructureOption, Summary};
use catena_io::FileName;
use catena_io::model_file::Container;

use crate::StoreError;

/// What a number must be.
#[derive(Clone, Copy)]
enum Range {
    Positive,
    NotNegative,
    Finite,
    FiniteOrMissing,
    /// A fraction, to rounding.
    Fraction,
    /// A correlation, to rounding.
    Correlation,
}

/// Fractions and correlations are ratios of sums.
const ROUNDING: f64 = 1e-9;

impl Range {
    fn contains(self, value: f64) -> bool {
        match self {
            Self::Positive => value > 0.0 && value.is_finite(),
            Self::NotNegative => value >= 0.0 && value.is_finite(),
            Self::Finite => value.is_finite(),
            Self::FiniteOrMissing => !value.is_infinite(),
            Self::Fraction => (-ROUNDING..=1.0 + ROUNDING).contains(&value),
            Self::Correlation => value.abs() <= 1.0 + ROUNDING,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Positive => "positive and finite",
            Self::NotNegative => "finite and not negative",
            Self::Finite => "finite",
            Self::FiniteOrMissing => "finite or missing",
            Self::Fraction => "between 0 and 1",
            Self::Correlation => "between -1 and 1",
        }
    }
}

/// The numbers of a file, checked one field at a time.
pub(crate) struct Numbers<'a> {
    pub(crate) file: &'a FileName,
}

impl Numbers<'_> {
    fn one(&self, value: f64, range: Range, field: impl FnOnce() -> String) -> Result<(), StoreError> {
        if range.contains(value) {
            return Ok(());
        }
        let (file, expected) = (self.file.clone(), range.words().to_owned());
        Err(StoreError::Number { file, field: field(), value: value.to_string(), expected })
    }

    fn all(&self, values: &[f64], range: Range, field: &str) -> Result<(), StoreError> {
        let mut values = values.iter().enumerate();
        values.try_for_each(|(at, value)| self.one(*value, range, || format!("{field}[{at}]")))
    }

    /// Checks the arrays; a missing one is found later.
    pub(crate) fn arrays(&self, container: &Container) -> Result<(), StoreError> {
        for (name, range) in [
            ("inputs", Range::Finite),
            ("values", Range::FiniteOrMissing),
            ("candidates", Range::Finite),
            ("cell_noise", Range::Positive),
            ("length_scales", Range::Positive),
            ("shapes", Range::FiniteOrMissing),
            ("shared_weights", Range::Finite),
            ("private_weights", Range::Finite),
            ("noise", Range::Positive),
        ] {
            let array = container.arrays.get(name).and_then(|array| array.as_f64());
            self.all(array.unwrap_or_default(), range, name)?;
        }
        Ok(())
    }

    /// Checks the number of chains.
    pub(crate) fn structure(&self, structure: StructureOption) -> Result<(), StoreError> {
        match structure {
            StructureOption::Ensemble { n_chains } if !(1..=MOST_CHAINS).contains(&n_chains) => {
                Err(StoreError::Number {
                    file: self.file.clone(),
                    field: "structure.count".to_owned(),
                    value: n_chains.to_string(),
                    expected: format!("between 1 and {MOST_CHAINS}"),
                })
            }
            _ => Ok(()),
        }
    }

    /// Checks the change of units.
    pub(crate) fn preparation(&self, preparation: &Preparation) -> Result<(), StoreError> {
        for (at, (shift, scale)) in preparation.inputs.iter().enumerate() {
            self.one(*shift, Range::Finite, || format!("preparation.inputs[{at}].shift"))?;
            self.one(*scale, Range::Positive, || format!("preparation.inputs[{at}].scale"))?;
        }
        let of_groups = preparation.groups.values().flatten();
        for (at, output) in preparation.outputs.iter().chain(of_groups).enumerate() {
            let field = |name: &str| format!("preparation.outputs[{at}].{name}");
            self.one(output.intercept, Range::Finite, || field("intercept"))?;
            self.one(output.scale, Range::Positive, || field("scale"))?;
            self.all(&output.slopes, Range::Finite, &field("slopes"))?;
        }
        Ok(())
    }

    /// Checks the summary.
    pub(crate) fn summary(&self, summary: &Summary) -> Result<(), StoreError> {
        for (at, latent) in summary.latents.iter().enumerate() {
            let field = |name: &str| format!("summary.latents[{at}].{name}");
            self.all(&latent.length_scales, Range::Positive, &field("length_scales"))?;
            self.one(latent.period.unwrap_or(1.0), Range::Positive, || field("period"))?;
            self.one(latent.share, Range::Fraction, || field("share"))?;
            self.one(latent.deviation, Range::NotNegative, || field("deviation"))?;
        }
        for (at, output) in summary.outputs.iter().enumerate() {
            let field = |name: &str| format!("summary.outputs[{at}].{name}");
            self.one(output.mean, Range::Finite, || field("mean"))?;
            self.all(&output.slopes, Range::Finite, &field("slopes"))?;
            self.one(output.noise_deviation, Range::NotNegative, || field("noise_deviation"))?;
            self.one(output.shared_share, Range::Fraction, || field("shared_share"))?;
            self.one(output.private_share, Range::Fraction, || field("private_share"))?;
            self.one(output.noise_share, Range::Fraction, || field("noise_share"))?;
        }
        self.all(&summary.mixing, Range::Finite, "summary.mixing")?;
        self.all(&summary.correlation, Range::Correlation, "summary.correlation")?;
        self.all(&summary.path, Range::Finite, "summary.path")?;
        self.all(&summary.probabilities, Range::Fraction, "summary.probabilities")?;
        self.one(summary.log_evidence, Range::Finite, || "summary.log_evidence".to_owned())?;
        let standardized = summary.standardized_log_evidence.unwrap_or(0.0);
        self.one(standardized, Range::Finite, || "summary.standardized_log_evidence".to_owned())?;
        for (at, tried) in summary.tried.iter().enumerate() {
            let field = |name: &str| format!("summary.tried[{at}].{name}");
            self.one(tried.score, Range::Finite, || field("score"))?;
            self.one(tried.rmse.unwrap_or(0.0), Range::NotNegative, || field("rmse"))?;
            self.one(tried.coverage.unwrap_or(0.0), Range::Fraction, || field("coverage"))?;
        }
        self.scores(&summary.held_out, "summary.held_out")?;
        self.scores(&summary.held_out_by_output, "summary.held_out_by_output")
    }

    fn scores(&self, scores: &[HeldOut], field: &str) -> Result<(), StoreError> {
        for (at, scores) in scores.iter().enumerate() {
            let field = |name: &str| format!("{field}[{at}].{name}");
            self.one(scores.rmse, Range::NotNegative, || field("rmse"))?;
            self.one(scores.log_score, Range::Finite, || field("log_score"))?;
            self.one(scores.coverage, Range::Fraction, || field("coverage"))?;
        }
        Ok(())
    }
}
