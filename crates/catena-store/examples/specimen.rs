//! Writes a page of made-up numbers that shows every part: `cargo run -p catena-store --example specimen -- report.html`.
//!
//! A second argument picks what: `time` (the default: 10 000 rows, 5 outputs), `large` (100 000 rows, 7 outputs), `map` (two
//! inputs) or `cube` (three).

#[path = "../tests/synthetic/mod.rs"]
mod synthetic;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_else(|| "report.html".to_owned());
    let report = match arguments.next().as_deref() {
        None | Some("time") => synthetic::time_report(10_000, 5),
        Some("large") => synthetic::time_report(100_000, 7),
        Some("map") => synthetic::map_report(1500, 2),
        Some("cube") => synthetic::map_report(1500, 3),
        Some(other) => return Err(format!("no specimen `{other}`; give time, large, map or cube").into()),
    };
    let page = report.to_html()?;
    std::fs::write(&path, &page)?;
    eprintln!("{path}: {:.1} MB", page.len() as f64 / 1e6);
    Ok(())
}
