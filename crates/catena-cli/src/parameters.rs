//! Given parameters as a JSON file in the user's units.

use std::io::Write;
use std::path::Path;

use catena_auto::fit::Fit;
use catena_io::FileName;
use catena_io::write::TargetFile;
use catena_store::Parameters;

use crate::error::CliError;

/// Reads a file of parameters.
pub(crate) fn read(path: &Path) -> Result<Parameters, CliError> {
    let file = FileName::from(path);
    let wrong = |what: String| CliError::Parameters { file: file.clone(), what };
    let text = std::fs::read_to_string(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => wrong("no such file; check the path".to_owned()),
        _ => wrong(format!("cannot be read ({error})")),
    })?;
    Parameters::read(&text).map_err(|error| wrong(error.to_string()))
}

/// Writes the parameters of a fit; `is_time` says whether its input is a time.
pub(crate) fn write(fit: &Fit, is_time: bool, path: &Path) -> Result<(), CliError> {
    let parameters = Parameters::of(fit).ok_or(CliError::NoParametersToWrite)?;
    write_text(path, &parameters.to_text(is_time))
}

/// Writes a whole text file, at once or not at all.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), CliError> {
    let mut file = TargetFile::create_path(path)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.write_all(b"\n"));
    written.map_err(|source| catena_io::write::WriteError::Io { file: FileName::from(path), source })?;
    Ok(file.commit()?)
}
