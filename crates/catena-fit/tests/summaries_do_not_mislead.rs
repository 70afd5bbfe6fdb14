//! Warnings name the column that causes them, and the parts of a summary agree with each other.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints, Observations};
use catena_fit::{CombineChoice, Event, FitOptions, Quantity, fit, fit_compared};

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

/// Noise with the variance of [`noise`] and with tails: uniform noise never leaves a 95 % interval.
fn tailed_noise(row: usize, output: usize) -> f64 {
    (0..3).map(|part| noise(row + 1000 * part, output + 3 * part)).sum::<f64>() / 3.0_f64.sqrt()
}

/// Three outputs of two waves with noise along one or two inputs; the second may be constant, the third has a gap.
fn table(dim: usize, constant: Option<f64>) -> Dataset {
    let n_rows = 240;
    let row = |row: usize| {
        let time = row as f64;
        let (one, two) = ((time / 9.0).sin(), (time / 23.0).cos());
        let third = if (60..90).contains(&row) { f64::NAN } else { one - two + 0.2 * tailed_noise(row, 2) };
        [one + 0.2 * tailed_noise(row, 0), constant.unwrap_or(two + 0.2 * tailed_noise(row, 1)), third]
    };
    let values: Vec<f64> = (0..n_rows).flat_map(row).collect();
    let places = (0..n_rows).flat_map(|row| [row as f64, ((row * 37) % 11) as f64][..dim].to_vec()).collect();
    let inputs = InputPoints::new(n_rows, dim, places).unwrap();
    Dataset::new(inputs, Observations::from_dense(n_rows, 3, &values).unwrap()).unwrap()
}

fn options() -> FitOptions {
    let output_names = ["one", "two", "three"].map(str::to_owned).to_vec();
    FitOptions { output_names, ..FitOptions::default() }
}

#[test]
fn a_constant_column_causes_no_warning_about_other_columns() {
    for dim in [1, 2] {
        for value in [0.0, 7.5] {
            let with = fit(&table(dim, Some(value)), &options(), &go_on).unwrap();
            let own = |warning: &&String| warning.starts_with("two is constant (240 equal values)");
            assert_eq!(with.summary().warnings.iter().filter(own).count(), 1);
            let others: Vec<&String> =
                with.summary().warnings.iter().filter(|warning| !own(warning)).collect();
            assert!(others.is_empty(), "{dim} inputs, value {value}: {others:?}");
            // Only outputs that vary are held out.
            let scored: Vec<&str> =
                with.summary().held_out_by_output.iter().map(|output| output.name.as_str()).collect();
            assert!(!scored.contains(&"two"), "{scored:?}");
            // A weighted mean of equal numbers: a product and a quotient, rounded.
            let mean = with.predict_rows(Quantity::Observation).unwrap().mean(3 * 5 + 1);
            assert!((mean - value).abs() <= 4.0 * f64::EPSILON * value, "{mean}");
        }
    }
}

#[test]
fn decisions_name_the_model_of_the_table_of_latents() {
    for (dim, combine) in [(1, CombineChoice::Auto), (1, CombineChoice::None), (2, CombineChoice::Auto)] {
        let found = fit(&table(dim, None), &FitOptions { combine, ..options() }, &go_on).unwrap();
        let summary = found.summary();
        let n_shared = summary.latents.iter().filter(|latent| latent.private_to.is_none()).count();
        let plural = if n_shared == 1 { "" } else { "s" };
        let kernel = &summary.latents[0].kernel;
        let name = match n_shared {
            0 => format!("0 shared latents + private ({kernel})"),
            _ => format!("{n_shared} shared latent{plural} ({kernel})"),
        };
        // With several inputs the family of the chosen method, with a pool that of its heaviest model.
        let last = summary.decisions.iter().rfind(|decision| decision.contains("shared latent")).unwrap();
        assert!(last.contains(&name), "{name}: {:?}", summary.decisions);
    }
}

#[test]
fn shares_have_no_sign_and_members_of_a_pool_are_no_reason_to_warn() {
    let found = fit(&table(1, None), &FitOptions { latents: Some(0), ..options() }, &go_on).unwrap();
    let text = found.summary().to_text(&|length| length.to_string());
    assert!(!text.contains("-0.0%"), "{text}");
    let pooled = fit(&table(1, None), &options(), &go_on).unwrap();
    if !pooled.summary().members.is_empty() {
        let about = |warning: &String| warning.contains("iterations");
        assert!(!pooled.summary().warnings.iter().any(about), "{:?}", pooled.summary().warnings);
    }
}

#[test]
fn the_held_out_cells_of_a_fit_give_the_scores_of_its_summary() {
    for (dim, combine) in [(1, CombineChoice::Auto), (1, CombineChoice::None), (2, CombineChoice::Auto)] {
        let options = FitOptions { combine, ..options() };
        let (found, compared) = fit_compared(&table(dim, None), &options, &go_on).unwrap();
        let compared = compared.unwrap();
        assert_eq!(found.summary(), fit(&table(dim, None), &options, &go_on).unwrap().summary());
        for (held_out, (name, scores)) in found.summary().held_out.iter().zip(&compared.scores) {
            assert_eq!((&held_out.name, held_out.rmse), (name, scores.scores.rmse));
            let again = compared.folds.difference(scores, scores);
            assert_eq!(again.0, 0.0);
        }
        // The single model, conditioned again on the training cells of each fold, has the scores of the summary. Both sweep the
        // same structure; the transform of inputs and outputs differs by rounding.
        let singles = compared.single_models(&found).unwrap();
        let predictions: Vec<_> = singles
            .into_iter()
            .map(|parts| {
                catena_fit::Fit::from_parts(parts).unwrap().predict_rows(Quantity::Observation).unwrap()
            })
            .collect();
        let again = compared.folds.scores(&predictions).unwrap().scores;
        let is_pool = !found.summary().members.is_empty();
        let single = &found.summary().held_out[usize::from(is_pool)];
        assert_eq!(again.n_cells, single.n_cells);
        assert!((again.rmse - single.rmse).abs() < 1e-9, "{dim}: {} {}", again.rmse, single.rmse);
        assert!((again.log_score - single.log_score).abs() < 1e-8);
    }
}
