//! Memory of the covariance form, kept between sweeps.

/// Filtered moments of every position.
#[derive(Debug, Default)]
pub(super) struct Filtered {
    means: Vec<f64>,
    covariances: Vec<f64>,
    pub(super) scratch: Vec<f64>,
}

/// The mean and covariance of a state.
#[derive(Clone, Copy)]
pub(super) struct Moments<'a> {
    pub(super) mean: &'a [f64],
    pub(super) covariance: &'a [f64],
}

/// The mean and covariance of a state, to be changed.
pub(super) struct MomentsMut<'a> {
    pub(super) mean: &'a mut [f64],
    pub(super) covariance: &'a mut [f64],
}

impl Filtered {
    /// Room for `kept` states of this size; the first one is exactly zero.
    pub(super) fn reset(&mut self, size: usize, kept: usize, n_parts: usize) {
        self.means.resize(kept * size, 0.0);
        self.covariances.resize(kept * size * size, 0.0);
        self.means[..size].fill(0.0);
        self.covariances[..size * size].fill(0.0);
        self.scratch.clear();
        self.scratch.resize(n_parts.max(2) * size, 0.0);
    }

    /// The filtered moments of a position.
    #[inline(always)]
    pub(super) fn at(&self, size: usize, position: usize) -> Moments<'_> {
        Moments {
            mean: &self.means[position * size..][..size],
            covariance: &self.covariances[position * size * size..][..size * size],
        }
    }

    /// The moments kept at `from`, to be read, those at `to` (which follows it), to be written, and scratch.
    #[inline(always)]
    pub(super) fn pair(
        &mut self,
        size: usize,
        from: usize,
        to: usize,
    ) -> (Moments<'_>, MomentsMut<'_>, &mut [f64]) {
        let (means, mean) = self.means.split_at_mut(to * size);
        let (covariances, covariance) = self.covariances.split_at_mut(to * size * size);
        let before = Moments {
            mean: &means[from * size..][..size],
            covariance: &covariances[from * size * size..][..size * size],
        };
        let after = MomentsMut { mean: &mut mean[..size], covariance: &mut covariance[..size * size] };
        (before, after, &mut self.scratch)
    }
}

impl Filtered {
    /// Makes the second state the first, when no more than two are kept.
    #[inline(always)]
    pub(super) fn rewind(&mut self, size: usize) {
        self.means.copy_within(size..2 * size, 0);
        self.covariances.copy_within(size * size..2 * size * size, 0);
    }
}

/// The dual of what lies after a position, and scratch for the position itself.
#[derive(Debug, Default)]
pub(super) struct Dual {
    /// r, the dual mean.
    pub(super) vector: Vec<f64>,
    /// N, the dual precision.
    pub(super) matrix: Vec<f64>,
    /// X: the columns of P that are read, one row per basis element.
    pub(super) columns: Vec<f64>,
    /// U = N X, one row per basis element.
    pub(super) products: Vec<f64>,
    /// The posterior mean of the basis.
    pub(super) basis_mean: Vec<f64>,
    /// The posterior covariance of the basis, or as much of it as is needed.
    pub(super) basis_covariance: Vec<f64>,
    pub(super) scratch: Vec<f64>,
}

impl Dual {
    /// A dual that says nothing, over a basis of `basis` elements.
    pub(super) fn reset(&mut self, size: usize, basis: usize, n_parts: usize) {
        for (buffer, len) in [
            (&mut self.vector, size),
            (&mut self.matrix, size * size),
            (&mut self.columns, basis * size),
            (&mut self.products, basis * size),
            (&mut self.basis_mean, basis),
            (&mut self.basis_covariance, basis * basis),
            (&mut self.scratch, (n_parts + 2) * size),
        ] {
            buffer.clear();
            buffer.resize(len, 0.0);
        }
    }
}
