//! Fields over places and time equal the dense process under the same separable covariance: evidence, gradient, predictions at rows, at
//! new places and at new times, covariances and draws.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

use catena::data::{Dataset, InputPoints, Observations};
use catena::index::RowIndex;
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::units::{DistanceScale, LengthScale, Variance};
use catena_fit::methods::{Differentiable, Method, SpaceMethod};
use catena_fit::{Geometry, Quantity};
use catena_methods::Problem;

/// Numbers between 0 and 1 without a pattern.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A field: kernels and length-scales along time and between places.
#[derive(Clone, Copy)]
struct Field {
    time: (Kernel, f64),
    space: (Kernel, f64),
}

/// The parameters that the reference and the method share.
#[derive(Clone)]
struct Parameters {
    fields: Vec<Field>,
    /// Row-major D×L.
    weights: Vec<f64>,
    noise: Vec<f64>,
}

impl Parameters {
    /// As columns along time, then between places.
    fn model(&self) -> Lmc {
        let n_fields = self.fields.len();
        let latent = |(kernel, length): (Kernel, f64), state| {
            Latent::new(kernel, state, LengthScale::new(length).unwrap()).unwrap()
        };
        let time = self.fields.iter().map(|field| latent(field.time, StateKind::Derivative));
        let space = self.fields.iter().map(|field| latent(field.space, StateKind::Value));
        let twice = self.weights.chunks(n_fields).flat_map(|row| [row, row].concat()).collect();
        let mixing = MixingMatrix::shared(self.noise.len(), 2 * n_fields, twice).unwrap();
        let noise = self.noise.iter().map(|noise| Variance::new(*noise).unwrap()).collect();
        Lmc::new(time.chain(space).collect(), mixing, noise).unwrap()
    }
}

/// An observed cell: point, output, value, noise.
type Observed = (Vec<f64>, usize, f64, f64);

/// The dense process, from the definitions of the kernels.
struct Dense<'a> {
    parameters: &'a Parameters,
    geometry: Geometry,
    table: &'a Dataset,
    scale: f64,
}

fn matern(kernel: Kernel, distance: f64) -> f64 {
    match kernel {
        Kernel::Matern12 => (-distance).exp(),
        Kernel::Matern32 => (1.0 + 3_f64.sqrt() * distance) * (-3_f64.sqrt() * distance).exp(),
        Kernel::Matern52 => {
            let u = 5_f64.sqrt() * distance;
            (1.0 + u + u * u / 3.0) * (-u).exp()
        }
        Kernel::SquaredExponential => (-0.5 * distance * distance).exp(),
    }
}

impl Dense<'_> {
    fn covariance(&self, (a, i): (&[f64], usize), (b, j): (&[f64], usize)) -> f64 {
        let last = a.len() - 1;
        let in_space = |place: &[f64]| match self.geometry {
            Geometry::Plane | Geometry::Auto => place.to_vec(),
            _ => {
                let (lat, lon) = match self.geometry {
                    Geometry::LatLon => (place[0].to_radians(), place[1].to_radians()),
                    _ => (place[1].to_radians(), place[0].to_radians()),
                };
                [lat.cos() * lon.cos(), lat.cos() * lon.sin(), lat.sin()].map(|x| 6371.0088 * x).to_vec()
            }
        };
        let (one, other) = (in_space(&a[..last]), in_space(&b[..last]));
        let distance =
            one.iter().zip(&other).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt() / self.scale;
        let gap = (a[last] - b[last]).abs() / self.scale;
        let n_fields = self.parameters.fields.len();
        let of_field = |(at, field): (usize, &Field)| {
            let weights =
                self.parameters.weights[i * n_fields + at] * self.parameters.weights[j * n_fields + at];
            weights
                * matern(field.time.0, gap / field.time.1)
                * matern(field.space.0, distance / field.space.1)
        };
        self.parameters.fields.iter().enumerate().map(of_field).sum()
    }

    /// The observed cells.
    fn cells(&self) -> Vec<Observed> {
        let point = |row: RowIndex| self.table.inputs().point(row).to_vec();
        let cells = self.table.observations().cells();
        cells
            .map(|(row, cell)| {
                let output = cell.output.get();
                (point(row), output, cell.value, cell.noise_variance.unwrap_or(self.parameters.noise[output]))
            })
            .collect()
    }

    /// The covariance of the observed cells, lower Cholesky factor.
    fn factor(&self) -> (Vec<Observed>, Vec<Vec<f64>>) {
        let cells = self.cells();
        let mut factor = vec![vec![0.0; cells.len()]; cells.len()];
        for i in 0..cells.len() {
            for j in 0..=i {
                let noise = if i == j { cells[i].3 } else { 0.0 };
                let entry = self.covariance((&cells[i].0, cells[i].1), (&cells[j].0, cells[j].1)) + noise;
                let explained: f64 = (0..j).map(|k| factor[i][k] * factor[j][k]).sum();
                factor[i][j] =
                    if i == j { (entry - explained).sqrt() } else { (entry - explained) / factor[j][j] };
            }
        }
        (cells, factor)
    }

    fn log_evidence(&self) -> f64 {
        let (cells, factor) = self.factor();
        let solved = solve(&factor, &cells.iter().map(|cell| cell.2).collect::<Vec<_>>());
        let squares: f64 = solved.iter().map(|x| x * x).sum();
        let log_roots: f64 = (0..cells.len()).map(|i| factor[i][i].ln()).sum();
        -0.5 * squares - log_roots - 0.5 * cells.len() as f64 * std::f64::consts::TAU.ln()
    }

    /// Mean and covariance of all outputs at all points together, without noise.
    fn posterior(&self, at: &InputPoints) -> (Vec<f64>, Vec<f64>) {
        let (cells, factor) = self.factor();
        let n_outputs = self.parameters.noise.len();
        let target = |place: usize| (at.point(RowIndex::new(place / n_outputs)), place % n_outputs);
        let count = at.n_rows() * n_outputs;
        let values = solve(&factor, &cells.iter().map(|cell| cell.2).collect::<Vec<_>>());
        let solved: Vec<Vec<f64>> = (0..count)
            .map(|place| {
                let with = |cell: &Observed| self.covariance(target(place), (&cell.0, cell.1));
                solve(&factor, &cells.iter().map(with).collect::<Vec<_>>())
            })
            .collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let means = solved.iter().map(|row| dot(row, &values)).collect();
        let entry = |at: usize| {
            let (i, j) = (at / count, at % count);
            self.covariance(target(i), target(j)) - dot(&solved[i], &solved[j])
        };
        (means, (0..count * count).map(entry).collect())
    }
}

fn solve(factor: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
    let mut found: Vec<f64> = vec![];
    for (row, right) in factor.iter().zip(right) {
        let known: f64 = row.iter().zip(&found).map(|(a, b)| a * b).sum();
        found.push((right - known) / row[found.len()]);
    }
    found
}

/// One case: a table with holes, places that come and go and repeated rows, and its parameters.
struct Case {
    parameters: Parameters,
    geometry: Geometry,
    table: Dataset,
    scale: f64,
    at: InputPoints,
}

fn case(seed: u64) -> Case {
    let mut numbers = Numbers(seed.wrapping_mul(7919) + 17);
    let geometry = [Geometry::Plane, Geometry::LatLon, Geometry::LonLat, Geometry::Plane][seed as usize % 4];
    let n_coordinates = if geometry.is_sphere() { 2 } else { 1 + seed as usize / 4 % 3 };
    let (n_places, n_times, n_outputs) = (2 + seed as usize % 5, 9, 1 + seed as usize % 3);
    let n_fields = 1 + (seed as usize / 2) % 3;
    let mut place = || -> Vec<f64> {
        let number = |at: usize, number: f64| match geometry {
            Geometry::LatLon => {
                if at == 0 {
                    40.0 + 3.0 * number
                } else {
                    -75.0 + 4.0 * number
                }
            }
            Geometry::LonLat => {
                if at == 1 {
                    -30.0 + 3.0 * number
                } else {
                    178.0 + 4.0 * number
                }
            }
            _ => 3.0 * number,
        };
        (0..n_coordinates).map(|at| number(at, numbers.next())).collect()
    };
    let places: Vec<Vec<f64>> = (0..n_places).map(|_| place()).collect();
    let new: Vec<Vec<f64>> = (0..3).map(|_| place()).collect();
    let times: Vec<f64> = (0..n_times).map(|_| 6.0 * numbers.next()).collect();
    let mut rows = vec![];
    for (at, time) in times.iter().enumerate() {
        for place in &places {
            if numbers.next() < 0.75 {
                rows.push([place.clone(), vec![*time]].concat());
                if at % 4 == 0 && numbers.next() < 0.5 {
                    rows.push([place.clone(), vec![*time]].concat());
                }
            }
        }
    }
    // The order of rows does not matter.
    for at in (1..rows.len()).rev() {
        rows.swap(at, (numbers.next() * (at + 1) as f64) as usize);
    }
    let values: Vec<f64> = (0..rows.len() * n_outputs)
        .map(|_| if numbers.next() < 0.3 { f64::NAN } else { 2.0 * numbers.next() - 1.0 })
        .collect();
    let mut observations = Observations::from_dense(rows.len(), n_outputs, &values).unwrap();
    if seed % 3 == 2 {
        let noise: Vec<f64> = (0..values.len()).map(|_| 0.05 + numbers.next()).collect();
        observations = observations.with_cell_noise(&noise).unwrap();
    }
    let inputs = InputPoints::new(rows.len(), n_coordinates + 1, rows.concat()).unwrap();
    let table = Dataset::new(inputs, observations).unwrap();
    let kernels = [Kernel::Matern12, Kernel::Matern32, Kernel::Matern52];
    let unit = if geometry.is_sphere() { 100.0 } else { 1.0 };
    let fields = (0..n_fields)
        .map(|at| Field {
            time: (kernels[(at + seed as usize) % 3], 0.5 + 2.0 * numbers.next()),
            space: (kernels[(2 * at + seed as usize / 3) % 3], unit * (0.5 + 2.0 * numbers.next())),
        })
        .collect();
    let weights = (0..n_outputs * n_fields).map(|_| 2.0 * numbers.next() - 1.0).collect();
    let noise = (0..n_outputs).map(|_| 0.01 + 0.3 * numbers.next()).collect();
    // Known and new places, at a time of the table, between, before and after.
    let mut at = vec![];
    for (number, place) in places.iter().chain(&new).enumerate() {
        for time in [times[number % n_times], 3.3, -1.0, 7.5] {
            at.extend(place.iter().copied().chain([time]));
        }
    }
    let at = InputPoints::new(4 * (n_places + 3), n_coordinates + 1, at).unwrap();
    let scale = if seed % 5 == 4 { 0.7 } else { 1.0 };
    Case { parameters: Parameters { fields, weights, noise }, geometry, table, scale, at }
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found - expected).abs() / expected.abs().max(1.0);
        assert!(error < tolerance, "{what} {at}: {found} is not {expected}");
    }
}

#[test]
fn evidence_and_predictions_are_those_of_the_dense_process() {
    for seed in 0..24 {
        let Case { parameters, geometry, table, scale, at } = &case(seed);
        let reference = Dense { parameters, geometry: *geometry, table, scale: *scale };
        let model = parameters.model();
        let problem = Problem::new(&model, table, DistanceScale::new(*scale).unwrap()).unwrap();
        let method = SpaceMethod { geometry: *geometry, ..SpaceMethod::default() };
        let fitted = method.fit(problem).unwrap();
        let evidence = fitted.evidence().unwrap().unwrap().get();
        assert_close(&[evidence], &[reference.log_evidence()], 1e-9, &format!("evidence {seed}"));
        let n_outputs = parameters.noise.len();
        for points in [table.inputs(), at] {
            let (means, covariance) = reference.posterior(points);
            let count = means.len();
            let variances: Vec<f64> = (0..count).map(|at| covariance[at * (count + 1)]).collect();
            let found = fitted.predict(points, Quantity::Function).unwrap();
            assert_close(found.means(), &means, 1e-9, &format!("means {seed}"));
            assert_close(found.variances(), &variances, 1e-9, &format!("variances {seed}"));
            let blocks: Vec<f64> = (0..points.n_rows() * n_outputs * n_outputs)
                .map(|at| {
                    let (row, entry) = (at / (n_outputs * n_outputs), at % (n_outputs * n_outputs));
                    let (i, j) = (row * n_outputs + entry / n_outputs, row * n_outputs + entry % n_outputs);
                    covariance[i * count + j]
                })
                .collect();
            assert_close(&fitted.covariances(points).unwrap(), &blocks, 1e-9, &format!("covariances {seed}"));
            let noisy = fitted.predict(points, Quantity::Observation).unwrap();
            let with_noise: Vec<f64> =
                variances.iter().enumerate().map(|(at, v)| v + parameters.noise[at % n_outputs]).collect();
            assert_close(noisy.variances(), &with_noise, 1e-9, &format!("with noise {seed}"));
        }
        let rows = fitted.predict_rows(Quantity::Function).unwrap();
        assert_eq!(rows, fitted.predict(table.inputs(), Quantity::Function).unwrap());
    }
}

#[test]
fn the_gradient_is_that_of_the_dense_evidence() {
    for seed in 0..12 {
        let Case { parameters, geometry, table, scale, .. } = &case(seed);
        let evidence = |parameters: &Parameters| {
            Dense { parameters, geometry: *geometry, table, scale: *scale }.log_evidence()
        };
        let difference = |change: &dyn Fn(&mut Parameters) -> &mut f64| {
            // Fourth order, with a step relative to the parameter.
            let step = 1e-3 * change(&mut parameters.clone()).abs().max(0.1);
            let moved = |factor: f64| {
                let mut moved = parameters.clone();
                *change(&mut moved) += factor * step;
                evidence(&moved)
            };
            (8.0 * (moved(1.0) - moved(-1.0)) - (moved(2.0) - moved(-2.0))) / (12.0 * step)
        };
        let model = parameters.model();
        let problem = Problem::new(&model, table, DistanceScale::new(*scale).unwrap()).unwrap();
        let method = SpaceMethod { geometry: *geometry, ..SpaceMethod::default() };
        let found = method.gradient(problem).unwrap();
        let (n_fields, n_outputs) = (parameters.fields.len(), parameters.noise.len());
        assert_close(&[found.value], &[evidence(parameters)], 1e-9, "value");
        for field in 0..n_fields {
            let time = difference(&|moved| &mut moved.fields[field].time.1);
            let space = difference(&|moved| &mut moved.fields[field].space.1);
            assert_close(&[found.length_scales[field]], &[time], 1e-6, &format!("time {seed}"));
            assert_close(&[found.length_scales[n_fields + field]], &[space], 1e-6, &format!("space {seed}"));
            for output in 0..n_outputs {
                let at = output * n_fields + field;
                let weight = difference(&|moved| &mut moved.weights[at]);
                let own = found.mixing[output * 2 * n_fields + field];
                assert_close(&[own], &[weight], 1e-6, &format!("weight {seed}"));
                assert_eq!(found.mixing[output * 2 * n_fields + n_fields + field], 0.0);
            }
        }
        for output in (0..n_outputs).filter(|_| !table.observations().has_cell_noise()) {
            let noise = difference(&|moved| &mut moved.noise[output]);
            assert_close(&[found.noise[output]], &[noise], 1e-6, &format!("noise {seed}"));
        }
    }
}

/// Means and covariances of many draws, within five standard errors.
#[test]
fn draws_have_the_moments_of_the_dense_process() {
    const N_DRAWS: usize = 4000;
    for seed in [1, 6] {
        let Case { parameters, geometry, table, scale, at } = &case(seed);
        let reference = Dense { parameters, geometry: *geometry, table, scale: *scale };
        let model = parameters.model();
        let problem = Problem::new(&model, table, DistanceScale::new(*scale).unwrap()).unwrap();
        let fitted = SpaceMethod { geometry: *geometry, ..SpaceMethod::default() }.fit(problem).unwrap();
        let (means, covariance) = reference.posterior(at);
        let count = means.len();
        let draws = fitted.draws(at, N_DRAWS, 3).unwrap();
        assert_eq!(draws, fitted.draws(at, N_DRAWS, 3).unwrap());
        let centered: Vec<f64> = draws.iter().enumerate().map(|(at, x)| x - means[at % count]).collect();
        for i in 0..count {
            let own = covariance[i * (count + 1)];
            let mean: f64 = centered.chunks(count).map(|draw| draw[i]).sum::<f64>() / N_DRAWS as f64;
            assert!(mean.abs() < 5.0 * (own / N_DRAWS as f64).sqrt() + 1e-12, "mean {i}: {mean}");
            for j in 0..=i {
                let (other, expected) = (covariance[j * (count + 1)], covariance[i * count + j]);
                let found: f64 =
                    centered.chunks(count).map(|draw| draw[i] * draw[j]).sum::<f64>() / N_DRAWS as f64;
                let error = ((own * other + expected * expected) / N_DRAWS as f64).sqrt();
                assert!((found - expected).abs() < 5.0 * error + 1e-12, "{i} {j}: {found} {expected}");
            }
        }
    }
}

/// What a new place leaves open is independent of the values at the places: with noise-free values at every place and time, the field
/// there varies as the process along time does.
#[test]
fn a_new_place_keeps_its_own_variance() {
    let field = Field { time: (Kernel::Matern32, 2.0), space: (Kernel::Matern12, 1.0) };
    let parameters = &Parameters { fields: vec![field], weights: vec![1.0], noise: vec![1e-9] };
    let rows: Vec<f64> = (0..40).flat_map(|at| [f64::from(at % 2), 0.25 * f64::from(at / 2)]).collect();
    let values: Vec<f64> = (0..40).map(|at| (f64::from(at) * 0.7).sin()).collect();
    let table = Dataset::new(
        InputPoints::new(40, 2, rows).unwrap(),
        Observations::from_dense(40, 1, &values).unwrap(),
    )
    .unwrap();
    let model = parameters.model();
    let problem = Problem::new(&model, &table, DistanceScale::ONE).unwrap();
    let fitted = SpaceMethod { geometry: Geometry::Plane, ..SpaceMethod::default() }.fit(problem).unwrap();
    let at = InputPoints::new(2, 2, vec![0.5, 2.5, 30.0, 2.5]).unwrap();
    let found = fitted.predict(&at, Quantity::Function).unwrap();
    // Half way between two places under exp(−distance): 1 − 2 e^(−1)/(1 + e^(−1)) of the variance is open.
    let open = 1.0 - 2.0 * (-1.0_f64).exp() / (1.0 + (-1.0_f64).exp());
    assert!((found.variances()[0] - open).abs() < 1e-6, "{}", found.variances()[0]);
    assert!((found.variances()[1] - 1.0).abs() < 1e-12 && found.means()[1].abs() < 1e-9);
}

#[test]
fn tables_and_models_that_do_not_fit_are_refused() {
    let Case { parameters, geometry, table, .. } = &case(0);
    let model = parameters.model();
    let method = SpaceMethod { geometry: *geometry, ..SpaceMethod::default() };
    let fitted = method.fit(Problem::new(&model, table, DistanceScale::ONE).unwrap()).unwrap();
    let line = InputPoints::from_column(vec![0.0, 1.0]).unwrap();
    assert!(fitted.predict(&line, Quantity::Function).unwrap_err().to_string().contains("1 input columns"));
    let of_places = |places: Vec<f64>| {
        let count = places.len();
        let inputs = places.iter().flat_map(|place| [*place, 0.0]).collect();
        let inputs = InputPoints::new(count, 2, inputs).unwrap();
        let n_outputs = parameters.noise.len();
        let cells = Observations::from_dense(count, n_outputs, &vec![1.0; count * n_outputs]).unwrap();
        let table = Dataset::new(inputs, cells).unwrap();
        let plane = SpaceMethod { geometry: Geometry::Plane, ..SpaceMethod::default() };
        let fitted = plane.fit(Problem::new(&model, &table, DistanceScale::ONE).unwrap());
        fitted.err().map(|error| error.to_string())
    };
    let many = of_places((0..201).map(f64::from).collect()).unwrap();
    assert!(
        many.starts_with("201 distinct places are too many") && many.contains("--method fullscale"),
        "{many}"
    );
    let close = of_places(vec![0.0, 1e-20, 1.0]).unwrap();
    assert!(close.contains("too close") && close.contains("same coordinates"), "{close}");
    assert_eq!(of_places(vec![0.0, 1.0, 2.0]), None);
    let sphere = SpaceMethod { geometry: Geometry::LatLon, ..SpaceMethod::default() };
    let cells = table.observations().clone();
    let inputs = InputPoints::new(table.n_rows(), 2, vec![1.0; 2 * table.n_rows()]).unwrap();
    let short = Dataset::new(inputs, cells).unwrap();
    let error = sphere.fit(Problem::new(&model, &short, DistanceScale::ONE).unwrap()).err().unwrap();
    assert!(error.to_string().contains("latitude and a longitude"), "{error}");
    let single =
        Latent::new(Kernel::Matern32, StateKind::Derivative, LengthScale::new(1.0).unwrap()).unwrap();
    let weights = vec![1.0; parameters.noise.len()];
    let odd = Lmc::new(
        vec![single],
        MixingMatrix::shared(weights.len(), 1, weights).unwrap(),
        model.noise().to_vec(),
    )
    .unwrap();
    let error = method.fit(Problem::new(&odd, table, DistanceScale::ONE).unwrap()).err().unwrap();
    assert!(error.to_string().contains("not a model of fields"), "{error}");
}
