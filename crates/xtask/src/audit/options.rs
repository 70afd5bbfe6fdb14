//! The arguments of `cargo xtask audit`.

use std::path::PathBuf;

/// See [`Options::parse`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// Seconds of attacks (`break`), and total seconds of fuzzing.
    pub(crate) seconds: u64,
    /// Seed of the attacks.
    pub(crate) seed: u64,
    /// A folder with the database of advisories.
    pub(crate) advisories: Option<PathBuf>,
    /// The baseline of interfaces: a revision, or a folder with sources.
    pub(crate) baseline: Option<String>,
    /// Names of checks; all if empty.
    pub(crate) only: Vec<String>,
}

impl Options {
    /// Reads `[CHECK...] [--seconds N] [--seed N] [--advisories PATH] [--baseline REV|PATH]`.
    ///
    /// # Errors
    /// The argument that is not understood.
    pub(crate) fn parse(words: &[&str], known: &str) -> Result<Self, String> {
        let mut options = Self { seconds: 3600, seed: 1, advisories: None, baseline: None, only: vec![] };
        let number =
            |word: &str, text: &str| text.parse().map_err(|_| format!("{word} needs a whole number"));
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().copied().ok_or_else(|| format!("{word} needs a value"));
            match *word {
                "--seconds" => options.seconds = number(word, value()?)?,
                "--seed" => options.seed = number(word, value()?)?,
                "--advisories" => options.advisories = Some(PathBuf::from(value()?)),
                "--baseline" => options.baseline = Some(value()?.to_owned()),
                name if known.split(", ").any(|one| one == name) => options.only.push(name.to_owned()),
                _ => {
                    return Err(format!("`{word}` is neither an option nor a check; the checks are {known}"));
                }
            }
        }
        Ok(options)
    }

    /// Whether a check is chosen.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|one| one == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_or_refused() {
        let options =
            Options::parse(&["book", "--baseline", "v0.1.0", "--seconds", "60", "--seed", "7"], "book, msrv")
                .unwrap();
        assert_eq!((options.seconds, options.seed, options.baseline.as_deref()), (60, 7, Some("v0.1.0")));
        assert!(options.wants("book") && !options.wants("msrv"));
        for wrong in [["--seconds"].as_slice(), &["--seconds", "x"], &["boook"]] {
            assert!(Options::parse(wrong, "book, msrv").is_err(), "{wrong:?}");
        }
    }
}
