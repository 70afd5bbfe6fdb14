//! Chains on which the plain recursions fail, against 80-digit posteriors (`stress/make_stress.py` makes them).

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on must fail")]

use catena::data::{InputPoints, Observations};
use catena::graph::FactorGraph;
use catena::index::RowIndex;
use catena::inference::{Form, Workspace};
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::posterior::Posterior;
use catena::structure::{Tree, sorted_chain};
use catena::units::{LengthScale, Variance};
use catena_testkit::random::SeededDraws;

const FIXTURE: &str = include_str!("stress/stress.txt");
const LARGEST_VARIANCE_ERROR: f64 = 1e-9;
/// In posterior standard deviations.
const LARGEST_MEAN_ERROR: f64 = 1e-7;

struct Case {
    name: String,
    model: Lmc,
    tree: Tree,
    observations: Observations,
    log_evidence: f64,
    /// Row-major C×2.
    means: Vec<f64>,
    variances: Vec<f64>,
}

/// A hexadecimal `f64` as Python prints it.
fn from_hex(text: &str) -> f64 {
    let (sign, digits) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
    let (mantissa, exponent) = digits.strip_prefix("0x").unwrap().split_once('p').unwrap();
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let number = u64::from_str_radix(&format!("{whole}{fraction}"), 16).unwrap();
    let exponent = exponent.parse::<i32>().unwrap() - 4 * fraction.len() as i32;
    sign * number as f64 * 2.0_f64.powi(exponent)
}

/// The fields of the next line, which must start with this word.
fn fields<'a>(lines: &mut impl Iterator<Item = &'a str>, key: &str) -> Vec<&'a str> {
    let mut fields = lines.next().unwrap().split(' ');
    assert_eq!(fields.next(), Some(key), "the fixture is out of step");
    fields.collect()
}

/// The model of the next case, and the names of its kernels.
fn read_model<'a>(lines: &mut impl Iterator<Item = &'a str>) -> (Lmc, String) {
    let (mut kernels, mut latents, mut weights, mut noise) = (vec![], vec![], vec![], vec![]);
    for _ in 0..2 {
        let latent = fields(lines, "latent");
        let kernel = *Kernel::ALL.iter().find(|kernel| kernel.name() == latent[0]).unwrap();
        let length_scale = LengthScale::new(from_hex(latent[1])).unwrap();
        latents.push(Latent::new(kernel, StateKind::Derivative, length_scale).unwrap());
        kernels.push(kernel.name());
    }
    for _ in 0..2 {
        let output = fields(lines, "output");
        weights.extend(output[..2].iter().map(|weight| from_hex(weight)));
        noise.push(Variance::new(from_hex(output[2])).unwrap());
    }
    let mixing = MixingMatrix::shared(2, 2, weights).unwrap();
    (Lmc::new(latents, mixing, noise).unwrap(), kernels.join(" + "))
}

fn read_cases() -> Vec<Case> {
    let mut lines = FIXTURE.lines().filter(|line| !line.starts_with('#')).peekable();
    let mut cases = vec![];
    while lines.peek().is_some() {
        let name = fields(&mut lines, "case")[0].to_owned();
        let (model, kernels) = read_model(&mut lines);
        let log_evidence = fields(&mut lines, "log_evidence")[0].parse().unwrap();
        let n_rows: usize = fields(&mut lines, "rows")[0].parse().unwrap();
        let (mut places, mut values, mut means, mut variances) = (vec![], vec![], vec![], vec![]);
        for line in lines.by_ref().take(n_rows) {
            let row: Vec<&str> = line.split(' ').collect();
            places.push(from_hex(row[0]));
            values.extend(row[1..3].iter().map(|cell| if *cell == "-" { f64::NAN } else { from_hex(cell) }));
            for output in 0..2 {
                means.push(row[3 + 2 * output].parse().unwrap());
                variances.push(row[4 + 2 * output].parse().unwrap());
            }
        }
        let tree = sorted_chain(&InputPoints::from_column(places).unwrap()).unwrap();
        let observations = Observations::from_dense(n_rows, 2, &values).unwrap();
        let name = format!("{name} ({kernels})");
        cases.push(Case { name, model, tree, observations, log_evidence, means, variances });
    }
    cases
}

/// The largest relative variance error, and the largest mean error in standard deviations.
fn errors(case: &Case, means: &[f64], variances: &[f64]) -> (f64, f64) {
    let mut worst = (0.0_f64, 0.0_f64);
    for at in 0..case.means.len() {
        let variance_error = (variances[at] / case.variances[at] - 1.0).abs();
        let mean_error = (means[at] - case.means[at]).abs() / case.variances[at].sqrt();
        assert!(variance_error.is_finite() && mean_error.is_finite(), "{} at row {}", case.name, at / 2);
        worst = (worst.0.max(variance_error), worst.1.max(mean_error));
    }
    worst
}

#[test]
fn errors_stay_below_their_bounds_in_the_form_that_is_chosen() {
    let cases = read_cases();
    assert_eq!(cases.len(), 12);
    println!(
        "{:<50} {:>10} {:>14} {:>12} {:>14}",
        "case", "form", "variance error", "mean error", "evidence error"
    );
    let mut failures = vec![];
    for case in &cases {
        let graph = FactorGraph::new(&case.model, &case.tree, &case.observations).unwrap();
        let chosen = Workspace::new().marginals(&graph).unwrap().form;
        for form in [Form::Covariance, Form::Information, Form::SquareRoot] {
            let Ok(marginals) = Workspace::with_form(form).marginals(&graph) else {
                assert!(form != chosen, "{}: the chosen form refuses", case.name);
                continue;
            };
            let prediction = &marginals.prediction;
            let (variance_error, mean_error) = errors(case, prediction.means(), prediction.variances());
            let evidence_error = (marginals.log_evidence / case.log_evidence - 1.0).abs();
            let mark = if form == chosen { "*" } else { " " };
            let (name, form_name) = (&case.name, format!("{form:?}{mark}"));
            println!(
                "{name:<50} {form_name:>10} {variance_error:>14.1e} {mean_error:>12.1e} {evidence_error:>14.1e}"
            );
            let is_within = variance_error <= LARGEST_VARIANCE_ERROR && mean_error <= LARGEST_MEAN_ERROR;
            if form == chosen && !(is_within && evidence_error <= 1e-9) {
                failures.push(format!("{name}: variance {variance_error:e}, mean {mean_error:e}"));
            }
        }
        // The evidence asked for alone may come from another form.
        let evidence = Workspace::new().log_evidence(&graph).unwrap();
        let evidence_error = (evidence / case.log_evidence - 1.0).abs();
        if evidence_error.is_nan() || evidence_error > 1e-9 {
            failures.push(format!("{}: evidence {evidence_error:e}", case.name));
        }
        // What the joint posterior reports is held to the same bounds.
        let posterior = Posterior::new(&graph).unwrap();
        let prediction = posterior.prediction();
        let (variance_error, mean_error) = errors(case, prediction.means(), prediction.variances());
        if !(variance_error <= LARGEST_VARIANCE_ERROR && mean_error <= LARGEST_MEAN_ERROR) {
            failures.push(format!("{}, joint: variance {variance_error:e}, mean {mean_error:e}", case.name));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn eight_latents_on_a_hundred_thousand_points_stay_finite_and_symmetric() {
    const POINTS: usize = 100_000;
    const OUTPUTS: usize = 3;
    const LATENTS: usize = 8;
    let mut draws = SeededDraws::new(12);
    let places = (0..POINTS).scan(0.0, |place, _| {
        *place += if draws.chance(0.1) { 0.0 } else { draws.uniform(0.0, 0.1) };
        Some(*place)
    });
    let places: Vec<f64> = places.collect();
    let inputs = InputPoints::from_column(places).unwrap();
    let tree = sorted_chain(&inputs).unwrap();
    let latents = (0..LATENTS).map(|at| {
        let length_scale = LengthScale::new(0.1 * (at + 1) as f64).unwrap();
        Latent::new(Kernel::Matern32, StateKind::Derivative, length_scale).unwrap()
    });
    let latents: Vec<Latent> = latents.collect();
    let weights = (0..OUTPUTS * LATENTS).map(|_| draws.normal()).collect();
    let mixing = MixingMatrix::shared(OUTPUTS, LATENTS, weights).unwrap();
    let noise = vec![Variance::new(0.01).unwrap(); OUTPUTS];
    let model = Lmc::new(latents, mixing, noise).unwrap();
    let values: Vec<f64> =
        (0..POINTS * OUTPUTS).map(|_| if draws.chance(0.5) { f64::NAN } else { draws.normal() }).collect();
    let observations = Observations::from_dense(POINTS, OUTPUTS, &values).unwrap();
    let graph = FactorGraph::new(&model, &tree, &observations).unwrap();
    let posterior = Posterior::new(&graph).unwrap();
    let prediction = posterior.prediction();
    assert!(prediction.means().iter().all(|mean| mean.is_finite()));
    assert!(prediction.variances().iter().all(|variance| variance.is_finite() && *variance > 0.0));
    let n = model.state_dim();
    for row in (0..POINTS).step_by(997).map(RowIndex::new) {
        let covariance = posterior.state_covariance(row);
        let largest = covariance.iter().fold(0.0_f64, |most, entry| most.max(entry.abs()));
        for i in 0..n {
            assert!(covariance[i * n + i] > 0.0, "variance of component {i} at row {row}");
            for j in 0..n {
                let difference = (covariance[i * n + j] - covariance[j * n + i]).abs();
                assert!(difference <= 1e-14 * largest, "({i}, {j}) at row {row}: {difference:e}");
            }
        }
    }
}
