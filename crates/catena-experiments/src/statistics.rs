//! Means, spreads, intervals and slopes of a few numbers.

use catena_studies::julia_streams::{JuliaStream, JuliaVersion};

/// The mean; NaN for no numbers.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The standard deviation with n − 1; 0 for a single number.
pub(crate) fn deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let center = mean(values);
    let squares: f64 = values.iter().map(|value| (value - center).powi(2)).sum();
    (squares / (values.len() as f64 - 1.0)).sqrt()
}

/// The middle value, or the mean of the two in the middle; NaN for no numbers.
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

/// The central 95 % of a statistic over resamples of the items, drawn with replacement as the authors draw them: from
/// generator 0 of Julia 1.11.
pub(crate) fn bootstrap<T: Clone>(
    items: &[T],
    n_resamples: usize,
    statistic: impl Fn(&[T]) -> f64,
) -> (f64, f64) {
    let mut stream = JuliaStream::with_version(JuliaVersion::From1_11, 0);
    let mut found: Vec<f64> = (0..n_resamples)
        .map(|_| {
            let draw = |_| items[stream.rand_below(items.len() as u64) as usize].clone();
            statistic(&(0..items.len()).map(draw).collect::<Vec<T>>())
        })
        .collect();
    found.sort_by(f64::total_cmp);
    (quantile(&found, 0.025), quantile(&found, 0.975))
}

/// The quantile of sorted numbers, linear between them (type 7); NaN for no numbers.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = sorted.len().saturating_sub(1) as f64 * share;
    let at = |index: f64| sorted.get(index as usize).copied().unwrap_or(f64::NAN);
    let (below, above) = (at(place.floor()), at(place.ceil()));
    below + (place - place.floor()) * (above - below)
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

    #[test]
    fn quantiles_are_linear_between_numbers() {
        let sorted = [1.0, 2.0, 4.0, 8.0];
        assert_eq!((quantile(&sorted, 0.0), quantile(&sorted, 0.5), quantile(&sorted, 1.0)), (1.0, 3.0, 8.0));
        assert!((quantile(&sorted, 0.9) - 6.8).abs() < 1e-14);
        assert!(quantile(&[], 0.5).is_nan());
    }

    /// The deviation of n normal numbers has a relative standard error near 1/√(2(n − 1)): 16 % at 20.
    #[test]
    fn an_interval_of_a_deviation_is_as_wide_as_theory_says() {
        let values = JuliaStream::new(3).randn_array(20);
        let (low, high) = bootstrap(&values, 4000, deviation);
        assert!(low < deviation(&values) && deviation(&values) < high);
        let half_width = (high - low) / 2.0 / deviation(&values);
        assert!((0.2..0.45).contains(&half_width), "{half_width}");
    }
}
