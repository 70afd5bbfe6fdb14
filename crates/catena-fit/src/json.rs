//! The little JSON that reports need; their names and texts need no escaping beyond quotes and backslashes.

/// An object from names that need no escaping and values that are JSON already.
pub(crate) fn object(fields: &[(&str, String)]) -> String {
    let fields: Vec<String> = fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}", fields.join(","))
}

/// A number that reads back to the same bits; `null` if it is not finite.
pub(crate) fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:?}") } else { "null".into() }
}

/// A text of one line.
pub(crate) fn text(content: &str) -> String {
    format!("\"{}\"", content.replace('\\', "\\\\").replace('"', "\\\""))
}
