//! Small dense algebra on the state of one point; the only module that knows layouts and instruction sets.
//!
//! A joint state is laid out **component-major** ([`Layout`]): first the values of all latents, then their first
//! derivatives, then the second ones, each part padded to whole vector lanes. Transitions act on corresponding entries
//! of the parts, so that `A P Aᵀ` is a few entrywise products that the compiler vectorizes, and an output reads a prefix of the
//! state. Padding entries are exactly zero.
//!
//! Matrices are row-major slices of `size²` numbers, except in the covariance form on states of up to four latents: there the
//! operations of [`StateAlgebra`] keep them as blocks in registers' order. [`dispatch`] selects the compiled version of a sweep for a
//! shape and for the instruction set found at run time.

mod arithmetic;
#[cfg(target_arch = "x86_64")]
mod avx2_rows;
mod blocks;
mod dense;
mod dispatch;
mod eigen;
mod exponential;
mod instruction_sets;
mod lane_steps;
mod lanes;
mod packed;
mod packed_blocks;
mod per_model;
mod per_model_steps;
mod qr;
mod registers;
mod shape;
mod state_algebra;
mod subspace;

pub(crate) use arithmetic::Arithmetic;
pub(crate) use blocks::{
    conjugate_transposed, noise_as_transition, noise_factor, times_transition, transition_times_matrix,
    transition_times_vector, transition_transposed_times_vector,
};
pub(crate) use dense::{Lu, add_scaled, cholesky, copy_upper_to_lower, dot, vector_times_matrix};
#[cfg(test)]
pub(crate) use dispatch::without_vectors;
pub(crate) use dispatch::{Job, dispatch, dispatch_lanes, dispatch_machine, dispatch_once, dispatch_small};
pub(crate) use eigen::symmetric_eigen;
pub(crate) use exponential::{exp_of_negative, poisson_tail};
pub(crate) use instruction_sets::Separate;
pub(crate) use per_model::{
    MODELS, PerModel, SparseRow, add_multiple, inner, prefetch, subtract_outer, subtract_symmetric,
    times_row, times_vector, touched_entries, triangle_len,
};
pub(crate) use per_model_steps::{
    Unpadded, add_noise_derivative, add_transition_derivative, predict, retreat, transition_times,
};
pub(crate) use qr::{Elimination, ThinFactors, eliminate};
pub(crate) use shape::{Dynamic, Layout, Shape};
pub(crate) use state_algebra::{
    AdjointUpdate, ReadoutRow, StateAlgebra, StepDerivatives, Update, add_noise_gradient,
};
pub(crate) use subspace::leading_eigenpairs;
