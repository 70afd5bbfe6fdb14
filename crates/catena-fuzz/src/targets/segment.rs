//! Bytes of segment summaries: accepted ones are written unchanged and can be joined.

use catena::inference::Summary;

/// The bytes as they are, and with the correct checksum.
pub(super) fn run(bytes: &[u8]) {
    let _ = Summary::from_bytes(bytes);
    let mut whole = bytes.to_vec();
    whole.extend(checksum(bytes).to_le_bytes());
    let Ok(summary) = Summary::from_bytes(&whole) else { return };
    assert_eq!(summary.to_bytes(), whole, "read and written, the bytes differ");
    let _ = summary.log_evidence();
    let _ = summary.past();
    let _ = summary.future(&summary);
    if let Ok(joined) = summary.then(&summary) {
        let _ = Summary::from_bytes(&joined.to_bytes());
    }
}

/// FNV-1a, as in the format.
fn checksum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
