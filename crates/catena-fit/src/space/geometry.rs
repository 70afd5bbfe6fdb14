//! Distances between places: in the plane, or in kilometers on the sphere.

/// How distances between places are measured. The inputs are the coordinates of the place, and the time is the last one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Geometry {
    /// On the sphere if the inputs are named as latitude and longitude and have their range, else in the plane.
    #[default]
    Auto,
    /// Euclidean distance of any number of coordinates.
    Plane,
    /// Latitude and longitude in degrees; distances are in kilometers.
    LatLon,
    /// Longitude and latitude in degrees; distances are in kilometers.
    LonLat,
}

/// The mean radius of the Earth in kilometers.
const RADIUS: f64 = 6371.0088;

const LATITUDES: &[&str] = &["lat", "latitude"];
const LONGITUDES: &[&str] = &["lon", "lng", "long", "longitude"];

impl Geometry {
    /// All geometries with their words.
    pub(crate) const WORDS: [(Self, &'static str); 4] =
        [(Self::Auto, "auto"), (Self::Plane, "plane"), (Self::LatLon, "latlon"), (Self::LonLat, "lonlat")];

    /// The geometry of inputs with these names; `values` are those of the inputs, row by row.
    pub(crate) fn of_inputs(names: &[String], values: &[f64]) -> Self {
        let is = |name: Option<&String>, words: &[&str]| {
            name.is_some_and(|name| words.contains(&name.trim().to_ascii_lowercase().as_str()))
        };
        let (first, second) = (names.first(), names.get(1));
        let within = |column: usize, limit: f64| {
            values.iter().skip(column).step_by(names.len().max(1)).all(|degrees| degrees.abs() <= limit)
        };
        if names.len() != 3 {
            Self::Plane
        } else if is(first, LATITUDES) && is(second, LONGITUDES) && within(0, 90.0) && within(1, 360.0) {
            Self::LatLon
        } else if is(first, LONGITUDES) && is(second, LATITUDES) && within(0, 360.0) && within(1, 90.0) {
            Self::LonLat
        } else {
            Self::Plane
        }
    }

    /// Whether distances are on the sphere.
    pub fn is_sphere(self) -> bool {
        matches!(self, Self::LatLon | Self::LonLat)
    }

    /// The same place in one way of writing it: without negative zeros, longitudes between 0° and 360°.
    pub(crate) fn canonical(self, place: &[f64]) -> Vec<f64> {
        let longitude = match self {
            Self::LatLon => Some(1),
            Self::LonLat => Some(0),
            Self::Auto | Self::Plane => None,
        };
        let entry =
            |(at, &x): (usize, &f64)| if Some(at) == longitude { x.rem_euclid(360.0) } else { x + 0.0 };
        place.iter().enumerate().map(entry).collect()
    }

    /// The distance of two places: on the sphere the length of the chord in kilometers, since Matérn functions of the length along the
    /// sphere are no correlations. Up to 1000 km both agree to 0.1 %.
    pub(crate) fn distance(self, a: &[f64], b: &[f64]) -> f64 {
        let (latitude, longitude) = match self {
            Self::Auto | Self::Plane => return catena::data::squared_distance(a, b).sqrt(),
            Self::LatLon => (0, 1),
            Self::LonLat => (1, 0),
        };
        let half_sine = |column: usize| (0.5 * (a[column] - b[column]).to_radians()).sin();
        let cosines = a[latitude].to_radians().cos() * b[latitude].to_radians().cos();
        2.0 * RADIUS * (half_sine(latitude).powi(2) + cosines * half_sine(longitude).powi(2)).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The chord through the sphere, from coordinates in space.
    #[test]
    fn distances_on_the_sphere_are_chords_in_kilometers() {
        let in_space = |[lat, lon]: [f64; 2]| {
            let (lat, lon) = (lat.to_radians(), lon.to_radians());
            [lat.cos() * lon.cos(), lat.cos() * lon.sin(), lat.sin()].map(|x| RADIUS * x)
        };
        let (newark, kennedy, sydney) = ([40.6925, -74.1687], [40.6398, -73.7789], [-33.95, 151.18]);
        for (a, b) in [(newark, kennedy), (newark, sydney), (kennedy, kennedy)] {
            let chord = catena::data::squared_distance(&in_space(a), &in_space(b)).sqrt();
            assert!((Geometry::LatLon.distance(&a, &b) - chord).abs() < 1e-8);
            let swapped = |[lat, lon]: [f64; 2]| [lon, lat];
            assert!((Geometry::LonLat.distance(&swapped(a), &swapped(b)) - chord).abs() < 1e-8);
        }
        assert!((Geometry::LatLon.distance(&newark, &kennedy) - 33.4).abs() < 0.1);
        assert_eq!(Geometry::LatLon.canonical(&[-0.0, -74.0]), Geometry::LatLon.canonical(&[-0.0, 286.0]));
    }

    #[test]
    fn names_and_ranges_tell_the_sphere() {
        let of = |names: [&str; 3], values: &[f64]| Geometry::of_inputs(&names.map(str::to_owned), values);
        let values = [40.0, -74.0, 1.0];
        assert_eq!(of(["lat", "lon", "when"], &values), Geometry::LatLon);
        assert_eq!(of(["Longitude", "LATITUDE", "when"], &[-74.0, 40.0, 1.0]), Geometry::LonLat);
        assert_eq!(of(["lat", "lon", "when"], &[4_000_000.0, -74.0, 1.0]), Geometry::Plane);
        assert_eq!(of(["x", "y", "when"], &values), Geometry::Plane);
    }
}
