//! Parquet and Arrow files and spreadsheets: damaged ones give a table or an error.

use catena_io::read::Format;
use catena_io::select::{Selection, select};

use super::table_text::{check_frame, read_as};
use crate::Supply;

/// The first byte chooses the format; the rest is the file. Writing is tested with valid tables elsewhere.
pub(super) fn run(bytes: &[u8]) {
    let mut supply = Supply::new(bytes);
    let binary: Vec<Format> = Format::ALL.iter().copied().filter(|format| !format.is_text()).collect();
    let format = supply.choice(&binary);
    let Some(table) = read_as(format, supply.rest(), &[]) else { return };
    if let Ok(frame) = select(&table, &Selection::default()) {
        check_frame(&table, &frame);
    }
}
