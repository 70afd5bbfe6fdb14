//! The electricity table ETTh1: read from the user's path, checked, never part of this program.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::ExperimentError;

/// The sha256 of the file that the paper used.
pub const DIGEST: &str = "f18de3ad269cef59bb07b5438d79bb3042d3be49bdeecf01c1cd6d29695ee066";

/// The text of the file, if it is the one the paper used.
///
/// # Errors
/// When it cannot be read, or is another file.
pub fn read(path: &Path) -> Result<String, ExperimentError> {
    let bytes = std::fs::read(path)
        .map_err(|source| ExperimentError::ElectricityUnread { path: path.to_owned(), source })?;
    let found = digest(&bytes);
    if found != DIGEST {
        return Err(ExperimentError::ElectricityDiffers { path: path.to_owned(), found });
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_known_by_heart() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest(b"abc"), expected);
    }
}
