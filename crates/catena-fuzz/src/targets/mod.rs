//! The fuzz targets, one file each.

mod columnar;
mod command_line;
mod csv_long;
mod csv_wide;
mod journal;
mod live;
mod model_file;
mod pipeline;
mod segment;
mod small;
mod specs;
mod stream;
mod sweep;
mod table_text;

/// A function that must return for any bytes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, which is that of its file and of its folders in `corpus/` and `regressions/`.
    pub name: &'static str,
    /// The code under test.
    pub what: &'static str,
    /// The function.
    pub run: fn(&[u8]),
    /// Mutations tried in the tests: few if the target is slow.
    pub n_tries: usize,
}

const fn target(name: &'static str, what: &'static str, run: fn(&[u8]), n_tries: usize) -> Target {
    Target { name, what, run, n_tries }
}

/// All targets.
pub const TARGETS: &[Target] = &[
    target("csv_wide", "tables as text: a row per line, times, units of columns", csv_wide::run, 4000),
    target("csv_long", "tables as text: a value per line", csv_long::run, 4000),
    target("columnar", "tables as Parquet and Arrow files", columnar::run, 2000),
    target("stream", "lines of `catena watch`, CSV and JSON", stream::run, 4000),
    target("journal", "the journal of `catena watch`", journal::run, 1500),
    target("model_file", "model files, checksums made right", model_file::run, 1000),
    target("segment", "bytes of segment summaries, checksums made right", segment::run, 3000),
    target("specs", "kernels, sums for time, methods, structures, durations", specs::run, 8000),
    target("command_line", "the words of the command line", command_line::run, 300),
    target("sweep", "sweeps of small tables under any parameters", sweep::run, 1500),
    target("live", "edits of a live posterior under any parameters", live::run, 300),
    target("pipeline", "from any small table to a fit, predictions and a model file", pipeline::run, 25),
];

/// The target of this name.
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
