//! The rival must be right to be a rival: against a dense Gaussian process written out cell by cell.

use super::{ChainProblem, Coding, Instructions, PaperRecursion, Smoothed};
use crate::random::Random;

/// Mean and variance of every output at every point, and the log evidence, by dense algebra over observed cells.
fn dense(problem: &ChainProblem) -> Smoothed {
    let n_outputs = problem.noise.len();
    let n_latents = problem.length_scales.len();
    let mut places = vec![0.0];
    for step in &problem.steps[1..] {
        places.push(places[places.len() - 1] + step);
    }
    let covariance = |(i, d): (usize, usize), (j, e): (usize, usize)| -> f64 {
        let distance: f64 = (places[i] - places[j] as f64).abs();
        (0..n_latents)
            .map(|latent| {
                let u = 3.0_f64.sqrt() * distance / problem.length_scales[latent];
                let weights = problem.mixing[d * n_latents + latent] * problem.mixing[e * n_latents + latent];
                weights * (1.0 + u) * (-u).exp()
            })
            .sum()
    };
    let mut cells = vec![];
    for i in 0..places.len() {
        for at in problem.row_start[i]..problem.row_start[i + 1] {
            cells.push((i, problem.cell_outputs[at]));
        }
    }
    let n = cells.len();
    let mut factor = vec![vec![0.0; n]; n];
    for a in 0..n {
        for b in 0..=a {
            let noise = if a == b { problem.noise[cells[a].1] } else { 0.0 };
            let known: f64 = (0..b).map(|k| factor[a][k] * factor[b][k]).sum();
            let rest = covariance(cells[a], cells[b]) + noise - known;
            factor[a][b] = if a == b { rest.sqrt() } else { rest / factor[b][b] };
        }
    }
    let solve = |mut right: Vec<f64>| {
        for a in 0..n {
            let known: f64 = (0..a).map(|k| factor[a][k] * right[k]).sum();
            right[a] = (right[a] - known) / factor[a][a];
        }
        right
    };
    let whitened = solve(problem.cell_values.clone());
    let half_log_determinant: f64 = (0..n).map(|a| factor[a][a].ln()).sum();
    let squares: f64 = whitened.iter().map(|value| value * value).sum();
    let mut result = Smoothed {
        log_evidence: -0.5 * (squares + n as f64 * std::f64::consts::TAU.ln()) - half_log_determinant,
        ..Smoothed::default()
    };
    for i in 0..places.len() {
        for d in 0..n_outputs {
            let across = solve(cells.iter().map(|&cell| covariance((i, d), cell)).collect());
            result.means.push(across.iter().zip(&whitened).map(|(a, b)| a * b).sum());
            let removed: f64 = across.iter().map(|value| value * value).sum();
            result.variances.push(covariance((i, d), (i, d)) - removed);
        }
    }
    result
}

/// A small problem with holes, an empty row, and an output that is seen rarely.
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
fn both_codings_equal_dense_gaussian_process() {
    for (n_latents, n_outputs) in [(1, 1), (1, 3), (2, 3), (3, 4), (3, 5), (4, 7), (4, 2)] {
        let problem = problem(n_latents, n_outputs, 7 + n_latents as u64);
        let expected = dense(&problem);
        for coding in [Coding::AsWritten, Coding::Tuned] {
            let mut actual = Smoothed::default();
            let mut recursion = PaperRecursion::new(coding, n_latents).unwrap();
            // Twice: the second run must not see what the first left in the buffers.
            for _ in 0..2 {
                recursion.smooth(&problem, &mut actual);
                assert_agree(&actual, &expected);
            }
        }
    }
}

/// Jitter and clamp shift the answers by about 1e-12 over the smallest eigenvalue of a predicted covariance, here
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
