//! The gradient of the likelihood.
//!
//! In an innovation, with `e = z − bᵀw`: `z̄ = −e`, `b̄ = w e − A⁻¹b`, and −1 in the log of its pivot (a bar is a derivative
//! of the likelihood). Innovations are `z = Vᵀy`, `b = Vᵀφ`, so `V̄ᵀ = z̄ yᵀ + b̄ φᵀ =: T`. V is the last columns of G⁻ᵀ with
//! `C = G Gᵀ`; with `H = T G⁻ᵀ` up to each own channel's pivot, its entry there halved, and `Q = H G⁻¹`:
//!
//! `C̄ = −½ (V Q + QᵀVᵀ + V Vᵀ)`.
//!
//! With ½Vᵀ taken into Q that is `−½ (V Q + QᵀVᵀ)`, of rank twice the own channels, and never formed. Through
//! `C = Σ_l (a_l a_lᵀ) ∘ S_l + I`, `S_l = κ_l − u_lᵀu_l` and `φ = [a_l u_l]` it reaches loadings, correlations and features by
//! the sums `V_l = Σ_c a_cl V_c` and `Q_l = Σ_c a_cl Q_c` over the channels of each location:
//!
//! `S̄_l = −½ (V_l Q_lᵀ + Q_l V_lᵀ)`, `ū_l = (b̄_l + u_l Q_l) V_lᵀ + b_l Q_lᵀ`,
//! `ā_cl = V_c (u_lᵀb̄_l − S_l Q_l) − Q_c S_l V_l`.
//!
//! Features end as in the sparse method: `κ̄_l(Z, x) = C_l⁻ᵀ ū_l`, and `−½ C_l⁻ᵀ (Σ ū_l u_lᵀ) C_l⁻¹` among the inducing
//! points, where the sum is symmetric, because rotating all features of a latent changes nothing.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::features::Basis;
use super::innovation::Innovation;
use super::scales::ScaleSlopes;
use super::surroundings::{Surroundings, refill};
use super::{CHUNK, CHUNKS_IN_FLIGHT, FullScale, chunks_of};
use crate::channel::{Adjoint, Block, BlockSlopes};
use crate::cholesky::{Threads, product_with_transposed};
use crate::target::dot;
use crate::{DenseMethodError, Gradient};

/// Locations whose −A⁻¹b are found at once: enough for a fast product, few enough for their innovations to stay near.
const TOGETHER: usize = 16;

/// The derivatives that a chunk of locations contributes, each location over its block, one after the other.
#[derive(Default)]
struct Shares {
    blocks: Vec<Block>,
    loadings: Vec<f64>,
    values: Vec<f64>,
    means: Vec<f64>,
    scales: ScaleSlopes,
    /// ū of each block's locations, column by column, for each latent with features.
    features: Vec<Vec<f64>>,
}

/// Memory for one location after the other.
#[derive(Default)]
struct Scratch {
    surprises: Vec<f64>,
    /// `b̄_lᵀ u_l(j)`, by latent with features, own channel and location.
    meetings: Vec<f64>,
    /// Q, row by row.
    rows: Vec<f64>,
    /// `Σ_c a_cl Q_c` over the channels of each location: by latent, own channel and location.
    loaded_rows: Vec<f64>,
    /// V_l and Q_l of one latent, and S_l times them.
    both: Vec<f64>,
    smoothed: Vec<f64>,
    /// What the low-rank part leaves of the channels, solved.
    joint: Vec<f64>,
    loaded_joint: Vec<f64>,
    /// `b̄_l + u_l Q_l` and b_l.
    factors: Vec<f64>,
}

impl FullScale {
    /// The log-likelihood and its exact derivatives, the inducing points held fixed.
    ///
    /// # Errors
    /// When a neighborhood's covariance is not positive definite.
    pub fn gradient(&self) -> Result<Gradient, DenseMethodError> {
        Ok(self.slopes(0)?.0)
    }

    /// The same, and the derivatives in the logarithm of a factor on each input; the inducing points, order and neighbors are
    /// held fixed, so points and inducing points are stretched together.
    ///
    /// # Errors
    /// When a neighborhood's covariance is not positive definite.
    pub fn gradient_with_inputs(&self) -> Result<(Gradient, Vec<f64>), DenseMethodError> {
        self.slopes(self.channels.dim())
    }

    fn slopes(&self, n_inputs: usize) -> Result<(Gradient, Vec<f64>), DenseMethodError> {
        let inverse = self.system.to_inverse(Threads::All);
        let mut adjoint = Adjoint::zero(&self.channels);
        let mut scales = ScaleSlopes::zero(self.model.n_latents(), n_inputs);
        // Latents of one kind have the same features, but each its own length-scale, and so its own slopes.
        let mut in_features: Vec<Vec<f64>> =
            self.features.latents().map(|(_, basis, _)| vec![0.0; basis.at.len()]).collect();
        let counts: Vec<usize> = self.features.latents().map(|(_, basis, _)| basis.count()).collect();
        for chunks in chunks_of(self.channels.n_locations()).chunks(CHUNKS_IN_FLIGHT) {
            let shares: Vec<Result<Shares, DenseMethodError>> =
                chunks.par_iter().map(|chunk| self.shares((&inverse, n_inputs), chunk.clone())).collect();
            let shares = shares.into_iter().collect::<Result<Vec<_>, _>>()?;
            for share in &shares {
                share.add_to(&mut adjoint);
                scales.add(&share.scales);
            }
            in_features.par_iter_mut().enumerate().for_each(|(number, sums)| {
                shares.iter().for_each(|share| share.add_features(number, counts[number], sums));
            });
        }
        for ((latent, basis, _), slopes) in self.features.latents().zip(in_features) {
            scales.add(&self.slope_through_features((latent, n_inputs), basis, slopes));
        }
        adjoint.length_scales.copy_from_slice(&scales.length_scales);
        Ok((adjoint.pull_back(&self.channels, &self.model, self.log_evidence), scales.inputs))
    }

    /// The derivatives that a chunk of locations contributes.
    fn shares(
        &self,
        (inverse, n_inputs): (&[f64], usize),
        chunk: Range<usize>,
    ) -> Result<Shares, DenseMethodError> {
        let total = self.features.total();
        let mut shares = Shares {
            features: self.features.latents().map(|_| vec![]).collect(),
            scales: ScaleSlopes::zero(self.model.n_latents(), n_inputs),
            ..Shares::default()
        };
        let mut innovations: Vec<Innovation> = vec![Innovation::default(); TOGETHER.min(chunk.len())];
        let (mut columns, mut slopes, mut scratch) = (vec![], vec![], Scratch::default());
        let locations: Vec<usize> = chunk.collect();
        for locations in locations.chunks(TOGETHER) {
            let innovations = &mut innovations[..locations.len()];
            columns.clear();
            for (innovation, &location) in innovations.iter_mut().zip(locations) {
                self.innovation(location, innovation)?;
                columns.extend_from_slice(&innovation.features);
            }
            let n_columns = columns.len().checked_div(total).unwrap_or(0);
            // −A⁻¹b, all at once.
            refill(&mut slopes, columns.len());
            matmul(
                MatMut::from_column_major_slice_mut(&mut slopes, total, n_columns),
                Accum::Replace,
                MatRef::from_column_major_slice(inverse, total, total),
                MatRef::from_column_major_slice(&columns, total, n_columns),
                -1.0,
                Par::Seq,
            );
            let mut rest = slopes.as_mut_slice();
            for innovation in innovations {
                let (own, after) = rest.split_at_mut(total * innovation.n_own());
                self.share(innovation, own, &mut scratch, &mut shares);
                rest = after;
            }
        }
        Ok(shares)
    }

    /// Adds one location's derivatives; `slopes` holds −A⁻¹b and becomes b̄.
    fn share(&self, innovation: &Innovation, slopes: &mut [f64], scratch: &mut Scratch, shares: &mut Shares) {
        let (total, dim) = (self.features.total(), innovation.around.dim());
        scratch.surprises.clone_from(&innovation.values);
        if total > 0 {
            let columns = innovation.features.chunks_exact(total).zip(slopes.chunks_exact_mut(total));
            for ((features, slopes), surprise) in columns.zip(&mut scratch.surprises) {
                *surprise -= dot(features, &self.weights);
                slopes.iter_mut().zip(&self.weights).for_each(|(slope, weight)| *slope += *surprise * weight);
            }
        }
        // −Σ_o e_o V_co: what a channel's value changes.
        let start = shares.values.len();
        shares.values.resize(start + dim, 0.0);
        for (column, surprise) in innovation.last.chunks_exact(dim.max(1)).zip(&scratch.surprises) {
            let values = shares.values[start..].iter_mut();
            values.zip(column).for_each(|(value, weight)| *value -= surprise * weight);
        }
        self.meet(&innovation.around, slopes, scratch);
        self.find_rows(innovation, scratch);
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
            self.add_scales(latent, innovation, scratch, &mut shares.scales);
            if let Some((basis, start, number)) = basis {
                let columns = (start, &*slopes, innovation.features.as_slice());
                let features = &innovation.around.features[self.features.kind_of(latent)];
                self.add_feature_slopes(basis, columns, features, scratch, &mut shares.features[number]);
            }
        }
        shares.blocks.push(innovation.around.block.clone());
    }

    /// `b̄_lᵀ u_l(j)`.
    fn meet(&self, around: &Surroundings, slopes: &[f64], scratch: &mut Scratch) {
        let (total, count, n_own) = (self.features.total(), around.count(), scratch.surprises.len());
        refill(&mut scratch.meetings, self.features.latents().count() * count * n_own);
        for (number, (latent, basis, start)) in self.features.latents().enumerate() {
            let at = &around.features[self.features.kind_of(latent)];
            let products = &mut scratch.meetings[number * count * n_own..][..count * n_own];
            matmul(
                MatMut::from_column_major_slice_mut(products, count, n_own),
                Accum::Replace,
                MatRef::from_column_major_slice(at, basis.count(), count).transpose(),
                MatRef::from_column_major_slice(slopes, total, n_own).subrows(start, basis.count()),
                1.0,
                Par::Seq,
            );
        }
    }

    /// Q, with ½Vᵀ taken in, and its sums over the channels of each location.
    fn find_rows(&self, innovation: &Innovation, scratch: &mut Scratch) {
        let Innovation { around, own, last, factor, .. } = innovation;
        let (dim, count, n_own) = (around.dim(), around.count(), scratch.surprises.len());
        let Scratch { surprises, meetings, rows, loaded_rows, .. } = scratch;
        // Rows of T, then H, then Q.
        refill(rows, dim * n_own);
        for (number, (row, surprise)) in rows.chunks_exact_mut(dim.max(1)).zip(surprises).enumerate() {
            for (entry, &channel) in row.iter_mut().zip(&around.block.channels) {
                *entry = -*surprise * self.channels.values()[channel];
            }
            let met = meetings.chunks_exact(count * n_own).map(|met| &met[number * count..][..count]);
            for ((latent, ..), met) in self.features.latents().zip(met) {
                let loadings = around.loadings_of(latent);
                for (run, meeting) in around.block.runs.iter().zip(met) {
                    let entries = row[run.start..run.end].iter_mut().zip(&loadings[run.start..run.end]);
                    entries.for_each(|(entry, loading)| *entry += loading * meeting);
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

    /// C⁻¹ times what the low-rank part leaves, summed over the channels of each location.
    fn solve_joint(&self, innovation: &Innovation, scratch: &mut Scratch) {
        let Innovation { around, factor, .. } = innovation;
        let Scratch { joint, loaded_joint, .. } = scratch;
        joint.clear();
        for run in &around.block.runs {
            let channels = &around.block.channels[run.start..run.end];
            joint.extend(channels.iter().map(|&channel| self.left_of(run.location, channel)));
        }
        factor.solve(joint, Threads::One);
        around.add_loaded(joint, self.model.n_latents(), loaded_joint);
    }

    /// V_l and Q_l of one latent side by side, and S_l times them.
    fn pair(&self, latent: usize, innovation: &Innovation, scratch: &mut Scratch) {
        let (count, n_own) = (innovation.around.count(), scratch.surprises.len());
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
        let (count, n_own) = (innovation.around.count(), scratch.surprises.len());
        let (of_last, of_rows) = scratch.smoothed.split_at(n_own * count);
        for own in 0..n_own {
            let (last, row) = (&innovation.last[own * dim..][..dim], &scratch.rows[own * dim..][..dim]);
            for (place, run) in innovation.around.block.runs.iter().enumerate() {
                let at = own * count + place;
                let met = number.map_or(0.0, |number| scratch.meetings[number * n_own * count + at]);
                let (through_last, through_row) = (met - of_rows[at], of_last[at]);
                for channel in run.start..run.end {
                    sums[channel * n_latents + latent] +=
                        last[channel] * through_last - row[channel] * through_row;
                }
            }
        }
    }

    /// The mean of a latent at each location as its leftover noise meets it: given the whole block at the own location, and the
    /// part of it that is new at a neighbor's.
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
                of_last.zip(&scratch.surprises).map(|(sum, surprise)| sum * surprise).sum()
            };
        }
    }

    /// What S̄_l says of the correlations: on the diagonal these are 1 whatever the scales.
    fn add_scales(
        &self,
        latent: usize,
        innovation: &Innovation,
        scratch: &Scratch,
        scales: &mut ScaleSlopes,
    ) {
        let Surroundings { block, distances, .. } = &innovation.around;
        let (count, n_own) = (block.runs.len(), scratch.surprises.len());
        let (last, rows) = scratch.both.split_at(n_own * count);
        for here in 1..count {
            for there in 0..here {
                let mut slope = 0.0;
                for own in (0..n_own * count).step_by(count) {
                    slope -= last[own + here] * rows[own + there] + rows[own + here] * last[own + there];
                }
                let points = [here, there].map(|place| self.channels.point(block.runs[place].location));
                let distance = distances[here * count + there];
                scales.add_pair((&self.correlations, latent), slope, distance, points);
            }
        }
    }

    /// `ū_l = (b̄_l + u_l Q_l) V_lᵀ + b_l Q_lᵀ`.
    fn add_feature_slopes(
        &self,
        basis: &Basis,
        (start, slopes, carried): (usize, &[f64], &[f64]),
        features: &[f64],
        scratch: &mut Scratch,
        sums: &mut Vec<f64>,
    ) {
        let (total, size) = (self.features.total(), basis.count());
        let n_own = scratch.surprises.len();
        let count = features.len() / size.max(1);
        let Scratch { factors, both, .. } = scratch;
        factors.clear();
        for columns in [slopes, carried] {
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

    /// What goes through features: correlations of inducing points with places, and with each other.
    fn slope_through_features(
        &self,
        (latent, n_inputs): (usize, usize),
        basis: &Basis,
        mut slopes: Vec<f64>,
    ) -> ScaleSlopes {
        let count = basis.count();
        let chunks = || slopes.par_chunks(count * CHUNK).zip(basis.at.par_chunks(count * CHUNK));
        let products: Vec<Vec<f64>> =
            chunks().map(|(slopes, features)| product_with_transposed(slopes, features, count)).collect();
        let mut among = vec![0.0; count * count];
        for product in products {
            among.iter_mut().zip(product).for_each(|(sum, term)| *sum += term);
        }
        let of_places: Vec<ScaleSlopes> = slopes
            .par_chunks_mut(count * CHUNK)
            .enumerate()
            .map(|(number, slopes)| {
                basis.factor.whiten_transposed(slopes, Threads::One);
                let mut sums = ScaleSlopes::zero(self.model.n_latents(), n_inputs);
                for (slopes, place) in slopes.chunks_exact(count).zip(number * CHUNK..) {
                    self.add_with_place(latent, basis, slopes, place, &mut sums);
                }
                sums
            })
            .collect();
        let mut sums = ScaleSlopes::zero(self.model.n_latents(), n_inputs);
        of_places.iter().for_each(|part| sums.add(part));
        self.add_among_inducing(latent, basis, among, &mut sums);
        sums
    }

    fn add_with_place(
        &self,
        latent: usize,
        basis: &Basis,
        slopes: &[f64],
        place: usize,
        sums: &mut ScaleSlopes,
    ) {
        let point = self.channels.point(place);
        for (slope, inducing) in slopes.iter().zip(basis.points.values().chunks_exact(basis.points.dim())) {
            let distance = self.correlations.distance(point, inducing);
            sums.add_pair((&self.correlations, latent), *slope, distance, [point, inducing]);
        }
    }

    fn add_among_inducing(
        &self,
        latent: usize,
        basis: &Basis,
        mut product: Vec<f64>,
        sums: &mut ScaleSlopes,
    ) {
        let count = basis.count();
        basis.factor.whiten_transposed(&mut product, Threads::One);
        let mut transposed: Vec<f64> =
            (0..count * count).map(|at| product[(at % count) * count + at / count]).collect();
        basis.factor.whiten_transposed(&mut transposed, Threads::One);
        let points: Vec<&[f64]> = basis.points.values().chunks_exact(basis.points.dim()).collect();
        for (at, slope) in transposed.iter().enumerate() {
            let pair = [points[at % count], points[at / count]];
            let distance = self.correlations.distance(pair[0], pair[1]);
            sums.add_pair((&self.correlations, latent), -0.5 * slope, distance, pair);
        }
    }
}

impl Shares {
    fn add_to(&self, adjoint: &mut Adjoint) {
        let n_latents = adjoint.length_scales.len();
        let (mut channel, mut place) = (0, 0);
        for block in &self.blocks {
            let (dim, count) = (block.len(), block.runs.len());
            let slopes = BlockSlopes {
                loadings: &self.loadings[channel * n_latents..][..dim * n_latents],
                values: &self.values[channel..][..dim],
                means: &self.means[place * n_latents..][..count * n_latents],
                // Added up on the way.
                length_scales: &[],
            };
            adjoint.add(block, slopes);
            (channel, place) = (channel + dim, place + count);
        }
    }

    fn add_features(&self, number: usize, count: usize, sums: &mut [f64]) {
        let runs = self.blocks.iter().flat_map(|block| &block.runs);
        for (run, slopes) in runs.zip(self.features[number].chunks_exact(count)) {
            let sums = sums[run.location * count..][..count].iter_mut();
            sums.zip(slopes).for_each(|(sum, slope)| *sum += slope);
        }
    }
}
