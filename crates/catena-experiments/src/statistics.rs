//! Means, spreads, intervals and slopes of a few numbers.

use catena_studies::julia_streams::JuliaStream;

/// The mean; NaN of nothing.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The standard deviation with n − 1; 0 of a single number.
pub(crate) fn deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let center = mean(values);
    let squares: f64 = values.iter().map(|value| (value - center).powi(2)).sum();
    (squares / (values.len() as f64 - 1.0)).sqrt()
}

/// The middle value, or the mean of the two in the middle; NaN of nothing.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[middle],
        _ => 0.5 * (sorted[middle - 1] + sorted[middle]),
    }
}

/// The correlation of two columns; 0 if one does not vary.
pub(crate) fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (center_x, center_y) = (mean(&x), mean(&y));
    let product: f64 = pairs.iter().map(|(x, y)| (x - center_x) * (y - center_y)).sum();
    let spread = deviation(&x) * deviation(&y) * (pairs.len() as f64 - 1.0);
    if spread > 0.0 { product / spread } else { 0.0 }
}

/// The exponent b of y ≈ a·xᵇ by least squares on logarithms.
pub(crate) fn exponent(pairs: &[(f64, f64)]) -> f64 {
    let logarithms: Vec<(f64, f64)> = pairs.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let (x, y): (Vec<f64>, Vec<f64>) = logarithms.iter().copied().unzip();
    let spread = deviation(&x);
    if spread > 0.0 { correlation(&logarithms) * deviation(&y) / spread } else { f64::NAN }
}

const RESAMPLES: usize = 2000;

/// The central 95 % of a statistic over resamples of the items, drawn with replacement.
pub(crate) fn bootstrap<T: Clone>(items: &[T], statistic: impl Fn(&[T]) -> f64) -> (f64, f64) {
    let mut stream = JuliaStream::new(0);
    let draw = |stream: &mut JuliaStream| items[(stream.rand() * items.len() as f64) as usize].clone();
    let mut found: Vec<f64> = (0..RESAMPLES)
        .map(|_| statistic(&(0..items.len()).map(|_| draw(&mut stream)).collect::<Vec<T>>()))
        .collect();
    found.sort_by(f64::total_cmp);
    let at = |share: f64| found[((RESAMPLES - 1) as f64 * share).round() as usize];
    (at(0.025), at(0.975))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_numbers_known_by_hand() {
        let values = [1.0, 2.0, 4.0, 5.0];
        assert_eq!((mean(&values), median(&values)), (3.0, 3.0));
        assert!((deviation(&values) - (10.0_f64 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!(deviation(&[7.0]), 0.0);
        assert!((correlation(&[(1.0, 2.0), (2.0, 0.0), (3.0, -2.0)]) + 1.0).abs() < 1e-15);
        let cubes: Vec<(f64, f64)> = [1.0_f64, 3.0, 10.0].map(|x| (x, 5.0 * x.powi(3))).to_vec();
        assert!((exponent(&cubes) - 3.0).abs() < 1e-12);
    }

    /// The deviation of n normal numbers has a relative standard error near 1/√(2(n − 1)): 16 % at 20.
    #[test]
    fn an_interval_of_a_deviation_is_as_wide_as_theory_says() {
        let values = JuliaStream::new(3).randn_array(20);
        let (low, high) = bootstrap(&values, deviation);
        assert!(low < deviation(&values) && deviation(&values) < high);
        let half_width = (high - low) / 2.0 / deviation(&values);
        assert!((0.2..0.45).contains(&half_width), "{half_width}");
    }
}
