//! Words of earlier versions of the command line. They still work, with a sentence on standard error.

use std::ffi::OsString;

/// The verb that was renamed.
const VERB: (&str, &str) = ("chain", "structure");
/// The options that were renamed.
const OPTIONS: [(&str, &str); 2] = [("--latent", "--without-noise"), ("--period", "--periods")];

/// Replaces old words, and returns a sentence about each.
pub(crate) fn replace(words: &mut [OsString]) -> Vec<String> {
    let mut notes = vec![];
    for (at, word) in words.iter_mut().enumerate().skip(1) {
        let Some(text) = word.to_str() else { continue };
        // What follows is no option.
        if text == "--" {
            break;
        }
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let verb = [VERB];
        let renamed: &[(&str, &str)] = if at == 1 { &verb } else { &OPTIONS };
        let Some((old, new)) = renamed.iter().find(|(old, _)| *old == name) else { continue };
        let note = format!("`{old}` is now `{new}`; the old word will be removed in the next version");
        *word = value.map_or_else(|| (*new).into(), |value| format!("{new}={value}").into());
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_words_are_replaced() {
        let replaced = |line: &str| {
            let mut words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let n_notes = replace(&mut words).len();
            (words.join(" ".as_ref()).into_string().unwrap(), n_notes)
        };
        let cases = [
            ("catena chain t.csv", "catena structure t.csv", 1),
            ("catena structure t.csv --structure chain", "catena structure t.csv --structure chain", 0),
            ("catena fit t.csv --period 24h --period=7d", "catena fit t.csv --periods 24h --periods=7d", 1),
            ("catena predict m --latent -o chain", "catena predict m --without-noise -o chain", 1),
            ("catena fit --latents 2 -- --latent", "catena fit --latents 2 -- --latent", 0),
        ];
        for (old, new, n_notes) in cases {
            assert_eq!(replaced(old), (new.to_owned(), n_notes));
        }
    }
}
