//! Reads and writes parameters as JSON in the user's units.

use std::io::Write;
use std::path::Path;

use catena_fit::fit::Fit;
use catena_io::FileName;
use catena_io::write::TargetFile;
use catena_store::Parameters;

use crate::arguments::is_standard_stream;
use crate::error::CliError;
use crate::scoreboard::print_text;

/// The name of a path in messages; `-` is standard input.
pub(crate) fn name(path: &Path) -> FileName {
    if is_standard_stream(path) { FileName::StandardInput } else { FileName::from(path) }
}

/// Reads a parameter file; the second value names its first entry that is a duration.
pub(crate) fn read(path: &Path) -> Result<(Parameters, Option<String>), CliError> {
    let wrong = |what: String| CliError::Parameters { file: name(path), what };
    let text = match name(path) {
        FileName::StandardInput => std::io::read_to_string(std::io::stdin()),
        _ => std::fs::read_to_string(path),
    };
    let text = text.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => wrong("no such file; check the path".to_owned()),
        _ => wrong(format!("cannot be read ({error})")),
    })?;
    let parameters = Parameters::read(&text).map_err(|error| wrong(error.to_string()))?;
    Ok((parameters, Parameters::first_duration(&text)))
}

/// Writes the parameters of a fit; `is_time` if its input is a time.
pub(crate) fn write(fit: &Fit, is_time: bool, path: &Path) -> Result<(), CliError> {
    let parameters = Parameters::of(fit).ok_or(CliError::NoParametersToWrite)?;
    write_text(path, &parameters.to_text(is_time))
}

/// Writes a text file atomically; `-` is standard output.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), CliError> {
    if is_standard_stream(path) {
        return print_text(&format!("{text}\n"));
    }
    let mut file = TargetFile::create_path(path)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.write_all(b"\n"));
    written.map_err(|source| file.error(source))?;
    Ok(file.commit()?)
}
