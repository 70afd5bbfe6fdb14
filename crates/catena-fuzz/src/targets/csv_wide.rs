//! Tables as text, one row per line: read, selected, written and read again.

use catena_io::select::{Selection, select};

use super::table_text::{check_frame, check_writing, read_text};
use crate::Supply;

/// The first two bytes choose the format and the selection; the rest is the text.
pub(super) fn run(bytes: &[u8]) {
    let mut supply = Supply::new(bytes);
    let how = supply.byte();
    let Some(table) = read_text(&mut supply, &[]) else { return };
    check_writing(&table);
    let name = |at: usize| table.columns().get(at).map(|column| column.name().to_owned());
    let selection = match how % 4 {
        0 => Selection::default(),
        1 => Selection { inputs: name(1).map(|name| vec![name]), ..Selection::default() },
        2 => Selection { outputs: name(0).map(|name| vec![name]), inputs_only: true, ..Selection::default() },
        _ => Selection { noise_columns: name(2).into_iter().collect(), ..Selection::default() },
    };
    if let Ok(frame) = select(&table, &selection) {
        check_frame(&table, &frame);
    }
}
