//! Where the values of an input come from.

use super::date_parts::DateParts;
use crate::table::Table;

/// The source of one input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum InputSource {
    /// A column of the table.
    Column(usize),
    /// Columns of year, month and so on, joined into a time.
    Date(DateParts),
    /// The numbers of the rows, from 1.
    Rows,
}

/// The name of the input of row numbers.
pub(crate) const ROW: &str = "row";

impl InputSource {
    /// The name of the input.
    pub(crate) fn name(&self, table: &Table) -> String {
        match self {
            Self::Column(position) => table.columns()[*position].name().to_owned(),
            Self::Date(parts) => parts.name(table).to_owned(),
            Self::Rows => ROW.to_owned(),
        }
    }

    /// Whether the input uses a column.
    pub(crate) fn uses(&self, position: usize) -> bool {
        match self {
            Self::Column(own) => *own == position,
            Self::Date(parts) => parts.positions().any(|own| own == position),
            Self::Rows => false,
        }
    }
}
