//! The words for methods, structures, means and budgets on the command line and in Python.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use catena::data::Dataset;
use catena::index::RowIndex;
use catena_methods::fullscale::FullScaleSize;

use super::choices::{Budget, MeanChoice, MethodChoice, StructureOption};

/// An unknown word, with the valid ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("write {0}")]
pub struct UnknownWord(&'static str);

/// The default number of inducing points.
const INDUCING: usize = 200;
/// The default number of neighbors.
const NEIGHBORS: usize = 16;

impl MethodChoice {
    /// Whether inference is by message passing.
    pub(crate) fn is_message_passing(self) -> bool {
        matches!(self, Self::Auto | Self::Catena)
    }

    /// The method with default counts, at most the number of rows it learns from.
    pub(crate) fn with_counts(self, table: &Dataset, learning_rows: Option<usize>) -> Self {
        let most = || {
            let has_cell = |row: &RowIndex| table.observations().row(*row).len() > 0;
            let n_rows = table.inputs().rows().filter(has_cell).count();
            n_rows.min(learning_rows.unwrap_or(n_rows)).max(1)
        };
        match self {
            Self::Svgp { n_inducing: 0 } => Self::Svgp { n_inducing: INDUCING.min(most()) },
            Self::Nngp { n_neighbors: 0 } => Self::Nngp { n_neighbors: NEIGHBORS.min(most()) },
            given => given,
        }
    }
}

impl FromStr for StructureOption {
    type Err = UnknownWord;

    /// `auto`, `chain`, `tree` or `ensemble:K`.
    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match (text, text.strip_prefix("ensemble:").map(str::parse)) {
            ("auto", _) => Ok(Self::Auto),
            ("chain", _) => Ok(Self::Chain),
            ("tree", _) => Ok(Self::Tree),
            (_, Some(Ok(n_chains))) if n_chains > 0 => Ok(Self::Ensemble { n_chains }),
            _ => Err(UnknownWord("auto, chain, tree or ensemble:K with K at least 1")),
        }
    }
}

impl fmt::Display for StructureOption {
    /// The word.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => formatter.write_str("auto"),
            Self::Chain => formatter.write_str("chain"),
            Self::Tree => formatter.write_str("tree"),
            Self::Ensemble { n_chains } => write!(formatter, "ensemble:{n_chains}"),
        }
    }
}

impl fmt::Display for MethodChoice {
    /// The word.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => formatter.write_str("auto"),
            Self::Catena => formatter.write_str("catena"),
            Self::Exact => formatter.write_str("exact"),
            Self::Svgp { n_inducing: 0 } => formatter.write_str("svgp"),
            Self::Nngp { n_neighbors: 0 } => formatter.write_str("nngp"),
            Self::Svgp { n_inducing } => write!(formatter, "svgp:{n_inducing}"),
            Self::Nngp { n_neighbors } => write!(formatter, "nngp:{n_neighbors}"),
            Self::FullScale { size: None } => formatter.write_str("fullscale"),
            Self::FullScale { size: Some(FullScaleSize { n_inducing, n_neighbors }) } => {
                write!(formatter, "fullscale:{n_inducing},{n_neighbors}")
            }
        }
    }
}

impl FromStr for MethodChoice {
    type Err = UnknownWord;

    /// `auto`, `catena`, `exact`, `fullscale[:M,K]`, `svgp[:M]` or `nngp[:K]`.
    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        if let Some(size) = text.strip_prefix("fullscale:").and_then(full_scale_size) {
            return Ok(Self::FullScale { size: Some(size) });
        }
        let (name, count) = text.split_once(':').map_or((text, None), |(name, count)| (name, Some(count)));
        let count = count.map(|count| count.parse::<usize>().ok().filter(|count| *count > 0));
        match (name, count) {
            ("auto", None) => Ok(Self::Auto),
            ("catena", None) => Ok(Self::Catena),
            ("exact", None) => Ok(Self::Exact),
            ("fullscale", None) => Ok(Self::FullScale { size: None }),
            ("svgp", None) => Ok(Self::Svgp { n_inducing: 0 }),
            ("svgp", Some(Some(n_inducing))) => Ok(Self::Svgp { n_inducing }),
            ("nngp", None) => Ok(Self::Nngp { n_neighbors: 0 }),
            ("nngp", Some(Some(n_neighbors))) => Ok(Self::Nngp { n_neighbors }),
            _ => Err(UnknownWord(
                "auto, catena, exact, fullscale, fullscale:M,K (M inducing points, K neighbors), svgp, svgp:M, nngp or nngp:K",
            )),
        }
    }
}

/// `M,K`: inducing points and neighbors, not both 0.
fn full_scale_size(text: &str) -> Option<FullScaleSize> {
    let (inducing, neighbors) = text.split_once(',')?;
    let size = FullScaleSize::new(inducing.trim().parse().ok()?, neighbors.trim().parse().ok()?);
    (size.n_inducing + size.n_neighbors > 0).then_some(size)
}

impl FromStr for MeanChoice {
    type Err = UnknownWord;

    /// `auto`, `constant` or `linear`.
    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match text {
            "auto" => Ok(Self::Auto),
            "constant" => Ok(Self::Constant),
            "linear" => Ok(Self::Linear),
            _ => Err(UnknownWord("auto, constant or linear")),
        }
    }
}

impl FromStr for Budget {
    type Err = UnknownWord;

    /// `quick`, `default` or `thorough`.
    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match text {
            "quick" => Ok(Self::Quick),
            "default" => Ok(Self::Default),
            "thorough" => Ok(Self::Thorough),
            _ => Err(UnknownWord("quick, default or thorough")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_there_and_back() {
        for word in ["auto", "chain", "tree", "ensemble:8"] {
            assert_eq!(word.parse::<StructureOption>().unwrap().to_string(), word);
        }
        for word in [
            "auto",
            "catena",
            "exact",
            "svgp",
            "svgp:50",
            "nngp",
            "nngp:8",
            "fullscale",
            "fullscale:64,10",
            "fullscale:0,20",
        ] {
            assert_eq!(word.parse::<MethodChoice>().unwrap().to_string(), word);
        }
        for word in ["fullscale:", "fullscale:0,0", "fullscale:5", "fullscale:-1,3"] {
            assert!(word.parse::<MethodChoice>().is_err(), "{word}");
        }
    }
}
