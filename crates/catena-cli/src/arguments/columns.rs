//! Options for the roles of columns.

use std::path::Path;

use catena_io::read::{CellOptions, Format, ReadOptions};
use catena_io::select::{LongColumns, Selection, WideSelection};
use catena_io::table::{DateOrder, Decimal};
use catena_io::time::CalendarChoice;
use clap::Args;

use super::values;

/// Roles of the columns.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct Columns {
    /// Input columns; `row` without such a column means row numbers [default: the only column of times, for fit, impute and compare
    /// after latitude and longitude if stations report at the same times; else year, month, ... joined; else latitude and longitude; else the first column].
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = values::column)]
    pub(crate) inputs: Option<Vec<String>>,
    /// Output columns [default: all other numeric columns].
    #[arg(long, value_name = "C,D", value_delimiter = ',', value_parser = values::column)]
    pub(crate) outputs: Option<Vec<String>>,
    /// The table is in long format, one row per value: names of the time, series and value columns. A column before them names the
    /// group of each row, as with --group.
    #[arg(long, value_name = "[ID,]TIME,SERIES,VALUE", value_parser = values::long_columns, conflicts_with = "inputs")]
    pub(crate) long: Option<values::LongOption>,
    /// Column whose names become outputs: rows of several stations at one time become one row with outputs such as temp:KJFK. Filled
    /// tables keep the rows of the table.
    #[arg(long, value_name = "COLUMN", value_parser = values::column, conflicts_with = "long")]
    pub(crate) wide: Option<String>,
    /// Columns that name the group of each row, such as a station or a patient: groups are independent tables with one model.
    #[arg(long, value_name = "COLUMN,COLUMN", value_delimiter = ',', value_parser = values::column)]
    pub(crate) group: Vec<String>,
    /// Columns of the coordinates of each row's place, with --time the inputs of a model of space and time. Latitude and longitude, by their
    /// names, are measured in kilometers on the sphere. At most 200 places.
    #[arg(long, value_name = "LAT,LON", value_delimiter = ',', value_parser = values::column, requires = "time",
        conflicts_with_all = ["inputs", "long", "wide", "group"])]
    pub(crate) space: Vec<String>,
    /// Column of times of a model of space and time.
    #[arg(long, value_name = "COLUMN", value_parser = values::column, requires = "space")]
    pub(crate) time: Option<String>,
    /// Whether stations are recognised by themselves; see [`Columns::with_stations`].
    #[arg(skip)]
    stations: bool,
    /// Columns with the known noise standard deviation of every cell: one per output, or OUTPUT=COLUMN.
    #[arg(long, value_name = "E,F", value_delimiter = ',', value_parser = values::column)]
    pub(crate) noise_columns: Vec<String>,
    /// Table format if the path has no known suffix, as for a pipe: csv, tsv, txt, parquet, arrow, xlsx or ods.
    #[arg(long, value_parser = values::format)]
    pub(crate) format: Option<Format>,
    /// Codes for missing values beside NA and the like, such as -999.
    #[arg(long, value_name = "CODE,CODE", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) missing: Vec<String>,
    /// Decimal sign: point or comma [default: a point, or a comma if numbers such as 3,14 show it].
    #[arg(long, value_parser = values::decimal, value_name = "point|comma")]
    pub(crate) decimal: Option<Decimal>,
    /// Order of dates with the year last: day-first or month-first [default: as dates such as 15/03/2013 show it].
    #[arg(long, value_parser = values::date_order, value_name = "ORDER")]
    pub(crate) dates: Option<DateOrder>,
    /// Distances between times: elapsed (seconds), month (every month is equally long), business (no weekends), or auto: month if all
    /// times lie on a calendar of months, quarters or years, else elapsed.
    #[arg(long, value_parser = values::calendar, value_name = "NAME", default_value = "auto")]
    pub(crate) calendar: CalendarChoice,
    /// Sheet of a spreadsheet [default: the first that is not empty].
    #[arg(long, value_name = "NAME")]
    pub(crate) sheet: Option<String>,
}

impl Columns {
    /// The columns of a long table.
    pub(crate) fn long_columns(&self) -> Option<&LongColumns> {
        self.long.as_ref().map(|long| &long.columns)
    }

    /// The inputs of a model of space and time: the coordinates of the place, then the time.
    pub(crate) fn space_and_time(&self) -> Option<Vec<String>> {
        self.time.iter().next().map(|time| self.space.iter().chain([time]).cloned().collect())
    }

    /// The same columns, where latitude and longitude of stations are inputs together with the time.
    pub(crate) fn with_stations(&self) -> Self {
        Self { stations: true, ..self.clone() }
    }

    /// The columns that name groups: that of a long table, then those of `--group`.
    fn groups(&self) -> Vec<String> {
        let of_long = self.long.iter().flat_map(|long| &long.group);
        of_long.chain(&self.group).cloned().collect()
    }

    /// How the table is read.
    pub(crate) fn read_options(&self, path: &Path) -> ReadOptions {
        ReadOptions {
            format: Format::of_path(path).or(self.format),
            text_columns: self
                .long_columns()
                .map(|columns| &columns.series)
                .into_iter()
                .chain(&self.wide)
                .cloned()
                .chain(self.groups())
                .collect(),
            cells: self.cells(),
            sheet: self.sheet.clone(),
            ..ReadOptions::default()
        }
    }

    /// How cells are written.
    pub(crate) fn cells(&self) -> CellOptions {
        CellOptions { missing: self.missing.clone(), decimal: self.decimal, dates: self.dates }
    }

    /// Which columns are selected.
    pub(crate) fn selection(&self) -> Selection {
        Selection {
            inputs: self.space_and_time().or_else(|| self.inputs.clone()),
            outputs: self.outputs.clone(),
            long: self.long_columns().cloned(),
            wide: self.wide.clone().map(|column| WideSelection { column, outputs: None }),
            groups: self.groups(),
            stations: self.stations,
            noise_columns: self.noise_columns.clone(),
            calendar: self.calendar,
            ..Selection::default()
        }
    }
}
