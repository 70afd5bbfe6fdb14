//! Given parameters as a JSON file in the user's units.

use std::io::Write;
use std::path::Path;

use catena_fit::Fit;
use catena_io::FileName;
use catena_io::write::TargetFile;
use catena_store::Parameters;

use crate::error::CliError;
use crate::scoreboard::print_text;

/// What a path is called; `-` is standard input.
pub(crate) fn name(path: &Path) -> FileName {
    if path.as_os_str() == "-" { FileName::StandardInput } else { FileName::from(path) }
}

/// Reads a file of parameters, and says which entry is a duration, if any is.
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

/// Writes the parameters of a fit; `is_time` says whether its input is a time.
pub(crate) fn write(fit: &Fit, is_time: bool, path: &Path) -> Result<(), CliError> {
    let parameters = Parameters::of(fit).ok_or(CliError::NoParametersToWrite)?;
    write_text(path, &parameters.to_text(is_time))
}

/// Writes a whole text file, at once or not at all; `-` is standard output.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), CliError> {
    if path.as_os_str() == "-" {
        return print_text(&format!("{text}\n"));
    }
    let mut file = TargetFile::create_path(path)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.write_all(b"\n"));
    written.map_err(|source| file.error(source))?;
    Ok(file.commit()?)
}
