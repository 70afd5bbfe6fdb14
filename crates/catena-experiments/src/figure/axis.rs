//! From numbers to places along an axis, and where its ticks are.

/// How numbers are spread along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    Linear,
    /// Powers of ten are equally far apart.
    Logarithmic,
}

/// A labelled axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    pub(crate) label: String,
    pub(crate) scale: Scale,
    /// Ticks at these numbers; empty to choose.
    pub(crate) ticks: Vec<f64>,
}

impl Axis {
    pub(crate) fn new(label: impl Into<String>, scale: Scale) -> Self {
        Self { label: label.into(), scale, ticks: vec![] }
    }

    /// With ticks at the settings of a study.
    pub(crate) fn with_ticks(mut self, ticks: impl IntoIterator<Item = f64>) -> Self {
        self.ticks = ticks.into_iter().collect();
        self
    }
}

/// An axis with its range: what places numbers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Range {
    scale: Scale,
    low: f64,
    high: f64,
    pub(super) ticks: Vec<f64>,
}

impl Range {
    /// A range that shows all values, with a little room at both ends.
    pub(super) fn of(axis: &Axis, values: impl IntoIterator<Item = f64>) -> Self {
        let is_shown = |value: &f64| value.is_finite() && (axis.scale == Scale::Linear || *value > 0.0);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.into_iter().chain(axis.ticks.iter().copied()).filter(is_shown) {
            let value = forward(axis.scale, value);
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let room = if high > low { 0.06 * (high - low) } else { 0.5 };
        (low, high) = (low - room, high + room);
        let ticks = if axis.ticks.is_empty() { chosen(axis.scale, low, high) } else { axis.ticks.clone() };
        Self { scale: axis.scale, low, high, ticks }
    }

    /// The place of a number, from 0 at the low end to 1 at the high end; clamped for bars that leave a logarithmic axis.
    pub(super) fn place(&self, value: f64) -> f64 {
        if self.scale == Scale::Logarithmic && value <= 0.0 {
            return 0.0;
        }
        ((forward(self.scale, value) - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }
}

fn forward(scale: Scale, value: f64) -> f64 {
    match scale {
        Scale::Linear => value,
        Scale::Logarithmic => value.log10(),
    }
}

/// Round numbers in a range given on the axis' own scale.
fn chosen(scale: Scale, low: f64, high: f64) -> Vec<f64> {
    match scale {
        Scale::Linear => steps(low, high),
        Scale::Logarithmic => {
            let decades = (low.ceil() as i32..=high.floor() as i32).map(|power| 10_f64.powi(power));
            let decades: Vec<f64> = decades.collect();
            if decades.len() >= 3 {
                let every = decades.len().div_ceil(7);
                return decades.into_iter().step_by(every).collect();
            }
            for digits in [&[1.0, 3.0][..], &[1.0, 2.0, 5.0], &[1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0]] {
                let powers = low.floor() as i32..=high.ceil() as i32;
                let all = powers.flat_map(|power| digits.iter().map(move |digit| digit * 10_f64.powi(power)));
                let fine: Vec<f64> = all.filter(|tick| (low..=high).contains(&tick.log10())).collect();
                if fine.len() >= 3 {
                    return fine;
                }
            }
            steps(10_f64.powf(low), 10_f64.powf(high))
        }
    }
}

/// Four to eight multiples of 1, 2 or 5 times a power of ten.
fn steps(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 8.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(rough);
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    (first..=last).map(|at| at as f64 * step).collect()
}

/// A tick's number, as short as it can be.
pub(super) fn tick_text(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor();
    if !(-4.0..5.0).contains(&magnitude) {
        let text = format!("{value:.1e}");
        return text.replace(".0e", "e");
    }
    let decimals = (2.0 - magnitude).max(0.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(steps(0.0, 1.0), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(chosen(Scale::Logarithmic, -2.2, 1.3), [0.01, 0.1, 1.0, 10.0]);
        assert_eq!(chosen(Scale::Logarithmic, 0.1, 1.2), [2.0, 5.0, 10.0]);
        // One below two decades and a half: eight labels would run into each other.
        assert_eq!(chosen(Scale::Logarithmic, 2.3, 4.9), [300.0, 1000.0, 3000.0, 10_000.0, 30_000.0]);
        assert_eq!(steps(-8.0, 2.9), [-8.0, -6.0, -4.0, -2.0, 0.0, 2.0]);
        let fine: Vec<String> = chosen(Scale::Logarithmic, -0.9, -0.4).into_iter().map(tick_text).collect();
        assert_eq!(fine, ["0.15", "0.2", "0.3"]);
        assert_eq!(["0.6", "1e-5", "2000", "0.0005"], [0.600_000_1, 1e-5, 2000.0, 5e-4].map(tick_text));
    }

    #[test]
    fn places_run_from_end_to_end() {
        let axis = Axis::new("", Scale::Logarithmic);
        let range = Range::of(&axis, [1.0, 100.0]);
        assert!((range.place(10.0) - 0.5).abs() < 1e-12);
        assert!(range.place(1.0) > 0.0 && range.place(100.0) < 1.0);
        assert_eq!(range.place(-1.0), 0.0);
        assert!((Range::of(&Axis::new("", Scale::Linear), [3.0]).place(3.0) - 0.5).abs() < 1e-12);
    }
}
