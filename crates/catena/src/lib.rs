//! Multi-output Gaussian process regression by exact message passing.
//!
//! A table has C rows at inputs x_i and D outputs. Any cell may be missing. The model is a linear model of coregionalization,
//!
//! ```text
//! y_id = Σ_l w_dl g_l(x_i) + ε_id,    ε_id ~ N(0, r_d),
//! ```
//!
//! with L independent latent processes g_l of unit variance. A rooted tree over the rows (a chain is a path) makes the latents
//! a linear-Gaussian state-space model: `z_i = A z_p + q`, with p the parent of i. One sweep up the tree and one down, on a chain
//! a Kalman filter and a smoother, give the exact posterior of every state and output, the log evidence (the log marginal
//! likelihood of the observed cells) and its exact gradient, in O(C) time. A missing cell has no factor and costs nothing.
//!
//! # A first posterior
//!
//! Two outputs share one latent process. In the second row the second output is missing.
//!
//! ```
//! use catena::Error;
//! use catena::prelude::*;
//!
//! fn main() -> Result<(), Error> {
//!     let inputs = InputPoints::from_column(vec![0.0, 0.5, 1.0])?;
//!     let values = [1.0, -0.5, 1.2, f64::NAN, 1.3, -0.6];
//!     let observations = Observations::from_dense(3, 2, &values)?;
//!
//!     let latent = Latent::new(Kernel::Matern32, StateKind::Derivative, LengthScale::new(2.0)?)?;
//!     let mixing = MixingMatrix::shared(2, 1, vec![1.0, -0.5])?;
//!     let model = Lmc::new(vec![latent], mixing, vec![Variance::new(0.01)?; 2])?;
//!
//!     let chain = sorted_chain(&inputs)?;
//!     let graph = FactorGraph::new(&model, &chain, &observations)?;
//!     let posterior = Posterior::new(&graph)?;
//!
//!     let (row, output) = (RowIndex::new(1), OutputIndex::new(1));
//!     assert!((posterior.prediction().mean(row, output) + 0.6).abs() < 0.05);
//!     assert!(posterior.prediction().variance(row, output).sqrt() < 0.05);
//!     Ok(())
//! }
//! ```
//!
//! Each stage has one output, which is the input of the next: [`InputPoints`](data::InputPoints) and
//! [`Observations`](data::Observations) → [`Tree`](structure::Tree) → [`FactorGraph`](graph::FactorGraph) →
//! [`Posterior`](posterior::Posterior) → [`Prediction`](prediction::Prediction). Learning is a loop around this line.
//!
//! # Which structure
//!
//! Along a single input, [`sorted_chain`](structure::sorted_chain) with derivative states is exact: the posterior is that of the
//! dense Gaussian process. With several inputs a [`spanning_tree`](structure::spanning_tree) or a
//! [`greedy_chain`](structure::greedy_chain) approximates it, and [`diagnostics`] measures how well. Given the structure, inference
//! is always exact.
//!
//! # Modules
//!
//! | module | contents |
//! |---|---|
//! | [`data`] | inputs, observed cells, standardization |
//! | [`kernel`], [`model`] | kernels and components along time; latents, mixing matrix, noise |
//! | [`structure`] | chains and trees over the rows, nearest neighbors, attachment of new points |
//! | [`graph`] | model, structure and cells joined: the input of a sweep |
//! | [`inference`] | the sweep in covariance, information and square-root form: log evidence, marginals, gradient; segments of chains |
//! | [`posterior`], [`prediction`] | states, covariances, samples, new inputs; means and variances in row order |
//! | [`live`] | a posterior that takes edits |
//! | [`likelihood`] | counts, proportions, outliers and limits: noise that is not Gaussian, by output |
//! | [`learning`] | hyperparameters from data |
//! | [`diagnostics`] | lengths, distortion and error bounds of a structure |
//! | [`index`], [`units`] | types for row, position, output and latent numbers, and for positive quantities |
//!
//! [`prelude`] has what most programs import, and [`Error`] wraps the error of every module.
//!
//! # Features
//!
//! `threads` (default) runs sweeps over long chains, ensembles and several starts in parallel, on the current `rayon` pool. Results
//! are the same bits with any number of threads and without the feature.

pub mod data;
pub mod diagnostics;
mod error;
pub mod graph;
pub mod index;
pub mod inference;
pub mod kernel;
pub mod learning;
pub mod likelihood;
mod linalg;
pub mod live;
pub mod model;
pub mod posterior;
pub mod prediction;
pub mod prelude;
pub mod structure;
mod threads;
pub mod units;

pub use error::Error;

#[cfg(test)]
extern crate self as catena;

/// Compiles and runs the code of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
