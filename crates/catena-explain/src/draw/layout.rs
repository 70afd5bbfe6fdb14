//! Where the boxes of the SVG drawing stand: one plate per row, columns by depth, branches below one another.

use crate::edge::Node;
use crate::explicit::ExplicitGraph;
use catena::index::{OutputIndex, RowIndex};

/// Half the side of a small box (× and =).
pub(super) const SMALL: f64 = 13.0;
/// Half the side of a noise box (N).
pub(super) const LARGE: f64 = 17.0;
/// Half the side of a black square.
pub(super) const SQUARE: f64 = 5.0;
/// How far the square of a parameter stands from the middle of its box.
pub(super) const ASIDE: f64 = 42.0;
/// The radius of a message's circle.
pub(super) const CIRCLE: f64 = 11.0;

/// Places within a plate.
pub(super) const DRIFT_X: f64 = 54.0;
pub(super) const NOISE_X: f64 = 126.0;
pub(super) const STATE_X: f64 = 222.0;
pub(super) const OUTPUT_SPACING: f64 = 132.0;
pub(super) const PARAMETER_Y: f64 = 30.0;
pub(super) const CHAIN_Y: f64 = 72.0;
pub(super) const MIXING_Y: f64 = 136.0;
pub(super) const JOIN_Y: f64 = 208.0;
pub(super) const SELECTION_Y: f64 = 276.0;
pub(super) const OBSERVATION_Y: f64 = 348.0;
pub(super) const VALUE_Y: f64 = 412.0;
pub(super) const PLATE_HEIGHT: f64 = 452.0;

const PLATE_RIGHT: f64 = 58.0;
const GUTTER: f64 = 64.0;
const BETWEEN_BRANCHES: f64 = 36.0;
const MARGIN: f64 = 24.0;
const CAPTION: f64 = 48.0;

/// The place of every plate.
pub(super) struct Layout {
    /// Column and line of each row of the table.
    cells: Vec<(usize, usize)>,
    plate_width: f64,
}

impl Layout {
    pub(super) fn new(graph: &ExplicitGraph) -> Self {
        let n_outputs = graph.outputs().len();
        let mut cells = vec![(0, 0); graph.rows().len()];
        let mut n_lines = 0;
        let mut previous = None;
        // In visiting order a row either goes on from the row before it, on the same line, or starts a new line.
        for row in graph.rows() {
            let parent = graph.parent_row(row);
            if parent.is_none() || parent != previous {
                n_lines += 1;
            }
            let column = parent.map_or(0, |parent| cells[parent.get()].0 + 1);
            cells[row.get()] = (column, n_lines - 1);
            previous = Some(row);
        }
        let plate_width = STATE_X + OUTPUT_SPACING * (n_outputs as f64 - 1.0) + PLATE_RIGHT;
        Self { cells, plate_width }
    }

    pub(super) fn plate_width(&self) -> f64 {
        self.plate_width
    }

    /// The upper left corner of a row's plate.
    pub(super) fn corner(&self, row: RowIndex) -> (f64, f64) {
        let (column, line) = self.cells[row.get()];
        let x = MARGIN + column as f64 * (self.plate_width + GUTTER);
        (x, MARGIN + line as f64 * (PLATE_HEIGHT + BETWEEN_BRANCHES))
    }

    /// The middle of the gutter to the right of a row's plate, where a state goes to several children.
    pub(super) fn gutter_x(&self, row: RowIndex) -> f64 {
        self.corner(row).0 + self.plate_width + 0.5 * GUTTER
    }

    /// The left of the line that names a row, in the lower left of its plate.
    pub(super) fn title(&self, row: RowIndex) -> (f64, f64) {
        let (left, top) = self.corner(row);
        (left + 14.0, top + PLATE_HEIGHT - 32.0)
    }

    /// The middle of a box in a row's plate.
    pub(super) fn place(&self, row: RowIndex, node: Node) -> (f64, f64) {
        let (x, y) = match node {
            Node::Prior | Node::Noise(_) => (NOISE_X, CHAIN_Y),
            Node::Drift(_) => (DRIFT_X, CHAIN_Y),
            Node::State(_) => (STATE_X, CHAIN_Y),
            Node::Mixing(_) => (STATE_X, MIXING_Y),
            Node::Join(_, output) => (Self::output_x(output), JOIN_Y),
            Node::Selection(_, output) => (Self::output_x(output), SELECTION_Y),
            Node::Observation(_, output) => (Self::output_x(output), OBSERVATION_Y),
            Node::Value(_, output) => (Self::output_x(output), VALUE_Y),
        };
        let (left, top) = self.corner(row);
        (left + x, top + y)
    }

    /// The place of an output, from the left of its plate.
    pub(super) fn output_x(output: OutputIndex) -> f64 {
        STATE_X + OUTPUT_SPACING * output.get() as f64
    }

    /// Width and height of the drawing.
    pub(super) fn size(&self) -> (f64, f64) {
        let n_columns = self.cells.iter().map(|cell| cell.0 + 1).max().unwrap_or(0) as f64;
        let n_lines = self.cells.iter().map(|cell| cell.1 + 1).max().unwrap_or(0) as f64;
        let width = 2.0 * MARGIN + n_columns * (self.plate_width + GUTTER) - GUTTER;
        let height = 2.0 * MARGIN + n_lines * (PLATE_HEIGHT + BETWEEN_BRANCHES) - BETWEEN_BRANCHES;
        (width, height + CAPTION)
    }
}
