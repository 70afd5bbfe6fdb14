//! The messages between a node's state and its observations: the lower part of Fig. 2, derived on demand.

use crate::edge::{Edge, EdgeMessages};
use crate::explicit::ExplicitGraph;
use crate::factor::Selection;
use crate::message::{Canonical, Moment, Upward};
use catena::index::{OutputIndex, Position};

impl ExplicitGraph {
    /// Messages 2, 7, 10: from N toward ×.
    fn output_up(&self, position: Position, output: usize) -> Option<Canonical> {
        self.cell(position, output).map(|cell| cell.factor.toward_output(cell.value))
    }

    /// Messages 3, 6, 9: from × toward =.
    fn selection_up(&self, position: Position, output: usize) -> Option<Canonical> {
        self.output_up(position, output).map(|message| self.selection(output).toward_outputs(&message))
    }

    /// What an output's = sends on toward the state: its own observation times all those to its right, if there are any.
    ///
    /// At the first output this is message 4, the total; at an output between the first and the last, message 5. The
    /// last = has nothing to its right and only passes its message on.
    fn join_up(&self, position: Position, output: usize) -> Option<Canonical> {
        let mut product: Option<Canonical> = None;
        for right in (output..self.outputs().len()).rev() {
            if let Some(own) = self.selection_up(position, right) {
                product = Some(product.map_or(own.clone(), |product| own.times(&product)));
            }
        }
        product
    }

    /// The total observation message seen from the state, × toward =: `Σ h_d h_dᵀ/r_d`, `Σ h_d y_d/r_d`.
    pub(crate) fn information(&self, position: Position) -> Option<Canonical> {
        self.join_up(position, 0).map(|message| self.mixing.toward_state(&message))
    }

    /// What comes into an output's = from above: the prediction of f_i and the observations of the outputs before it.
    fn join_down(&self, position: Position, output: usize) -> Moment {
        let prediction = self.mixing.toward_outputs(&self.readout_down(position));
        let before = (0..output).filter_map(|left| self.selection_up(position, left));
        before.fold(prediction, |product, message| product.times(&message))
    }

    /// From an output's = toward its ×: what comes from above and from the right.
    fn selection_down(&self, position: Position, output: usize) -> Moment {
        let from_above = self.join_down(position, output);
        match self.join_up(position, output + 1) {
            Some(from_right) => from_above.times(&from_right),
            None => from_above,
        }
    }

    /// The messages about one output f_id.
    pub(crate) fn output_messages(&self, position: Position, output: usize) -> EdgeMessages {
        let from_outputs = self.selection_down(position, output);
        EdgeMessages {
            toward_root: self.output_up(position, output).map(Upward::Canonical),
            away_from_root: self.selection(output).toward_output(&from_outputs),
        }
    }

    /// The messages on an edge at or below a node's ×H; `None` when the graph has no such edge.
    pub(crate) fn branch_messages(&self, edge: Edge) -> Option<EdgeMessages> {
        let (up, away_from_root) = match edge {
            Edge::Readout(row) => {
                let position = self.position_of(row);
                (self.information(position), self.readout_down(position))
            }
            Edge::Outputs(row) => {
                let position = self.position_of(row);
                (self.join_up(position, 0), self.join_down(position, 0))
            }
            Edge::Join(row, output) if output.get() > 0 => {
                let position = self.position_of(row);
                (self.join_up(position, output.get()), self.join_down(position, output.get()))
            }
            Edge::Selection(row, output) => {
                let position = self.position_of(row);
                (self.selection_up(position, output.get()), self.selection_down(position, output.get()))
            }
            Edge::Output(row, output) => {
                return Some(self.output_messages(self.position_of(row), output.get()));
            }
            Edge::Observation(row, output) => {
                let position = self.position_of(row);
                let cell = self.cell(position, output.get())?;
                let from_output = self.output_messages(position, output.get()).away_from_root;
                return Some(EdgeMessages {
                    toward_root: Some(Upward::Known(cell.value)),
                    away_from_root: cell.factor.toward_observation(&from_output),
                });
            }
            Edge::Join(..) | Edge::Parent(_) | Edge::Drift(_) | Edge::State(_) => return None,
        };
        Some(EdgeMessages { toward_root: up.map(Upward::Canonical), away_from_root })
    }

    fn selection(&self, output: usize) -> Selection {
        Selection { output: OutputIndex::new(output), n_outputs: self.outputs().len() }
    }
}
