//! The reference numbers: all that the paper prints or plots, and scores by seed of an independent port.
//!
//! `data/printed.csv` has each number as printed, so that its digits give its precision;
//! `data/found_by_port.csv`, `data/scores_by_seed.csv` and `data/chain_gaps_by_seed.csv` come from a port of the authors'
//! code fed with their random streams: statistics that the paper does not print, and scores by seed to ten digits.

use std::collections::HashMap;
use std::sync::LazyLock;

const PRINTED: &str = include_str!("../data/printed.csv");
const FOUND_BY_PORT: &str = include_str!("../data/found_by_port.csv");
const SCORES: &str = include_str!("../data/scores_by_seed.csv");
const GAPS: &str = include_str!("../data/chain_gaps_by_seed.csv");

/// A number of the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Printed {
    pub(crate) value: f64,
    /// Half a unit of its last digit.
    pub(crate) half_digit: f64,
}

type PrintedKey = (&'static str, &'static str, &'static str, &'static str);
type SeedKey = (&'static str, &'static str, &'static str, u32);

static BY_QUANTITY: LazyLock<HashMap<PrintedKey, Printed>> = LazyLock::new(|| by_quantity(PRINTED));
static OF_PORT: LazyLock<HashMap<PrintedKey, Printed>> = LazyLock::new(|| by_quantity(FOUND_BY_PORT));

fn by_quantity(csv: &'static str) -> HashMap<PrintedKey, Printed> {
    let entry = |line: &'static str| {
        let fields: Vec<&str> = line.split(',').collect();
        let [study, cell, method, quantity, text, ..] = fields[..] else { return None };
        Some(((study, cell, method, quantity), parse(text)?))
    };
    csv.lines().skip(1).filter_map(entry).collect()
}

static BY_SEED: LazyLock<HashMap<SeedKey, [f64; 3]>> = LazyLock::new(|| {
    let scores = SCORES.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        let [study, cell, method, seed, a, b, c] = fields[..] else { return None };
        Some(((study, cell, method, seed.parse().ok()?), numbers([a, b, c])?))
    });
    let gaps = GAPS.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        let [cell, seed, a, b, c] = fields[..] else { return None };
        Some((("sensor", cell, "chain", seed.parse().ok()?), numbers([a, b, c])?))
    });
    scores.chain(gaps).collect()
});

fn numbers(fields: [&str; 3]) -> Option<[f64; 3]> {
    let [a, b, c] = fields.map(|field| field.parse().ok());
    Some([a?, b?, c?])
}

fn parse(text: &str) -> Option<Printed> {
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    Some(Printed { value: text.parse().ok()?, half_digit: 0.5 * 10_f64.powi(-(decimals as i32)) })
}

/// A number of the paper.
pub(crate) fn printed(study: &str, cell: &str, method: &str, quantity: &str) -> Option<Printed> {
    BY_QUANTITY.get(&(study, cell, method, quantity)).copied()
}

/// A number of the port that the paper does not print.
pub(crate) fn found_by_port(study: &str, cell: &str, method: &str, quantity: &str) -> Option<Printed> {
    OF_PORT.get(&(study, cell, method, quantity)).copied()
}

/// RMSE, MNLL without and with noise of one seed, by the port; for the method `chain`: mean, largest and median gap.
pub(crate) fn of_seed(study: &str, cell: &str, method: &str, seed: u32) -> Option<[f64; 3]> {
    BY_SEED.get(&(study, cell, method, seed)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_understood() {
        assert_eq!(BY_QUANTITY.len(), PRINTED.lines().count() - 1);
        assert_eq!(OF_PORT.len(), FOUND_BY_PORT.lines().count() - 1);
        assert_eq!(BY_SEED.len(), SCORES.lines().count() + GAPS.lines().count() - 2);
    }

    #[test]
    fn digits_say_how_exact_a_number_is() {
        let found = printed("sensor", "M32", "nngp", "mnll").unwrap();
        assert_eq!((found.value, found.half_digit), (1.5, 0.005));
        assert_eq!(of_seed("ett", "N500-p0.3", "ss", 0).unwrap()[0], 3.725900576);
    }
}
