//! The measured models and sizes.

use catena::kernel::Kernel;

/// How far apart the points are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spacing {
    /// Exponential gaps, all different, so that no computation profits from a grid.
    Irregular,
    /// All gaps 1.
    Regular,
}

/// One model and one table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) n_shared: usize,
    /// Whether each output has a private latent besides the shared ones.
    pub(crate) has_private: bool,
    pub(crate) n_outputs: usize,
    pub(crate) kernel: Kernel,
    pub(crate) n_points: usize,
    /// The fraction of rows without an observation.
    pub(crate) empty_rows: f64,
    /// The fraction of missing cells in the other rows.
    pub(crate) missing: f64,
    pub(crate) spacing: Spacing,
}

/// One scalar series.
pub(crate) const SCALAR: Case = Case {
    name: "L=1 D=1",
    n_shared: 1,
    has_private: false,
    n_outputs: 1,
    kernel: Kernel::Matern32,
    n_points: 100_000,
    empty_rows: 0.0,
    missing: 0.0,
    spacing: Spacing::Irregular,
};

/// The size of the paper's sensor network.
const TWO_LATENTS: Case = Case { name: "L=2 D=3", n_shared: 2, n_outputs: 3, n_points: 2000, ..SCALAR };

/// The size of the paper's four-output study: half of the rows are predicted.
pub(crate) const THREE_LATENTS: Case = Case {
    name: "L=3 D=4",
    n_shared: 3,
    n_outputs: 4,
    n_points: 16_000,
    empty_rows: 0.5,
    missing: 0.3,
    ..SCALAR
};

/// The size of the paper's seven-output study, all of its rows.
pub(crate) const FOUR_LATENTS: Case =
    Case { name: "L=4 D=7", n_shared: 4, n_outputs: 7, n_points: 17_420, missing: 0.3, ..SCALAR };

/// A model as learned in practice: six shared latents and a private one per output.
pub(crate) const LEARNED_ROUGH: Case = Case {
    name: "6 shared + 7 private, Matérn-1/2",
    n_shared: 6,
    has_private: true,
    n_points: 4000,
    kernel: Kernel::Matern12,
    ..FOUR_LATENTS
};

/// The same, smoother: twice the state.
pub(crate) const LEARNED_SMOOTH: Case =
    Case { name: "6 shared + 7 private, Matérn-3/2", kernel: Kernel::Matern32, ..LEARNED_ROUGH };

/// The rows of the main table.
pub(crate) const SWEEP: &[Case] = &[
    SCALAR,
    Case { n_points: 1_000_000, ..SCALAR },
    TWO_LATENTS,
    THREE_LATENTS,
    Case { name: "L=3 D=4, regular grid", spacing: Spacing::Regular, ..THREE_LATENTS },
    FOUR_LATENTS,
    LEARNED_ROUGH,
    LEARNED_SMOOTH,
];

impl Case {
    /// The number of latents, shared and private.
    pub(crate) fn n_latents(&self) -> usize {
        self.n_shared + if self.has_private { self.n_outputs } else { 0 }
    }

    /// Whether the paper's recursion covers this model.
    pub(crate) fn suits_the_paper(&self) -> bool {
        !self.has_private && self.kernel == Kernel::Matern32
    }
}
