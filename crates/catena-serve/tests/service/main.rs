//! The program as its clients see it: acknowledged readings survive kills, answers equal a fit, wrong requests get a status.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

mod access;
mod answers;
mod client;
mod garbage;
mod harness;
mod journal;
mod kills;
mod learning;
