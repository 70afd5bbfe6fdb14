//! Recognizes latitude and longitude, which are inputs together.

use crate::table::{ColumnData, Table};

const LATITUDES: (&[&str], f64, f64) = (&["lat", "latitude"], -90.0, 90.0);
const LONGITUDES: (&[&str], f64, f64) = (&["lon", "long", "lng", "longitude"], -180.0, 360.0);

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
