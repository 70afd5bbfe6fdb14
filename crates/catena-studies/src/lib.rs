//! The paper's studies as problems to solve: tables, chains, models and scores, from the authors' random streams.
//!
//! In reading order: [`julia_streams`] (their random numbers, bit for bit), [`summation`] (their sums, to the last bit),
//! [`protocol`] (how their runs differ), [`study`] (one cell as every method receives it, and its scores),
//! [`sensor_study`], [`ett_study`] and [`ett_time_study`] (the three set-ups), [`chain_starts`] (rows where a chain
//! starts), [`gap_table`] (a table with held-out cells), [`brute_force_chain`] (the reference chain). `catena-experiments`
//! solves them and compares the results with the paper; this crate stands below the methods, so that their tests can use it.

pub mod brute_force_chain;
pub mod chain_starts;
pub mod ett_study;
pub mod ett_time_study;
pub mod gap_table;
pub mod julia_streams;
pub mod protocol;
pub mod sensor_study;
pub mod study;
pub mod summation;
