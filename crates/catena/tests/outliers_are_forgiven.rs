//! Student-t noise: with many degrees of freedom it is Gaussian, and a value that is far off moves the mean little.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::data::{Cell, InputPoints, Observations};
use catena::index::RowIndex;
use catena::kernel::{Kernel, StateKind};
use catena::likelihood::{
    Approximation, ApproximationSettings, ApproximationStop, Gaussian, LikelihoodError, StudentT, approximate,
};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::structure::{Tree, sorted_chain};
use catena::units::{LengthScale, UnitError, Variance};
use catena_testkit::compare::{Tolerance, assert_close};
use catena_testkit::reference::DensePrior;
use catena_testkit::scenario::{Limits, Scenario, Shape};

fn student(scenario: &Scenario, degrees: f64, settings: ApproximationSettings) -> Approximation<'_> {
    let likelihood = StudentT::new(degrees).unwrap();
    approximate(&scenario.model, &scenario.tree, &scenario.observations, &likelihood, settings).unwrap()
}

/// By cell, the expected square of its residual in units of the noise.
fn squares(scenario: &Scenario, means: &[f64], variances: &[f64]) -> Vec<f64> {
    let n_outputs = scenario.model.n_outputs();
    let square = |(row, cell): (RowIndex, Cell)| {
        let at = row.get() * n_outputs + cell.output.get();
        let noise = cell.noise_variance.unwrap_or(scenario.model.noise()[cell.output.get()].get());
        ((cell.value - means[at]).powi(2) + variances[at]) / noise
    };
    scenario.observations.cells().map(square).collect()
}

#[test]
fn with_many_degrees_it_is_gaussian_noise() {
    for shape in [Shape::Chain, Shape::Tree] {
        for scenario in Scenario::drawn(shape, Limits::NOISY, 3100..3112) {
            let dense = DensePrior::on_structure(&scenario.model, &scenario.tree);
            let dense = dense.condition(&scenario.observations).unwrap();
            let n_outputs = scenario.model.n_outputs();
            for degrees in [1e2, 1e4, 1e8, 1e15, 1e300] {
                let found = student(&scenario, degrees, ApproximationSettings::default());
                // A cell's term is at least log N − (q + ½)/2ν, less the least precision's share, and at most log N + q²/4ν,
                // because log Γ(x + ½) − log Γ(x) lies between ½log x − 1/8x and ½log x, and log(1 + x) between x − x²/2 and x;
                // q² stands for its mean, at most three times its square. The Gaussian posterior makes the first a bound
                // from below, the one found makes the second a bound from above.
                let gaussian = squares(&scenario, &dense.means(), &dense.variances());
                let settled = squares(&scenario, found.prediction.means(), found.prediction.variances());
                let below: f64 = gaussian.iter().map(|q| (1.002 * q + 0.5) / (2.0 * degrees)).sum();
                let above: f64 = settled.iter().map(|q| 3.0 * q * q / (4.0 * degrees)).sum();
                let rounding = 1e-10 * (1.0 + gaussian.len() as f64);
                let difference = found.lower_bound - dense.log_evidence();
                let allowed = -below - rounding..=above + rounding;
                assert!(allowed.contains(&difference), "{difference:e}, {allowed:?}, {}", scenario.label);
            }
            let found = student(&scenario, 1e15, ApproximationSettings::default());
            let tolerance = Tolerance::relative(1e-9);
            assert_close(&scenario.label, n_outputs, found.prediction.means(), &dense.means(), tolerance);
        }
    }
}

/// One output along a line with neighbors close enough that they know a cell better than the cell does.
fn wave(n_rows: usize, noise: f64) -> (Lmc, Tree, Vec<f64>) {
    let times: Vec<f64> = (0..n_rows).map(|row| row as f64).collect();
    let latent =
        Latent::new(Kernel::Matern52, StateKind::Derivative, LengthScale::new(6.0).unwrap()).unwrap();
    let mixing = MixingMatrix::shared(1, 1, vec![1.0]).unwrap();
    let model = Lmc::new(vec![latent], mixing, vec![Variance::new(noise).unwrap()]).unwrap();
    // Residuals of about one deviation, drawn once.
    let value = |time: &f64| (time / 6.0).sin() + noise.sqrt() * 1.4 * (time * 12.9898).sin();
    let values = times.iter().map(value).collect();
    (model, sorted_chain(&InputPoints::from_column(times).unwrap()).unwrap(), values)
}

#[test]
fn a_value_fifty_deviations_off_moves_the_mean_little() {
    const OUTLIER: usize = 12;
    const DEVIATIONS: f64 = 50.0;
    let (noise, degrees) = (0.01_f64, 4.0);
    let (model, tree, mut values) = wave(30, noise);
    let n_rows = values.len();
    values[OUTLIER] += DEVIATIONS * noise.sqrt();
    let with = Observations::from_dense(n_rows, 1, &values).unwrap();
    values[OUTLIER] = f64::NAN;
    let without = Observations::from_dense(n_rows, 1, &values).unwrap();

    let student = StudentT::new(degrees).unwrap();
    let forgiving = |table: &Observations| {
        let found = approximate(&model, &tree, table, &student, ApproximationSettings::default()).unwrap();
        assert_eq!(found.stop, ApproximationStop::Converged);
        found.prediction
    };
    let strict = |table: &Observations| {
        approximate(&model, &tree, table, &Gaussian, ApproximationSettings::default()).unwrap().prediction
    };
    let (left_out, strict_left_out) = (forgiving(&without), strict(&without));
    let forgiven: Vec<f64> =
        forgiving(&with).means().iter().zip(left_out.means()).map(|(with, without)| with - without).collect();
    let moved: Vec<f64> = strict(&with)
        .means()
        .iter()
        .zip(strict_left_out.means())
        .map(|(with, without)| with - without)
        .collect();

    // Without the cell its place has mean m and variance v; the cell, with noise r, moves the mean by (y − m)·v/(v + r). Gaussian
    // noise keeps r = s². Student's t has r = (ν s² + e)/(ν + 1), and e is at least the square of the residual. The value is off by 50
    // deviations and less than 2 of noise, m by less than 2: y − m is between 46 and 54 deviations, and after a move of less
    // than one the residual is at least 45.
    let off = |means: &[f64]| (means[OUTLIER] - (OUTLIER as f64 / 6.0).sin()).abs() / noise.sqrt();
    assert!(off(left_out.means()) < 2.0 && off(strict_left_out.means()) < 2.0);
    let (v, v_strict) = (left_out.variances()[OUTLIER], strict_left_out.variances()[OUTLIER]);
    let pull = (degrees + 1.0) * 45.0 / (degrees + 45.0_f64.powi(2)) / noise.sqrt();
    // Half of it, for the weights of the other cells answer to the move as well, by less than the move itself.
    let factor = 0.5 * 46.0 * noise.sqrt() * (v_strict / (v_strict + noise)) / (v * pull);
    assert!(factor > 50.0, "{factor}");
    assert!(forgiven[OUTLIER].abs() < noise.sqrt(), "{}", forgiven[OUTLIER]);
    let measured = moved[OUTLIER] / forgiven[OUTLIER].abs();
    assert!(measured > factor, "moved {measured} times less, expected more than {factor}");
    let farthest = |moves: &[f64]| moves.iter().fold(0.0_f64, |farthest, one| farthest.max(one.abs()));
    assert!(farthest(&forgiven) * factor < farthest(&moved), "{forgiven:?}");
}

#[test]
fn the_same_table_gives_the_same_bits() {
    for shape in [Shape::Chain, Shape::Tree] {
        let scenario = Scenario::draw(shape, Limits::MODERATE, 3202);
        let once = student(&scenario, 3.0, ApproximationSettings::default());
        let again = student(&scenario, 3.0, ApproximationSettings::default());
        assert_eq!(
            (&once.prediction, &once.bounds, once.stop),
            (&again.prediction, &again.bounds, again.stop)
        );
    }
}

#[test]
fn bad_degrees_and_numbers_that_overflow_are_errors() {
    for bad in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = StudentT::new(bad).unwrap_err();
        assert!(matches!(error, UnitError::DegreesOfFreedom(found) if found.to_bits() == bad.to_bits()));
        assert!(error.to_string().contains("degrees of freedom"), "{error}");
    }
    let (model, tree, _) = wave(3, 0.04);
    let student = StudentT::new(4.0).unwrap();
    let table = Observations::from_dense(3, 1, &[0.0, 1e200, 0.0]).unwrap();
    let error = approximate(&model, &tree, &table, &student, ApproximationSettings::default()).unwrap_err();
    assert!(matches!(error, LikelihoodError::Inference(_) | LikelihoodError::Density { .. }), "{error:?}");
    // So few degrees that their own ratio overflows, and as many as there are: a number or an error, no panic.
    let table = Observations::from_dense(3, 1, &[0.0, 1.0, f64::NAN]).unwrap();
    for degrees in [f64::MIN_POSITIVE, 1e-300, 1e-9, 1e300, f64::MAX] {
        let extreme = StudentT::new(degrees).unwrap();
        match approximate(&model, &tree, &table, &extreme, ApproximationSettings::default()) {
            Ok(found) => assert!(found.lower_bound.is_finite(), "{degrees:e}"),
            Err(error) => assert!(matches!(error, LikelihoodError::Density { .. }), "{degrees:e}: {error:?}"),
        }
    }
}
