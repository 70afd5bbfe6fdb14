//! Units of places and times.

use catena::data::InputPoints;

use crate::prepare::median_gap;
use crate::space::{Geometry, Places};

/// Shift and scale of each input. Coordinates in the plane have one scale, the median distance between nearest places; degrees stay as
/// they are. The unit of time is the median gap between times.
pub(super) fn input_units(inputs: &InputPoints, geometry: Geometry) -> Vec<(f64, f64)> {
    let n_coordinates = inputs.dim() - 1;
    let column = |at: usize| inputs.values().iter().copied().skip(at).step_by(inputs.dim());
    let lowest = |at: usize| column(at).fold(f64::INFINITY, f64::min);
    let times: Vec<f64> = column(n_coordinates).collect();
    let usable = |unit: Option<f64>| unit.filter(|unit| unit.is_finite() && *unit > 0.0).unwrap_or(1.0);
    let spacing = usable(Places::of(inputs, geometry).spacing());
    let of_place = |at: usize| if geometry.is_sphere() { (0.0, 1.0) } else { (lowest(at), spacing) };
    let mut units: Vec<(f64, f64)> = (0..n_coordinates).map(of_place).collect();
    units.push((lowest(n_coordinates), usable(median_gap(&times))));
    units
}
