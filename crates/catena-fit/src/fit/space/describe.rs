//! The summary of a model of space and time.

use catena::model::Latent;

use crate::fit::fitted::FitParts;
use crate::space::{Fields, Geometry};

/// The places and how distances are measured.
pub(super) fn places_reason(n_places: usize, geometry: Geometry) -> String {
    let distances = match geometry.is_sphere() {
        true => "kilometers on the sphere, since the inputs are latitude and longitude",
        false => "in units of the coordinates",
    };
    format!("space and time: exact along time at {n_places} places; distances between places are {distances}")
}

/// Names the kernels of each field and its length-scales: between places along the coordinates, in kilometers on the sphere, then along
/// time.
pub(super) fn describe_fields(parts: &mut FitParts) {
    let Ok(fields) = Fields::of(&parts.model) else { return };
    let units: Vec<f64> = parts.preparation.inputs.iter().map(|(_, unit)| *unit).collect();
    let name = |latent: &Latent| latent.kernel().map_or("", |kernel| kernel.name());
    for (at, latent) in parts.summary.latents.iter_mut().enumerate() {
        let (time, space) = (&fields.time()[at], &fields.space()[at]);
        latent.kernel = format!("{}/{}", name(time), name(space));
        latent.length_scales = units.iter().map(|unit| space.length_scale().get() * unit).collect();
        if let (Some(last), Some(unit)) = (latent.length_scales.last_mut(), units.last()) {
            *last = time.length_scale().get() * unit;
        }
    }
}
