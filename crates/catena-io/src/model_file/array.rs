//! An array of a model file: numbers with a shape.

use super::ModelFileError;

/// The numbers of an array.
#[derive(Debug, Clone)]
enum ArrayValues {
    F64(Vec<f64>),
    U64(Vec<u64>),
}

impl PartialEq for ArrayValues {
    /// Equal to the bit, so that a NaN equals itself.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::F64(left), Self::F64(right)) => {
                left.len() == right.len()
                    && left.iter().zip(right).all(|(left, right)| left.to_bits() == right.to_bits())
            }
            (Self::U64(left), Self::U64(right)) => left == right,
            _ => false,
        }
    }
}

/// Numbers with a shape, in row-major order.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    shape: Vec<usize>,
    values: ArrayValues,
}

impl Array {
    /// Doubles in one dimension.
    pub fn from_f64(values: Vec<f64>) -> Self {
        Self { shape: vec![values.len()], values: ArrayValues::F64(values) }
    }

    /// Unsigned integers in one dimension.
    pub fn from_u64(values: Vec<u64>) -> Self {
        Self { shape: vec![values.len()], values: ArrayValues::U64(values) }
    }

    /// The same numbers in another shape.
    ///
    /// # Errors
    /// If the shape does not match the number of values.
    pub fn with_shape(mut self, shape: &[usize]) -> Result<Self, ModelFileError> {
        let n_places = shape.iter().try_fold(1_usize, |product, size| product.checked_mul(*size));
        if n_places != Some(self.len()) {
            return Err(ModelFileError::Shape { shape: shape.to_vec(), found: self.len() });
        }
        self.shape = shape.to_vec();
        Ok(self)
    }

    /// The shape.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The numbers, if they are doubles.
    pub fn as_f64(&self) -> Option<&[f64]> {
        match &self.values {
            ArrayValues::F64(values) => Some(values),
            ArrayValues::U64(_) => None,
        }
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        match &self.values {
            ArrayValues::F64(values) => values.len(),
            ArrayValues::U64(values) => values.len(),
        }
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self.values {
            ArrayValues::F64(_) => "f64",
            ArrayValues::U64(_) => "u64",
        }
    }

    /// Calls `use_piece` with the values as little-endian bytes, in pieces.
    pub(crate) fn for_each_piece<E>(
        &self,
        mut use_piece: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        const NUMBERS_PER_PIECE: usize = 4096;
        let mut piece = Vec::with_capacity(8 * NUMBERS_PER_PIECE);
        let mut hand_out = |numbers: &mut dyn Iterator<Item = [u8; 8]>| {
            piece.clear();
            piece.extend(numbers.flatten());
            use_piece(&piece)
        };
        match &self.values {
            ArrayValues::F64(values) => {
                for numbers in values.chunks(NUMBERS_PER_PIECE) {
                    hand_out(&mut numbers.iter().map(|value| value.to_le_bytes()))?;
                }
            }
            ArrayValues::U64(values) => {
                for numbers in values.chunks(NUMBERS_PER_PIECE) {
                    hand_out(&mut numbers.iter().map(|value| value.to_le_bytes()))?;
                }
            }
        }
        Ok(())
    }
}
