//! Fills a table larger than memory in blocks of rows, with a saved model.
//!
//! The forward pass keeps only the message at the beginning of each block. The backward pass reads the blocks last to first and
//! writes the predictions to a scratch file beside the target. A third pass copies the text with its missing values filled.

use std::path::Path;

use catena_fit::{Block, FitError, FitParts, InBlocks, Point, Predictive, Quantity};
use catena_io::FileName;
use catena_io::read::csv::{BlockStart, CsvBlocks};
use catena_io::read::{Format, ReadError};
use catena_io::table::Column;
use catena_io::write::{FilledColumns, ScratchRows, Target, copy_filled};
use catena_store::About;
use indicatif::ProgressBar;
use serde_json::json;

use crate::arguments::{Bytes, Digits, Printing, is_standard_stream};
use crate::console::counted;
use crate::error::CliError;
use crate::limits::{LeftEmpty, LimitOptions, Limits};
use crate::model_table::{Empty, read_options, rows_of};
use crate::predictions::Added;
use crate::scoreboard::print_json;
use crate::source::{Source, Text};

/// A table to fill in blocks.
pub(crate) struct BlockFilling<'a> {
    pub(crate) data: &'a Path,
    pub(crate) model: &'a Path,
    pub(crate) format: Option<Format>,
    pub(crate) limit: Bytes,
    pub(crate) quantity: Quantity,
    pub(crate) point: Point,
    /// Columns added for every output.
    pub(crate) added: &'a [Added],
    /// Which cells stay empty.
    pub(crate) limits: &'a LimitOptions,
    /// Decimals of filled cells.
    pub(crate) digits: Digits,
    pub(crate) printing: Printing,
}

/// A block of rows in the file; `before` is the input of the row before it.
struct Placed {
    start: BlockStart,
    first_row: u64,
    n_rows: usize,
    before: Option<f64>,
}

/// The blocks of a file, and the decimals of its outputs; `None` if a number has an exponent.
struct Layout {
    placed: Vec<Placed>,
    decimals: Vec<Option<u8>>,
}

/// Memory for everything but the blocks, in bytes.
const BESIDE_BLOCKS: f64 = 24e6;
/// Smallest number of rows in a block.
const FEWEST_ROWS: usize = 1024;
/// Block lengths are multiples of this, so that a sweep in blocks rounds like the whole sweep.
const MULTIPLE: usize = 8;

impl BlockFilling<'_> {
    /// Fills the missing values.
    pub(crate) fn fill(&self, parts: &FitParts, about: &About, target: &Target) -> Result<(), CliError> {
        let blocks = self.open(about)?;
        self.check(&blocks, about, target)?;
        let limits = self.limits.for_outputs(&about.outputs)?;
        let most = self.rows_per_block(parts, &blocks)?;
        let console = self.printing.console();
        blocks.notes().iter().for_each(|note| console.say(note));
        let bar = console.reading();
        bar.set_length(3 * blocks.n_bytes());
        let mut sweep = InBlocks::new(parts).map_err(|cause| self.failed(cause))?;
        let Layout { placed, decimals } = self.forward(&mut sweep, &blocks, about, most, &bar)?;
        let width = about.outputs.len() * (1 + self.added.len());
        let mut rows = ScratchRows::beside(target, width)?;
        let (mut n_missing, mut left) = (0, LeftEmpty::default());
        for block in placed.iter().rev() {
            let (source, inputs) = self.read(&blocks, block, about)?;
            let predictive =
                sweep.backward(&inputs, self.quantity).map_err(|error| source.in_user_terms(error))?;
            let numbers = self.numbers(&predictive, &inputs.values, &limits, &mut left);
            rows.write(block.first_row, &numbers)?;
            n_missing += inputs.values.iter().filter(|value| value.is_nan()).count();
            bar.set_position(2 * blocks.n_bytes() - block.start.byte());
        }
        if !sweep.variances_are_accurate() {
            return Err(self.failed(FitError::TooLittleNoiseForBlocks));
        }
        let n_rows = placed.iter().map(|block| block.n_rows as u64).sum();
        let place = |name: &String| blocks.names().iter().position(|column| column == name);
        let columns = FilledColumns {
            filled: about.outputs.iter().filter_map(place).zip(decimals).collect(),
            appended: self.added_names(about),
        };
        copy_filled(blocks.source(), n_rows, &mut rows.into_fillings(columns)?, target)?;
        bar.finish_and_clear();
        let n_blocks = placed.len();
        console.say(format!(
            "filled {} in {}{}, using {} of at most {} rows",
            counted(n_missing - left.total(), "missing value"),
            counted(about.outputs.len(), "output"),
            left.text(),
            counted(n_blocks, "block"),
            most + 1
        ));
        if self.printing.json {
            return print_json(&json!({
                "rows": n_rows, "missing": n_missing, "holes": n_missing, "blocks": n_blocks, "rows_per_block": most,
                "filled": n_missing - left.total(), "left_empty": {"max_gap": left.by_gap, "max_std": left.by_std},
                "log_evidence": sweep.log_evidence(),
            }));
        }
        Ok(())
    }

    /// Prints the number of blocks.
    pub(crate) fn plan(&self, parts: &FitParts, about: &About) -> Result<(), CliError> {
        let blocks = self.open(about)?;
        let most = self.rows_per_block(parts, &blocks)?;
        InBlocks::new(parts).map_err(|cause| self.failed(cause))?;
        let (table, next) = blocks.read(blocks.first(), most)?;
        let n_rows = rows_of(table, about, Empty::Fine, self.printing.console())?.frame.n_rows();
        let first = blocks.first().byte();
        let bytes = next.map_or(blocks.n_bytes(), BlockStart::byte) - first;
        let n_blocks = (blocks.n_bytes() - first).div_ceil(bytes.max(1));
        if self.printing.json {
            return print_json(&json!({"verb": "impute", "blocks": n_blocks, "rows_per_block": most}));
        }
        let console = self.printing.console();
        console.say(format!(
            "impute: about {n_blocks} blocks of {n_rows} rows, using at most {} of memory",
            self.limit
        ));
        console.say("dry run: nothing was written");
        Ok(())
    }

    fn open(&self, about: &About) -> Result<CsvBlocks, CliError> {
        if is_standard_stream(self.data) {
            return Err(ReadError::NotInBlocks { file: FileName::StandardInput }.into());
        }
        if about.long.is_some() || about.wide.is_some() {
            let what = "a table in long format cannot be filled in blocks; drop --max-memory, or convert the table to wide format";
            return Err(CliError::Blocks { file: FileName::from(self.data), what });
        }
        let options = read_options(self.data, about, self.format, Text::Gone);
        Ok(CsvBlocks::open(self.data, &options)?)
    }

    fn check(&self, blocks: &CsvBlocks, about: &About, target: &Target) -> Result<(), CliError> {
        if !target.format().is_text() {
            let what = "a table filled in blocks is written as text; use the suffix .csv or .tsv";
            return Err(CliError::Blocks { file: target.file().clone(), what });
        }
        if self.limits.max_gap.is_some() {
            let what = "--max-gap needs the whole table in memory; drop --max-memory, or use --max-std";
            return Err(CliError::Blocks { file: FileName::from(self.data), what });
        }
        match self.added_names(about).into_iter().find(|name| blocks.names().contains(name)) {
            Some(name) => Err(CliError::NameTaken { file: FileName::from(self.data), name }),
            None => Ok(()),
        }
    }

    /// The number of rows per block within the memory limit.
    fn rows_per_block(&self, parts: &FitParts, blocks: &CsvBlocks) -> Result<usize, CliError> {
        let own = 8.0 * 4.0 * (parts.table.n_rows() * (parts.model.n_outputs() + 1)) as f64;
        // Columns grow by doubling.
        let per_row = (8 * InBlocks::numbers_per_row(parts) + 24 * blocks.names().len()) as f64;
        let left = 0.9 * self.limit.0 - BESIDE_BLOCKS - own;
        let rows = (left / per_row).max(0.0) as usize / MULTIPLE * MULTIPLE;
        if rows < FEWEST_ROWS {
            let needed = Bytes((BESIDE_BLOCKS + own + FEWEST_ROWS as f64 * per_row) / 0.9);
            return Err(CliError::BlockMemory { needed: needed.to_string(), limit: self.limit.to_string() });
        }
        Ok(rows)
    }

    /// The forward pass.
    fn forward(
        &self,
        sweep: &mut InBlocks,
        blocks: &CsvBlocks,
        about: &About,
        most: usize,
        bar: &ProgressBar,
    ) -> Result<Layout, CliError> {
        let mut placed: Vec<Placed> = vec![];
        let mut decimals = vec![self.first_decimals(); about.outputs.len()];
        let (mut next, mut first_row, mut before) = (Some(blocks.first()), 0, None);
        let mut has_values = false;
        while let Some(start) = next {
            // The first block has one more row, so that all others begin at the rounding boundaries of the whole sweep.
            let n_rows = if placed.is_empty() { most + 1 } else { most };
            let (table, after) = blocks.read(start, n_rows)?;
            next = after;
            if table.n_rows() == 0 {
                break;
            }
            if self.digits == Digits::Column {
                let of_output = |name: &String| table.column(name).and_then(Column::decimals);
                for (most, name) in decimals.iter_mut().zip(&about.outputs) {
                    *most = most.zip(of_output(name)).map(|(most, here)| most.max(here));
                }
            }
            let source = rows_of(table, about, Empty::Fine, self.printing.console())?;
            check_order(&source, before)?;
            let block = Placed { start, first_row, n_rows: source.frame.n_rows(), before };
            let inputs = inputs_of(&source, before);
            has_values |= inputs.values.iter().any(|value| !value.is_nan());
            sweep.forward(&inputs).map_err(|error| source.in_user_terms(error))?;
            first_row += block.n_rows as u64;
            before = inputs.inputs.last().copied();
            placed.push(block);
            bar.set_position(next.map_or(blocks.n_bytes(), BlockStart::byte));
        }
        let file = || FileName::from(self.data);
        match (placed.is_empty(), has_values) {
            (true, _) => Err(ReadError::NoRows { file: file() }.into()),
            (false, false) => Err(CliError::NoValues { file: file() }),
            (false, true) => Ok(Layout { placed, decimals }),
        }
    }

    /// The decimals of a filled cell before any cell was read.
    fn first_decimals(&self) -> Option<u8> {
        match self.digits {
            Digits::Column => Some(0),
            Digits::Full => None,
            Digits::Decimals(decimals) => Some(decimals),
        }
    }

    /// Reads a block again.
    fn read(&self, blocks: &CsvBlocks, block: &Placed, about: &About) -> Result<(Source, Block), CliError> {
        let (table, _) = blocks.read(block.start, block.n_rows)?;
        let source = rows_of(table, about, Empty::Fine, self.printing.console())?;
        let inputs = inputs_of(&source, block.before);
        Ok((source, inputs))
    }

    /// By row: the mean of every output, then the added numbers of every output.
    fn numbers(
        &self,
        predictive: &Predictive,
        values: &[f64],
        limits: &Limits,
        left: &mut LeftEmpty,
    ) -> Vec<f64> {
        let n_outputs = predictive.n_outputs();
        let mut numbers = Vec::with_capacity(values.len() * (1 + self.added.len()));
        for (row, cells) in values.chunks_exact(n_outputs).enumerate() {
            let places = row * n_outputs..(row + 1) * n_outputs;
            let reason = |at: usize| limits.reason(predictive, at).filter(|_| values[at].is_nan());
            for at in places.clone() {
                let reason = reason(at);
                reason.into_iter().for_each(|reason| left.count(reason));
                numbers.push(if reason.is_some() { f64::NAN } else { predictive.point(at, self.point) });
            }
            for added in self.added {
                numbers.extend(places.clone().zip(cells).map(|(at, cell)| {
                    let is_filled = cell.is_nan() && reason(at).is_none();
                    if is_filled { added.number(predictive, at) } else { f64::NAN }
                }));
            }
        }
        numbers
    }

    /// Names of the added columns, by kind and output.
    fn added_names(&self, about: &About) -> Vec<String> {
        self.added.iter().flat_map(|added| about.outputs.iter().map(|name| added.name(name))).collect()
    }

    fn failed(&self, cause: FitError) -> CliError {
        CliError::Fit { file: FileName::from(self.model), cause }
    }
}

/// A block for the sweep.
fn inputs_of(source: &Source, before: Option<f64>) -> Block {
    let frame = &source.frame;
    let variances =
        |deviations: &Vec<f64>| deviations.iter().map(|deviation| deviation * deviation).collect();
    Block {
        before,
        inputs: frame.to_input_rows(),
        values: frame.values.clone(),
        noise: frame.noise.as_ref().map(variances),
    }
}

/// Refuses rows that are not in ascending order.
fn check_order(source: &Source, before: Option<f64>) -> Result<(), CliError> {
    let Some(input) = source.frame.inputs.first() else { return Ok(()) };
    let mut last = before.unwrap_or(f64::NEG_INFINITY);
    for (row, value) in input.values.iter().enumerate() {
        if *value < last {
            let (file, place) = (source.table.file().clone(), source.table.place_of(row));
            return Err(CliError::NotSorted { file, place, column: input.name.clone() });
        }
        last = *value;
    }
    Ok(())
}
