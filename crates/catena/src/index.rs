//! Distinct types for rows, groups, positions, outputs and latents.

use std::fmt;

macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(usize);

        impl $name {
            /// The index with this number, counted from 0.
            pub const fn new(number: usize) -> Self {
                Self(number)
            }

            /// The plain number, counted from 0.
            pub const fn get(self) -> usize {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }
    };
}

index_type! {
    /// A row of the user's table, counted from 0 in file order.
    RowIndex
}
index_type! {
    /// A group of rows that is independent of all other groups.
    GroupIndex
}
index_type! {
    /// A position in the structure's visiting order; position 0 is a root, and a parent precedes its children.
    Position
}
index_type! {
    /// An output: a column of the observations.
    OutputIndex
}
index_type! {
    /// A latent process: a column of the mixing matrix.
    LatentIndex
}
