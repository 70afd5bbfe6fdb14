//! The structures that users choose by name, one file each.

mod chain;
mod ensemble;
mod ties;
mod tree;

use std::fmt;
use std::str::FromStr;

use catena::data::InputPoints;
use catena::structure::{StructureChoice, StructureError, Tree};

pub use ties::Ties;
pub(crate) use ties::rows_by_inputs;

use super::words::{UnknownWord, positive_count};

/// The largest ensemble. The spread of a mean over chains falls with the root of their number, so more of them change little.
pub const MOST_CHAINS: usize = 1000;

/// A structure that users choose by name.
pub(super) trait NamedStructure: Sync {
    /// The word on the command line, in Python and in model files; a count follows after a colon.
    fn word(&self) -> &'static str;

    /// How it is written, for messages.
    fn usage(&self) -> &'static str {
        self.word()
    }

    /// Whether the word has a count.
    fn has_count(&self) -> bool {
        false
    }

    /// The largest count.
    fn most(&self) -> usize {
        usize::MAX
    }

    /// The option with this count, which is 0 for a word without one.
    fn with_count(&self, count: usize) -> StructureOption;

    /// The count of an option.
    fn count(&self, _option: StructureOption) -> usize {
        0
    }

    /// Builds the structure on which parameters are learned.
    fn build(&self, inputs: &InputPoints) -> Result<Tree, StructureError>;

    /// The name of what [`NamedStructure::build`] builds for this many inputs.
    fn built_name(&self, n_inputs: usize) -> &'static str;
}

/// Defines the enum and finds the file of each case. An entry is a case with its count, and a file of this folder.
macro_rules! structures {
    ($($(#[$doc:meta])* $case:ident $({ $(#[$about:meta])* $count:ident: usize })? => $file:ident,)+) => {
        /// The structure for message passing.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        pub enum StructureOption {
            /// The default for the number of inputs.
            #[default]
            Auto,
            $($(#[$doc])* $case $({ $(#[$about])* $count: usize })?,)+
        }

        const ALL: &[&dyn NamedStructure] = &[$(&$file::Definition),+];

        /// The definition of a structure; `None` for [`StructureOption::Auto`].
        fn definition(option: StructureOption) -> Option<&'static dyn NamedStructure> {
            match option {
                StructureOption::Auto => None,
                $(StructureOption::$case { .. } => Some(&$file::Definition),)+
            }
        }
    };
}

structures! {
    /// The sorted or greedy chain.
    Chain => chain,
    /// The minimum spanning tree.
    Tree => tree,
    /// Several random greedy chains; parameters are learned on the greedy chain, predictions are combined.
    Ensemble {
        /// The number of chains, up to [`MOST_CHAINS`].
        n_chains: usize
    } => ensemble,
}

/// The word for the default structure.
const AUTO: &str = "auto";

fn with_word(word: &str) -> Option<&'static dyn NamedStructure> {
    ALL.iter().copied().find(|structure| structure.word() == word)
}

impl StructureOption {
    /// Builds the structure over the points. For an ensemble it is the greedy chain, on which parameters are learned.
    ///
    /// # Errors
    /// When there are no points, or a distance overflows.
    pub fn build(self, inputs: &InputPoints) -> Result<Tree, StructureError> {
        self.build_by(Ties::ByInputs, inputs)
    }

    /// The same, with another rule for ties.
    ///
    /// # Errors
    /// As [`StructureOption::build`].
    pub fn build_by(self, ties: Ties, inputs: &InputPoints) -> Result<Tree, StructureError> {
        let by_row = |inputs: &InputPoints| match definition(self) {
            None => StructureChoice::for_dim(inputs.dim()).build(inputs),
            Some(structure) => structure.build(inputs),
        };
        let built = ties.build(inputs, |inputs| Ok(vec![by_row(inputs)?]))?;
        built.into_iter().next().map_or_else(|| by_row(inputs), Ok)
    }

    /// The name of the structure that [`StructureOption::build`] builds for this many inputs.
    pub fn name(self, n_inputs: usize) -> &'static str {
        definition(self)
            .map_or_else(|| StructureChoice::for_dim(n_inputs).name(), |found| found.built_name(n_inputs))
    }

    /// The word and its count, as in model files; the count of a word without one is 0.
    pub fn to_parts(self) -> (&'static str, usize) {
        definition(self).map_or((AUTO, 0), |found| (found.word(), found.count(self)))
    }

    /// The option with this word and count, as in model files; `None` if there is no such word.
    pub fn from_parts(word: &str, count: usize) -> Option<Self> {
        if word == AUTO {
            return Some(Self::Auto);
        }
        Some(with_word(word)?.with_count(count))
    }
}

impl fmt::Display for StructureOption {
    /// The word.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, count) = self.to_parts();
        match definition(*self).is_some_and(NamedStructure::has_count) {
            false => formatter.write_str(word),
            true => write!(formatter, "{word}:{count}"),
        }
    }
}

impl FromStr for StructureOption {
    type Err = UnknownWord;

    /// `auto`, `chain`, `tree` or `ensemble:K`.
    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let found = match text.split_once(':') {
            None if text == AUTO => Some(Self::Auto),
            None => with_word(text).filter(|found| !found.has_count()).map(|found| found.with_count(0)),
            Some((word, count)) => with_word(word)
                .filter(|found| found.has_count())
                .and_then(|found| Some((found, positive_count(count)?)))
                .filter(|(found, count)| *count <= found.most())
                .map(|(found, count)| found.with_count(count)),
        };
        let usages = ALL.iter().map(|structure| structure.usage());
        found.ok_or_else(|| UnknownWord::one_of([AUTO].into_iter().chain(usages)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_there_and_back() {
        for word in ["auto", "chain", "tree", "ensemble:8"] {
            let option = word.parse::<StructureOption>().unwrap();
            assert_eq!(option.to_string(), word);
            let (name, count) = option.to_parts();
            assert_eq!(StructureOption::from_parts(name, count), Some(option));
        }
        for word in [
            "",
            "Chain",
            "chain:3",
            "auto:1",
            "chain:",
            "ensemble",
            "ensemble:0",
            "ensemble:-1",
            "ensemble:1001",
            "ensemble:1000000000",
            "forest",
        ] {
            let error = word.parse::<StructureOption>().unwrap_err().to_string();
            assert_eq!(error, "write auto, chain, tree or ensemble:K with K from 1 to 1000", "{word}");
        }
        assert_eq!(StructureOption::from_parts("forest", 0), None);
    }
}
