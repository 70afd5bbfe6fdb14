//! The groups of a table: rows with the same names in one or several columns are one independent table.

use std::collections::{BTreeMap, HashMap};

use super::SelectError;
use super::choice::find;
use crate::table::{Column, ColumnData, Table, TextColumn};
use crate::write::cell_text;

/// Groups of rows, by the names in one or several columns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Groups {
    /// The columns that name the group of a row.
    pub columns: Vec<String>,
    /// The names of each group, one per column.
    pub names: Vec<Vec<String>>,
    /// By row, the number of its group.
    pub of_row: Vec<u32>,
}

impl Groups {
    /// The number of groups.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no groups.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The groups of the rows of a table; groups are in the order of their names.
    pub(crate) fn of(table: &Table, columns: &[String]) -> Result<Self, SelectError> {
        let mut positions = vec![];
        for (at, name) in columns.iter().enumerate() {
            let position = find(table, name)?;
            if columns[..at].contains(name) {
                return Err(SelectError::TwoRoles { file: table.file().clone(), name: name.clone() });
            }
            positions.push(position);
        }
        let mut by_row = Vec::with_capacity(table.n_rows());
        for row in 0..table.n_rows() {
            let mut names = Vec::with_capacity(positions.len());
            for &position in &positions {
                let column = &table.columns()[position];
                if column.data().is_missing(row) {
                    return Err(SelectError::MissingGroup {
                        file: table.file().clone(),
                        place: table.place_of(row),
                        column: column.name().to_owned(),
                    });
                }
                names.push(cell_text(column.data(), row));
            }
            by_row.push(names);
        }
        let distinct: BTreeMap<&Vec<String>, u32> = by_row.iter().map(|names| (names, 0)).collect();
        let numbers: HashMap<&Vec<String>, u32> =
            distinct.keys().enumerate().map(|(number, names)| (*names, number as u32)).collect();
        let of_row = by_row.iter().map(|names| numbers[names]).collect();
        let names = distinct.keys().map(|names| (*names).clone()).collect();
        Ok(Self { columns: columns.to_vec(), names, of_row })
    }

    /// The same rows, with groups numbered as in `known` and new groups after them.
    #[must_use]
    pub fn numbered_as(&self, known: &[Vec<String>]) -> Self {
        let mut names = known.to_vec();
        let mut numbers: HashMap<Vec<String>, u32> =
            known.iter().enumerate().map(|(number, names)| (names.clone(), number as u32)).collect();
        let mut number_of = |own: &Vec<String>| {
            *numbers.entry(own.clone()).or_insert_with(|| {
                names.push(own.clone());
                names.len() as u32 - 1
            })
        };
        let numbers_of_own: Vec<u32> = self.names.iter().map(&mut number_of).collect();
        let of_row = self.of_row.iter().map(|own| numbers_of_own[*own as usize]).collect();
        Self { columns: self.columns.clone(), names, of_row }
    }

    /// For each row the one before it in its group; `None` for the first of a group.
    pub(crate) fn rows_before(&self) -> Vec<Option<usize>> {
        let mut last = vec![None; self.len()];
        let next = |(row, group): (usize, &u32)| last[*group as usize].replace(row);
        self.of_row.iter().enumerate().map(next).collect()
    }

    /// Whether a column of numbers has one value in each group, but not in all: a property of the group, such as the treatment of a
    /// patient.
    pub(crate) fn have_one_value(&self, values: &[f64]) -> bool {
        let mut of_group = vec![None; self.len()];
        let mut n_repeated = 0;
        for (&group, &value) in self.of_row.iter().zip(values).filter(|(_, value)| !value.is_nan()) {
            match of_group[group as usize] {
                Some(known) if known != value => return false,
                Some(_) => n_repeated += 1,
                None => of_group[group as usize] = Some(value),
            }
        }
        let mut known = of_group.iter().flatten();
        let first = known.next();
        n_repeated > 0 && known.any(|value| Some(value) != first)
    }

    /// The columns that name the groups of some rows.
    pub fn columns_of(&self, of_row: &[u32]) -> Vec<Column> {
        let column = |(at, name): (usize, &String)| {
            let cells =
                of_row.iter().map(|group| self.names.get(*group as usize).map(|names| names[at].as_str()));
            Column::new(name.clone(), ColumnData::Text(cells.collect::<TextColumn>()))
        };
        self.columns.iter().enumerate().map(column).collect()
    }
}
