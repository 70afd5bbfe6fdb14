//! What a method's file defines: its word, its counts, how it learns and how it conditions.

use catena_methods::MemoryLimit;
use catena_methods::fullscale::FullScaleSize;

use super::method::Differentiable;
use crate::options::MethodChoice;

/// A method that users choose by name.
///
/// # Laws
/// - `with_counts(counts(choice))` is the choice, with its default counts filled in.
/// - `parse(counts_text(choice))` is the choice.
pub(super) trait NamedMethod: Sync {
    /// The word on the command line, in Python and in model files; counts follow after a colon.
    fn word(&self) -> &'static str;

    /// All ways to write it, for messages.
    fn usages(&self) -> Vec<&'static str> {
        vec![self.word()]
    }

    /// The choice with the counts of this text, which followed after a colon; `None` if the text is invalid.
    fn parse(&self, counts: Option<&str>) -> Option<MethodChoice> {
        counts.is_none().then(|| self.with_counts([0, 0]))
    }

    /// The counts of a choice as text; `None` if it has none or they are open.
    fn counts_text(&self, _choice: MethodChoice) -> Option<String> {
        None
    }

    /// The counts of a choice, as in model files; 0 where it has none.
    fn counts(&self, _choice: MethodChoice) -> [usize; 2] {
        [0, 0]
    }

    /// The choice with these counts.
    fn with_counts(&self, counts: [usize; 2]) -> MethodChoice;

    /// The choice with default counts for a table of this many rows, where counts are open.
    fn for_rows(&self, choice: MethodChoice, _n_rows: usize) -> MethodChoice {
        choice
    }

    /// The method, which conditions and learns by its own evidence; `None` for message passing, which also depends on the
    /// structure.
    fn dense(&self, choice: MethodChoice, seed: u64, memory: MemoryLimit) -> Option<Box<dyn Differentiable>>;

    /// The size of the full-scale likelihood by which parameters are learned on a sample of rows; `None` to learn by the
    /// method's own evidence. `is_selected` tells whether method selection chose the method.
    fn full_scale_likelihood(&self, _choice: MethodChoice, _is_selected: bool) -> Option<FullScaleSize> {
        None
    }
}
