//! Given parameters as a JSON file: mixing, length_scales, noise and kernel in the user's units.

use std::io::Write;
use std::path::Path;

use catena_auto::fit::{Fit, GivenParameters};
use catena_io::FileName;
use catena_io::units::Duration;
use catena_io::write::TargetFile;
use serde::{Deserialize, Serialize};

use crate::error::CliError;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ParameterFile {
    /// `matern32`, or `matern32/matern12` for shared and private latents.
    kernel: String,
    /// Whether the last columns of `mixing` are private latents, one per output.
    #[serde(default)]
    private: bool,
    /// A row per output, a column per latent.
    mixing: Vec<Vec<f64>>,
    /// One per latent: a number in units of the input, or along time a duration such as "48h".
    length_scales: Vec<Length>,
    /// One variance per output.
    noise: Vec<f64>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Length {
    Number(f64),
    Text(String),
}

/// Reads a file of parameters.
pub(crate) fn read(path: &Path) -> Result<GivenParameters, CliError> {
    let file = FileName::from(path);
    let wrong = |what: String| CliError::Parameters { file: file.clone(), what };
    let text = std::fs::read_to_string(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => wrong("no such file; check the path".to_owned()),
        _ => wrong(format!("cannot be read ({error})")),
    })?;
    let parsed: ParameterFile = serde_json::from_str(&text).map_err(|error| {
        wrong(format!("is not a file of parameters ({error}); `catena fit --parameters-out` writes one"))
    })?;
    let length = |length: &Length| match length {
        Length::Number(number) => Ok(*number),
        Length::Text(text) => text.parse().map(Duration::seconds).map_err(|error| wrong(error.to_string())),
    };
    let length_scales: Vec<f64> = parsed.length_scales.iter().map(length).collect::<Result<_, _>>()?;
    let is_positive = |value: &f64| *value > 0.0 && value.is_finite();
    if !length_scales.iter().all(is_positive) {
        return Err(wrong("a length-scale is not positive".to_owned()));
    }
    if !parsed.noise.iter().all(is_positive) {
        return Err(wrong("a noise variance is not positive".to_owned()));
    }
    if parsed.mixing.iter().any(|row| row.len() != length_scales.len()) {
        let count = length_scales.len();
        return Err(wrong(format!("every row of mixing needs {count} numbers, one per length-scale")));
    }
    Ok(GivenParameters {
        kernel: parsed
            .kernel
            .parse()
            .map_err(|error: catena_auto::fit::UnknownKernel| wrong(error.to_string()))?,
        mixing: parsed.mixing,
        has_private: parsed.private,
        length_scales,
        noise: parsed.noise,
    })
}

/// Writes the parameters of a fit.
pub(crate) fn write(fit: &Fit, path: &Path) -> Result<(), CliError> {
    let given = fit.parameters().ok_or(CliError::NoParametersToWrite)?;
    let GivenParameters { kernel, mixing, has_private, length_scales, noise } = given;
    let parameters = ParameterFile {
        kernel: format!("{}/{}", kernel.shared.name(), kernel.private.name()),
        private: has_private,
        mixing,
        length_scales: length_scales.into_iter().map(Length::Number).collect(),
        noise,
    };
    let text = serde_json::to_string_pretty(&parameters).unwrap_or_default();
    write_text(path, &text)
}

/// Writes a whole text file, at once or not at all.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), CliError> {
    let mut file = TargetFile::create_path(path)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.write_all(b"\n"));
    written.map_err(|source| catena_io::write::WriteError::Io { file: FileName::from(path), source })?;
    Ok(file.commit()?)
}
