//! The dense reference: a textbook Gaussian process for the table of the tests.

use crate::harness::{LENGTHS, MIXING, NOISE};

/// Mean and standard deviation of a new observation of `output` at `hour`, given the rows. The prior mean is the mean of
/// the observed cells, as in the program.
pub(crate) fn predict(rows: &[(usize, [f64; 2])], hour: f64, output: usize) -> (f64, f64) {
    let mut cells = vec![];
    for (at, values) in rows {
        for (output, value) in values.iter().enumerate() {
            if !value.is_nan() {
                // The file has three digits.
                cells.push((*at as f64, output, format!("{value:.3}").parse::<f64>().unwrap()));
            }
        }
    }
    let mean = |output: usize| {
        let own: Vec<f64> = cells.iter().filter(|cell| cell.1 == output).map(|cell| cell.2).collect();
        own.iter().sum::<f64>() / own.len() as f64
    };
    let means = [mean(0), mean(1)];
    let kernel = |(t, a): (f64, usize), (s, b): (f64, usize)| -> f64 {
        let latent = |l: usize| {
            let u = 3.0_f64.sqrt() * (t - s).abs() / LENGTHS[l];
            MIXING[a][l] * MIXING[b][l] * (1.0 + u) * (-u).exp()
        };
        latent(0) + latent(1)
    };
    let n = cells.len();
    // The covariance with two right-hand sides: residuals and cross-covariances.
    let mut system = vec![vec![0.0; n + 2]; n];
    for i in 0..n {
        for j in 0..n {
            system[i][j] = kernel((cells[i].0, cells[i].1), (cells[j].0, cells[j].1));
        }
        system[i][i] += NOISE[cells[i].1];
        system[i][n] = cells[i].2 - means[cells[i].1];
        system[i][n + 1] = kernel((hour, output), (cells[i].0, cells[i].1));
    }
    let cross: Vec<f64> = system.iter().map(|row| row[n + 1]).collect();
    for k in 0..n {
        for i in k + 1..n {
            let factor = system[i][k] / system[k][k];
            for j in k..n + 2 {
                system[i][j] -= factor * system[k][j];
            }
        }
    }
    let mut solutions = [vec![0.0; n], vec![0.0; n]];
    for (side, solution) in solutions.iter_mut().enumerate() {
        for k in (0..n).rev() {
            let known: f64 = (k + 1..n).map(|j| system[k][j] * solution[j]).sum();
            solution[k] = (system[k][n + side] - known) / system[k][k];
        }
    }
    let dot = |solution: &[f64]| -> f64 { cross.iter().zip(solution).map(|(a, b)| a * b).sum() };
    let variance = kernel((hour, output), (hour, output)) - dot(&solutions[1]) + NOISE[output];
    (means[output] + dot(&solutions[0]), variance.sqrt())
}
