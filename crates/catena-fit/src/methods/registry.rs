//! The table of methods, made from the list in `crate::options`, and the words and counts of a [`MethodChoice`].

use std::fmt;
use std::str::FromStr;

use catena::data::Dataset;
use catena::index::RowIndex;

use super::named::NamedMethod;
use crate::options::{MethodChoice, UnknownWord, with_methods};

macro_rules! define_table {
    ($($(#[$doc:meta])* $case:ident $({ $(#[$about:meta])* $count:ident: $kind:ty })? => $file:ident,)+) => {
        const ALL: &[&dyn NamedMethod] = &[$(&super::$file::Definition),+];

        /// The definition of a method; for [`MethodChoice::Auto`] that of message passing.
        pub(super) fn definition(choice: MethodChoice) -> &'static dyn NamedMethod {
            match choice {
                MethodChoice::Auto => &super::catena::Definition,
                $(MethodChoice::$case { .. } => &super::$file::Definition,)+
            }
        }
    };
}
with_methods!(define_table);

/// The word that leaves the method open.
const AUTO: &str = "auto";

fn with_word(word: &str) -> Option<&'static dyn NamedMethod> {
    ALL.iter().copied().find(|method| method.word() == word)
}

impl MethodChoice {
    /// The word without its counts, and the counts (0 where it has none), as in model files.
    pub fn to_parts(self) -> (&'static str, [usize; 2]) {
        match self {
            Self::Auto => (AUTO, [0, 0]),
            _ => (definition(self).word(), definition(self).counts(self)),
        }
    }

    /// The method with this word and these counts, as in model files; `None` if there is no such word.
    pub fn from_parts(word: &str, counts: [usize; 2]) -> Option<Self> {
        if word == AUTO { Some(Self::Auto) } else { Some(with_word(word)?.with_counts(counts)) }
    }

    /// The method with default counts, at most the number of rows it learns from.
    pub(crate) fn with_default_counts(self, table: &Dataset, learning_rows: Option<usize>) -> Self {
        let has_cell = |row: &RowIndex| table.observations().row(*row).len() > 0;
        let n_rows = table.inputs().rows().filter(has_cell).count();
        definition(self).for_rows(self, n_rows.min(learning_rows.unwrap_or(n_rows)).max(1))
    }
}

impl fmt::Display for MethodChoice {
    /// The word with its counts.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.to_parts().0)?;
        match definition(*self).counts_text(*self) {
            None => Ok(()),
            Some(counts) => write!(formatter, ":{counts}"),
        }
    }
}

impl FromStr for MethodChoice {
    type Err = UnknownWord;

    /// `auto`, `catena`, `exact`, `fullscale[:M,K]`, `svgp[:M]`, `nngp[:K]` or
    /// `space[:GEOMETRY]`.
    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let (word, counts) = text.split_once(':').map_or((text, None), |(word, counts)| (word, Some(counts)));
        let found = match with_word(word) {
            None => (text == AUTO).then_some(Self::Auto),
            Some(method) => method.parse(counts),
        };
        let usages = ALL.iter().flat_map(|method| method.usages());
        found.ok_or_else(|| UnknownWord::one_of([AUTO].into_iter().chain(usages)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_written_and_saved_without_loss() {
        for method in ALL {
            let counted = method.with_counts([7, 3]);
            for choice in [method.with_counts([0, 0]), counted] {
                assert_eq!(definition(choice).word(), method.word());
            }
            assert_eq!(counted.to_string().parse(), Ok(counted));
            let (word, counts) = counted.to_parts();
            assert_eq!(MethodChoice::from_parts(word, counts), Some(counted));
            assert!(method.usages()[0].starts_with(word));
            assert_ne!(word, AUTO);
        }
        assert_eq!(MethodChoice::from_parts(AUTO, [0, 0]), Some(MethodChoice::Auto));
        assert_eq!(MethodChoice::from_parts("krige", [0, 0]), None);
    }

    #[test]
    fn words_go_there_and_back() {
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
            "space",
            "space:plane",
            "space:latlon",
            "space:lonlat",
        ] {
            assert_eq!(word.parse::<MethodChoice>().unwrap().to_string(), word);
        }
        for word in [
            "",
            "auto:1",
            "catena:2",
            "exact:",
            "svgp:",
            "svgp:0",
            "nngp:2,3",
            "fullscale:",
            "fullscale:0,0",
            "fullscale:5",
            "fullscale:-1,3",
            "space:auto",
            "space:moon",
        ] {
            let error = word.parse::<MethodChoice>().unwrap_err().to_string();
            let expected = "write auto, catena, exact, fullscale, fullscale:M,K (M inducing points, K neighbors), svgp, \
                            svgp:M, nngp, nngp:K, space, space:plane, space:latlon or space:lonlat";
            assert_eq!(error, expected, "{word}");
        }
    }
}
