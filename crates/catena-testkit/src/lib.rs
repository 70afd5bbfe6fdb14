//! What the tests of catena share: comparisons, seeded generators and conformance suites.
//!
//! - [`compare`]: one way to say that two tables of numbers agree, naming the worst cell;
//! - [`random`]: a small seeded generator, so that a failure is reproduced by its seed;
//! - [`forms`]: the forms of the sweep that a scenario holds to full accuracy;
//! - [`scenario`]: models, structures and tables with every oddity the library promises to bear;
//! - [`kernel_conformance`]: the laws of the kernel traits as functions;
//! - [`gap_table`]: a table with holes whose truth is known, and its scores;
//! - [`process_draws`], [`learning_tables`], [`station_table`]: exact draws, ten simulated tables, a look-alike of ETTh1;
//! - [`julia_streams`], [`study`], [`sensor_study`], [`ett_study`]: the paper's studies, from the authors' random streams.

// A generator that cannot build what it promises must stop the test, loudly.
#![allow(clippy::unwrap_used, clippy::panic)]

pub mod compare;
pub mod ett_study;
pub mod forms;
pub mod gap_table;
pub mod julia_streams;
pub mod kernel_conformance;
pub mod learning_tables;
pub mod process_draws;
pub mod random;
pub mod scenario;
pub mod sensor_study;
pub mod station_table;
pub mod study;
