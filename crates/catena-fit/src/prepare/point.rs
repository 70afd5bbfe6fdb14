//! The value that stands for a predictive distribution: its mean or its median.

use std::str::FromStr;

use super::predictive::Predictive;
use crate::options::UnknownWord;

/// The value that stands for a predictive distribution.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Point {
    /// The mean, which minimizes squared errors.
    #[default]
    Mean,
    /// The median, which minimizes absolute errors.
    Median,
}

impl Point {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Median => "median",
        }
    }
}

impl FromStr for Point {
    type Err = UnknownWord;

    /// `mean` or `median`.
    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match text {
            "mean" => Ok(Self::Mean),
            "median" => Ok(Self::Median),
            _ => Err(UnknownWord::one_of(["mean", "median"])),
        }
    }
}

impl Predictive {
    /// The value that stands for the distribution of one cell.
    ///
    /// # Panics
    /// When there is no such cell.
    pub fn point(&self, at: usize, point: Point) -> f64 {
        match point {
            Point::Mean => self.mean(at),
            Point::Median => self.quantile(at, 0.5),
        }
    }

    /// The value that stands for the distribution of every cell, row-major.
    pub fn points(&self, point: Point) -> Vec<f64> {
        (0..self.n_cells()).map(|at| self.point(at, point)).collect()
    }

    /// The value that stands for every cell and its standard deviation, row-major.
    pub fn into_points_and_deviations(self, point: Point) -> (Vec<f64>, Vec<f64>) {
        match point {
            Point::Mean => self.into_means_and_deviations(),
            Point::Median => (self.points(point), self.deviations()),
        }
    }
}
