//! Seasons that outputs share: as good as seasons of their own where they are one, for more outputs than could have their own.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints, Observations};
use catena::index::RowIndex;
use catena_fit::forecast::{Rolling, rolling};
use catena_fit::{Budget, Fit, FitError, FitOptions, TimeOptions, TimeSpec, fit};
use catena_testkit::random::SeededDraws;

const DAY: usize = 24;

/// Outputs with a cycle of one shape, an amplitude and a phase of their own, a level each and noise.
fn table(n_outputs: usize, n_rows: usize) -> Dataset {
    let mut draws = SeededDraws::new(21);
    let mut levels = vec![0.0; n_outputs];
    let mut values = vec![];
    for row in 0..n_rows {
        for (output, level) in levels.iter_mut().enumerate() {
            *level += 0.04 * draws.normal();
            let angle = std::f64::consts::TAU * row as f64 / DAY as f64 + 0.9 * output as f64;
            let size = 1.0 + 0.2 * (output % 5) as f64;
            let value = *level + size * (angle.sin() + 0.4 * (2.0 * angle).cos()) + 0.2 * draws.normal();
            values.push(if draws.chance(0.1) { f64::NAN } else { value });
        }
    }
    let inputs = InputPoints::from_column((0..n_rows).map(|row| row as f64).collect()).unwrap();
    Dataset::new(inputs, Observations::from_dense(n_rows, n_outputs, &values).unwrap()).unwrap()
}

fn first_rows(table: &Dataset, count: usize) -> Dataset {
    table.select_rows(&(0..count).map(RowIndex::new).collect::<Vec<_>>()).unwrap()
}

fn learned(table: &Dataset, words: Option<&str>, periods: Vec<f64>) -> Result<Fit, FitError> {
    let number = |text: &str| text.parse().map_err(|_| "no number".to_owned());
    let spec = words.map(|text| TimeSpec::parse(text, &number).unwrap());
    let time = Some(TimeOptions { spec, periods, ..TimeOptions::default() });
    let options = FitOptions { time, budget: Budget::Quick, ..FitOptions::default() };
    fit(table, &options, &|_| ControlFlow::Continue(()))
}

/// RMSE of the model and of the last season, a day ahead.
fn day_ahead(fitted: &Fit, table: &Dataset, first: usize) -> (f64, f64, f64) {
    let asked = Rolling {
        first,
        every: 5,
        origins: 30,
        horizons: vec![DAY as f64],
        season: Some(DAY as f64),
        interval: 0.9,
    };
    let scores = rolling(fitted, table, &asked).unwrap();
    let of = |name: &str| scores.iter().find(|score| score.name == name).unwrap();
    (of("catena").rmse, of("last season").rmse, of("catena").coverage)
}

#[test]
fn one_shared_season_does_as_well_as_one_in_every_latent() {
    let whole = table(3, 600);
    let part = first_rows(&whole, 420);
    let own = learned(&part, Some("matern12+rw+qp(24,2)"), vec![]).unwrap();
    let shared = learned(&part, Some("matern12+rw+shared(24,2)"), vec![]).unwrap();
    assert_eq!(own.parts().model.state_dim(), 3 * 6);
    assert_eq!(shared.parts().model.state_dim(), 3 * 2 + 4);
    let (of_own, naive, _) = day_ahead(&own, &whole, 420);
    let (of_shared, _, coverage) = day_ahead(&shared, &whole, 420);
    // The level and the noise are most of what is left a day ahead, for any model.
    assert!(of_shared < 1.05 * of_own && of_shared < naive, "{of_shared} {of_own} {naive}");
    assert!((0.8..=0.99).contains(&coverage), "{coverage}");
}

#[test]
fn twenty_outputs_share_a_season_without_being_asked() {
    let whole = table(20, 330);
    let part = first_rows(&whole, 264);
    let fitted = learned(&part, None, vec![DAY as f64]).unwrap();
    let decisions = fitted.summary().decisions.join("; ");
    assert!(decisions.contains("each season is shared, as 2 processes"), "{decisions}");
    let sums = fitted.summary().sums();
    assert_eq!(sums.len(), 22, "twenty sums and two groups");
    assert!(sums[21].name.contains("shared"));
    let (rmse, naive, coverage) = day_ahead(&fitted, &whole, 264);
    assert!(rmse < naive, "{rmse} {naive}");
    assert!((0.75..=0.99).contains(&coverage), "{coverage}");
    let refused = learned(&part, Some("rw+qp(24,2)"), vec![]).unwrap_err();
    assert!(refused.to_string().contains("shared(24h)"), "{refused}");
    assert!(learned(&table(33, 40), None, vec![]).unwrap_err().to_string().contains("at most 32"));
}
