//! `README.md`: every number beside the paper's.

use std::fmt::Write as _;

use super::{Runs, comparison_cells};
use crate::chapter::{Chapter, Table};
use crate::verdict::Verdict;

pub(super) fn text(chapters: &[Chapter], runs: &Runs) -> String {
    let mut text = String::from(
        "# The paper's studies, reproduced\n\nMade by `catena-reproduce` (`cargo run --release -p catena-experiments -- STUDY -o DIR`); `report.html` shows the same with figures. Random \
         streams are the authors', so scores are compared seed by seed. Seconds are those of the processor, \
         all threads together; compare ratios within a table.\n\n",
    );
    for run in &runs.runs {
        let threads =
            if run.threads == 1 { "one thread".to_owned() } else { format!("{} threads", run.threads) };
        let _ = writeln!(text, "- `{}`: version {}, {}, {threads}", run.command, run.version, run.machine);
    }
    text.push_str("\n## Verdicts\n\n| study | agree | miss | fewer seeds | refute the paper | not judged |\n|---|---|---|---|---|---|\n");
    let kinds = [Verdict::Agrees, Verdict::Misses, Verdict::FewSeeds, Verdict::Refutes, Verdict::Context];
    for chapter in chapters.iter().filter(|chapter| !chapter.comparisons.is_empty()) {
        let counts: Vec<String> = kinds.iter().map(|kind| chapter.count(*kind).to_string()).collect();
        let _ = writeln!(text, "| `{}` | {} |", chapter.study, counts.join(" | "));
    }
    for chapter in chapters {
        let _ = write!(text, "\n## {}\n\n", chapter.title);
        for words in &chapter.words {
            let _ = writeln!(text, "{words}\n");
        }
        for figure in &chapter.figures {
            let _ = writeln!(text, "![{}](figures/{}.png)\n", figure.caption, figure.name);
        }
        for table in &chapter.tables {
            markdown(&mut text, table);
        }
        verdicts(&mut text, chapter);
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

fn markdown(text: &mut String, table: &Table) {
    let _ = writeln!(text, "{}\n", table.caption);
    row(text, &table.header);
    row(text, &vec!["---".to_owned(); table.header.len()]);
    for cells in &table.rows {
        row(text, cells);
    }
    text.push('\n');
}

fn verdicts(text: &mut String, chapter: &Chapter) {
    if chapter.comparisons.is_empty() {
        return;
    }
    row(text, &["quantity", "paper or demand", "ours", "difference", "verdict"].map(str::to_owned));
    row(text, &["---"; 5].map(str::to_owned));
    for comparison in &chapter.comparisons {
        let mut cells = vec![comparison.quantity.clone()];
        cells.extend(comparison_cells(comparison));
        row(text, &cells);
    }
    text.push('\n');
}

fn row(text: &mut String, cells: &[String]) {
    // A bar inside a cell would end it.
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}
