//! Multi-output Gaussian process regression by exact message passing.
//!
//! C rows lie at inputs x_i and have D outputs, `y_id = Σ_l w_dl g_l(x_i) + noise`, with L independent latent processes
//! g_l. A rooted tree over the rows (a chain is a path) carries the latents from parent to child, and everything asked
//! for comes out of one sweep up and one down, in O(C). A missing cell has no factor in the graph.
//!
//! # The pipeline
//!
//! Each stage has one output, which is the next one's input. Nothing flows backward.
//!
//! ```
//! use catena::data::{Dataset, InputPoints, Observations};
//! use catena::graph::FactorGraph;
//! use catena::index::{OutputIndex, RowIndex};
//! use catena::kernel::{Kernel, StateKind};
//! use catena::model::{Latent, Lmc, MixingMatrix};
//! use catena::posterior::Posterior;
//! use catena::structure::sorted_chain;
//! use catena::units::{LengthScale, Variance};
//!
//! // One latent process, read by two outputs; in the second row the second output is missing.
//! let latent = Latent::new(Kernel::Matern32, StateKind::Derivative, LengthScale::new(2.0)?)?;
//! let mixing = MixingMatrix::shared(2, 1, vec![1.0, -0.5])?;
//! let model = Lmc::new(vec![latent], mixing, vec![Variance::new(0.01)?; 2])?;
//! let inputs = InputPoints::from_column(vec![0.0, 0.5, 1.0])?;
//! let observations = Observations::from_dense(3, 2, &[1.0, -0.5, 1.2, f64::NAN, 1.3, -0.6])?;
//!
//! let dataset = Dataset::new(inputs, observations)?;
//! let chain = sorted_chain(dataset.inputs())?;
//! let graph = FactorGraph::new(&model, &chain, dataset.observations())?;
//! let posterior = Posterior::new(&graph)?;
//! let prediction = posterior.prediction();
//!
//! let (row, output) = (RowIndex::new(1), OutputIndex::new(1));
//! assert!((prediction.mean(row, output) + 0.6).abs() < 0.05);
//! assert!(prediction.variance(row, output).sqrt() < 0.05);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules, in reading order
//!
//! - [`index`] and [`units`]: numbers that cannot be mistaken for one another;
//! - [`data`]: inputs, observed cells, standardization;
//! - [`kernel`]: how a latent process moves along an edge, in closed forms that do not cancel;
//! - [`model`]: latents, mixing matrix, noise;
//! - [`structure`]: chains and trees over the rows;
//! - [`graph`]: the factor graph that the sweeps read;
//! - [`inference`]: three forms of one sweep: evidence, marginals, gradient;
//! - [`posterior`]: states, covariances, samples, new inputs;
//! - [`live`]: a posterior that takes edits;
//! - [`likelihood`]: noise that is not Gaussian, by Gaussians that stand for the cells;
//! - [`learning`]: hyperparameters from data;
//! - [`prediction`]: means and variances in the table's order;
//! - [`diagnostics`]: what a structure does to distances, and what follows from it.
//!
//! The small dense algebra under all sweeps is private.

pub mod data;
pub mod diagnostics;
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
pub mod structure;
pub mod units;

/// Compiles and runs the code of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
