//! Model files: raw bytes, and files assembled from a header and numbers with correct lengths and checksum.

use catena_fit::method::Quantity;
use catena_io::model_file::{Digest, ModelFileError};
use catena_store::{StoreError, from_bytes};

/// Missing bytes of arrays are filled in up to this size.
const MOST_BYTES: u64 = 1 << 16;

/// The bytes as a file; and with everything up to the first zero as the header and the rest as the arrays.
pub(super) fn run(bytes: &[u8]) {
    let _ = from_bytes(bytes);
    let (header, arrays) = match bytes.iter().position(|byte| *byte == 0) {
        Some(at) => (&bytes[..at], &bytes[at + 1..]),
        None => (bytes, [].as_slice()),
    };
    let opened = match from_bytes(&file(header, arrays)) {
        // As many numbers as the header announces, the given ones first.
        Err(StoreError::File(ModelFileError::Truncated { expected, found, .. })) if expected < MOST_BYTES => {
            let mut arrays = arrays.to_vec();
            arrays.resize(arrays.len() + (expected - found) as usize, 0);
            from_bytes(&file(header, &arrays))
        }
        other => other,
    };
    let Ok(model) = opened else { return };
    if let Ok(predictive) = model.fit.predict_rows(Quantity::Observation) {
        assert!(predictive.means().iter().all(|mean| mean.is_finite()), "{:?}", predictive.means());
    }
    let _ = model.fit.summary().to_text(&|length| length.to_string());
    let _ = catena_store::page("a page", &model.fit, &model.about, &[]);
    if let Ok(kept) = catena_store::to_bytes(&model.fit, &model.about) {
        let again = from_bytes(&kept);
        assert!(again.is_ok(), "written again, the model cannot be opened: {:?}", again.err());
    }
}

/// A file with this header and these bytes of arrays.
fn file(header: &[u8], arrays: &[u8]) -> Vec<u8> {
    let mut file = format!("catena-model 1\nheader {}\n", header.len()).into_bytes();
    file.extend_from_slice(header);
    file.push(b'\n');
    file.resize(file.len().next_multiple_of(8), 0);
    file.extend_from_slice(arrays);
    if let Ok(digest) = Digest::of_reader(file.as_slice()) {
        file.extend(format!("sha256 {digest}\n").into_bytes());
    }
    file
}
