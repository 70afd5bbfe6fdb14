//! A fit that is a pool of members predicts, draws, takes rows and is rebuilt like a single model.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

use std::ops::ControlFlow;
use std::sync::OnceLock;

use catena::data::{Dataset, InputPoints, Observations};
use catena_fit::{
    CombineChoice, Event, Fit, FitOptions, FitParts, LiveFit, Member, MemberKind, Predictive, Quantity, fit,
};

fn go_on(_: Event) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A number in [−1, 1) from a hash of two numbers.
fn noise(row: usize, column: usize) -> f64 {
    let mut state = (row as u64 * 31 + column as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state ^= state >> 29;
    state = state.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state ^= state >> 32;
    (state >> 11) as f64 * (0.5_f64).powi(52) - 1.0
}

/// Four outputs that depend nonlinearly on two slow processes and a rough one, which reaches the last output two rows later. The
/// last output is missing for a fifth of the rows, the second for five rows of every forty.
fn outage(n_rows: usize) -> Dataset {
    let values: Vec<f64> = (0..n_rows)
        .flat_map(|row| {
            let time = row as f64;
            let (one, two) = ((time / 40.0).sin() + 0.3 * (time / 7.0).cos(), (time / 60.0 + 1.0).cos());
            let rough = |row: usize| 0.7 * noise(row, 9);
            let clean = [one + rough(row + 2), two, one * two, (one + two).tanh() + rough(row)];
            let is_missing = (n_rows / 2..n_rows / 2 + n_rows / 5).contains(&row);
            let value = |column: usize| match (column, is_missing) {
                (3, true) => f64::NAN,
                (1, _) if row % 40 < 5 => f64::NAN,
                _ => clean[column] + 0.1 * noise(row, column),
            };
            [value(0), value(1), value(2), value(3)]
        })
        .collect();
    let inputs = InputPoints::from_column((0..n_rows).map(|row| row as f64).collect()).unwrap();
    Dataset::new(inputs, Observations::from_dense(n_rows, 4, &values).unwrap()).unwrap()
}

fn pool() -> &'static Fit {
    static FIT: OnceLock<Fit> = OnceLock::new();
    FIT.get_or_init(|| {
        let fitted = fit(&outage(300), &FitOptions::default(), &go_on).unwrap();
        assert!(members(&fitted).len() > 1, "{:?}", fitted.summary().decisions);
        fitted
    })
}

fn members(fit: &Fit) -> &[Member] {
    &fit.parts().combination.as_ref().unwrap().members
}

fn bits(predictive: &Predictive) -> Vec<u64> {
    let cells = 0..predictive.n_rows() * predictive.n_outputs();
    cells.flat_map(|at| [predictive.mean(at).to_bits(), predictive.quantile(at, 0.975).to_bits()]).collect()
}

/// Four waves with a gap of 40 rows each.
fn waves() -> Dataset {
    let value = |row: usize, output: usize| {
        let is_missing = (60 + 70 * output..100 + 70 * output).contains(&row);
        let wave = (row as f64 / (14 + 3 * output) as f64 + output as f64).sin();
        if is_missing { f64::NAN } else { wave }
    };
    let values: Vec<f64> = (0..1600).map(|at| value(at / 4, at % 4)).collect();
    let inputs = InputPoints::from_column((0..400).map(f64::from).collect()).unwrap();
    Dataset::new(inputs, Observations::from_dense(400, 4, &values).unwrap()).unwrap()
}

#[test]
fn a_single_model_with_narrow_intervals_has_a_factor_on_its_deviations() {
    // A Matérn-1/2 process follows each wave from row to row and underestimates how far it moves within a gap.
    let options = FitOptions {
        combine: CombineChoice::None,
        kernel: Some("matern12".parse().unwrap()),
        latents: Some(0),
        private: Some(true),
        ..FitOptions::default()
    };
    let wide = fit(&waves(), &options, &go_on).unwrap();
    let combination = wide.parts().combination.as_ref().unwrap();
    let factor = combination.components[0].at_rows[0].sqrt().recip();
    assert!(combination.members.len() == 1 && factor > 1.5, "{factor}");
    assert!(wide.summary().members.is_empty());
    let said = format!("standard deviations are multiplied by {factor:.2}");
    assert!(wide.summary().decisions.iter().any(|decision| decision.contains(&said)));
    // The means are those of the model, the standard deviations its own times the factor, to rounding.
    let narrow = Fit::from_parts(FitParts { combination: None, ..wide.parts().clone() }).unwrap();
    let quantity = Quantity::Observation;
    let between = InputPoints::from_column(vec![70.5, 399.0, 410.0]).unwrap();
    for (wide, narrow) in [
        (wide.predict_rows(quantity).unwrap(), narrow.predict_rows(quantity).unwrap()),
        (wide.predict(&between, quantity).unwrap(), narrow.predict(&between, quantity).unwrap()),
    ] {
        for at in 0..wide.n_rows() * wide.n_outputs() {
            assert!((wide.mean(at) - narrow.mean(at)).abs() < 1e-12);
            assert!((wide.deviation(at) / narrow.deviation(at) / factor - 1.0).abs() < 1e-12);
        }
    }
    // The truth of the gaps is known: intervals cover more of it than without the factor, and at least 95 %.
    let covered = |fit: &Fit| {
        let rows = fit.predict_rows(quantity).unwrap();
        let inside = |(row, output): (usize, usize)| {
            let truth = (row as f64 / (14 + 3 * output) as f64 + output as f64).sin();
            (0.025..=0.975).contains(&rows.probability_below(row * 4 + output, truth))
        };
        let gaps =
            (0..4).flat_map(|output| (60 + 70 * output..100 + 70 * output).map(move |row| (row, output)));
        gaps.filter(|&cell| inside(cell)).count() as f64 / 160.0
    };
    assert!(covered(&narrow) < 0.9 && covered(&wide) >= 0.95, "{} {}", covered(&narrow), covered(&wide));
}

#[test]
fn weights_sum_to_one_and_the_summary_lists_the_members() {
    let (parts, summary) = (pool().parts(), pool().summary());
    let total: f64 = parts.combination.as_ref().unwrap().members.iter().map(|member| member.weight).sum();
    assert!((total - 1.0).abs() < 1e-9, "{total}");
    assert_eq!(summary.members.len(), members(pool()).len());
    assert_eq!(summary.held_out[0].name, "pool");
    let text = summary.to_text(&|length| length.to_string());
    assert!(members(pool()).iter().all(|member| text.contains(&member.name)), "{text}");
}

#[test]
fn a_pool_is_better_on_held_out_cells_than_each_member() {
    let summary = pool().summary();
    for member in &summary.members {
        assert!(summary.held_out[0].log_score >= member.alone.log_score - 1e-9, "{member:?}");
    }
}

#[test]
fn rebuilt_from_its_parts_it_predicts_the_same_bits() {
    let again = Fit::from_parts(pool().parts().clone()).unwrap();
    for quantity in [Quantity::Function, Quantity::Observation] {
        assert_eq!(
            bits(&again.predict_rows(quantity).unwrap()),
            bits(&pool().predict_rows(quantity).unwrap())
        );
    }
}

#[test]
fn a_row_is_predicted_alike_by_place_and_by_number() {
    let fitted = pool();
    let at = InputPoints::from_column(vec![160.0, 12.0]).unwrap();
    let by_place = fitted.predict(&at, Quantity::Observation).unwrap();
    let by_number = fitted.predict_rows(Quantity::Observation).unwrap();
    for (point, row) in [(0, 160), (1, 12)] {
        for output in 0..4 {
            let (one, other) = (by_place.mean(point * 4 + output), by_number.mean(row * 4 + output));
            assert!((one - other).abs() < 1e-9, "row {row}, output {output}: {one} and {other}");
        }
    }
}

#[test]
fn draws_and_covariances_have_the_moments_of_the_prediction() {
    let fitted = pool();
    // A row inside the outage, and a place between rows.
    let at = InputPoints::from_column(vec![170.0, 90.5]).unwrap();
    let predicted = fitted.predict(&at, Quantity::Observation).unwrap();
    let covariances = fitted.covariances(&at, Quantity::Observation).unwrap();
    let n_draws = 4000;
    let draws = fitted.draws(&at, Quantity::Observation, n_draws, 5).unwrap();
    for cell in 0..8 {
        let deviation = predicted.deviation(cell);
        let (point, output) = (cell / 4, cell % 4);
        let variance = covariances[point * 16 + output * 5];
        assert!((variance.sqrt() / deviation - 1.0).abs() < 1e-9, "cell {cell}");
        let values = || draws.iter().skip(cell).step_by(8);
        let mean = values().sum::<f64>() / n_draws as f64;
        let square = values().map(|value| (value - mean).powi(2)).sum::<f64>() / n_draws as f64;
        // Five standard errors of a mean, and of a variance with the kurtosis of a mixture (at most 6 here).
        let error = deviation / (n_draws as f64).sqrt();
        assert!((mean - predicted.mean(cell)).abs() < 5.0 * error, "cell {cell}: {mean}");
        let spread = (5.0 / n_draws as f64).sqrt();
        assert!((square / variance - 1.0).abs() < 5.0 * spread, "cell {cell}: {square} against {variance}");
    }
    assert_eq!(draws, fitted.draws(&at, Quantity::Observation, n_draws, 5).unwrap());
}

#[test]
fn more_rows_keep_the_members_and_streams_use_the_single_model() {
    let (all, n_before) = (outage(300), 280);
    let rows: Vec<_> = all.inputs().rows().collect();
    let first = fit(&all.select_rows(&rows[..n_before]).unwrap(), &FitOptions::default(), &go_on).unwrap();
    let longer = first.with_more_rows(&all.select_rows(&rows[n_before..]).unwrap()).unwrap();
    assert_eq!(members(&longer).len(), members(&first).len());
    assert_eq!(longer.predict_rows(Quantity::Function).unwrap().n_rows(), 300);
    let mut live = LiveFit::new(pool()).unwrap();
    assert!(live.marginals_at(&[170.0], Quantity::Function).unwrap().mean(3).is_finite());
}

#[test]
fn combine_none_gives_a_single_model() {
    let options = FitOptions { combine: CombineChoice::None, ..FitOptions::default() };
    let single = fit(&outage(300), &options, &go_on).unwrap();
    assert!(single.parts().combination.is_none() && single.summary().members.is_empty());
    // A requested number of latents is a request for one model, too.
    let options = FitOptions { latents: Some(2), ..FitOptions::default() };
    assert!(fit(&outage(300), &options, &go_on).unwrap().parts().combination.is_none());
}

#[test]
fn at_most_one_member_is_the_model_of_the_fit() {
    let n_best = members(pool()).iter().filter(|member| matches!(member.kind, MemberKind::Best)).count();
    assert!(n_best <= 1);
}
