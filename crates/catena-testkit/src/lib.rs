//! What the tests of catena share: comparisons, seeded generators and conformance suites.
//!
//! - [`compare`]: one way to say that two tables of numbers agree, naming the worst cell;
//! - [`random`]: a small seeded generator, so that a failure is reproduced by its seed;
//! - [`forms`]: the forms of the sweep that a scenario holds to full accuracy;
//! - [`scenario`]: models, structures and tables with every oddity the library promises to bear;
//! - [`kernel_conformance`]: the laws of the kernel traits as functions;
//! - [`process_draws`], [`learning_tables`], [`station_table`]: exact draws, ten simulated tables, a look-alike of ETTh1;
//! - [`weather_table`]: the demo's weather with ten gaps in two outputs.
//!
//! The paper's studies and tables with hidden cells are in `catena-studies`.

// A generator that cannot build what it promises must stop the test, loudly.
#![allow(clippy::unwrap_used, clippy::panic)]

pub mod compare;
pub mod forms;
pub mod kernel_conformance;
pub mod learning_tables;
pub mod process_draws;
pub mod random;
pub mod reference;
pub mod scenario;
pub mod station_table;
pub mod weather_table;
