//! Pieces for time in 32 digits, from their definitions: exponential series of a drift, and moments of a walk.

use catena::kernel::Piece;

use super::transition::{Square, exponential_series};
use crate::double_double::DoubleDouble;

/// A length-scale and a shape.
pub(super) type Numbers = (DoubleDouble, DoubleDouble);

fn number(value: f64) -> DoubleDouble {
    DoubleDouble::new(value)
}

/// A over a time, row-major.
pub(super) fn piece_transition(piece: Piece, (length_scale, shape): Numbers, time: DoubleDouble) -> Square {
    let (zero, one, u) = (DoubleDouble::ZERO, DoubleDouble::ONE, time / length_scale);
    match piece {
        Piece::Sho { .. } => exponential_series(&[zero, one, -one, -(one / shape)], u),
        Piece::Cycle { .. } => {
            let turn = two_pi() * length_scale / shape;
            exponential_series(&[-one, turn, -turn, -one], u)
        }
        Piece::RandomWalk => vec![one],
        Piece::LocalLinearTrend => vec![one, u, zero, one],
    }
}

/// The covariance of the state at a time since the root, row-major.
pub(super) fn piece_covariance(piece: Piece, (length_scale, _): Numbers, time: DoubleDouble) -> Square {
    let (zero, one, u) = (DoubleDouble::ZERO, DoubleDouble::ONE, time / length_scale);
    match piece {
        Piece::Sho { .. } | Piece::Cycle { .. } => vec![one, zero, zero, one],
        Piece::RandomWalk => vec![one + u],
        Piece::LocalLinearTrend => {
            let cross = u + u * u / number(2.0);
            vec![one + u * u + u * u * u / number(3.0), cross, cross, one + u]
        }
    }
}

/// 2π: the double and what it leaves out.
fn two_pi() -> DoubleDouble {
    number(std::f64::consts::TAU) + number(2.449_293_598_294_706_4e-16)
}
