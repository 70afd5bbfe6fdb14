//! The part of an address after the question mark.

use axum::http::Uri;

/// Names and values, decoded.
#[derive(Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn of(uri: &Uri) -> Self {
        let pairs = uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        };
        Self(pairs.map(pair).collect())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// A number between two bounds.
    pub(crate) fn number(&self, name: &str, [least, most]: [f64; 2]) -> Result<Option<f64>, String> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let number = text.parse::<f64>().ok().filter(|number| (least..=most).contains(number));
        number.map(Some).ok_or_else(|| format!("{name} is {text:?}; give a number from {least} to {most}"))
    }

    /// A whole number between two bounds.
    pub(crate) fn count(
        &self,
        name: &str,
        (default, least, most): (usize, usize, usize),
    ) -> Result<usize, String> {
        let Some(text) = self.get(name) else { return Ok(default) };
        let number = text.parse::<usize>().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| format!("{name} is {text:?}; give a whole number from {least} to {most}"))
    }

    /// One of some words.
    pub(crate) fn word<'a>(&self, name: &str, words: &[&'a str]) -> Result<&'a str, String> {
        let text = self.get(name).unwrap_or(words[0]);
        let found = words.iter().find(|word| **word == text);
        found.copied().ok_or_else(|| format!("{name} is {text:?}; give {}", words.join(" or ")))
    }
}

/// Percent signs and plus signs replaced; bytes that are no text become the replacement character.
fn decoded(text: &str) -> String {
    let mut bytes = vec![];
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.filter(|_| first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => bytes.push(if first == b'+' { b' ' } else { first }),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn percent_signs_are_decoded() {
        let pairs = [
            ("a%20b+c", "a b c"),
            ("%", "%"),
            ("%4", "%4"),
            ("%zz", "%zz"),
            ("%C3%A9", "é"),
            ("%ff", "\u{fffd}"),
        ];
        for (coded, plain) in pairs {
            assert_eq!(decoded(coded), plain, "{coded}");
        }
    }
}
