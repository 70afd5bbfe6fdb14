//! Test support: the dense reference, comparisons, seeded generators and conformance suites.
//!
//! - [`mod@reference`]: a textbook Gaussian process in 32 digits;
//! - [`compare`]: comparison of two tables of numbers, with the worst cell in the message;
//! - [`random`]: seeded random numbers;
//! - [`scenario`]: random models, structures and tables, with every edge case that the library supports;
//! - [`forms`]: the forms of the sweep that must be accurate on a scenario;
//! - [`kernel_conformance`]: the laws of the kernel traits as functions;
//! - [`process_draws`], [`learning_tables`], [`station_table`]: exact draws, ten simulated tables, a table similar to ETTh1;
//! - [`likelihoods`]: textbook densities, and posteriors under them by integration and by a long Markov chain;
//! - [`weather_table`]: the demo's weather with ten gaps in two outputs.
//!
//! The paper's studies and tables with held-out cells are in `catena-studies`.

// A generator that cannot build its case must stop the test.
#![allow(clippy::unwrap_used, clippy::panic)]

pub mod compare;
pub mod forms;
pub mod kernel_conformance;
pub mod learning_tables;
pub mod likelihoods;
pub mod process_draws;
pub mod random;
pub mod reference;
pub mod scenario;
pub mod station_table;
pub mod weather_table;
