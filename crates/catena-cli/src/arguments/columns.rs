//! Options that say which columns are what.

use std::path::Path;

use catena_io::read::{Format, ReadOptions};
use catena_io::select::{LongColumns, Selection};
use clap::Args;

use super::words;

/// Which columns are inputs and outputs.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct Columns {
    /// Input columns; without it, the only column of times, else the first column.
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = words::column)]
    pub(crate) inputs: Option<Vec<String>>,
    /// Output columns; without it, all other columns of numbers.
    #[arg(long, value_name = "C,D", value_delimiter = ',', value_parser = words::column)]
    pub(crate) outputs: Option<Vec<String>>,
    /// The table is long, a row per value: its columns of times, series names and values.
    #[arg(long, value_name = "TIME,SERIES,VALUE", value_parser = words::long_columns, conflicts_with = "inputs")]
    pub(crate) long: Option<LongColumns>,
    /// Columns with the known noise of every cell, as standard deviations: one per output, or OUTPUT=COLUMN.
    #[arg(long, value_name = "E,F", value_delimiter = ',', value_parser = words::column)]
    pub(crate) noise_columns: Vec<String>,
    /// The format where no suffix tells it, as on a pipe: csv, tsv, txt, parquet or arrow.
    #[arg(long, value_parser = words::format)]
    pub(crate) format: Option<Format>,
}

impl Columns {
    /// How a table of these columns is read.
    pub(crate) fn read_options(&self, path: &Path) -> ReadOptions {
        ReadOptions {
            format: Format::of_path(path).or(self.format),
            text_columns: self.long.iter().map(|columns| columns.series.clone()).collect(),
            keep_piped_text: false,
        }
    }

    /// What is asked of the table.
    pub(crate) fn selection(&self) -> Selection {
        Selection {
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
            long: self.long.clone(),
            noise_columns: self.noise_columns.clone(),
            ..Selection::default()
        }
    }
}
