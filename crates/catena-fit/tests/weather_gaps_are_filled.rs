//! The demo's promise, over a year: ten 96-hour gaps each in a temperature and a pressure are filled from the other outputs.

use std::ops::ControlFlow;

use catena_fit::scores::score;
use catena_fit::{Budget, FitOptions, Quantity, fit};
use catena_testkit::weather_table::{N_WINDOWS, weather_table, window};

/// Ridge regression on the other outputs reaches 1.88 °F and, with their holes at the mean, 1.37 hPa; what a single output
/// says of itself is off by about 8 °F.
#[test]
fn ten_windows() {
    let table = weather_table(["temp_LGA", "pressure_JFK"]);
    let options = FitOptions { budget: Budget::Quick, ..FitOptions::default() };
    let fitted = fit(&table.dataset().unwrap(), &options, &|_| ControlFlow::Continue(())).unwrap();
    let predictive = fitted.predict_rows(Quantity::Observation).unwrap();
    let ones = vec![1.0; table.n_outputs];
    for (output, bar) in [(6, 1.9), (5, 0.7)] {
        let of_output = || table.hidden.iter().copied().filter(|(at, _)| at % table.n_outputs == output);
        let mut errors: Vec<f64> = (0..N_WINDOWS)
            .map(|number| {
                let rows = window(number);
                let cells = of_output().filter(|(at, _)| rows.contains(&(at / table.n_outputs)));
                score(&predictive, cells, &ones).rmse
            })
            .collect();
        assert!(errors.iter().all(|error| error.is_finite()), "a window without truth: {errors:?}");
        errors.sort_by(f64::total_cmp);
        let median = 0.5 * (errors[N_WINDOWS / 2 - 1] + errors[N_WINDOWS / 2]);
        let coverage = score(&predictive, of_output(), &ones).coverage;
        assert!(median <= bar, "output {output}: median {median} of {errors:?}");
        assert!((0.90..=0.99).contains(&coverage), "output {output}: 95 % bands hold {coverage}");
    }
}
