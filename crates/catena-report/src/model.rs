//! The fitted model and the structure over the rows, as the page shows them.

use serde::Serialize;

/// Latent processes, how they mix, and what each output is made of.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Model {
    /// One line about it: `3 shared latents, one private per output, Matérn-3/2 and Matérn-1/2`.
    pub summary: Option<String>,
    /// Names of the outputs, D of them; the rows of `mixing`, `correlation` and `shares`.
    pub outputs: Vec<String>,
    /// Latent processes. The shared ones, in order, are the columns of `mixing`.
    pub latents: Vec<Latent>,
    /// Mixing matrix of the shared latents, a row per output. Empty if not shown.
    pub mixing: Vec<Vec<f64>>,
    /// Unit of the entries of `mixing`, such as `standard deviations of the output`.
    pub mixing_unit: Option<String>,
    /// Implied prior correlation of the outputs at one and the same input, D × D. Empty if not shown.
    pub correlation: Vec<Vec<f64>>,
    /// What each output's variance is made of. Empty if not shown.
    pub shares: Vec<Shares>,
}

/// One latent process.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Latent {
    /// Its name, such as `shared 1` or `private`.
    pub name: String,
    /// The output it belongs to if it is private, as an index into `Model::outputs`.
    pub private_to: Option<usize>,
    /// Kernel in words or as a spec: `Matérn-3/2`, `sho+rw`.
    pub kernel: String,
    /// One length-scale, or one per input or piece.
    pub length_scales: Vec<LengthScale>,
}

/// A length-scale, as a number to place it and as text to read it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LengthScale {
    /// The number, in any unit that is the same for all latents; positive.
    pub value: f64,
    /// In the input's units: `48h`, `7d`, `0.35 km`.
    pub text: String,
}

/// Parts of one output's prior variance; they sum to one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Shares {
    /// From latents shared with other outputs.
    pub shared: f64,
    /// From its private latent.
    pub private: f64,
    /// From noise.
    pub noise: f64,
}

/// How the rows are joined.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Structure {
    /// What it is, in words: `minimum spanning tree, 4 000 edges`.
    pub summary: String,
    /// Rows joined by each edge.
    pub edges: Vec<[u32; 2]>,
}
