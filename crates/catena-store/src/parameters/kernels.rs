//! Parameters of a model of kernels.

use catena_fit::fit::{GivenParameters, UnknownKernel};
use serde::Serialize;

use super::ParameterError;
use super::entry::Entry;

#[derive(Serialize)]
struct File<'a> {
    /// `matern32`, or `matern32/matern12` for shared and private latents.
    kernel: String,
    /// Whether the last columns of `mixing` are private latents, one per output.
    private: bool,
    /// A row per output, a column per latent.
    mixing: &'a [Vec<f64>],
    /// One per latent, in units of the input (seconds for a time).
    length_scales: &'a [f64],
    /// One variance per output.
    noise: &'a [f64],
}

pub(super) fn read(whole: &Entry<'_>) -> Result<GivenParameters, ParameterError> {
    whole.has_only(&["kernel", "private", "mixing", "length_scales", "noise"])?;
    let kernel = whole.need("kernel", "a kernel such as \"matern32\"")?;
    let word = kernel.text("a kernel such as \"matern32\"")?;
    let length_scales = whole.need("length_scales", "a list of lengths, one per latent")?;
    let length_scales = length_scales.list("a list of lengths, one per latent")?;
    let length_scales: Vec<f64> =
        length_scales.iter().map(|entry| entry.length("length-scale")).collect::<Result<_, _>>()?;
    let mixing = whole.need("mixing", "a row per output, with a weight for every latent")?;
    Ok(GivenParameters {
        kernel: word.parse().map_err(|error: UnknownKernel| kernel.wrong(error.to_string()))?,
        mixing: mixing.rows(length_scales.len(), "length-scale")?,
        has_private: whole.get("private")?.map_or(Ok(false), |entry| entry.truth())?,
        length_scales,
        noise: whole.need("noise", "a variance per output")?.positives("noise variance")?,
    })
}

pub(super) fn text(given: &GivenParameters) -> String {
    let GivenParameters { kernel, mixing, has_private, length_scales, noise } = given;
    let kernel = format!("{}/{}", kernel.shared.name(), kernel.private.name());
    let file = File { kernel, private: *has_private, mixing, length_scales, noise };
    serde_json::to_string_pretty(&file).unwrap_or_default()
}
