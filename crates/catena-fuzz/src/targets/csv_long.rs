//! Tables as text, one value per line: the first three columns are time, series and value.

use catena_io::select::{LongColumns, Selection, select};

use super::table_text::{check_frame, read_text};
use crate::Supply;

/// The first two bytes choose the format and the selection; the rest is the text.
pub(super) fn run(bytes: &[u8]) {
    let mut supply = Supply::new(bytes);
    let how = supply.byte();
    // As in the program: names of series are text.
    let series = if how.is_multiple_of(2) { vec!["series".to_owned()] } else { vec![] };
    let Some(table) = read_text(&mut supply, &series) else { return };
    let name = |at: usize| table.columns().get(at).map_or(String::new(), |column| column.name().to_owned());
    let long = LongColumns { time: name(0), series: name(1), value: name(2) };
    let noise_columns = if how & 2 == 0 { vec![] } else { vec![name(3)] };
    let selection = Selection { long: Some(long), noise_columns, ..Selection::default() };
    if let Ok(frame) = select(&table, &selection) {
        check_frame(&table, &frame);
    }
}
