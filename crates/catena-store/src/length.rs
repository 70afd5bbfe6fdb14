//! Lengths along an input as text.

use catena_io::units::Duration;

/// A length along an input: a duration along a time, else a number.
pub fn length_text(is_time: bool, length: f64) -> String {
    match Duration::from_seconds(length) {
        Some(duration) if is_time => duration.to_string(),
        _ => format!("{length:.4}"),
    }
}
