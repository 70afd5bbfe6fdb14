//! The recursion equals the dense reference.

use super::{ChainProblem, Coding, Instructions, PaperRecursion, Smoothed};
use crate::random::Random;
use catena::data::{InputPoints, Observations};
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::units::{DistanceScale, LengthScale, Variance};
use catena_testkit::reference::DensePrior;

/// Mean and variance of every output at every point, and the log evidence, by the dense reference.
fn reference(problem: &ChainProblem) -> Smoothed {
    let (n_points, n_outputs) = (problem.steps.len(), problem.noise.len());
    let mut places = vec![0.0];
    for step in &problem.steps[1..] {
        places.push(places[places.len() - 1] + step);
    }
    let mut values = vec![f64::NAN; n_points * n_outputs];
    for at in 0..n_points {
        for cell in problem.row_start[at]..problem.row_start[at + 1] {
            values[at * n_outputs + problem.cell_outputs[cell]] = problem.cell_values[cell];
        }
    }
    let latent = |&scale: &f64| {
        Latent::new(Kernel::Matern32, StateKind::Derivative, LengthScale::new(scale).unwrap()).unwrap()
    };
    let latents: Vec<Latent> = problem.length_scales.iter().map(latent).collect();
    let mixing = MixingMatrix::shared(n_outputs, latents.len(), problem.mixing.clone()).unwrap();
    let noise = problem.noise.iter().map(|&noise| Variance::new(noise).unwrap()).collect();
    let model = Lmc::new(latents, mixing, noise).unwrap();
    let inputs = InputPoints::from_column(places).unwrap();
    let observations = Observations::from_dense(n_points, n_outputs, &values).unwrap();
    let posterior =
        DensePrior::euclidean(&model, &inputs, DistanceScale::ONE).condition(&observations).unwrap();
    Smoothed {
        means: posterior.means(),
        variances: posterior.variances(),
        log_evidence: posterior.log_evidence(),
    }
}

/// A small problem with missing values, an empty row, and a rarely observed output.
fn problem(n_latents: usize, n_outputs: usize, seed: u64) -> ChainProblem {
    let mut random = Random::new(seed);
    let n_points = 40;
    let mut row_start = vec![0];
    let (mut cell_outputs, mut cell_values) = (vec![], vec![]);
    for at in 0..n_points {
        for output in 0..n_outputs {
            let rate = if output == 0 { 0.2 } else { 0.7 };
            if at != 5 && random.uniform() < rate {
                cell_outputs.push(output);
                cell_values.push(random.normal());
            }
        }
        row_start.push(cell_outputs.len());
    }
    ChainProblem {
        steps: (0..n_points).map(|_| random.exponential()).collect(),
        length_scales: (0..n_latents).map(|latent| 1.5 + 2.0 * latent as f64).collect(),
        mixing: (0..n_latents * n_outputs).map(|_| random.normal()).collect(),
        noise: (0..n_outputs).map(|output| 0.05 + 0.1 * output as f64).collect(),
        row_start,
        cell_outputs,
        cell_values,
    }
}

#[test]
fn both_codings_equal_the_reference() {
    for (n_latents, n_outputs) in [(1, 1), (1, 3), (2, 3), (3, 4), (3, 5), (4, 7), (4, 2)] {
        let problem = problem(n_latents, n_outputs, 7 + n_latents as u64);
        let expected = reference(&problem);
        for coding in [Coding::AsWritten, Coding::Tuned] {
            let mut actual = Smoothed::default();
            let mut recursion = PaperRecursion::new(coding, n_latents).unwrap();
            // Twice: the second run reuses the buffers of the first.
            for _ in 0..2 {
                recursion.smooth(&problem, &mut actual);
                assert_agree(&actual, &expected);
            }
        }
    }
}

/// Jitter and clamp shift the results by about 1e-12 over the smallest eigenvalue of a predicted covariance, here
/// around 1e-4; the paper's own agreement with dense algebra is 7e-8.
fn assert_agree(actual: &Smoothed, expected: &Smoothed) {
    let evidence_error = (actual.log_evidence / expected.log_evidence - 1.0).abs();
    assert!(evidence_error < 1e-7, "evidence off by {evidence_error:e}");
    assert_eq!(actual.means.len(), expected.means.len());
    for at in 0..expected.means.len() {
        let deviation = expected.variances[at].sqrt();
        let mean_error = (actual.means[at] - expected.means[at]).abs() / deviation;
        let variance_error = (actual.variances[at] / expected.variances[at] - 1.0).abs();
        assert!(mean_error < 1e-7, "mean {at} off by {mean_error:e} standard deviations");
        assert!(variance_error < 1e-7, "variance {at} off by {variance_error:e}");
    }
}

#[test]
fn every_machine_gets_the_same_answers() {
    let problem = problem(3, 4, 3);
    for coding in [Coding::AsWritten, Coding::Tuned] {
        let (mut detected, mut baseline) = (Smoothed::default(), Smoothed::default());
        PaperRecursion::new(coding, 3).unwrap().smooth(&problem, &mut detected);
        let mut recursion = PaperRecursion::new(coding, 3).unwrap();
        recursion.instructions = Instructions::Baseline;
        recursion.smooth(&problem, &mut baseline);
        assert_agree(&detected, &baseline);
    }
}

#[test]
fn other_sizes_are_refused() {
    assert!(PaperRecursion::new(Coding::Tuned, 0).is_none());
    assert!(PaperRecursion::new(Coding::AsWritten, 9).is_none());
}
