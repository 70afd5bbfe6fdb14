//! Recognizes tables that hold the rows of several groups, and the input along which groups run.

use std::collections::HashSet;

use super::date_parts::is_part_of_date;
use super::{Frame, Input, Layout, Reason};
use crate::table::{Column, ColumnData, Table};

/// Names of columns that order rows in time.
const TIME_NAMES: [&str; 14] = [
    "time", "t", "date", "day", "days", "week", "weeks", "month", "year", "hour", "age", "visit", "wave",
    "step",
];
/// The most names that are proposed as outputs.
const MOST_OUTPUTS: usize = 32;

/// Rows at the same place: advice on a column that looks like a group, or the number of such rows within groups.
pub fn repeated_places(table: &Table, frame: &Frame) -> Option<String> {
    let [input] = frame.inputs.as_slice() else { return None };
    let Layout::Wide { .. } = frame.layout else { return None };
    let place = |row: usize| (input.values[row] + 0.0).to_bits();
    let n_repeated = |group: &dyn Fn(usize) -> u32| {
        let mut seen = HashSet::new();
        (0..frame.n_rows()).filter(|&row| !seen.insert((group(row), place(row)))).count()
    };
    if let Some(groups) = &frame.groups {
        return match n_repeated(&|row| groups.of_row[row]) {
            0 => None,
            1 => Some(format!(
                "1 row has the {} of another row of its group; it counts as a repeated measurement",
                input.name
            )),
            count => Some(format!(
                "{count} rows have the {} of another row of their group; they count as repeated measurements",
                input.name
            )),
        };
    }
    let reason = frame.decision.inputs.first().map(|choice| choice.reason);
    let is_guessed =
        matches!(reason, Some(Reason::First | Reason::FirstNumbers | Reason::Index | Reason::RowNumbers));
    if is_guessed && let Some(advice) = groups_along_another_column(table) {
        return Some(advice);
    }
    let ids = names_of(table);
    let mut ids = ids.iter().filter(|id| id.column.name() != input.name);
    let count = n_repeated(&|_| 0);
    if count == 0 {
        return restarting(ids, input);
    }
    let id = ids.find(|id| id.identifies(&input.values))?;
    let name = id.column.name();
    let n_places = frame.n_rows() - count;
    let are_few = id.n_names * frame.n_outputs() <= MOST_OUTPUTS;
    let wide = format!(", or --wide {name} to make its names outputs that explain each other");
    Some(format!(
        "column {name} repeats each {} about {} times; pass --group {name} for independent tables with one model{}",
        input.name,
        (frame.n_rows() as f64 / n_places as f64).round(),
        if are_few { wide.as_str() } else { "" }
    ))
}

/// Advice if the input starts again with each name in a column, so that rows of several names are mixed along it.
fn restarting<'a>(mut ids: impl Iterator<Item = &'a Names<'a>>, input: &Input) -> Option<String> {
    if ascends_within(&input.values, |_| true) {
        return None;
    }
    let id = ids.find(|id| id.are_blocks_along(&input.values))?;
    let name = id.column.name();
    Some(format!(
        "{} starts again with each name in column {name}; pass --group {name} for independent tables with one model",
        input.name
    ))
}

/// Advice if the rows of each name in a column ascend along another column, which is not the input for want of groups.
fn groups_along_another_column(table: &Table) -> Option<String> {
    let ids = names_of(table);
    let (id, along) = ids.iter().find_map(|id| Some((id, along_which(id, table)?)))?;
    let (name, kind) = (id.column.name(), if id.is_text() { "names" } else { "numbers" });
    Some(format!(
        "column {name} has {} {kind}, within each of which {along} ascends; pass --group {name} for independent \
         tables with one model along {along}",
        id.n_names
    ))
}

/// The name of the column along which the rows of each name ascend.
fn along_which<'a>(id: &Names<'_>, table: &'a Table) -> Option<&'a str> {
    let own = table.position(id.column.name())?;
    let before = |row: usize| (row > 0 && id.code(row) == id.code(row - 1)).then(|| row - 1);
    let name_by_name = ascending_within(table, &[own], before)
        .filter(|along| numbers(table, *along).is_some_and(|values| id.are_blocks_along(values)));
    let time_by_time = || {
        let is_along = |at: &usize| {
            *at != own
                && is_time_name(table.columns()[*at].name())
                && numbers(table, *at).is_some_and(|values| values.is_sorted() && id.identifies(values))
        };
        (0..table.columns().len()).find(is_along)
    };
    let along = name_by_name.or_else(|| if id.is_text() { None } else { time_by_time() });
    let along = table.columns()[along?].name();
    // Pigs by week and weeks by pig look alike: the name of a time decides.
    (is_time_name(along) || !is_time_name(id.column.name())).then_some(along)
}

/// The columns that may name groups, text first.
fn names_of(table: &Table) -> Vec<Names<'_>> {
    let mut ids: Vec<Names<'_>> = table.columns().iter().filter_map(Names::of).collect();
    ids.sort_by_key(|id| !id.is_text());
    ids
}

/// The column of numbers that ascends from each row to the next one of its group, but not along the whole table, as row numbers do;
/// of several one with the name of a time, or else the one with the fewest different values. `taken` are columns with other roles,
/// and `before` gives the row before another one in its group.
pub(super) fn ascending_within(
    table: &Table,
    taken: &[usize],
    before: impl Fn(usize) -> Option<usize>,
) -> Option<usize> {
    let ascends = |values: &[f64]| {
        let mut pairs = (0..values.len()).filter_map(|row| Some((before(row)?, row))).peekable();
        pairs.peek().is_some() && pairs.all(|(before, row)| values[before] < values[row])
    };
    let is_along = |at: &usize| {
        numbers(table, *at).is_some_and(|values| {
            let is_panel = !ascends_within(values, |_| true) && ascends(values);
            is_panel && values.iter().all(|value| value.is_finite())
        })
    };
    let n_different = |at: usize| {
        let values = numbers(table, at).unwrap_or_default();
        values.iter().map(|value| (value + 0.0).to_bits()).collect::<HashSet<_>>().len()
    };
    let found = (0..table.columns().len()).filter(|at| !taken.contains(at)).filter(is_along);
    found.min_by_key(|at| (!is_time_name(table.columns()[*at].name()), n_different(*at)))
}

fn numbers(table: &Table, position: usize) -> Option<&[f64]> {
    numbers_of(&table.columns()[position])
}

fn numbers_of(column: &Column) -> Option<&[f64]> {
    match column.data() {
        ColumnData::Number(numbers) => Some(&numbers.values),
        _ => None,
    }
}

/// Whether values ascend from row to row wherever `is_next`.
fn ascends_within(values: &[f64], is_next: impl Fn(usize) -> bool) -> bool {
    (1..values.len()).filter(|row| is_next(*row)).all(|row| values[row] > values[row - 1])
}

fn is_time_name(name: &str) -> bool {
    TIME_NAMES.iter().any(|time| name.eq_ignore_ascii_case(time))
}

/// A column that may name groups: text or whole numbers in every row, with several rows for most names.
struct Names<'a> {
    column: &'a Column,
    n_names: usize,
}

impl<'a> Names<'a> {
    fn of(column: &'a Column) -> Option<Self> {
        let n_rows = column.data().len();
        let n_names = match column.data() {
            ColumnData::Text(names) => {
                (0..n_rows).all(|row| names.code(row).is_some()).then(|| names.distinct().len())?
            }
            ColumnData::Number(numbers) if !column.is_unnamed() && !is_part_of_date(column.name()) => {
                let is_whole = |value: &f64| value.fract() == 0.0;
                let are_whole = numbers.values.iter().all(is_whole);
                let names =
                    || numbers.values.iter().map(|value| value.to_bits()).collect::<HashSet<_>>().len();
                are_whole.then(names)?
            }
            _ => return None,
        };
        (n_names >= 2 && 2 * n_names <= n_rows).then_some(Self { column, n_names })
    }

    fn is_text(&self) -> bool {
        matches!(self.column.data(), ColumnData::Text(_))
    }

    /// A number for the name of a row.
    fn code(&self, row: usize) -> u64 {
        match self.column.data() {
            ColumnData::Text(names) => names.code(row).map_or(u64::MAX, |code| code as u64),
            ColumnData::Number(numbers) => numbers.values[row].to_bits(),
            _ => 0,
        }
    }

    /// Whether the rows of each name follow each other, and places ascend within each.
    fn are_blocks_along(&self, places: &[f64]) -> bool {
        let is_same = |row: usize| self.code(row) == self.code(row - 1);
        let n_blocks = 1 + (1..places.len()).filter(|row| !is_same(*row)).count();
        n_blocks == self.n_names && ascends_within(places, is_same)
    }

    /// Whether name and place together identify a row. Numbers are names only if rows are in order, too: name by name, or place by
    /// place with ascending numbers.
    fn identifies(&self, places: &[f64]) -> bool {
        let is_next = |row: usize| places[row] == places[row - 1];
        let is_ordered = || {
            (1..places.len()).all(|row| places[row] >= places[row - 1])
                && numbers_of(self.column).is_some_and(|names| ascends_within(names, is_next))
        };
        if !self.is_text() && !self.are_blocks_along(places) && !is_ordered() {
            return false;
        }
        let mut seen = HashSet::new();
        (0..places.len()).all(|row| seen.insert((self.code(row), (places[row] + 0.0).to_bits())))
    }
}
