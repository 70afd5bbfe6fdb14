//! What is claimed of tables and model files, one claim per file; one program, because linking is what takes time.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

#[path = "../folder/mod.rs"]
mod folder;

mod bad_tables_are_refused;
mod everyday_files;
mod foreign_types;
mod long_equals_wide;
mod model_files_are_whole_or_refused;
mod names_become_outputs;
mod observed_cells_keep_their_text;
mod random_bytes_never_panic;
mod round_trips;
mod workbook;
