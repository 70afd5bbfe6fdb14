//! The memory limit of dense methods, checked before allocation.

use std::fmt;

use crate::DenseMethodError;

/// A number of bytes, printed with a unit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Bytes(u128);

impl Bytes {
    /// The bytes of this many double-precision numbers.
    pub(crate) fn of_numbers(count: u128) -> Self {
        Self(count.saturating_mul(8))
    }

    /// An estimate, rounded down.
    pub fn about(bytes: f64) -> Self {
        Self(bytes as u128)
    }

    /// The number.
    pub fn get(self) -> u128 {
        self.0
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
        let mut amount = self.0 as f64;
        let mut unit = 0;
        while amount >= 1000.0 && unit + 1 < UNITS.len() {
            amount /= 1000.0;
            unit += 1;
        }
        if unit == 0 {
            write!(formatter, "{amount} B")
        } else {
            write!(formatter, "{amount:.1} {}", UNITS[unit])
        }
    }
}

/// The maximum memory of a method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryLimit(Bytes);

impl MemoryLimit {
    /// A limit in bytes.
    pub const fn bytes(limit: u64) -> Self {
        Self(Bytes(limit as u128))
    }

    /// The number of bytes.
    pub fn get(self) -> Bytes {
        self.0
    }

    /// Whether a square matrix with this many rows fits.
    pub fn holds_square(self, n_rows: usize) -> bool {
        Bytes::of_numbers((n_rows as u128).pow(2)) <= self.0
    }

    /// Fails if `needed` is above the limit.
    pub(crate) fn check(self, demand: Demand, needed: Bytes) -> Result<(), DenseMethodError> {
        if needed <= self.0 {
            return Ok(());
        }
        let Demand { method, n_observed, instead } = demand;
        Err(DenseMethodError::Memory { method, needed, limit: self.0, n_observed, instead })
    }
}

impl Default for MemoryLimit {
    /// 8 GB.
    fn default() -> Self {
        Self::bytes(8_000_000_000)
    }
}

/// The source of a memory request, for the error message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Demand {
    /// The method's name.
    pub(crate) method: &'static str,
    /// Observed cells of the table.
    pub(crate) n_observed: usize,
    /// An alternative for the user.
    pub(crate) instead: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_read_well() {
        assert_eq!(Bytes(999).to_string(), "999 B");
        assert_eq!(Bytes::of_numbers(1_000_000_000_000).to_string(), "8.0 TB");
    }

    #[test]
    fn a_limit_is_inclusive() {
        let demand = Demand { method: "exact", n_observed: 10, instead: "use less" };
        assert!(MemoryLimit::bytes(80).check(demand, Bytes::of_numbers(10)).is_ok());
        assert!(matches!(
            MemoryLimit::bytes(79).check(demand, Bytes::of_numbers(10)),
            Err(DenseMethodError::Memory { n_observed: 10, .. })
        ));
    }
}
