//! The distinct places of a table and the distances between them.

use catena::data::InputPoints;

use super::geometry::Geometry;

/// With more places the state along time is too large.
pub(crate) const MOST_PLACES: usize = 200;

/// The distinct places of a table, in ascending order of their coordinates, so that the order of rows is invisible.
#[derive(Clone, Debug, PartialEq)]
pub struct Places {
    geometry: Geometry,
    coordinates: Vec<Vec<f64>>,
}

impl Places {
    /// The distinct places of points whose last coordinate is the time.
    pub(crate) fn of(points: &InputPoints, geometry: Geometry) -> Self {
        let mut coordinates: Vec<Vec<f64>> =
            points.rows().map(|row| geometry.canonical(place_of(points.point(row)))).collect();
        coordinates.sort_by(|a, b| compared(a, b));
        coordinates.dedup();
        Self { geometry, coordinates }
    }

    /// Places with these coordinates, one row each; `None` if they are not in ascending order, not distinct, or not numbers.
    pub fn from_rows(geometry: Geometry, n_coordinates: usize, coordinates: &[f64]) -> Option<Self> {
        if n_coordinates == 0 || !coordinates.len().is_multiple_of(n_coordinates) {
            return None;
        }
        let rows: Vec<Vec<f64>> = coordinates.chunks_exact(n_coordinates).map(<[f64]>::to_vec).collect();
        let are_sorted = rows.windows(2).all(|pair| compared(&pair[0], &pair[1]).is_lt());
        let are_canonical = rows.iter().all(|row| geometry.canonical(row) == *row);
        let is_valid =
            !rows.is_empty() && are_sorted && are_canonical && coordinates.iter().all(|x| x.is_finite());
        is_valid.then_some(Self { geometry, coordinates: rows })
    }

    /// How distances are measured.
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// The coordinates of all places, one row each.
    pub fn to_rows(&self) -> Vec<f64> {
        self.coordinates.concat()
    }

    /// Whether there is no place.
    pub fn is_empty(&self) -> bool {
        self.coordinates.is_empty()
    }

    /// The number of places, P.
    pub fn len(&self) -> usize {
        self.coordinates.len()
    }

    /// The coordinates of a place.
    pub(crate) fn coordinates(&self, place: usize) -> &[f64] {
        &self.coordinates[place]
    }

    /// The number of the place of a point whose last coordinate is the time; `None` for a new place.
    pub(crate) fn number_of(&self, point: &[f64]) -> Option<usize> {
        let place = self.geometry.canonical(place_of(point));
        self.coordinates.binary_search_by(|other| compared(other, &place)).ok()
    }

    /// The places of points that are not among these.
    pub(crate) fn new_among(&self, points: &InputPoints) -> Self {
        let mut all = Self::of(points, self.geometry);
        all.coordinates
            .retain(|place| self.coordinates.binary_search_by(|own| compared(own, place)).is_err());
        all
    }

    /// Some of these places.
    pub(crate) fn part(&self, range: std::ops::Range<usize>) -> Self {
        Self { geometry: self.geometry, coordinates: self.coordinates[range].to_vec() }
    }

    /// The distances of all pairs, row-major P×P.
    pub(crate) fn distances(&self) -> Vec<f64> {
        self.distances_to(self)
    }

    /// The distances of other places to these, one row of P for each.
    pub(crate) fn distances_to(&self, others: &Self) -> Vec<f64> {
        let from = |other: &Vec<f64>| {
            let other = other.clone();
            self.coordinates.iter().map(move |own| self.geometry.distance(own, &other))
        };
        others.coordinates.iter().flat_map(from).collect()
    }

    /// The median distance of a place to the nearest other one; `None` for a single place.
    pub(crate) fn spacing(&self) -> Option<f64> {
        let count = self.len();
        if count < 2 {
            return None;
        }
        let distances = self.distances();
        let nearest = |(place, row): (usize, &[f64])| {
            let others = row.iter().enumerate().filter(|(other, _)| *other != place);
            others.map(|(_, distance)| *distance).fold(f64::INFINITY, f64::min)
        };
        let mut nearest: Vec<f64> = distances.chunks_exact(count).enumerate().map(nearest).collect();
        Some(*nearest.select_nth_unstable_by(count / 2, f64::total_cmp).1)
    }
}

/// The coordinates of the place of a point, without its time.
fn place_of(point: &[f64]) -> &[f64] {
    &point[..point.len() - 1]
}

fn compared(a: &[f64], b: &[f64]) -> std::cmp::Ordering {
    let unequal = a.iter().zip(b).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne());
    unequal.unwrap_or(std::cmp::Ordering::Equal)
}
