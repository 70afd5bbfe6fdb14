//! Colors, markers and lines.

/// Okabe and Ito's colors; grey stands for yellow, which is too faint on white.
const COLORS: [&str; 8] =
    ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#999999", "#E69F00", "#56B4E9", "#000000"];

/// The shape of a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    Cross,
}

const MARKERS: [Marker; 5] =
    [Marker::Circle, Marker::Square, Marker::Triangle, Marker::Diamond, Marker::Cross];

/// How the points of a series are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stroke {
    Solid,
    Dashed,
    None,
}

/// How a series looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    pub(super) color: &'static str,
    pub(super) marker: Option<Marker>,
    /// A hollow marker is a number of the paper.
    pub(super) is_hollow: bool,
    pub(super) stroke: Stroke,
}

impl Look {
    /// A method of ours, by its place in all legends: 0 message passing on the chain, 1 exact, 2 sparse, 3 nearest-neighbor,
    /// 4 the training mean; what only one study has is behind. Eight colors and five markers: no two of forty are alike.
    pub(crate) fn method(at: usize) -> Self {
        Self {
            color: COLORS[at % COLORS.len()],
            marker: Some(MARKERS[at % MARKERS.len()]),
            is_hollow: false,
            stroke: Stroke::Solid,
        }
    }

    /// The paper's numbers for the same method: larger and hollow, so that both are seen where they coincide; not joined,
    /// since what lies between is not printed.
    pub(crate) fn paper(at: usize) -> Self {
        Self { is_hollow: true, stroke: Stroke::None, ..Self::method(at) }
    }

    /// Numbers of the paper that belong to none of our series: hollow diamonds in the color of text.
    pub(crate) fn print() -> Self {
        Self { color: "#222222", marker: Some(Marker::Diamond), is_hollow: true, stroke: Stroke::None }
    }

    /// Markers only.
    pub(crate) fn unjoined(self) -> Self {
        Self { stroke: Stroke::None, ..self }
    }

    /// A dashed line without markers.
    pub(crate) fn guide() -> Self {
        Self { color: "#666666", marker: None, is_hollow: false, stroke: Stroke::Dashed }
    }
}
