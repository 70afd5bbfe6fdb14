//! The rotation U and the loadings A of the channels of one set of observed outputs.

use catena::data::Cell;
use catena::index::OutputIndex;
use catena::model::Lmc;
use faer::Mat;

use super::CellReduction;
use crate::Jitter;

/// `R^−½ W_o = U A`.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    pub(super) outputs: Vec<OutputIndex>,
    /// Noise variance of each cell, jitter included.
    pub(super) noise: Vec<f64>,
    /// Whether the noise of each cell is the noise parameter of its output.
    pub(super) has_output_noise: Vec<bool>,
    /// U (o×p), row-major; `None` for the identity.
    pub(super) rotation: Option<Vec<f64>>,
    /// A (p×L), row-major.
    pub(super) loadings: Vec<f64>,
    pub(super) n_channels: usize,
}

impl Pattern {
    /// The pattern of these cells; `None` if the decomposition does not converge.
    pub(super) fn new(
        model: &Lmc,
        cells: &[Cell],
        jitter: Jitter,
        reduction: CellReduction,
        first_equal: &[usize],
    ) -> Option<Self> {
        let n_latents = model.n_latents();
        let own = |cell: &Cell| model.noise()[cell.output.get()].get();
        let noise: Vec<f64> = cells
            .iter()
            .map(|cell| cell.noise_variance.unwrap_or_else(|| own(cell)) + jitter.get())
            .collect();
        let mut loadings = vec![0.0; cells.len() * n_latents];
        for (at, cell) in cells.iter().enumerate() {
            for (latent, weight) in model.mixing().row_entries(cell.output) {
                loadings[at * n_latents + latent.get()] = weight / noise[at].sqrt();
            }
        }
        let mut pattern = Self {
            outputs: cells.iter().map(|cell| cell.output).collect(),
            noise,
            has_output_noise: cells.iter().map(|cell| cell.noise_variance.is_none()).collect(),
            rotation: None,
            loadings,
            n_channels: cells.len(),
        };
        let active = (0..n_latents).filter(|&latent| {
            pattern.loadings.iter().skip(latent).step_by(n_latents).any(|&weight| weight != 0.0)
        });
        let n_active = active.count();
        // With a single correlation function the rotated channels are independent, an advantage even if their number stays
        // the same.
        let has_one_correlation = first_equal.iter().all(|&first| first == 0);
        if reduction == CellReduction::Lossless
            && cells.len() > 1
            && (cells.len() > n_active || has_one_correlation)
        {
            pattern.rotate(n_latents)?;
        }
        Some(pattern)
    }

    /// Rotates cells onto the left singular vectors, which makes the rows of A orthogonal.
    fn rotate(&mut self, n_latents: usize) -> Option<()> {
        let n_cells = self.outputs.len();
        let whitened =
            Mat::from_fn(n_cells, n_latents, |cell, latent| self.loadings[cell * n_latents + latent]);
        let decomposition = whitened.thin_svd().ok()?;
        let (left, singular, right) =
            (decomposition.U(), decomposition.S().column_vector(), decomposition.V());
        let n_channels = n_cells.min(n_latents);
        self.rotation =
            Some((0..n_cells * n_channels).map(|at| left[(at / n_channels, at % n_channels)]).collect());
        self.loadings = (0..n_channels * n_latents)
            .map(|at| singular[at / n_latents] * right[(at % n_latents, at / n_latents)])
            .collect();
        self.n_channels = n_channels;
        Some(())
    }

    /// `R^−½ y_o`.
    pub(super) fn whiten(&self, cells: &[Cell]) -> Vec<f64> {
        cells.iter().zip(&self.noise).map(|(cell, noise)| cell.value / noise.sqrt()).collect()
    }

    /// `Uᵀ v` for a vector over cells.
    pub(super) fn to_channels(&self, cells: &[f64]) -> Vec<f64> {
        let Some(rotation) = &self.rotation else { return cells.to_vec() };
        let mut channels = vec![0.0; self.n_channels];
        for (cell, row) in cells.iter().zip(rotation.chunks_exact(self.n_channels)) {
            for (channel, weight) in channels.iter_mut().zip(row) {
                *channel += weight * cell;
            }
        }
        channels
    }

    /// The residual `v − U c` of a vector v over cells; exactly 0 without a rotation.
    pub(super) fn residual(&self, cells: &[f64], channels: &[f64]) -> Vec<f64> {
        let Some(rotation) = &self.rotation else { return vec![0.0; cells.len()] };
        let rows = rotation.chunks_exact(self.n_channels);
        let spanned = rows.map(|row| row.iter().zip(channels).map(|(u, c)| u * c).sum::<f64>());
        cells.iter().zip(spanned).map(|(cell, spanned)| cell - spanned).collect()
    }

    /// The entry U_dc.
    pub(super) fn rotation(&self, cell: usize, channel: usize) -> f64 {
        match &self.rotation {
            Some(rotation) => rotation[cell * self.n_channels + channel],
            None => f64::from(u8::from(cell == channel)),
        }
    }

    /// `−½ Σ log 2πr` over the cells, but with 2π only for those beyond the channels.
    pub(super) fn log_constant(&self) -> f64 {
        let beyond = (self.outputs.len() - self.n_channels) as f64;
        let noise: f64 = self.noise.iter().map(|noise| noise.ln()).sum();
        -0.5 * (noise + beyond * std::f64::consts::TAU.ln())
    }
}
