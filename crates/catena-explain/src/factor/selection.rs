//! The factor that picks one output, `f_id = e_dᵀ f_i`: Fig. 2's boxes × beside e_d. It is deterministic.

use crate::matrix::Matrix;
use crate::message::{Canonical, Moment};
use catena::index::OutputIndex;

/// `f_d = e_dᵀ f`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Selection {
    /// d.
    pub output: OutputIndex,
    /// D.
    pub n_outputs: usize,
}

impl Selection {
    /// e_dᵀ (1×D).
    fn row(self) -> Matrix {
        Matrix::from_fn(1, self.n_outputs, |_, j| f64::from(u8::from(j == self.output.get())))
    }

    /// Downward: the mean and the variance of one output.
    pub fn toward_output(self, from_outputs: &Moment) -> Moment {
        from_outputs.pushed_through(&self.row())
    }

    /// Upward, messages 3, 6, 9 of Fig. 2: one number of precision at place (d, d), one of information at place d.
    pub fn toward_outputs(self, from_output: &Canonical) -> Canonical {
        from_output.pulled_back(&self.row())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_by_hand() {
        let selection = Selection { output: OutputIndex::new(1), n_outputs: 2 };
        let down = selection.toward_output(&Moment {
            mean: vec![3.0, 7.0],
            covariance: Matrix::from_fn(2, 2, |i, j| [[0.5, 0.1], [0.1, 4.0]][i][j]),
            log_scale: 2.0,
        });
        assert_eq!((down.mean[0], down.covariance[(0, 0)], down.log_scale), (7.0, 4.0, 2.0));
        let up = selection.toward_outputs(&Canonical {
            precision: Matrix::from_fn(1, 1, |_, _| 5.0),
            information: vec![6.0],
            log_scale: -1.0,
        });
        assert_eq!(up.precision.as_slice(), [0.0, 0.0, 0.0, 5.0]);
        assert_eq!(up.information, [0.0, 6.0]);
        assert_eq!(up.log_scale, -1.0);
    }
}
