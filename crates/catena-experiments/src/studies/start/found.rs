//! Statistics over starts and seeds of one problem.

use super::SCHEME_SEEDS;
use super::problem::{Problem, Scheme};
use crate::ledger::{Record, column};
use crate::statistics::{bootstrap, correlation, deviation, mean, median};

/// Resamples of starts behind an interval of a deviation, and of a correlation.
const DEVIATION_RESAMPLES: usize = 4000;
const CORRELATION_RESAMPLES: usize = 2000;

/// A statistic and its bootstrap 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Estimate {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Estimate {
    fn new<T: Clone>(starts: &[T], n_resamples: usize, statistic: impl Fn(&[T]) -> f64) -> Self {
        let (low, high) = bootstrap(starts, n_resamples, &statistic);
        Self { value: statistic(starts), low, high }
    }
}

/// The records of one problem.
pub(super) struct Found {
    pub(super) problem: Problem,
    pub(super) records: Vec<Record>,
    pub(super) control: Vec<Record>,
    pub(super) n_starts: usize,
}

impl Found {
    /// RMSE of the first seed from the first row.
    pub(super) fn first_rmse(&self) -> Option<f64> {
        self.records.first()?.get(&Scheme::Even.key(0, "rmse"))
    }

    /// Per even start the median over seeds of one number.
    pub(super) fn by_start(&self, number: &str) -> Option<Vec<f64>> {
        medians(&self.records, Scheme::Even, number, self.n_starts)
    }

    /// The standard deviation over even starts.
    pub(super) fn spread(&self, number: &str) -> Option<Estimate> {
        Some(Estimate::new(&self.by_start(number)?, DEVIATION_RESAMPLES, deviation))
    }

    /// The standard deviation of RMSE over even starts, relative to the mean over starts.
    pub(super) fn relative_spread(&self) -> Option<f64> {
        let values = self.by_start("rmse")?;
        Some(deviation(&values) / mean(&values))
    }

    /// The standard deviation over starts of a scheme, on the seeds that all schemes have. As the authors do: on the
    /// electricity table of medians over seeds, on the sensor network, whose starts differ by seed, the mean over seeds.
    pub(super) fn scheme_spread(&self, scheme: Scheme, number: &str) -> Option<f64> {
        let records = &self.records[..self.records.len().min(SCHEME_SEEDS as usize)];
        if self.problem.is_ett() {
            return Some(deviation(&medians(records, scheme, number, self.n_starts)?));
        }
        let of_seed =
            |record| Some(deviation(&medians(std::slice::from_ref(record), scheme, number, self.n_starts)?));
        Some(mean(&records.iter().map(of_seed).collect::<Option<Vec<f64>>>()?))
    }

    /// The standard deviation over even starts of the exact method's RMSE.
    pub(super) fn control_spread(&self) -> Option<f64> {
        Some(deviation(&medians(&self.control, Scheme::Even, "rmse", self.n_starts)?))
    }

    /// How many times less the exact method varies, over the seeds of the control.
    pub(super) fn control_ratio(&self) -> Option<f64> {
        let same_seeds = &self.records[..self.control.len().min(self.records.len())];
        let ours = deviation(&medians(same_seeds, Scheme::Even, "rmse", self.n_starts)?);
        Some(ours / self.control_spread()?)
    }

    /// The correlation of ε_π and RMSE over even starts.
    pub(super) fn correlation(&self) -> Option<Estimate> {
        let (distortions, errors) = (self.by_start("distortion")?, self.by_start("rmse")?);
        let pairs: Vec<(f64, f64)> = distortions.into_iter().zip(errors).collect();
        Some(Estimate::new(&pairs, CORRELATION_RESAMPLES, correlation))
    }

    /// The largest ratio of two chains' lengths within a seed.
    pub(super) fn length_ratio(&self) -> f64 {
        let mut largest = 0.0_f64;
        for record in &self.records {
            let (mut shortest, mut longest) = (f64::INFINITY, 0.0_f64);
            for scheme in Scheme::ALL {
                for length in (0..self.n_starts).filter_map(|at| record.get(&scheme.key(at, "length"))) {
                    (shortest, longest) = (shortest.min(length), longest.max(length));
                }
            }
            largest = largest.max(longest / shortest);
        }
        largest
    }
}

fn medians(records: &[Record], scheme: Scheme, number: &str, n_starts: usize) -> Option<Vec<f64>> {
    let of_start = |at: usize| column(records, &scheme.key(at, number)).map(|values| median(&values));
    (0..n_starts).map(of_start).collect()
}
