//! At the places of its table space and time answers as a pool of fields and a column per place and output; at other places as fields alone.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot set up its case must fail")]

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints, Observations};
use catena::index::RowIndex;
use catena_fit::{
    Budget, CombineChoice, Fit, FitOptions, Geometry, MemberKind, MethodChoice, Predictive, Quantity, fit,
};

const PLACES: [[f64; 2]; 3] = [[0.0, 0.0], [1.0, 0.2], [0.4, 1.1]];
const N_TIMES: usize = 150;

/// Two outputs at three places. The first and the third place go together, though the second one is nearer to the first: no function of
/// the distance says so. The third place is silent for a while.
fn table() -> Dataset {
    let mut state = 3_u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let (mut inputs, mut values) = (vec![], vec![]);
    for time in 0..N_TIMES {
        let t = time as f64;
        let inland = (0.37 * t).sin() + (0.11 * t).cos();
        let coast = (0.23 * t + 1.0).sin() - (0.17 * t).cos();
        for (place, [x, y]) in PLACES.iter().enumerate() {
            inputs.extend([*x, *y, t]);
            let own = if place == 1 { coast } else { inland };
            for scale in [1.0, -2.0] {
                let is_silent = place == 2 && (60..90).contains(&time);
                values.push(if is_silent { f64::NAN } else { scale * own + 0.1 * noise() + place as f64 });
            }
        }
    }
    let n_rows = inputs.len() / 3;
    let observations = Observations::from_dense(n_rows, 2, &values).unwrap();
    Dataset::new(InputPoints::new(n_rows, 3, inputs).unwrap(), observations).unwrap()
}

fn fitted(table: &Dataset, combine: CombineChoice) -> Fit {
    let method = MethodChoice::Space { geometry: Geometry::Plane };
    let options = FitOptions { method, combine, budget: Budget::Quick, ..FitOptions::default() };
    fit(table, &options, &|_| ControlFlow::Continue(())).unwrap()
}

fn assert_equal(found: &Predictive, expected: &Predictive, factor: f64) {
    assert_eq!(found.n_rows(), expected.n_rows());
    for at in 0..found.n_rows() * found.n_outputs() {
        assert!(
            (found.mean(at) - expected.mean(at)).abs() < 1e-9 * (1.0 + expected.mean(at).abs()),
            "mean {at}"
        );
        let (own, other) = (found.deviation(at), factor * expected.deviation(at));
        assert!((own / other - 1.0).abs() < 1e-9, "deviation {at}: {own} is not {other}");
    }
}

#[test]
fn the_pool_answers_at_its_places_and_fields_elsewhere() {
    let table = table();
    let pooled = fitted(&table, CombineChoice::Auto);
    let combination = pooled.parts().combination.clone().unwrap();
    assert!(
        combination.members.iter().any(|member| matches!(member.kind, MemberKind::Columns(_))),
        "{:?}",
        pooled.summary().decisions
    );
    assert_eq!(pooled.summary().held_out.len(), 3);

    // Known places at the rows and between them; new places.
    let rows = pooled.predict_rows(Quantity::Observation).unwrap();
    assert_equal(&pooled.predict(table.inputs(), Quantity::Observation).unwrap(), &rows, 1.0);
    let mut parts = pooled.parts().clone();
    parts.combination = None;
    let fields = Fit::from_parts(parts).unwrap();
    let new = InputPoints::new(3, 3, vec![0.5, 0.5, 70.0, 0.5, 0.5, 20.5, 9.0, 9.0, 10.0]).unwrap();
    let (own, alone) = (
        pooled.predict(&new, Quantity::Observation).unwrap(),
        fields.predict(&new, Quantity::Observation).unwrap(),
    );
    let widening = own.deviation(0) / alone.deviation(0);
    assert_equal(&own, &alone, widening);

    // Where the third place is silent, the column of the first one tells more than the distances.
    let error = |answer: &Predictive| -> f64 {
        let truth = |time: f64| (0.37 * time).sin() + (0.11 * time).cos() + 2.0;
        let cells = (60..90).map(|time| answer.mean(2 * (3 * time + 2)) - truth(time as f64));
        (cells.map(|error| error * error).sum::<f64>() / 30.0).sqrt()
    };
    let of_fields = error(&fields.predict_rows(Quantity::Observation).unwrap());
    assert!(error(&rows) < 0.9 * of_fields, "{} {of_fields}", error(&rows));

    // Rebuilt from its parts, and the order of new points does not matter.
    let again = Fit::from_parts(pooled.parts().clone()).unwrap();
    assert_eq!(again.predict_rows(Quantity::Observation).unwrap(), rows);
    let backwards: Vec<f64> = new.values().chunks_exact(3).rev().flatten().copied().collect();
    let backwards = InputPoints::new(3, 3, backwards).unwrap();
    let reversed = pooled.predict(&backwards, Quantity::Observation).unwrap();
    assert!((reversed.mean(4) - own.mean(0)).abs() < 1e-9);

    // Draws and covariances have the marginals of predictions, at known and new places.
    let at = InputPoints::new(3, 3, vec![0.4, 1.1, 75.0, 0.0, 0.0, 33.3, 0.5, 0.5, 75.0]).unwrap();
    let marginals = pooled.predict(&at, Quantity::Observation).unwrap();
    let n_draws = 4000;
    let draws = pooled.draws(&at, Quantity::Observation, n_draws, 5).unwrap();
    let covariances = pooled.covariances(&at, Quantity::Observation).unwrap();
    for cell in 0..6 {
        let values: Vec<f64> = draws.iter().skip(cell).step_by(6).copied().collect();
        let mean = values.iter().sum::<f64>() / n_draws as f64;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n_draws as f64;
        let deviation = marginals.deviation(cell);
        assert!((mean - marginals.mean(cell)).abs() < 5.0 * deviation / (n_draws as f64).sqrt());
        assert!((variance.sqrt() / deviation - 1.0).abs() < 0.15, "{cell}: {} {deviation}", variance.sqrt());
        let own = covariances[cell / 2 * 4 + cell % 2 * 3];
        assert!((own.sqrt() / deviation - 1.0).abs() < 1e-9);
    }
}

#[test]
fn later_rows_may_be_at_new_places() {
    let table = table();
    let pooled = fitted(&table, CombineChoice::Auto);
    assert!(fitted(&table, CombineChoice::None).parts().combination.is_none());
    let inputs = InputPoints::new(2, 3, vec![0.7, 0.7, 151.0, 0.0, 0.0, 151.0]).unwrap();
    let more = Dataset::new(inputs.clone(), Observations::from_dense(2, 2, &[0.5, 0.1, 0.3, -0.4]).unwrap());
    let extended = pooled.with_more_rows(&more.unwrap()).unwrap();
    let found = extended.predict(&inputs, Quantity::Observation).unwrap();
    let rows = extended.predict_rows(Quantity::Observation).unwrap();
    let first_new = table.n_rows();
    for cell in 0..4 {
        assert_eq!(rows.mean(2 * first_new + cell), found.mean(cell));
        assert!(found.deviation(cell).is_finite() && found.deviation(cell) > 0.0);
    }
    assert_eq!(extended.table().inputs().point(RowIndex::new(first_new)), [0.7, 0.7, 151.0]);
}
