//! Recognizes latitude and longitude, which are inputs together.

use std::collections::HashSet;

use crate::table::{ColumnData, Table};

/// More places are no stations.
const MOST_STATIONS: usize = 200;

const LATITUDES: (&[&str], f64, f64) = (&["lat", "latitude"], -90.0, 90.0);
const LONGITUDES: (&[&str], f64, f64) = (&["lon", "long", "lng", "longitude"], -180.0, 360.0);

/// Whether the rows are those of stations: few places, several of them at the same times.
pub(crate) fn are_stations(table: &Table, [one, other]: [usize; 2], time: usize) -> bool {
    let numbers = |position: usize| match table.columns()[position].data() {
        ColumnData::Number(numbers) => Some(&numbers.values),
        _ => None,
    };
    let ColumnData::Time(times) = table.columns()[time].data() else { return false };
    let (Some(one), Some(other)) = (numbers(one), numbers(other)) else { return false };
    if one.iter().chain(other).any(|coordinate| coordinate.is_nan()) {
        return false;
    }
    let places: HashSet<(u64, u64)> =
        one.iter().zip(other).map(|(one, other)| (one.to_bits(), other.to_bits())).collect();
    let distinct: HashSet<_> = (0..times.len()).map(|row| times.instant(row)).collect();
    (2..=MOST_STATIONS).contains(&places.len())
        && 2 * distinct.len() <= table.n_rows()
        && distinct.len() > places.len()
}

/// The columns of latitude and longitude, if a table has both, in their order.
pub(crate) fn coordinates(table: &Table) -> Option<[usize; 2]> {
    let find = |(names, least, largest): (&[&str], f64, f64)| {
        (0..table.columns().len()).find(|position| {
            let column = &table.columns()[*position];
            let has_name = names.iter().any(|name| column.name().eq_ignore_ascii_case(name));
            let ColumnData::Number(numbers) = column.data() else { return false };
            has_name && numbers.values.iter().all(|value| value.is_nan() || (least..=largest).contains(value))
        })
    };
    let (latitude, longitude) = (find(LATITUDES)?, find(LONGITUDES)?);
    Some([latitude.min(longitude), latitude.max(longitude)])
}
