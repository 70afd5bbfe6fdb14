//! The order in which a column is summed, on which the electricity study depends.
//!
//! Its inputs are quantised, so that many rows are equally near and the last bits of mean and deviation decide which one a
//! chain goes to next. The authors deal hidden cells in chain order: another order of summation, another table. With their
//! order the printed scores come out to fourteen digits; with any other one, to two or three.

/// How a mean and a deviation are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Summation {
    /// As on the authors' machine: sixteen running sums, four vectors of four lanes, over the whole column. Found by trying
    /// the orders that a compiler could choose for a plain loop against the sixteen digits that the paper prints.
    Authors,
    /// As in the authors' study on chain starts: eight running sums, four vectors of two lanes, squared deviations added by
    /// fused multiply-add.
    TwoLanes,
    /// As in the independent port that scores by seed come from: halves of halves, down to blocks of at most 128.
    Port,
}

/// Lanes of one vector on the two machines of the authors, and vectors that are summed side by side.
const LANES: usize = 4;
const FEWER_LANES: usize = 2;
const VECTORS: usize = 4;
/// The port sums blocks of at most this many with eight running sums.
const BLOCK: usize = 128;
const RUNNING: usize = 8;

impl Summation {
    /// Mean and standard deviation (n − 1) of a column.
    pub fn mean_and_deviation(self, values: &[f64]) -> (f64, f64) {
        let count = values.len() as f64;
        let mean = self.sum(values) / count;
        let squares = self.sum_of_squares(values.iter().map(|value| value - mean).collect());
        let variance = match self {
            Self::Authors | Self::TwoLanes => squares * (1.0 / (count - 1.0)),
            Self::Port => squares / (count - 1.0),
        };
        (mean, variance.sqrt())
    }

    fn sum_of_squares(self, mut deviations: Vec<f64>) -> f64 {
        if self == Self::TwoLanes {
            return in_two_lanes(&deviations, |sum, deviation| deviation.mul_add(deviation, sum));
        }
        for deviation in &mut deviations {
            *deviation = deviation.powi(2);
        }
        self.sum(&deviations)
    }

    fn sum(self, values: &[f64]) -> f64 {
        match self {
            Self::Authors => in_vectors(values),
            Self::TwoLanes => in_two_lanes(values, |sum, value| sum + value),
            Self::Port => in_halves(values),
        }
    }
}

fn in_vectors(values: &[f64]) -> f64 {
    let mut sums = [[0.0; LANES]; VECTORS];
    let blocks = values.chunks_exact(LANES * VECTORS);
    let rest = blocks.remainder();
    for block in blocks {
        for (sum, value) in sums.as_flattened_mut().iter_mut().zip(block) {
            *sum += value;
        }
    }
    let [first, others @ ..] = sums;
    let [a, b, c, d] =
        others.iter().fold(first, |total, vector| std::array::from_fn(|at| vector[at] + total[at]));
    rest.iter().fold((a + c) + (b + d), |total, value| total + value)
}

/// Adds every value to one of eight running sums, then the vectors in order, then the two lanes, then the values left over.
fn in_two_lanes(values: &[f64], add: impl Fn(f64, f64) -> f64) -> f64 {
    let mut sums = [[0.0; FEWER_LANES]; VECTORS];
    let blocks = values.chunks_exact(FEWER_LANES * VECTORS);
    let rest = blocks.remainder();
    for block in blocks {
        for (sum, value) in sums.as_flattened_mut().iter_mut().zip(block) {
            *sum = add(*sum, *value);
        }
    }
    let [first, others @ ..] = sums;
    let [a, b] = others.iter().fold(first, |total, vector| std::array::from_fn(|at| vector[at] + total[at]));
    rest.iter().fold(a + b, |total, value| add(total, *value))
}

fn in_halves(values: &[f64]) -> f64 {
    if values.len() > BLOCK {
        let half = values.len() / 2;
        let (left, right) = values.split_at(half - half % RUNNING);
        return in_halves(left) + in_halves(right);
    }
    let mut blocks = values.chunks_exact(RUNNING);
    let rest = blocks.remainder();
    let Some(first) = blocks.next() else { return rest.iter().sum() };
    let mut sums: [f64; RUNNING] = std::array::from_fn(|at| first[at]);
    for block in blocks {
        for (sum, value) in sums.iter_mut().zip(block) {
            *sum += value;
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    rest.iter().fold(((a + b) + (c + d)) + ((e + f) + (g + h)), |total, value| total + value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whole numbers are summed without rounding, whatever the order: every value counts once.
    #[test]
    fn every_value_counts_once() {
        for count in [1, 7, 8, 15, 16, 17, 128, 129, 300, 4001] {
            let values: Vec<f64> = (1..=count).map(f64::from).collect();
            let expected = f64::from(count * (count + 1) / 2);
            assert_eq!(in_vectors(&values), expected, "{count}");
            assert_eq!(in_two_lanes(&values, |sum, value| sum + value), expected, "{count}");
            assert_eq!(in_halves(&values), expected, "{count}");
        }
    }

    /// (1 + 2⁻²⁷)² rounded on its own loses 2⁻⁵⁴, which decides how the sum with 2⁻⁵³ is rounded.
    #[test]
    fn squares_are_added_before_they_are_rounded() {
        let small = 2_f64.powi(-27);
        let deviations = vec![small, small, 1.0 + small];
        let rounded_first = 1.0 + 2.0 * small;
        assert_eq!(Summation::Authors.sum_of_squares(deviations.clone()), rounded_first);
        assert_eq!(Summation::TwoLanes.sum_of_squares(deviations), rounded_first + f64::EPSILON);
    }

    #[test]
    fn two_lanes_meet_after_the_vectors() {
        let large = 2_f64.powi(53);
        let sum = |values: &[f64]| in_two_lanes(values, |sum, value| sum + value);
        let mut values = [0.0; 8];
        // Lane 1 of two vectors is summed before it meets lane 0.
        (values[0], values[1], values[3]) = (large, 1.0, 1.0);
        assert_eq!(sum(&values), large + 2.0);
        // Lane 0 of two vectors meets the large number one by one.
        (values[1], values[3]) = (0.0, 0.0);
        (values[2], values[4]) = (1.0, 1.0);
        assert_eq!(sum(&values), large);
    }

    /// What numpy finds for the sum of 1/1 … 1/n, which rounds at every step.
    #[test]
    fn the_port_sums_as_numpy_does() {
        for (count, bits) in NUMPY {
            let values: Vec<f64> = (1..=count).map(|k| 1.0 / f64::from(k)).collect();
            assert_eq!(in_halves(&values).to_bits(), bits, "{count}");
        }
    }
    const NUMPY: [(u32, u64); 5] = [
        (5, 0x4002444444444444),
        (100, 0x4014bfdfe4591243),
        (129, 0x4015c37b09149ba9),
        (1000, 0x401df11f45f4e61a),
        (40000, 0x402659048ec953de),
    ];

    /// 2⁵³ loses a 1 that meets it alone and keeps two that meet each other first.
    #[test]
    fn lanes_meet_in_the_order_of_the_vectors() {
        let large = 2_f64.powi(53);
        let mut values = [0.0; 16];
        // Lane 0 of the first vector; its partners lane 2 and, after those, lanes 1 and 3.
        (values[0], values[1], values[3]) = (large, 1.0, 1.0);
        assert_eq!(in_vectors(&values), large + 2.0);
        (values[1], values[3]) = (0.0, 0.0);
        (values[2], values[1]) = (1.0, 1.0);
        assert_eq!(in_vectors(&values), large);
        // The same lane of the next vector meets it alone.
        (values[1], values[2]) = (0.0, 0.0);
        (values[4], values[8]) = (1.0, 1.0);
        assert_eq!(in_vectors(&values), large);
    }
}
