//! A chapter of the report: text, tables, figures and comparisons of one study.

use crate::figure::Figure;
use crate::verdict::{Comparison, Verdict};

/// A table of text; the first column names the row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    /// The name of its CSV file, without suffix.
    pub(crate) name: String,
    pub(crate) caption: String,
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(name: &str, caption: impl Into<String>, header: &[&str]) -> Self {
        let header = header.iter().map(|&word| word.to_owned()).collect();
        Self { name: name.to_owned(), caption: caption.into(), header, rows: vec![] }
    }

    pub(crate) fn push(&mut self, row: impl IntoIterator<Item = String>) {
        self.rows.push(row.into_iter().collect());
    }
}

/// The chapter of one study.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Chapter {
    /// The study's name on the command line.
    pub(crate) study: &'static str,
    pub(crate) title: String,
    /// The text, by paragraph.
    pub(crate) words: Vec<String>,
    pub(crate) tables: Vec<Table>,
    pub(crate) figures: Vec<Figure>,
    pub(crate) comparisons: Vec<Comparison>,
}

impl Chapter {
    pub(crate) fn new(study: &'static str, title: &str) -> Self {
        Self { study, title: title.to_owned(), ..Self::default() }
    }

    /// The number of comparisons with this verdict.
    pub(crate) fn count(&self, verdict: Verdict) -> usize {
        self.comparisons.iter().filter(|row| row.verdict == verdict).count()
    }

    /// Adds a paragraph with the number of seeds if the paper has more.
    pub(crate) fn say_seeds(&mut self, what: &str, found: usize, of_paper: usize) {
        if found > 0 && found < of_paper {
            self.words.push(format!(
                "{what}: {found} of the paper's {of_paper} seeds. Means over fewer seeds are shown beside the paper's but \
                 not judged."
            ));
        }
    }
}

/// A number of seeds, in words.
pub(crate) fn seeds(count: usize) -> String {
    if count == 1 { "1 seed".to_owned() } else { format!("{count} seeds") }
}

/// A number for a table, or a dash where there is none.
pub(crate) fn shown(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(value) => number(value),
    }
}

/// A number with six significant digits.
pub(crate) fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor();
    if !(-4.0..6.0).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    let decimals = (5.0 - magnitude).max(0.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Mean ± deviation.
pub(crate) fn mean_and_spread(values: &[f64]) -> String {
    let (mean, spread) = (crate::statistics::mean(values), crate::statistics::deviation(values));
    if values.len() < 2 { number(mean) } else { format!("{} ± {}", number(mean), rounded(spread)) }
}

/// A number with two significant digits.
pub(crate) fn rounded(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let magnitude = value.abs().log10().floor();
    if !(-4.0..4.0).contains(&magnitude) {
        return format!("{value:.1e}");
    }
    let decimals = (1.0 - magnitude).max(0.0) as usize;
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_the_digits_that_matter() {
        assert_eq!(number(0.061_418_234), "0.0614182");
        assert_eq!(number(-11.277_696_6), "-11.2777");
        assert_eq!(number(2000.0), "2000");
        assert_eq!(number(3.2e-9), "3.200e-9");
        assert_eq!((rounded(0.018_77), rounded(123.4)), ("0.019".to_owned(), "123".to_owned()));
        assert_eq!(shown(None), "–");
    }
}
