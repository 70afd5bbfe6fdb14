//! The messages of a node by name: those of Fig. 2 by the paper's numbers, those along the structure by ours.

use crate::edge::{Edge, Node};
use crate::explicit::ExplicitGraph;
use crate::message::Message;
use catena::index::RowIndex;
use std::fmt;

/// What a message is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MessageName {
    /// A message of Fig. 2, by its number.
    Figure(usize),
    /// The prior of the root's state.
    Prior,
    /// The message into a row's state through the transition from its parent.
    FromParent,
    /// The message of a row's subtree to the parent's state.
    ToParent,
    /// Message 4 passed through H: the likelihood of the row's own observations given z_i.
    Information,
    /// The prediction of z_i without the row's own observations.
    Prediction,
}

impl fmt::Display for MessageName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Figure(number) => write!(formatter, "{number}"),
            Self::Prior => formatter.write_str("prior"),
            Self::FromParent => formatter.write_str("from parent"),
            Self::ToParent => formatter.write_str("to parent"),
            Self::Information => formatter.write_str("information"),
            Self::Prediction => formatter.write_str("prediction"),
        }
    }
}

/// One message with its name, its way and its numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedMessage {
    /// What it is called.
    pub name: MessageName,
    /// The edge it travels on.
    pub edge: Edge,
    /// The box that sends it.
    pub from: Node,
    /// The box that gets it.
    pub to: Node,
    /// Its numbers.
    pub message: Message,
}

/// The number in Fig. 2 of the upward message on an edge, for a model of `n_outputs` outputs; `None` where the figure
/// has none.
///
/// The first output has 1 (y), 2 (N), 3 (×) and, above its =, the total 4. Each output between the first and the last has
/// four more, from its = down to its y: 5–8 in the figure. The last has three, 9–11, from its × down: its = only
/// passes message 9 on, which therefore has no second number. So D = 3 gives 11, any D ≥ 2 gives 4D − 1, and D = 1 gives 4.
pub fn figure_number(edge: Edge, n_outputs: usize) -> Option<usize> {
    let (output, from_top) = match edge {
        Edge::Outputs(_) => return Some(4),
        Edge::Join(_, output) if output.get() > 0 && output.get() + 1 < n_outputs => (output.get(), 1),
        Edge::Selection(_, output) => (output.get(), 2),
        Edge::Output(_, output) => (output.get(), 3),
        Edge::Observation(_, output) => (output.get(), 4),
        _ => return None,
    };
    Some(match output {
        // The first output is counted from its y upward.
        0 => 5 - from_top,
        last if last + 1 == n_outputs => 4 * last + from_top - 1,
        between => 4 * between + from_top,
    })
}

impl ExplicitGraph {
    /// The messages of Fig. 2 that a row's observations send, by ascending number. Missing outputs send none, and an =
    /// sends something only if some observation lies behind it.
    ///
    /// # Panics
    /// When `row` is of another table and out of range.
    pub fn messages_at(&self, row: RowIndex) -> Vec<NamedMessage> {
        let mut named: Vec<NamedMessage> = self
            .edges_of(row)
            .into_iter()
            .filter_map(|edge| {
                let number = figure_number(edge, self.outputs().len())?;
                self.upward(edge, MessageName::Figure(number))
            })
            .collect();
        named.sort_by_key(|message| message.name);
        named
    }

    /// How many messages of Fig. 2 a row's observations send.
    ///
    /// # Panics
    /// When `row` is of another table and out of range.
    pub fn n_messages_at(&self, row: RowIndex) -> usize {
        self.messages_at(row).len()
    }

    /// The messages between a row's state and the rest of the graph: with the prior or the parent, and with its own
    /// observations.
    ///
    /// # Panics
    /// When `row` is of another table and out of range.
    pub fn state_messages_at(&self, row: RowIndex) -> Vec<NamedMessage> {
        let from_above =
            if self.parent_row(row).is_some() { MessageName::FromParent } else { MessageName::Prior };
        [
            self.downward(Edge::State(row), from_above),
            self.upward(Edge::Parent(row), MessageName::ToParent),
            self.downward(Edge::Readout(row), MessageName::Prediction),
            self.upward(Edge::Readout(row), MessageName::Information),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn upward(&self, edge: Edge, name: MessageName) -> Option<NamedMessage> {
        let message = Message::Upward(self.messages_on(edge)?.toward_root?);
        let (from, to) = (self.lower_end(edge)?, self.upper_end(edge));
        Some(NamedMessage { name, edge, from, to, message })
    }

    fn downward(&self, edge: Edge, name: MessageName) -> Option<NamedMessage> {
        let message = Message::Downward(self.messages_on(edge)?.away_from_root);
        let (from, to) = (self.upper_end(edge), self.lower_end(edge)?);
        Some(NamedMessage { name, edge, from, to, message })
    }
}
