//! The command line as users see it: exit codes, messages, files.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod bad_input;
mod calendars;
mod checking;
mod dense;
mod everyday;
mod files;
mod filling;
mod forecasting;
mod groups;
mod harness;
mod in_blocks;
mod interrupts;
mod kept_models;
mod known_ahead;
mod known_rows;
mod models;
mod panels;
mod showing;
mod space;
mod transforms;
mod watching;
mod wide;
