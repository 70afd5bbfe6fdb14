//! The weather of the demo with held-out cells: gaps of 96 hours every 800 hours in two outputs, or single cells.

use catena::data::InputPoints;

use catena_studies::gap_table::GapTable;

use crate::random::SeededDraws;

/// Airports by hours: temperature (°F), dew point (°F) and pressure (hPa) at each.
const WEATHER: &str = include_str!("../../catena-cli/data/nyc_airport_weather_2013.csv");
/// Held-out hours of a window.
pub const GAP_HOURS: usize = 96;
/// Windows, from hour 500 on.
pub const N_WINDOWS: usize = 10;

/// The hours of a window.
pub fn window(number: usize) -> std::ops::Range<usize> {
    let begin = 500 + 800 * number;
    begin..begin + GAP_HOURS
}

/// The demo's table with all ten windows held out in two outputs at once.
///
/// # Panics
/// If the table has no such outputs.
pub fn weather_table(gaps: [&str; 2]) -> GapTable {
    let (names, inputs, values) = weather();
    let n_outputs = names.len();
    let outputs = gaps.map(|name| names.iter().position(|known| *known == name).unwrap());
    let rows = (0..N_WINDOWS).flat_map(window);
    let hide: Vec<usize> = rows.flat_map(|row| outputs.map(|output| row * n_outputs + output)).collect();
    GapTable::new("airport weather, ten windows", inputs, n_outputs, values, hide).unwrap()
}

/// The demo's table with this fraction of its cells held out at random, and the names of its outputs.
///
/// # Panics
/// Never: the table is embedded.
pub fn weather_with_random_holes(share: f64, seed: u64) -> (Vec<&'static str>, GapTable) {
    let (names, inputs, values) = weather();
    let mut draws = SeededDraws::new(seed);
    let hide: Vec<usize> = (0..values.len()).filter(|_| draws.chance(share)).collect();
    let n_outputs = names.len();
    (names, GapTable::new("airport weather, random cells", inputs, n_outputs, values, hide).unwrap())
}

/// Names of outputs, hours, and row-major values.
fn weather() -> (Vec<&'static str>, InputPoints, Vec<f64>) {
    let mut lines = WEATHER.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').skip(1).collect();
    let mut values = vec![];
    for line in lines {
        values.extend(line.split(',').skip(1).map(|cell| cell.parse().unwrap_or(f64::NAN)));
    }
    let n_rows = values.len() / names.len();
    let inputs = InputPoints::from_column((0..n_rows).map(|row| row as f64).collect()).unwrap();
    (names, inputs, values)
}
