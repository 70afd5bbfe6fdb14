//! Predictive distributions in the user's units.

use crate::normal::{cumulative, log_density, quantile};

/// Steps of the bisection for a quantile of a mixture.
const BISECTIONS: usize = 80;

/// Predictive distributions of cells in the user's units: normal, log-normal where the logarithm was modelled, or mixtures of
/// these.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictive {
    n_outputs: usize,
    /// At least one.
    components: Vec<Component>,
}

/// One component of a mixture, at all cells.
#[derive(Clone, Debug, PartialEq)]
struct Component {
    weight: f64,
    /// Mean and standard deviation of the value or its logarithm, row-major.
    centers: Vec<f64>,
    deviations: Vec<f64>,
    /// By output, whether its logarithm is modelled.
    log: Vec<bool>,
}

impl Component {
    fn is_log(&self, at: usize) -> bool {
        self.log[at % self.log.len()]
    }

    fn mean(&self, at: usize) -> f64 {
        let (center, deviation) = (self.centers[at], self.deviations[at]);
        if self.is_log(at) { (center + 0.5 * deviation * deviation).exp() } else { center }
    }

    fn deviation(&self, at: usize) -> f64 {
        let deviation = self.deviations[at];
        if self.is_log(at) { self.mean(at) * (deviation * deviation).exp_m1().sqrt() } else { deviation }
    }

    fn quantile(&self, at: usize, probability: f64) -> f64 {
        let value = self.centers[at] + quantile(probability) * self.deviations[at];
        if self.is_log(at) { value.exp() } else { value }
    }

    fn log_density(&self, at: usize, value: f64) -> f64 {
        let (center, deviation) = (self.centers[at], self.deviations[at]);
        match self.is_log(at) {
            true if value <= 0.0 => f64::NEG_INFINITY,
            true => log_density(value.ln(), center, deviation) - value.ln(),
            false => log_density(value, center, deviation),
        }
    }

    fn probability_below(&self, at: usize, value: f64) -> f64 {
        let value = match self.is_log(at) {
            true if value <= 0.0 => return 0.0,
            true => value.ln(),
            false => value,
        };
        cumulative((value - self.centers[at]) / self.deviations[at])
    }
}

impl Predictive {
    /// Normal distributions with these means and standard deviations, row-major.
    pub fn normal(n_outputs: usize, means: Vec<f64>, deviations: Vec<f64>) -> Self {
        Self::new(means, deviations, vec![false; n_outputs])
    }

    /// Normal or, by output, log-normal distributions. `centers` and `deviations` are those of the value or its logarithm.
    pub(crate) fn new(centers: Vec<f64>, deviations: Vec<f64>, log: Vec<bool>) -> Self {
        Self { n_outputs: log.len(), components: vec![Component { weight: 1.0, centers, deviations, log }] }
    }

    /// The mixture of predictive distributions of the same cells. Weights are positive and sum to 1; there is at least one.
    pub(crate) fn mixture(members: Vec<(f64, Self)>) -> Option<Self> {
        let n_outputs = members.first()?.1.n_outputs;
        let components = members.into_iter().flat_map(|(weight, member)| {
            let own = member.components.into_iter();
            own.map(move |component| Component { weight: weight * component.weight, ..component })
        });
        Some(Self { n_outputs, components: components.collect() })
    }

    /// The same with all standard deviations multiplied by a factor.
    pub(crate) fn widened(mut self, factor: f64) -> Self {
        if factor != 1.0 {
            for component in &mut self.components {
                component.deviations.iter_mut().for_each(|deviation| *deviation *= factor);
            }
        }
        self
    }

    /// Replaces the rows for which `other_row` names a row of another prediction of one component.
    pub(crate) fn with_rows_of(mut self, other: &Self, other_row: impl Fn(usize) -> Option<usize>) -> Self {
        let n_outputs = self.n_outputs;
        let (Some(own), Some(others)) = (self.components.first_mut(), other.components.first()) else {
            return self;
        };
        for row in 0..own.centers.len() / n_outputs {
            if let Some(from) = other_row(row) {
                let (to, from) =
                    (row * n_outputs..(row + 1) * n_outputs, from * n_outputs..(from + 1) * n_outputs);
                own.centers[to.clone()].copy_from_slice(&others.centers[from.clone()]);
                own.deviations[to].copy_from_slice(&others.deviations[from]);
            }
        }
        self
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_cells() / self.n_outputs
    }

    /// The number of outputs.
    pub fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    pub(crate) fn n_cells(&self) -> usize {
        self.components.first().map_or(0, |component| component.centers.len())
    }

    /// The mean of every cell, row-major.
    pub fn means(&self) -> Vec<f64> {
        (0..self.n_cells()).map(|at| self.mean(at)).collect()
    }

    /// Means and standard deviations of every cell, row-major.
    pub fn into_means_and_deviations(mut self) -> (Vec<f64>, Vec<f64>) {
        match (self.components.len(), self.components.pop()) {
            (1, Some(only)) if !only.log.contains(&true) => (only.centers, only.deviations),
            (_, Some(last)) => {
                self.components.push(last);
                (self.means(), self.deviations())
            }
            (_, None) => (vec![], vec![]),
        }
    }

    /// The mean of one cell, by its row-major place.
    ///
    /// # Panics
    /// When there is no such cell.
    pub fn mean(&self, at: usize) -> f64 {
        match self.components.as_slice() {
            [only] => only.mean(at),
            several => several.iter().map(|component| component.weight * component.mean(at)).sum(),
        }
    }

    /// The standard deviation of one cell.
    ///
    /// # Panics
    /// When there is no such cell.
    pub fn deviation(&self, at: usize) -> f64 {
        let several = match self.components.as_slice() {
            [only] => return only.deviation(at),
            several => several,
        };
        let mean = self.mean(at);
        let square = |component: &Component| {
            component.weight * (component.deviation(at).powi(2) + (component.mean(at) - mean).powi(2))
        };
        several.iter().map(square).sum::<f64>().sqrt()
    }

    /// The standard deviation of every cell, row-major.
    pub fn deviations(&self) -> Vec<f64> {
        (0..self.n_cells()).map(|at| self.deviation(at)).collect()
    }

    /// The value below which one cell lies with this probability.
    ///
    /// # Panics
    /// When there is no such cell.
    pub fn quantile(&self, at: usize, probability: f64) -> f64 {
        let several = match self.components.as_slice() {
            [only] => return only.quantile(at, probability),
            several => several,
        };
        // The quantile of a mixture lies between those of its components.
        let own = || several.iter().map(|component| component.quantile(at, probability));
        let (mut low, mut high) =
            (own().fold(f64::INFINITY, f64::min), own().fold(f64::NEG_INFINITY, f64::max));
        for _ in 0..BISECTIONS {
            let middle = low + 0.5 * (high - low);
            if middle <= low || middle >= high {
                break;
            }
            if self.probability_below(at, middle) < probability {
                low = middle;
            } else {
                high = middle;
            }
        }
        low + 0.5 * (high - low)
    }

    /// The log density of a value of one cell.
    ///
    /// # Panics
    /// When there is no such cell.
    pub fn log_density(&self, at: usize, value: f64) -> f64 {
        let several = match self.components.as_slice() {
            [only] => return only.log_density(at, value),
            several => several,
        };
        let terms =
            || several.iter().map(|component| component.weight.ln() + component.log_density(at, value));
        let largest = terms().fold(f64::NEG_INFINITY, f64::max);
        if largest == f64::NEG_INFINITY {
            return largest;
        }
        largest + terms().map(|term| (term - largest).exp()).sum::<f64>().ln()
    }

    /// The probability that one cell lies below a value.
    ///
    /// # Panics
    /// When there is no such cell.
    pub fn probability_below(&self, at: usize, value: f64) -> f64 {
        match self.components.as_slice() {
            [only] => only.probability_below(at, value),
            several => several
                .iter()
                .map(|component| component.weight * component.probability_below(at, value))
                .sum(),
        }
    }

    /// The error of one cell in standard deviations, and minus the log of the standard deviation in the user's units, by the
    /// first component.
    pub(crate) fn standardized(&self, at: usize, value: f64) -> (f64, f64) {
        let component = &self.components[0];
        let (center, deviation) = (component.centers[at], component.deviations[at]);
        if component.is_log(at) {
            ((value.ln() - center) / deviation, -deviation.ln() - value.ln())
        } else {
            ((value - center) / deviation, -deviation.ln())
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

    use super::*;

    /// A normal and a log-normal component of one cell.
    fn mixture() -> Predictive {
        let normal = Predictive::normal(1, vec![1.0], vec![0.5]);
        let log = Predictive::new(vec![0.3], vec![0.4], vec![true]);
        Predictive::mixture(vec![(0.3, normal), (0.7, log)]).unwrap()
    }

    #[test]
    fn moments_and_probabilities_of_a_mixture_are_those_of_its_density() {
        let mixture = mixture();
        let width = 1e-3;
        let points = (-3000..20_000).map(|at| (f64::from(at) + 0.5) * width);
        let density = |x: f64| mixture.log_density(0, x).exp() * width;
        let total: f64 = points.clone().map(density).sum();
        let mean: f64 = points.clone().map(|x| x * density(x)).sum();
        let square: f64 = points.clone().map(|x| (x - mean).powi(2) * density(x)).sum();
        let below: f64 = points.filter(|x| *x < 1.2).map(density).sum();
        assert!((total - 1.0).abs() < 1e-6);
        assert!((mixture.mean(0) - mean).abs() < 1e-5);
        assert!((mixture.deviation(0) - square.sqrt()).abs() < 1e-5);
        assert!((mixture.probability_below(0, 1.2) - below).abs() < 1e-5);
    }

    #[test]
    fn quantiles_invert_probabilities() {
        let mixture = mixture();
        for probability in [0.001, 0.025, 0.5, 0.9, 0.999] {
            let value = mixture.quantile(0, probability);
            assert!((mixture.probability_below(0, value) - probability).abs() < 1e-12, "{probability}");
        }
    }
}
