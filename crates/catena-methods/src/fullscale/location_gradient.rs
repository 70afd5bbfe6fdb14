//! The derivatives of the likelihood that one location contributes.
//!
//! For an innovation with residual `e = z − bᵀw`: `z̄ = −e`, `b̄ = w e − A⁻¹b`, and −1 in the log of its pivot (a bar denotes a
//! derivative of the likelihood). Innovations are `z = Vᵀy`, `b = Vᵀφ`, so `V̄ᵀ = z̄ yᵀ + b̄ φᵀ =: T`. V is the last columns of G⁻ᵀ with
//! `C = G Gᵀ`; with `H = T G⁻ᵀ` up to each own channel's pivot, its entry there halved, and `Q = H G⁻¹`:
//!
//! `C̄ = −½ (V Q + QᵀVᵀ + V Vᵀ)`.
//!
//! With ½Vᵀ added to Q this is `−½ (V Q + QᵀVᵀ)`, whose rank is twice the number of own channels; it is never formed. Through
//! `C = Σ_l (a_l a_lᵀ) ∘ S_l + I`, `S_l = κ_l − u_lᵀu_l` and `φ = [a_l u_l]` it reaches loadings, correlations and features by
//! the sums `V_l = Σ_c a_cl V_c` and `Q_l = Σ_c a_cl Q_c` over the channels of each location:
//!
//! `S̄_l = −½ (V_l Q_lᵀ + Q_l V_lᵀ)`, `ū_l = (b̄_l + u_l Q_l) V_lᵀ + b_l Q_lᵀ`,
//! `ā_cl = V_c (u_lᵀb̄_l − S_l Q_l) − Q_c S_l V_l`.
//! `inducing` carries ū_l on to the correlations.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::FullScale;
use super::features::Basis;
use super::gradient::Shares;
use super::innovation::Innovation;
use super::neighborhood::{Neighborhood, refill};
use crate::cholesky::Threads;
use crate::targets::dot;

/// Memory reused from location to location.
#[derive(Default)]
pub(super) struct Scratch {
    /// e, by own channel.
    residuals: Vec<f64>,
    /// `b̄_lᵀ u_l(j)`, by latent with features, own channel and location.
    products: Vec<f64>,
    /// Q, row by row.
    rows: Vec<f64>,
    /// `Σ_c a_cl Q_c` over the channels of each location: by latent, own channel and location.
    loaded_rows: Vec<f64>,
    /// V_l and Q_l of one latent, and S_l times them.
    both: Vec<f64>,
    smoothed: Vec<f64>,
    /// C⁻¹ times the residuals of the channels after the low-rank part.
    joint: Vec<f64>,
    loaded_joint: Vec<f64>,
    /// `b̄_l + u_l Q_l` and b_l.
    factors: Vec<f64>,
}

impl FullScale {
    /// Adds the derivatives of one location; `derivatives` holds −A⁻¹b and becomes b̄.
    pub(super) fn add_location(
        &self,
        innovation: &Innovation,
        derivatives: &mut [f64],
        scratch: &mut Scratch,
        shares: &mut Shares,
    ) {
        let (total, dim) = (self.features.total(), innovation.around.dim());
        scratch.residuals.clone_from(&innovation.values);
        if total > 0 {
            let columns = innovation.features.chunks_exact(total).zip(derivatives.chunks_exact_mut(total));
            for ((features, derivatives), residual) in columns.zip(&mut scratch.residuals) {
                *residual -= dot(features, &self.weights);
                let entries = derivatives.iter_mut().zip(&self.weights);
                entries.for_each(|(entry, weight)| *entry += *residual * weight);
            }
        }
        // In the value of channel c: −Σ_o e_o V_co.
        let start = shares.values.len();
        shares.values.resize(start + dim, 0.0);
        for (column, residual) in innovation.last.chunks_exact(dim.max(1)).zip(&scratch.residuals) {
            let values = shares.values[start..].iter_mut();
            values.zip(column).for_each(|(value, weight)| *value -= residual * weight);
        }
        self.multiply_features(&innovation.around, derivatives, scratch);
        self.compute_rows(innovation, scratch);
        self.solve_joint(innovation, scratch);
        let (first_loading, first_mean) = (shares.loadings.len(), shares.means.len());
        let (n_latents, count) = (self.model.n_latents(), innovation.around.count());
        shares.loadings.resize(first_loading + dim * n_latents, 0.0);
        shares.means.resize(first_mean + count * n_latents, 0.0);
        let mut number = 0;
        for latent in 0..n_latents {
            self.pair(latent, innovation, scratch);
            let basis = self.features.of_latent(latent).map(|(basis, start)| (basis, start, number));
            number += usize::from(basis.is_some());
            self.add_loadings(latent, basis.map(|(.., number)| number), innovation, scratch, {
                &mut shares.loadings[first_loading..]
            });
            self.add_means(latent, innovation, scratch, &mut shares.means[first_mean..]);
            self.add_length_scale(latent, innovation, scratch, &mut shares.length_scales[latent]);
            if let Some((basis, start, number)) = basis {
                let columns = (start, &*derivatives, innovation.features.as_slice());
                let features = &innovation.around.features[self.features.kind_of(latent)];
                self.add_feature_derivatives(basis, columns, features, scratch, &mut shares.features[number]);
            }
        }
        shares.blocks.push(innovation.around.block.clone());
    }

    /// `b̄_lᵀ u_l(j)`.
    fn multiply_features(&self, around: &Neighborhood, derivatives: &[f64], scratch: &mut Scratch) {
        let (total, count, n_own) = (self.features.total(), around.count(), scratch.residuals.len());
        refill(&mut scratch.products, self.features.latents().count() * count * n_own);
        for (number, (latent, basis, start)) in self.features.latents().enumerate() {
            let at = &around.features[self.features.kind_of(latent)];
            let products = &mut scratch.products[number * count * n_own..][..count * n_own];
            matmul(
                MatMut::from_column_major_slice_mut(products, count, n_own),
                Accum::Replace,
                MatRef::from_column_major_slice(at, basis.count(), count).transpose(),
                MatRef::from_column_major_slice(derivatives, total, n_own).subrows(start, basis.count()),
                1.0,
                Par::Seq,
            );
        }
    }

    /// Q including ½Vᵀ, and its sums over the channels of each location.
    fn compute_rows(&self, innovation: &Innovation, scratch: &mut Scratch) {
        let Innovation { around, own, last, factor, .. } = innovation;
        let (dim, count, n_own) = (around.dim(), around.count(), scratch.residuals.len());
        let Scratch { residuals, products, rows, loaded_rows, .. } = scratch;
        // Rows of T, then H, then Q.
        refill(rows, dim * n_own);
        for (number, (row, residual)) in rows.chunks_exact_mut(dim.max(1)).zip(residuals).enumerate() {
            for (entry, &channel) in row.iter_mut().zip(&around.block.channels) {
                *entry = -*residual * self.channels.values()[channel];
            }
            let by_latent = products.chunks_exact(count * n_own).map(|all| &all[number * count..][..count]);
            for ((latent, ..), products) in self.features.latents().zip(by_latent) {
                let loadings = around.loadings_of(latent);
                for (run, product) in around.block.runs.iter().zip(products) {
                    let entries = row[run.start..run.end].iter_mut().zip(&loadings[run.start..run.end]);
                    entries.for_each(|(entry, loading)| *entry += loading * product);
                }
            }
        }
        factor.whiten(rows, Threads::One);
        for (number, row) in rows.chunks_exact_mut(dim.max(1)).enumerate() {
            row[own + number] *= 0.5;
            row[own + number + 1..].fill(0.0);
        }
        factor.whiten_transposed(rows, Threads::One);
        rows.iter_mut().zip(last).for_each(|(entry, weight)| *entry += 0.5 * weight);
        around.add_loaded(rows, self.model.n_latents(), loaded_rows);
    }

    /// C⁻¹ times the residuals after the low-rank part, summed over the channels of each location.
    fn solve_joint(&self, innovation: &Innovation, scratch: &mut Scratch) {
        let Innovation { around, factor, .. } = innovation;
        let Scratch { joint, loaded_joint, .. } = scratch;
        joint.clear();
        for run in &around.block.runs {
            let channels = &around.block.channels[run.start..run.end];
            joint.extend(channels.iter().map(|&channel| self.channel_residual(run.location, channel)));
        }
        factor.solve(joint, Threads::One);
        around.add_loaded(joint, self.model.n_latents(), loaded_joint);
    }

    /// V_l and Q_l of one latent side by side, and S_l times them.
    fn pair(&self, latent: usize, innovation: &Innovation, scratch: &mut Scratch) {
        let (count, n_own) = (innovation.around.count(), scratch.residuals.len());
        let part = latent * n_own * count..(latent + 1) * n_own * count;
        scratch.both.clear();
        scratch.both.extend_from_slice(&innovation.loaded[part.clone()]);
        scratch.both.extend_from_slice(&scratch.loaded_rows[part]);
        refill(&mut scratch.smoothed, 2 * n_own * count);
        let residual = &innovation.around.residuals[self.features.kind_of(latent)];
        matmul(
            MatMut::from_column_major_slice_mut(&mut scratch.smoothed, count, 2 * n_own),
            Accum::Replace,
            MatRef::from_column_major_slice(residual, count, count),
            MatRef::from_column_major_slice(&scratch.both, count, 2 * n_own),
            1.0,
            Par::Seq,
        );
    }

    /// `ā_cl = V_c (u_lᵀb̄_l − S_l Q_l) − Q_c S_l V_l`.
    fn add_loadings(
        &self,
        latent: usize,
        number: Option<usize>,
        innovation: &Innovation,
        scratch: &Scratch,
        sums: &mut [f64],
    ) {
        let (n_latents, dim) = (self.model.n_latents(), innovation.around.dim());
        let (count, n_own) = (innovation.around.count(), scratch.residuals.len());
        let (of_last, of_rows) = scratch.smoothed.split_at(n_own * count);
        for own in 0..n_own {
            let (last, row) = (&innovation.last[own * dim..][..dim], &scratch.rows[own * dim..][..dim]);
            for (place, run) in innovation.around.block.runs.iter().enumerate() {
                let at = own * count + place;
                let product = number.map_or(0.0, |number| scratch.products[number * n_own * count + at]);
                let (through_last, through_row) = (product - of_rows[at], of_last[at]);
                for channel in run.start..run.end {
                    sums[channel * n_latents + latent] +=
                        last[channel] * through_last - row[channel] * through_row;
                }
            }
        }
    }

    /// The means of a latent that enter the derivatives of the residual noise: given the whole block at the own location, and
    /// the change due to the own location at a neighbor's.
    fn add_means(&self, latent: usize, innovation: &Innovation, scratch: &Scratch, means: &mut [f64]) {
        let Innovation { around, own, .. } = innovation;
        let (n_latents, count) = (self.model.n_latents(), around.count());
        let residual = &around.residuals[self.features.kind_of(latent)];
        let joint = &scratch.loaded_joint[latent * count..][..count];
        for (place, run) in around.block.runs.iter().enumerate() {
            means[place * n_latents + latent] = if run.start >= *own {
                let fitted = self.fitted[run.location * n_latents + latent];
                fitted + dot(joint, &residual[place * count..][..count])
            } else {
                let of_last = scratch.smoothed[place..].iter().step_by(count);
                of_last.zip(&scratch.residuals).map(|(sum, residual)| sum * residual).sum()
            };
        }
    }

    /// Adds to ∂/∂ℓ_l the terms through S̄_l; diagonal correlations are always 1.
    fn add_length_scale(
        &self,
        latent: usize,
        innovation: &Innovation,
        scratch: &Scratch,
        length_scale: &mut f64,
    ) {
        let Neighborhood { block, distances, .. } = &innovation.around;
        let (count, n_own) = (block.runs.len(), scratch.residuals.len());
        let (last, rows) = scratch.both.split_at(n_own * count);
        for here in 1..count {
            for there in 0..here {
                let mut derivative = 0.0;
                for own in (0..n_own * count).step_by(count) {
                    derivative -= last[own + here] * rows[own + there] + rows[own + here] * last[own + there];
                }
                *length_scale +=
                    derivative * self.correlations.derivative(latent, distances[here * count + there]);
            }
        }
    }

    /// `ū_l = (b̄_l + u_l Q_l) V_lᵀ + b_l Q_lᵀ`.
    fn add_feature_derivatives(
        &self,
        basis: &Basis,
        (start, derivatives, innovations): (usize, &[f64], &[f64]),
        features: &[f64],
        scratch: &mut Scratch,
        sums: &mut Vec<f64>,
    ) {
        let (total, size) = (self.features.total(), basis.count());
        let n_own = scratch.residuals.len();
        let count = features.len() / size.max(1);
        let Scratch { factors, both, .. } = scratch;
        factors.clear();
        for columns in [derivatives, innovations] {
            for column in columns.chunks_exact(total) {
                factors.extend_from_slice(&column[start..][..size]);
            }
        }
        matmul(
            MatMut::from_column_major_slice_mut(&mut factors[..size * n_own], size, n_own),
            Accum::Add,
            MatRef::from_column_major_slice(features, size, count),
            MatRef::from_column_major_slice(&both[n_own * count..], count, n_own),
            1.0,
            Par::Seq,
        );
        let first = sums.len();
        sums.resize(first + size * count, 0.0);
        matmul(
            MatMut::from_column_major_slice_mut(&mut sums[first..], size, count),
            Accum::Replace,
            MatRef::from_column_major_slice(factors, size, 2 * n_own),
            MatRef::from_column_major_slice(both, count, 2 * n_own).transpose(),
            1.0,
            Par::Seq,
        );
    }
}
