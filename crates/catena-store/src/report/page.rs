//! Assembles the page from the files in `page/`: one HTML document with style sheet, scripts and data inside.

use super::Report;
use super::direction::isolated;

const FRAME: &str = include_str!("page/page.html");
/// The style sheet, which other pages of charts share.
pub const STYLE: &str = include_str!("page/style.css");

/// The scripts that draw outputs along one input, which other pages of charts share. They declare functions and run nothing.
pub const DRAWING: &[&str] = &[
    include_str!("page/document.js"),
    include_str!("page/theme.js"),
    include_str!("page/format.js"),
    include_str!("page/data.js"),
    include_str!("page/plot.js"),
    include_str!("page/view.js"),
    include_str!("page/series_marks.js"),
    include_str!("page/series.js"),
];

/// Those of this page, in the order they run. Only the last runs what it declares.
const SCRIPTS: &[&str] = &[
    include_str!("page/gaps.js"),
    include_str!("page/scatter.js"),
    include_str!("page/map.js"),
    include_str!("page/places.js"),
    include_str!("page/model.js"),
    include_str!("page/scores.js"),
    include_str!("page/main.js"),
];

/// The document. Text of the user occurs in two places only: escaped in the title, and in the data block.
pub(crate) fn page(report: &Report) -> String {
    let scripts = [DRAWING, SCRIPTS].concat().join("\n");
    let data = super::payload::payload(report);
    let title = escaped(&isolated(&report.title));
    let mut html = String::with_capacity(FRAME.len() + STYLE.len() + scripts.len() + data.len());
    // One pass over the frame, so that a placeholder inside the user's text stays text.
    let mut rest = FRAME;
    while let Some((before, after)) = rest.split_once("{{") {
        html.push_str(before);
        let Some((name, after)) = after.split_once("}}") else { break };
        html.push_str(match name {
            "title" => &title,
            "style" => STYLE,
            "data" => &data,
            "scripts" => &scripts,
            _ => "",
        });
        rest = after;
    }
    html.push_str(rest);
    html
}

/// Text with HTML's special characters escaped.
fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            _ => html.push(letter),
        }
    }
    html
}
