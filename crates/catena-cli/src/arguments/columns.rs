//! Options for the roles of columns.

use std::path::Path;

use catena_io::read::{Format, ReadOptions};
use catena_io::select::{LongColumns, Selection};
use clap::Args;

use super::values;

/// Roles of the columns.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct Columns {
    /// Input columns [default: the only column of times, else the first column].
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = values::column)]
    pub(crate) inputs: Option<Vec<String>>,
    /// Output columns [default: all other numeric columns].
    #[arg(long, value_name = "C,D", value_delimiter = ',', value_parser = values::column)]
    pub(crate) outputs: Option<Vec<String>>,
    /// The table is in long format, one row per value: names of the time, series and value columns.
    #[arg(long, value_name = "TIME,SERIES,VALUE", value_parser = values::long_columns, conflicts_with = "inputs")]
    pub(crate) long: Option<LongColumns>,
    /// Columns with the known noise standard deviation of every cell: one per output, or OUTPUT=COLUMN.
    #[arg(long, value_name = "E,F", value_delimiter = ',', value_parser = values::column)]
    pub(crate) noise_columns: Vec<String>,
    /// Table format if the path has no known suffix, as for a pipe: csv, tsv, txt, parquet or arrow.
    #[arg(long, value_parser = values::format)]
    pub(crate) format: Option<Format>,
}

impl Columns {
    /// How the table is read.
    pub(crate) fn read_options(&self, path: &Path) -> ReadOptions {
        ReadOptions {
            format: Format::of_path(path).or(self.format),
            text_columns: self.long.iter().map(|columns| columns.series.clone()).collect(),
            ..ReadOptions::default()
        }
    }

    /// Which columns are selected.
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
