//! Predictive distributions in the user's units.

use super::component::Component;
use super::observed::Law;
use crate::options::Bounds;
use crate::power::PowerTransform;

/// Steps of the bisection for a quantile of a mixture.
const BISECTIONS: usize = 80;

/// Predictive distributions of cells in the user's units: normal after the transform of their output, or mixtures of these.
///
/// Below the range of a Box–Cox transform a normal distribution has a probability, which is that of the value 0. Means, standard deviations
/// and quantiles of an output with bounds are those of values that are put at the nearest bound where they are beyond; log densities
/// and probabilities are those without bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictive {
    n_outputs: usize,
    /// At least one.
    components: Vec<Component>,
    /// The bounds of each output; empty if there are none.
    bounds: Vec<Option<Bounds>>,
}

/// A member of a pool: its predictions of observations and, if the function is asked for, of the function at the same cells.
pub(crate) struct PooledMember {
    pub(crate) observation: Predictive,
    pub(crate) function: Option<Predictive>,
}

impl Predictive {
    /// Normal distributions with these means and standard deviations, row-major.
    pub fn normal(n_outputs: usize, means: Vec<f64>, deviations: Vec<f64>) -> Self {
        Self::new(means, deviations, vec![PowerTransform::None; n_outputs])
    }

    /// Normal distributions of transformed values with these means and standard deviations.
    pub(crate) fn new(centers: Vec<f64>, deviations: Vec<f64>, powers: Vec<PowerTransform>) -> Self {
        let n_outputs = powers.len();
        Self {
            n_outputs,
            components: vec![Component { weight: 1.0, centers, deviations, powers, laws: vec![] }],
            bounds: vec![],
        }
    }

    /// The same with a likelihood for each output: centers and deviations are those of the function.
    pub(super) fn with_laws(mut self, laws: Vec<Law>) -> Self {
        for component in &mut self.components {
            component.laws.clone_from(&laws);
        }
        self
    }

    /// The same with the bounds of each output.
    pub(crate) fn with_bounds(mut self, bounds: Vec<Option<Bounds>>) -> Self {
        self.bounds = if bounds.iter().any(Option::is_some) { bounds } else { vec![] };
        self
    }

    fn bounds_of(&self, at: usize) -> Option<Bounds> {
        self.bounds.get(at % self.n_outputs).copied().flatten()
    }

    /// The mixture of predictive distributions of the same cells. Weights are positive and sum to 1; there is at least one.
    pub(crate) fn mixture(members: Vec<(f64, Self)>) -> Option<Self> {
        let (n_outputs, bounds) = (members.first()?.1.n_outputs, members.first()?.1.bounds.clone());
        let components = members.into_iter().flat_map(|(weight, member)| {
            let own = member.components.into_iter();
            own.map(move |component| Component { weight: weight * component.weight, ..component })
        });
        Some(Self { n_outputs, components: components.collect(), bounds })
    }

    /// The product of the members' densities, each to the power of its exponent, normalized. In the units of the
    /// transformed value the precision of a cell is the sum of the members' precisions times their exponents, and its center is the mean
    /// of their centers, weighted alike.
    ///
    /// Members have one component and the same transforms. `exponent` depends on the row and the member; in every row one is
    /// positive.
    pub(crate) fn pooled(members: &[PooledMember], exponent: impl Fn(usize, usize) -> f64) -> Option<Self> {
        let first = members.first()?.observation.components.first()?;
        let n_outputs = first.powers.len();
        let mut pooled = first.clone();
        for at in 0..pooled.centers.len() {
            let (mut precision, mut center, mut function) = (0.0, 0.0, 0.0);
            for (number, member) in members.iter().enumerate() {
                let exponent = exponent(at / n_outputs, number);
                if exponent > 0.0 {
                    let own = &member.observation.components[0];
                    if own.deviations[at] == 0.0 {
                        // A cell that one member knows exactly, such as that of a constant output.
                        (precision, center, function) = (f64::INFINITY, own.centers[at], 1.0);
                        break;
                    }
                    let share = exponent / (own.deviations[at] * own.deviations[at]);
                    precision += share;
                    center += share * own.centers[at];
                    if let Some(of_function) = &member.function {
                        function +=
                            share * (of_function.components[0].deviations[at] / own.deviations[at]).powi(2);
                    }
                }
            }
            let is_exact = precision == f64::INFINITY;
            pooled.centers[at] = if is_exact { center } else { center / precision };
            let part = if members[0].function.is_some() && !is_exact { function / precision } else { 1.0 };
            pooled.deviations[at] = (part / precision).sqrt();
        }
        Some(Self { n_outputs, components: vec![pooled], bounds: members[0].observation.bounds.clone() })
    }

    /// The same with these shifts and further variances of the transformed values, row-major, under other transforms.
    pub(crate) fn shifted(mut self, shifts: &[f64], variances: &[f64], powers: &[PowerTransform]) -> Self {
        for component in &mut self.components {
            component.shift(shifts, variances, powers);
        }
        self
    }

    /// Center and standard deviation of a transformed cell by the first component, and the transform.
    pub(crate) fn center(&self, at: usize) -> (f64, f64, PowerTransform) {
        let component = &self.components[0];
        (component.centers[at], component.deviations[at], *component.power(at))
    }

    /// The rows of this prediction, read as rows of some outputs, at each point; points without a row have centers 0 and standard
    /// deviations 1. Transforms are those of the first outputs.
    pub(crate) fn rows_at(&self, n_outputs: usize, rows: &[Option<usize>]) -> Self {
        let picked = |numbers: &[f64], other: f64| -> Vec<f64> {
            let of_row = |row: &Option<usize>| match row {
                Some(row) => numbers[row * n_outputs..][..n_outputs].to_vec(),
                None => vec![other; n_outputs],
            };
            rows.iter().flat_map(of_row).collect()
        };
        let component = |own: &Component| Component {
            weight: own.weight,
            centers: picked(&own.centers, 0.0),
            deviations: picked(&own.deviations, 1.0),
            powers: own.powers.iter().take(n_outputs).copied().collect(),
            laws: own.laws.iter().take(n_outputs).cloned().collect(),
        };
        let components = self.components.iter().map(component).collect();
        Self { n_outputs, components, bounds: self.bounds.iter().take(n_outputs).copied().collect() }
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
            (1, Some(only))
                if self.bounds.is_empty()
                    && only.laws.is_empty()
                    && only.powers.iter().all(|power| *power == PowerTransform::None) =>
            {
                (only.centers, only.deviations)
            }
            (_, Some(last)) => {
                self.components.push(last);
                (0..self.n_cells()).map(|at| self.moments(at)).unzip()
            }
            (_, None) => (vec![], vec![]),
        }
    }

    /// The mean of one cell, by its row-major place.
    ///
    /// # Panics
    /// When there is no such cell.
    pub fn mean(&self, at: usize) -> f64 {
        if self.bounds_of(at).is_some() {
            return self.moments(at).0;
        }
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
        self.moments(at).1
    }

    /// Mean and standard deviation of one cell.
    ///
    /// # Panics
    /// When there is no such cell.
    pub fn moments(&self, at: usize) -> (f64, f64) {
        let of_component = |component: &Component| match self.bounds_of(at) {
            Some(bounds) => component.moments_within(at, bounds),
            None => component.moments(at),
        };
        let several = match self.components.as_slice() {
            [only] => return of_component(only),
            several => several,
        };
        let own: Vec<(f64, (f64, f64))> =
            several.iter().map(|component| (component.weight, of_component(component))).collect();
        let mean = own.iter().map(|(weight, (mean, _))| weight * mean).sum::<f64>();
        let square = |(weight, (own, deviation)): &(f64, (f64, f64))| {
            weight * (deviation.powi(2) + (own - mean).powi(2))
        };
        (mean, own.iter().map(square).sum::<f64>().sqrt())
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
        let unbounded = self.unbounded_quantile(at, probability);
        self.bounds_of(at).map_or(unbounded, |bounds| bounds.nearest(unbounded))
    }

    fn unbounded_quantile(&self, at: usize, probability: f64) -> f64 {
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
        let (center, deviation, power) = self.center(at);
        ((power.forward(value) - center) / deviation, power.log_derivative(value) - deviation.ln())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

    use super::*;

    /// A normal and a log-normal component of one cell.
    fn mixture() -> Predictive {
        let normal = Predictive::normal(1, vec![1.0], vec![0.5]);
        let log = Predictive::new(vec![0.3], vec![0.4], vec![PowerTransform::Log]);
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
    fn a_pool_is_the_normalized_product_of_densities() {
        let member = |center: f64, deviation: f64| PooledMember {
            observation: Predictive::new(
                vec![center, center],
                vec![deviation; 2],
                vec![PowerTransform::None, PowerTransform::Log],
            ),
            function: None,
        };
        let members = [member(0.3, 0.5), member(1.1, 0.8), member(9.0, 0.1)];
        let exponents = [0.7, 1.4, 0.0];
        let pooled = Predictive::pooled(&members, |_, member| exponents[member]).unwrap();
        for cell in [0, 1] {
            let product = |x: f64| -> f64 {
                let log: f64 =
                    (0..2).map(|at| exponents[at] * members[at].observation.log_density(cell, x)).sum();
                // Under a logarithm the product is that of the densities of the logarithm.
                let jacobian = if cell == 1 { (exponents[0] + exponents[1] - 1.0) * x.ln() } else { 0.0 };
                (log + jacobian).exp()
            };
            let width = 1e-3;
            let points =
                (-4000..30_000).map(|at| (f64::from(at) + 0.5) * width).filter(|x| cell == 0 || *x > 0.0);
            let total: f64 = points.map(|x| product(x) * width).sum();
            for x in [0.4, 0.9, 2.0] {
                let expected = (product(x) / total).ln();
                assert!((pooled.log_density(cell, x) - expected).abs() < 1e-4, "cell {cell} at {x}");
            }
        }
        // Without noise in one member the function has the smaller variance, and the same center.
        let with_function = members.map(|member| PooledMember {
            function: Some(Predictive::new(
                vec![0.0; 2],
                vec![0.3; 2],
                vec![PowerTransform::None, PowerTransform::Log],
            )),
            ..member
        });
        let function = Predictive::pooled(&with_function, |_, member| exponents[member]).unwrap();
        assert_eq!(function.center(0).0, pooled.center(0).0);
        assert!(function.center(0).1 < pooled.center(0).1);
    }

    #[test]
    fn a_cell_without_variance_keeps_its_value() {
        let member = |center: f64, deviation: f64| PooledMember {
            observation: Predictive::normal(1, vec![center], vec![deviation]),
            function: None,
        };
        let pooled = Predictive::pooled(&[member(3.0, 0.4), member(5.0, 0.0)], |_, _| 0.5).unwrap();
        assert_eq!((pooled.mean(0), pooled.deviation(0)), (5.0, 0.0));
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
