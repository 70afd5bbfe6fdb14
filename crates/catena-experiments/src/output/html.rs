//! `report.html`: one page with the figures inside; it needs no network.

use std::fmt::Write as _;

use super::{Runs, comparison_cells};
use crate::chapter::{Chapter, Table};
use crate::figure::escaped;
use crate::verdict::Verdict;

const STYLE: &str = "\
body{font:15px/1.5 'DejaVu Sans',Helvetica,Arial,sans-serif;color:#1a1a1a;max-width:1160px;margin:2em auto;padding:0 1em}\
h1{font-size:1.6em}h2{font-size:1.25em;margin-top:2.2em;border-top:1px solid #ddd;padding-top:1em}\
figure{margin:1.2em 0;overflow-x:auto}figcaption,caption{color:#555;font-size:.9em;text-align:left}\
table{border-collapse:collapse;font-size:.85em;margin:1em 0}td,th{padding:.25em .7em;border-bottom:1px solid #e3e3e3;text-align:left}\
.wide{overflow-x:auto}.misses{background:#fbe3d6}.agrees{background:#e3f2ec}.refutes{background:#fff2cc}\
svg{max-width:100%;height:auto}details{margin:1em 0}summary{cursor:pointer}";

pub(super) fn page(chapters: &[Chapter], runs: &Runs) -> String {
    let mut body = String::new();
    for run in &runs.runs {
        let line =
            format!("{}: version {}, {}, threads: {}", run.command, run.version, run.machine, run.threads);
        let _ = writeln!(body, "<p><code>{}</code></p>", escaped(&line));
    }
    summary(&mut body, chapters);
    for chapter in chapters {
        let _ = writeln!(body, "<h2 id=\"{}\">{}</h2>", chapter.study, escaped(&chapter.title));
        for words in &chapter.words {
            let _ = writeln!(body, "<p>{}</p>", escaped(words));
        }
        for figure in &chapter.figures {
            let _ = writeln!(
                body,
                "<figure>{}<figcaption>{}</figcaption></figure>",
                figure.to_svg(),
                escaped(&figure.caption)
            );
        }
        for table in &chapter.tables {
            of_table(&mut body, table);
        }
        verdicts(&mut body, chapter);
    }
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>The paper's studies, reproduced</title><style>{STYLE}</style></head><body>\n\
         <h1>The paper's studies, reproduced</h1>\n<p>Random streams are the authors', so scores are compared seed by seed. \
         Seconds are those of the processor, \
         all threads together; compare ratios within a table.</p>\n{body}\
         </body></html>\n"
    )
}

fn summary(body: &mut String, chapters: &[Chapter]) {
    body.push_str("<table><tr><th>study</th><th>agree</th><th>miss</th><th>fewer seeds</th><th>refute the paper</th><th>not judged</th></tr>\n");
    let kinds = [Verdict::Agrees, Verdict::Misses, Verdict::FewSeeds, Verdict::Refutes, Verdict::Context];
    for chapter in chapters.iter().filter(|chapter| !chapter.comparisons.is_empty()) {
        let cells: String = kinds.iter().map(|kind| format!("<td>{}</td>", chapter.count(*kind))).collect();
        let _ = writeln!(body, "<tr><td><a href=\"#{0}\">{0}</a></td>{cells}</tr>", chapter.study);
    }
    body.push_str("</table>\n");
}

fn of_table(body: &mut String, table: &Table) {
    let cells = |tag: &str, row: &[String]| -> String {
        row.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell))).collect()
    };
    let _ = writeln!(body, "<div class=\"wide\"><table><caption>{}</caption>", escaped(&table.caption));
    let _ = writeln!(body, "<tr>{}</tr>", cells("th", &table.header));
    for row in &table.rows {
        let _ = writeln!(body, "<tr>{}</tr>", cells("td", row));
    }
    body.push_str("</table></div>\n");
}

fn verdicts(body: &mut String, chapter: &Chapter) {
    if chapter.comparisons.is_empty() {
        return;
    }
    body.push_str(
        "<details open><summary>Every number beside the paper's</summary><div class=\"wide\"><table>\n",
    );
    body.push_str("<tr><th>quantity</th><th>paper or demand</th><th>ours</th><th>difference</th><th>verdict</th></tr>\n");
    for row in &chapter.comparisons {
        let class = match row.verdict {
            Verdict::Agrees => "agrees",
            Verdict::Misses => "misses",
            Verdict::Refutes => "refutes",
            Verdict::FewSeeds | Verdict::Context => "plain",
        };
        let cells: String =
            comparison_cells(row).iter().map(|cell| format!("<td>{}</td>", escaped(cell))).collect();
        let _ = writeln!(body, "<tr class=\"{class}\"><td>{}</td>{cells}</tr>", escaped(&row.quantity));
    }
    body.push_str("</table></div></details>\n");
}
