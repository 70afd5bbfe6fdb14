//! Names filled values beyond limits that the values of an output never cross, such as rain below zero.

use catena::index::{OutputIndex, RowIndex};

use super::fitted::Fit;
use crate::prepare::{Point, Predictive};

/// A limit that values do not cross, with the text for bounds.
struct Limit {
    value: f64,
    is_lower: bool,
    bounds: &'static str,
}

impl Fit {
    /// A sentence for each output of which filled values are beyond a limit that no observed value crosses: below 0, above 1 of
    /// proportions, above 100 of percentages. Outputs with bounds or with a likelihood have none. `predictive` is that at the rows of the table.
    pub fn beyond_limits(&self, predictive: &Predictive, point: Point) -> Vec<String> {
        let (observations, outputs) = (self.parts.table.observations(), &self.parts.preparation.outputs);
        let n_outputs = outputs.len();
        let mut extremes = vec![(f64::INFINITY, f64::NEG_INFINITY); n_outputs];
        for (_, cell) in observations.cells() {
            let (least, greatest) = &mut extremes[cell.output.get()];
            (*least, *greatest) = (least.min(cell.value), greatest.max(cell.value));
        }
        let mut found = vec![];
        for (output, (least, greatest)) in extremes.into_iter().enumerate() {
            let is_open = outputs[output].bounds.is_none() && outputs[output].likelihood.is_none();
            let Some(limits) = limits_of(least, greatest).filter(|_| is_open) else { continue };
            let index = OutputIndex::new(output);
            let missing = || {
                let rows = (0..observations.n_rows())
                    .filter(|row| !observations.is_observed(RowIndex::new(*row), index));
                rows.map(|row| predictive.point(row * n_outputs + output, point))
            };
            for Limit { value: limit, is_lower, bounds } in limits {
                let count =
                    missing().filter(|value| if is_lower { *value < limit } else { *value > limit }).count();
                if count > 0 {
                    let (name, side) =
                        (&self.parts.summary.outputs[output].name, if is_lower { "below" } else { "above" });
                    let are = if count == 1 {
                        "1 filled value is".to_owned()
                    } else {
                        format!("{count} filled values are")
                    };
                    found.push(format!(
                        "{name}: {are} {side} {limit}, where no observed value is; if none can be, add --bounds {name}={bounds} \
                         (bounds={{{name:?}: {}}} in Python)",
                        if is_lower { "(0, None)".to_owned() } else { format!("(0, {limit})") },
                    ));
                }
            }
        }
        found
    }
}

/// The limits of values between these; `None` without any.
fn limits_of(least: f64, greatest: f64) -> Option<Vec<Limit>> {
    let upper = [(1.0, "0..1"), (100.0, "0..100")].into_iter().find(|(limit, _)| greatest == *limit);
    let lower = Limit { value: 0.0, is_lower: true, bounds: upper.map_or("0..", |(_, bounds)| bounds) };
    let upper = upper.map(|(value, bounds)| Limit { value, is_lower: false, bounds });
    (least >= 0.0 && least < greatest).then(|| [Some(lower), upper].into_iter().flatten().collect())
}
