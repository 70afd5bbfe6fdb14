//! Time components in 32 digits, from their definitions: exponential series of a drift, and moments of a random walk.

use catena::kernel::Component;

use super::DoubleDouble;
use super::transition::{Square, exponential_series};

/// The length-scale and the shape parameter.
pub(super) type Parameters = [DoubleDouble; 2];

fn number(value: f64) -> DoubleDouble {
    DoubleDouble::new(value)
}

/// The transition matrix A over a time, row-major.
pub(super) fn component_transition(
    component: Component,
    [length_scale, shape]: Parameters,
    time: DoubleDouble,
) -> Square {
    let (zero, one, u) = (DoubleDouble::ZERO, DoubleDouble::ONE, time / length_scale);
    match component {
        Component::Sho { .. } => exponential_series(&[zero, one, -one, -(one / shape)], u),
        Component::Cycle { .. } => {
            let turn = two_pi() * length_scale / shape;
            exponential_series(&[-one, turn, -turn, -one], u)
        }
        Component::RandomWalk => vec![one],
        Component::LocalLinearTrend => vec![one, u, zero, one],
        Component::DampedTrend => exponential_series(&[zero, one, zero, -one], u),
    }
}

/// The prior covariance of the state at a time since the root, row-major.
pub(super) fn component_covariance(
    component: Component,
    [length_scale, _]: Parameters,
    time: DoubleDouble,
) -> Square {
    let (zero, one, u) = (DoubleDouble::ZERO, DoubleDouble::ONE, time / length_scale);
    match component {
        Component::Sho { .. } | Component::Cycle { .. } => vec![one, zero, zero, one],
        Component::RandomWalk => vec![one + u],
        Component::LocalLinearTrend => {
            let cross = u + u * u / number(2.0);
            vec![one + u * u + u * u * u / number(3.0), cross, cross, one + u]
        }
        // The slope is stationary with correlation e^−t, of which the level is the integral.
        Component::DampedTrend => {
            let forgotten = component_transition(component, [length_scale, one], time)[1];
            vec![one + number(2.0) * (u - forgotten), forgotten, forgotten, one]
        }
    }
}

/// 2π: the nearest double plus its rounding error.
fn two_pi() -> DoubleDouble {
    number(std::f64::consts::TAU) + number(2.449_293_598_294_706_4e-16)
}
