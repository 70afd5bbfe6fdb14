//! Tables of the ziggurat by which `randn` draws.

/// Where the tail of the normal density begins.
pub(super) const TAIL: f64 = 3.654_152_885_361_008_796_351_947_251_856_046_648_127_333_159_209_644_888;
/// The area of each strip: TAIL·e^(−TAIL²/2) plus the tail beyond it.
const AREA: f64 = 0.004_928_673_233_974_658;

/// Tables of the ziggurat: strips of equal area under the normal density.
#[derive(Clone, Debug)]
pub(super) struct Ziggurat {
    pub(super) inside: Vec<i64>,
    pub(super) width: Vec<f64>,
    pub(super) height: Vec<f64>,
}

impl Ziggurat {
    pub(super) fn new() -> Self {
        let scale = (1_u64 << 51) as f64;
        let (mut inside, mut width, mut height) = (vec![0; 256], vec![0.0; 256], vec![0.0; 256]);
        let mut outer = TAIL;
        width[255] = outer / scale;
        height[255] = (-0.5 * outer * outer).exp();
        inside[0] = (outer * height[255] / AREA * scale) as i64;
        width[0] = AREA / height[255] / scale;
        height[0] = 1.0;
        for strip in (1..255).rev() {
            let x = (-2.0 * (AREA / outer + height[strip + 1]).ln()).sqrt();
            inside[strip + 1] = (x / outer * scale) as i64;
            width[strip] = x / scale;
            height[strip] = (-0.5 * x * x).exp();
            outer = x;
        }
        Self { inside, width, height }
    }
}
