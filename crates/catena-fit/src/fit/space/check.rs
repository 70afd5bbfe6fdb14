//! Refuses what a model of space and time does not know.

use catena::data::{Dataset, InputPoints};
use catena::kernel::StateKind;

use crate::error::{FitError, MethodError};
use crate::options::{FitOptions, StructureOption};
use crate::space::{Geometry, MOST_PLACES, Places};

/// Refuses options and tables that a model of space and time does not know.
pub(super) fn check(table: &Dataset, geometry: Geometry, options: &FitOptions) -> Result<(), FitError> {
    let dim = table.inputs().dim();
    let refused = [
        (
            table.inputs().groups().is_some(),
            "does not know groups; leave --group out (groups in Python), or fit each group alone",
        ),
        (
            options.has_parameters(),
            "is learned; leave --no-learn and --parameters out (learn=False and parameters in Python)",
        ),
        (
            options.time.is_some(),
            "has kernels along time, not components; choose --kernel matern12, matern32 or matern52, without --periods",
        ),
        (options.structure != StructureOption::Auto, "is on the chain along time; leave --structure out"),
        (options.candidates.is_some(), "has no candidate points; leave them out"),
        (options.state == Some(StateKind::Value), "has derivative states; leave --state out"),
        (options.private == Some(true), "has no private latents; ask for more fields with --latents"),
        (
            options.ard == Some(true),
            "has one length-scale between places; scale the coordinates, and leave --ard out",
        ),
        (options.latents == Some(0), "needs at least one field; choose --latents 1 or more"),
    ];
    if let Some((_, what)) = refused.into_iter().find(|(is_requested, _)| *is_requested) {
        return Err(FitError::NotInSpace { what });
    }
    if dim < 2 {
        return Err(MethodError::NoPlace.into());
    }
    if geometry.is_sphere() && dim != 3 {
        return Err(MethodError::NotOnSphere { found: dim - 1 }.into());
    }
    check_places(table.inputs(), geometry).map(|_| ())
}

/// The number of distinct places; refuses a single one and too many.
pub(super) fn check_places(inputs: &InputPoints, geometry: Geometry) -> Result<usize, FitError> {
    let n_places = Places::of(inputs, geometry).len();
    match n_places {
        1 => Err(FitError::NotInSpace {
            what: "needs at least two places, but all rows have the same coordinates; leave --space out",
        }),
        found if found > MOST_PLACES => Err(MethodError::TooManyPlaces { found, most: MOST_PLACES }.into()),
        found => Ok(found),
    }
}
