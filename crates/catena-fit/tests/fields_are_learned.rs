//! Fields over places and time are learned from simulated tables: parameters are recovered, held-out values are as close as under the
//! true parameters, intervals cover, and a station left out is better than its neighbors.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints, Observations};
use catena::index::RowIndex;
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::units::{DistanceScale, LengthScale, Variance};
use catena_fit::methods::{Method, SpaceMethod};
use catena_fit::scores::score;
use catena_fit::{Budget, Fit, FitOptions, Geometry, MethodChoice, Predictive, Quantity, fit};
use catena_methods::Problem;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal, StandardUniform};

const N_PLACES: usize = 16;
const N_TIMES: usize = 160;

/// Two outputs of two fields: one slow and wide, one fast and narrow.
fn truth() -> Lmc {
    let latent =
        |kernel, state, length| Latent::new(kernel, state, LengthScale::new(length).unwrap()).unwrap();
    let latents = vec![
        latent(Kernel::Matern32, StateKind::Derivative, 20.0),
        latent(Kernel::Matern32, StateKind::Derivative, 4.0),
        latent(Kernel::Matern32, StateKind::Value, 1.5),
        latent(Kernel::Matern32, StateKind::Value, 0.4),
    ];
    let mixing = MixingMatrix::shared(2, 4, vec![1.0, 0.5, 1.0, 0.5, -0.6, 0.9, -0.6, 0.9]).unwrap();
    Lmc::new(latents, mixing, vec![Variance::new(0.04).unwrap(); 2]).unwrap()
}

struct Simulated {
    /// The table with stretches of silence and one silent place.
    table: Dataset,
    /// True observations of the silent cells: of other places, and of the silent one.
    gaps: Vec<(usize, f64)>,
    left_out: Vec<(usize, f64)>,
    /// All observations.
    whole: Vec<f64>,
}

fn simulated(seed: u64) -> Simulated {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let mut uniform = || -> f64 { StandardUniform.sample(&mut generator) };
    let places: Vec<[f64; 2]> = (0..N_PLACES)
        .map(|at| match at {
            // Inside the others.
            0 => [0.5, 0.5],
            _ => [uniform(), uniform()],
        })
        .collect();
    let rows: Vec<f64> = (0..N_PLACES * N_TIMES)
        .flat_map(|row| {
            let [x, y] = places[row % N_PLACES];
            [x, y, (row / N_PLACES) as f64]
        })
        .collect();
    let inputs = InputPoints::new(N_PLACES * N_TIMES, 3, rows).unwrap();
    let n_cells = 2 * N_PLACES * N_TIMES;
    let mut is_hidden: Vec<bool> = (0..n_cells).map(|_| uniform() < 0.1).collect();
    for place in 0..N_PLACES {
        let begin = (uniform() * (N_TIMES - 30) as f64) as usize;
        for time in begin..begin + 30 {
            is_hidden[2 * (time * N_PLACES + place) + place % 2] = true;
        }
    }
    let nothing = Observations::from_dense(N_PLACES * N_TIMES, 2, &vec![f64::NAN; n_cells]).unwrap();
    let (model, empty) = (truth(), Dataset::new(inputs.clone(), nothing).unwrap());
    let prior =
        SpaceMethod::default().fit(Problem::new(&model, &empty, DistanceScale::ONE).unwrap()).unwrap();
    let mut whole = prior.draws(&inputs, 1, seed).unwrap();
    for value in &mut whole {
        let noise: f64 = StandardNormal.sample(&mut generator);
        *value += 0.2 * noise;
    }
    let is_left_out = |cell: usize| (cell / 2).is_multiple_of(N_PLACES);
    let cells = |of: &dyn Fn(usize) -> bool| {
        (0..n_cells).filter(|cell| of(*cell)).map(|cell| (cell, whole[cell])).collect()
    };
    let values: Vec<f64> = (0..n_cells)
        .map(|cell| if is_hidden[cell] || is_left_out(cell) { f64::NAN } else { whole[cell] })
        .collect();
    let observations = Observations::from_dense(N_PLACES * N_TIMES, 2, &values).unwrap();
    Simulated {
        table: Dataset::new(inputs, observations).unwrap(),
        gaps: cells(&|cell| is_hidden[cell] && !is_left_out(cell)),
        left_out: cells(&is_left_out),
        whole,
    }
}

fn fitted(table: &Dataset, options: FitOptions) -> Fit {
    let method = MethodChoice::Space { geometry: Geometry::Auto };
    fit(table, &FitOptions { method, ..options }, &|_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn learned_fields_answer_like_the_true_ones() {
    let Simulated { table, gaps, left_out, whole } = simulated(5);
    let found = fitted(&table, FitOptions { latents: Some(2), ..FitOptions::default() });
    let model = truth();
    let problem = Problem::new(&model, &table, DistanceScale::ONE).unwrap();
    let true_fields = SpaceMethod::default().fit(problem).unwrap();
    let (means, variances) = true_fields.predict_rows(Quantity::Observation).unwrap().into_arrays();
    let best = Predictive::normal(2, means, variances.iter().map(|variance| variance.sqrt()).collect());
    let learned = found.predict_rows(Quantity::Observation).unwrap();
    for cells in [&gaps, &left_out] {
        let scored = |predictive: &Predictive| score(predictive, cells.iter().copied(), &[1.0, 1.0]);
        let (own, true_fields) = (scored(&learned), scored(&best));
        assert!(own.rmse < 1.05 * true_fields.rmse, "{own:?} {true_fields:?}");
        assert!(own.log_score > true_fields.log_score - 0.05, "{own:?} {true_fields:?}");
        assert!((0.92..0.98).contains(&own.coverage), "{own:?}");
    }
    // The place left out by the nearest place, and by the inverse squares of distances.
    let inputs = table.inputs();
    let distance = |place: usize| inputs.squared_distance(RowIndex::new(0), RowIndex::new(place)).sqrt();
    let nearest = (1..N_PLACES).min_by(|a, b| distance(*a).total_cmp(&distance(*b))).unwrap();
    let error_of = |weight: &dyn Fn(usize) -> f64| -> f64 {
        let total: f64 = (1..N_PLACES).map(weight).sum();
        let squares = left_out.iter().map(|&(cell, value)| {
            let (time, output) = (cell / (2 * N_PLACES), cell % 2);
            let at = |place: usize| whole[2 * (time * N_PLACES + place) + output];
            (value - (1..N_PLACES).map(|place| weight(place) * at(place)).sum::<f64>() / total).powi(2)
        });
        (squares.sum::<f64>() / left_out.len() as f64).sqrt()
    };
    let own = score(&learned, left_out.iter().copied(), &[1.0, 1.0]).rmse;
    // Both see the cells that are hidden from the fit.
    assert!(own < error_of(&|place| f64::from(u8::from(place == nearest))));
    assert!(own < error_of(&|place| distance(place).powi(-2)));
    // The summary has the length-scales: of each field along x, y and time.
    let summary = found.summary();
    assert!(summary.decisions[0].contains("16 places"), "{:?}", summary.decisions);
    let mut latents = summary.latents.clone();
    latents.sort_by(|a, b| b.length_scales[2].total_cmp(&a.length_scales[2]));
    let is_near = |found: f64, truth: f64| (0.6..1.7).contains(&(found / truth));
    for (latent, (space, time)) in latents.iter().zip([(1.5, 20.0), (0.4, 4.0)]) {
        assert!(is_near(latent.length_scales[2], time), "{latents:?}");
        assert!(is_near(latent.length_scales[0], space), "{latents:?}");
        assert_eq!(latent.length_scales[0], latent.length_scales[1]);
    }
    for output in &summary.outputs {
        assert!(is_near(output.noise_deviation, 0.2), "{:?}", summary.outputs);
    }
    let shares: f64 = summary.latents.iter().map(|latent| latent.share).sum();
    assert!((0.5..1.0).contains(&shares));
}

#[test]
fn a_fit_is_kept_extended_and_does_not_depend_on_the_order_of_rows() {
    let Simulated { table, .. } = simulated(8);
    let rows: Vec<RowIndex> = table.inputs().rows().collect();
    let (first, later) = rows.split_at(40 * N_PLACES);
    let quick = || FitOptions { budget: Budget::Quick, latents: Some(1), ..FitOptions::default() };
    let own = table.select_rows(first).unwrap();
    let fit = fitted(&own, quick());
    let at = InputPoints::new(2, 3, vec![0.3, 0.3, 12.5, 0.5, 0.5, 45.0]).unwrap();
    let answers = |fit: &Fit| fit.predict(&at, Quantity::Observation).unwrap();
    let again = Fit::from_parts(fit.parts().clone()).unwrap();
    assert_eq!(answers(&again), answers(&fit));
    assert_eq!(fit.log_evidence().unwrap(), fit.summary().log_evidence);
    assert_eq!(fit.parameters(), None);
    let reversed: Vec<RowIndex> = first.iter().rev().copied().collect();
    let other = fitted(&table.select_rows(&reversed).unwrap(), quick());
    // The order of rows changes rounding only.
    for cell in 0..4 {
        let (own, other) = (answers(&fit), answers(&other));
        assert!((own.mean(cell) - other.mean(cell)).abs() < 1e-6 * own.deviation(cell));
        assert!((own.deviation(cell) / other.deviation(cell) - 1.0).abs() < 1e-6);
    }
    let more = table.select_rows(&later[..5 * N_PLACES]).unwrap();
    let extended = fit.with_more_rows(&more).unwrap();
    let whole = table.select_rows(&rows[..45 * N_PLACES]).unwrap();
    let mut parts = fit.parts().clone();
    parts.table = whole;
    assert_eq!(answers(&Fit::from_parts(parts).unwrap()), answers(&extended));
    let relearned = fit.relearned(&more, &quick(), &|_| ControlFlow::Continue(())).unwrap();
    assert!(relearned.summary().decisions.iter().any(|reason| reason.contains("learned again")));
}

#[test]
fn what_fields_do_not_know_is_refused_in_a_sentence() {
    let inputs =
        InputPoints::new(6, 2, vec![0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 2.0, 1.0, 2.0]).unwrap();
    let cells = Observations::from_dense(6, 1, &[0.1, 0.5, -0.3, 0.2, 0.4, 0.1]).unwrap();
    let table = Dataset::new(inputs.clone(), cells.clone()).unwrap();
    let said = |table: &Dataset, options: FitOptions| {
        let method = MethodChoice::Space { geometry: Geometry::Auto };
        let found = fit(table, &FitOptions { method, ..options }, &|_| ControlFlow::Continue(()));
        found.map(|_| ()).unwrap_err().to_string()
    };
    let options = FitOptions::default;
    assert!(
        said(&table, FitOptions { private: Some(true), ..options() }).contains("more fields with --latents")
    );
    assert!(
        said(&table, FitOptions { candidates: Some(inputs.clone()), ..options() }).contains("leave them out")
    );
    assert!(said(&table, FitOptions { ard: Some(true), ..options() }).contains("leave --ard out"));
    let grouped = inputs.clone().with_groups(vec![catena::index::GroupIndex::new(0); 6]).unwrap();
    assert!(said(&Dataset::new(grouped, cells.clone()).unwrap(), options()).contains("--group"));
    let line = InputPoints::from_column((0..6).map(f64::from).collect()).unwrap();
    assert!(
        said(&Dataset::new(line, cells.clone()).unwrap(), options()).contains("--space lat,lon --time when")
    );
    let single = InputPoints::new(6, 2, (0..6).flat_map(|at| [3.0, f64::from(at)]).collect()).unwrap();
    assert!(said(&Dataset::new(single, cells).unwrap(), options()).contains("at least two places"));
}
