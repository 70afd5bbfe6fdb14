//! Kernels, sums of components, methods, structures and durations as text.

use std::fmt::Display;
use std::str::FromStr;

use catena_fit::fit::{Budget, KernelPair, MeanChoice, MethodChoice, StructureOption};
use catena_fit::time::TimeSpec;
use catena_io::units::Duration;

/// A parsed value is printed and parsed again to the same value.
pub(super) fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = (text.parse::<KernelPair>(), text.parse::<Budget>(), text.parse::<MeanChoice>());
    round_trip::<MethodChoice>(text);
    round_trip::<StructureOption>(text);
    if let Ok(duration) = text.parse::<Duration>() {
        assert!(duration.seconds() > 0.0 && duration.seconds().is_finite(), "{text:?}: {duration:?}");
        let again = duration.to_string().parse::<Duration>();
        // Printed with three digits.
        let is_near = again.is_ok_and(|again| (again.seconds() / duration.seconds() - 1.0).abs() < 0.006);
        assert!(is_near, "{text:?} is printed as {duration}");
    }
    let _ = TimeSpec::is_meant_by(text);
    let seconds = |text: &str| match text.parse::<Duration>() {
        Ok(duration) => Ok(duration.seconds()),
        Err(error) => text.parse::<f64>().map_err(|_| error.to_string()),
    };
    if let Ok(spec) = TimeSpec::parse(text, &seconds) {
        let again = TimeSpec::parse(&spec.to_string(), &seconds);
        assert_eq!(again.as_ref(), Ok(&spec), "{text:?} is written as {spec}");
    }
}

fn round_trip<T: FromStr + Display + PartialEq + std::fmt::Debug>(text: &str) {
    if let Ok(value) = text.parse::<T>() {
        let again = value.to_string().parse::<T>().ok();
        assert_eq!(again.as_ref(), Some(&value), "{text:?} is written as {value}");
    }
}
