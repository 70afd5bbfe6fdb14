//! The mixing factor `f_i = H z_i` (Eq. `H_matrix`): Fig. 2's box × beside H. It is deterministic.

use crate::matrix::Matrix;
use crate::message::{Canonical, Moment};
use catena::index::{LatentIndex, OutputIndex};
use catena::model::{Latent, Lmc};

/// `f = H z`, where row d of H holds the weights w_d at the values of the latents and 0 at their derivatives; of a cycle with a
/// phase per output, at both components.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixing {
    /// H (D×n).
    pub readout: Matrix,
}

impl Mixing {
    /// The mixing factor of a model, for states that hold latent after latent: `[g_1, g_1'/λ.., g_2, ..]`.
    pub fn new(model: &Lmc) -> Self {
        let mut readout = Matrix::zeros(model.n_outputs(), model.state_dim());
        let start = |end: &mut usize, latent: &Latent| {
            *end += latent.state_dim();
            Some(*end - latent.state_dim())
        };
        let starts: Vec<usize> = model.latents().iter().scan(0, start).collect();
        for (latent, (owner, component)) in model.readings().enumerate() {
            for output in 0..model.n_outputs() {
                let weight = model.mixing().weight(OutputIndex::new(output), LatentIndex::new(latent));
                readout[(output, starts[owner.get()] + component)] = weight;
            }
        }
        Self { readout }
    }

    /// Downward: `H m`, `H P Hᵀ`; singular when there are more outputs than latents.
    pub fn toward_outputs(&self, from_state: &Moment) -> Moment {
        from_state.pushed_through(&self.readout)
    }

    /// Upward: `Hᵀ Λ H`, `Hᵀ η`; with message 4 coming in, `Σ_d h_d h_dᵀ/r_d` and `Σ_d h_d y_d/r_d` over the observed
    /// outputs.
    pub fn toward_state(&self, from_outputs: &Canonical) -> Canonical {
        from_outputs.pulled_back(&self.readout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_by_hand() {
        // Two outputs of one latent with a derivative: f = (2g, −g).
        let mixing = Mixing { readout: Matrix::from_fn(2, 2, |i, j| [[2.0, 0.0], [-1.0, 0.0]][i][j]) };
        let down = mixing.toward_outputs(&Moment {
            mean: vec![3.0, 7.0],
            covariance: Matrix::from_fn(2, 2, |i, j| [[0.5, 0.1], [0.1, 4.0]][i][j]),
            log_scale: 0.0,
        });
        assert_eq!(down.mean, [6.0, -3.0]);
        assert_eq!(down.covariance.as_slice(), [2.0, -1.0, -1.0, 0.5]);
        let up = mixing.toward_state(&Canonical {
            precision: Matrix::from_fn(2, 2, |i, j| [[1.0, 0.0], [0.0, 4.0]][i][j]),
            information: vec![5.0, 8.0],
            log_scale: -1.0,
        });
        assert_eq!(up.precision.as_slice(), [8.0, 0.0, 0.0, 0.0]);
        assert_eq!(up.information, [2.0, 0.0]);
        assert_eq!(up.log_scale, -1.0);
    }
}
