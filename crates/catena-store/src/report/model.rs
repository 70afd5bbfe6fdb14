//! The fitted model and the structure over the rows.

use serde::Serialize;

/// Latent processes, mixing matrix and shares of variance.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Model {
    /// One line: `3 shared latents, one private per output, Matérn-3/2 and Matérn-1/2`.
    pub summary: Option<String>,
    /// Names of the outputs, D of them; the rows of `mixing`, `correlation` and `shares`.
    pub outputs: Vec<String>,
    /// Latent processes. The shared ones, in order, are the columns of `mixing`.
    pub latents: Vec<Latent>,
    /// Mixing matrix of the shared latents, a row per output. Empty if not shown.
    pub mixing: Vec<Vec<f64>>,
    /// Unit of the entries of `mixing`, such as `standard deviations of the output`.
    pub mixing_unit: Option<String>,
    /// Prior correlation of the outputs at the same input, D × D. Empty if not shown.
    pub correlation: Vec<Vec<f64>>,
    /// Shares of each output's prior variance. Empty if not shown.
    pub shares: Vec<Shares>,
}

/// One latent process.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Latent {
    /// Its name, such as `shared 1` or `private`.
    pub name: String,
    /// Index into `Model::outputs` of the only output it enters; `None` if shared.
    pub private_to: Option<usize>,
    /// Kernel: `Matérn-3/2`, `sho+rw`.
    pub kernel: String,
    /// One length-scale, or one per input or component.
    pub length_scales: Vec<LengthScale>,
}

/// A length-scale as a number (its place on the axis) and as text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LengthScale {
    /// Positive; all latents use the same unit.
    pub value: f64,
    /// With its unit: `48h`, `7d`, `0.35 km`.
    pub text: String,
}

/// Shares of one output's prior variance; they sum to one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Shares {
    /// From latents shared with other outputs.
    pub shared: f64,
    /// From its private latent.
    pub private: f64,
    /// From noise.
    pub noise: f64,
}

/// The chain or tree over the rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Structure {
    /// One line: `minimum spanning tree, 4 000 edges`.
    pub summary: String,
    /// Rows joined by each edge.
    #[serde(serialize_with = "super::payload::edges")]
    pub edges: Vec<[u32; 2]>,
}
