//! Keeps text of the user that is written from right to left from reordering the text around it.

/// Isolates the text that follows, with the direction of its first letter.
const FIRST_STRONG_ISOLATE: char = '\u{2068}';
/// Ends an isolate.
const POP_DIRECTIONAL_ISOLATE: char = '\u{2069}';

/// Whether a letter has no form but changes the direction of others.
fn is_control(letter: char) -> bool {
    matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a letter is written from right to left: Hebrew, Arabic and their neighbors.
fn is_right_to_left(letter: char) -> bool {
    matches!(
        letter,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}'
    )
}

/// A text in which control characters are visible as replacement characters, isolated if it has letters from right to left.
pub(super) fn isolated(text: &str) -> String {
    let visible = text.chars().map(|letter| if is_control(letter) { '\u{fffd}' } else { letter });
    if text.chars().any(is_right_to_left) {
        let ends = (FIRST_STRONG_ISOLATE, POP_DIRECTIONAL_ISOLATE);
        return std::iter::once(ends.0).chain(visible).chain(std::iter::once(ends.1)).collect();
    }
    visible.collect()
}

/// JSON text with all its strings isolated.
pub(super) fn isolated_strings(json: &str) -> String {
    if json.is_ascii() {
        return json.to_owned();
    }
    let mut result = String::with_capacity(json.len() + 16);
    let mut rest = json;
    while let Some((before, after)) = rest.split_once('"') {
        let mut is_escaped = false;
        let end = after.find(|letter| {
            let is_end = letter == '"' && !is_escaped;
            is_escaped = letter == '\\' && !is_escaped;
            is_end
        });
        let (text, after) = end.map_or((after, ""), |end| (&after[..end], &after[end + 1..]));
        result.push_str(before);
        result.push('"');
        result.push_str(&isolated(text));
        result.push('"');
        rest = after;
    }
    result.push_str(rest);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_reorder_the_page() {
        assert_eq!(isolated("temp \u{202e}pmet"), "temp \u{fffd}pmet");
        assert_eq!(isolated("\u{5d0}\u{5d1}\u{2069}"), "\u{2068}\u{5d0}\u{5d1}\u{fffd}\u{2069}");
        assert_eq!(isolated("plain"), "plain");
        let json = "{\"a\":\"x\\\"\u{5d0}\",\"b\":[1.5,\"y\\\\\",\"\u{202e}\"]}";
        let expected = "{\"a\":\"\u{2068}x\\\"\u{5d0}\u{2069}\",\"b\":[1.5,\"y\\\\\",\"\u{fffd}\"]}";
        assert_eq!(isolated_strings(json), expected);
    }
}
