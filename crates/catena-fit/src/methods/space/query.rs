//! Points of a query by their times and places: new places join the model as outputs that are never observed.

use catena::data::{DataError, InputPoints};
use catena::index::RowIndex;

use crate::space::Places;

/// Some rows of a query, whose places are those of the table and some new ones.
pub(crate) struct SpaceQuery {
    /// The rows.
    pub(crate) rows: Vec<usize>,
    /// Their distinct times, ascending.
    pub(crate) times: InputPoints,
    /// The number of each row's time.
    pub(crate) time_of: Vec<usize>,
    /// The number of each row's place: those of the table, then new ones.
    pub(crate) place_of: Vec<usize>,
    /// The new places.
    pub(crate) new: Places,
}

impl SpaceQuery {
    /// These rows of the points, whose last coordinate is the time.
    fn new(points: &InputPoints, rows: Vec<usize>, places: &Places, new: Places) -> Result<Self, DataError> {
        let point = |row: &usize| points.point(RowIndex::new(*row));
        let time = |row: &usize| point(row).last().map_or(0.0, |time| time + 0.0);
        let mut times: Vec<f64> = rows.iter().map(time).collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        let number = |time: f64| times.partition_point(|other| *other < time);
        let time_of = rows.iter().map(|row| number(time(row))).collect();
        let place = |row: &usize| {
            let own = places.number_of(point(row));
            own.or_else(|| Some(places.len() + new.number_of(point(row))?)).unwrap_or(0)
        };
        let place_of = rows.iter().map(place).collect();
        Ok(Self { rows, times: InputPoints::from_column(times)?, time_of, place_of, new })
    }

    /// All points in one query.
    pub(crate) fn whole(points: &InputPoints, places: &Places) -> Result<Self, DataError> {
        Self::new(points, (0..points.n_rows()).collect(), places, places.new_among(points))
    }

    /// Points in several queries: one at the places of the table, then one for each `at_once` new places. A sweep computes all outputs at
    /// all times of its query, so places that are asked for at different times should not share one.
    pub(crate) fn in_parts(
        points: &InputPoints,
        places: &Places,
        at_once: usize,
    ) -> Result<Vec<Self>, DataError> {
        let new = places.new_among(points);
        let n_parts = 1 + new.len().div_ceil(at_once);
        let mut rows = vec![vec![]; n_parts];
        for row in 0..points.n_rows() {
            let part = new.number_of(points.point(RowIndex::new(row))).map_or(0, |place| 1 + place / at_once);
            rows[part].push(row);
        }
        let parts = rows.into_iter().enumerate().filter(|(_, rows)| !rows.is_empty());
        let query = |(part, rows): (usize, Vec<usize>)| {
            let range = match part.checked_sub(1) {
                None => 0..0,
                Some(part) => part * at_once..((part + 1) * at_once).min(new.len()),
            };
            Self::new(points, rows, places, new.part(range))
        };
        parts.map(query).collect()
    }
}
