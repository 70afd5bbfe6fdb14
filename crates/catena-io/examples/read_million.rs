//! Reads and completes a table of a million rows and six columns, and prints time and peak memory.
//!
//! `cargo run --release -p catena-io --example read_million [ROWS]`

#![allow(clippy::print_stdout, reason = "an example is there to be read")]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::Instant;

use catena_io::read::{ReadOptions, read};
use catena_io::select::{Selection, select};
use catena_io::write::{Completion, FilledColumn, Target, copy_completed, write_table};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let n_rows: usize = std::env::args().nth(1).map_or(Ok(1_000_000), |rows| rows.parse())?;
    let folder = std::env::temp_dir().join(format!("catena-read-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let result = measure(n_rows, &folder);
    std::fs::remove_dir_all(&folder)?;
    result
}

fn measure(n_rows: usize, folder: &std::path::Path) -> Result<(), Box<dyn std::error::Error>> {
    let path = folder.join("table.csv");
    make_table(&path, n_rows)?;
    println!(
        "{n_rows} rows, {} MB of text, memory {}",
        std::fs::metadata(&path)?.len() / 1_000_000,
        memory()
    );

    let begin = Instant::now();
    let table = read(&path, &ReadOptions::default())?;
    println!("read csv       {:6.2} s, peak {}", begin.elapsed().as_secs_f64(), memory());

    let parquet = folder.join("table.parquet");
    let begin = Instant::now();
    write_table(&table, &Target::new(&parquet, None)?)?;
    println!("write parquet  {:6.2} s, peak {}", begin.elapsed().as_secs_f64(), memory());

    let begin = Instant::now();
    let frame = select(&table, &Selection::default())?;
    let source = table.csv_source().ok_or("text has a source")?.clone();
    drop(table);
    println!("select         {:6.2} s, peak {}", begin.elapsed().as_secs_f64(), memory());

    let begin = Instant::now();
    let filled = frame.to_table_columns(&vec![1.25; frame.values.len()]).into_iter();
    let filled = filled.map(|(position, values)| FilledColumn { position, values }).collect();
    let target = Target::new(&folder.join("filled.csv"), None)?;
    copy_completed(&source, n_rows, &Completion { filled, appended: vec![] }, &target)?;
    println!("write filled   {:6.2} s, peak {}", begin.elapsed().as_secs_f64(), memory());
    drop(frame);

    let begin = Instant::now();
    let table = read(&parquet, &ReadOptions::default())?;
    println!(
        "read parquet   {:6.2} s, peak {}, {} rows",
        begin.elapsed().as_secs_f64(),
        memory(),
        table.n_rows()
    );
    Ok(())
}

/// A time and five outputs with a hole in every tenth cell.
fn make_table(path: &std::path::Path, n_rows: usize) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    writeln!(file, "time,a,b,c,d,e")?;
    let mut state = 1_u64;
    for row in 0..n_rows {
        let (minute, hour, day) = (row % 60, row / 60 % 24, row / 1440);
        let (year, month, day) = (2000 + day / 336, day / 28 % 12 + 1, day % 28 + 1);
        write!(file, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:00Z")?;
        for _ in 0..5 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let value = (state >> 40) as f64 / 1e4;
            if state >> 20 & 0xffff < 6554 { write!(file, ",")? } else { write!(file, ",{value:.4}")? }
        }
        writeln!(file)?;
    }
    file.flush()
}

/// The most memory this process has had, where the system tells.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("unknown");
    peak.trim().to_owned()
}
