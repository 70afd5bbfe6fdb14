//! Input lines of `catena watch`.

use catena_io::select::Input;
use catena_io::stream::{LineReader, StreamFormat};
use catena_io::table::NumberStyle;
use catena_io::time::{TimeAxis, TimeStyle};

/// The first byte chooses CSV or JSON; the rest are the lines.
pub(super) fn run(bytes: &[u8]) {
    let Some((how, text)) = bytes.split_first() else { return };
    let format = if how % 2 == 0 { StreamFormat::Csv } else { StreamFormat::Json };
    let axis = TimeAxis::elapsed(1_700_000_000, TimeStyle::default());
    let input =
        |name: &str, time| Input { name: name.into(), values: vec![], time, style: NumberStyle::Double };
    let inputs = [input("time", Some(axis)), input("depth", None)];
    let outputs = ["temp".to_owned(), "salt, g".to_owned()];
    let mut reader = LineReader::new(format, &inputs, &outputs);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        if reader.needs_header() {
            let _ = reader.read_header(line);
            continue;
        }
        let Ok(Some(row)) = reader.read(line) else { continue };
        assert_eq!(row.inputs.len(), inputs.len());
        assert!(row.inputs.iter().all(|input| input.is_finite()), "{row:?}");
        assert!(row.cells.iter().all(|(output, value)| *output < outputs.len() && value.is_finite()));
        assert!(row.cells.is_sorted_by(|left, right| left.0 < right.0), "an output twice: {row:?}");
    }
}
