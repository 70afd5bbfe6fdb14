//! The list of inference methods that users choose by name.
//!
//! A method has one entry in this list and one file in `crate::methods`, which holds its words, its construction and how it
//! learns. The list is passed to two macros: here it becomes the enum [`MethodChoice`], in `crate::methods` the table of files.

use catena_methods::fullscale::FullScaleSize;

use crate::space::Geometry;

/// Passes the list to a macro. An entry is a case of [`MethodChoice`] with its counts, and the file in `crate::methods`.
macro_rules! with_methods {
    ($define:ident) => {
        $define! {
            /// Message passing.
            Catena => catena,
            /// Exact inference with dense matrices.
            Exact => exact,
            /// Full-scale inference: inducing points, and neighbors for the residual process.
            FullScale {
                /// The numbers of both; `None` to choose by held-out cells.
                size: Option<FullScaleSize>
            } => full_scale,
            /// Sparse variational inference.
            Svgp {
                /// The number of inducing points; 0 for 200, or the number of rows if smaller.
                n_inducing: usize
            } => svgp,
            /// Nearest-neighbor inference.
            Nngp {
                /// The number of neighbors; 0 for 16, or the number of rows if smaller.
                n_neighbors: usize
            } => nngp,
            /// Fields over places and time: the last input is the time, the others are the place.
            Space {
                /// How places are measured.
                geometry: Geometry
            } => space,
        }
    };
}
pub(crate) use with_methods;

macro_rules! define_enum {
    ($($(#[$doc:meta])* $case:ident $({ $(#[$about:meta])* $count:ident: $kind:ty })? => $file:ident,)+) => {
        /// The inference method.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        pub enum MethodChoice {
            /// Along one input message passing, which is exact; with several inputs chosen by cost and held-out cells.
            #[default]
            Auto,
            $($(#[$doc])* $case $({ $(#[$about])* $count: $kind })?,)+
        }
    };
}
with_methods!(define_enum);

impl MethodChoice {
    /// Whether inference is by message passing.
    pub fn is_message_passing(self) -> bool {
        matches!(self, Self::Auto | Self::Catena)
    }

    /// Columns of the model for each latent of the summary: a field is two, along time and between places.
    pub fn columns_per_latent(self) -> usize {
        if matches!(self, Self::Space { .. }) { 2 } else { 1 }
    }
}
