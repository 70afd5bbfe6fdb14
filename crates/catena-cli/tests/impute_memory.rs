//! `impute` holds at most three copies of the observed values at once, counted by the allocator of this program.
//!
//! A copy is a live block of exactly one number per observed value (a sparse copy) or per cell (a dense copy). Predictions have two
//! blocks of one number per cell, mean and variance, and are counted with the dense copies.

#![allow(unsafe_code, reason = "an allocator is unsafe by its nature; this one only counts and forwards")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const N_ROWS: usize = 200_000;
const N_OUTPUTS: usize = 4;
const N_CELLS: usize = N_ROWS * N_OUTPUTS;
/// A tenth of the cells is missing.
const N_OBSERVED: usize = N_CELLS / 10 * 9;

/// Bytes of the table as numbers, its input included.
const TABLE: usize = 8 * (N_CELLS + N_ROWS);

/// A live count and its maximum.
struct Gauge {
    live: AtomicUsize,
    peak: AtomicUsize,
}

impl Gauge {
    const fn new() -> Self {
        Self { live: AtomicUsize::new(0), peak: AtomicUsize::new(0) }
    }

    fn add(&self, count: usize) {
        let live = self.live.fetch_add(count, Relaxed) + count;
        self.peak.fetch_max(live, Relaxed);
    }

    fn remove(&self, count: usize) {
        self.live.fetch_sub(count, Relaxed);
    }
}

static BYTES: Gauge = Gauge::new();
static DENSE: Gauge = Gauge::new();
static SPARSE: Gauge = Gauge::new();

/// The gauge of the copies of this size.
fn copies(size: usize) -> Option<&'static Gauge> {
    match size / 8 {
        N_CELLS => Some(&DENSE),
        N_OBSERVED => Some(&SPARSE),
        _ => None,
    }
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call is forwarded to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.add(layout.size());
        copies(layout.size()).into_iter().for_each(|gauge| gauge.add(1));
        // SAFETY: the caller's promise is forwarded.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        BYTES.remove(layout.size());
        copies(layout.size()).into_iter().for_each(|gauge| gauge.remove(1));
        // SAFETY: the caller's promise is forwarded.
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn table() -> String {
    let mut text = String::from("t,a,b,c,d\n");
    for row in 0..N_ROWS {
        let _ = write!(text, "{row}");
        for output in 0..N_OUTPUTS {
            text.push(',');
            if (row * 7 + output * 3) % 10 != 0 {
                let _ = write!(text, "{:.3}", (row as f64 / 50.0 + output as f64).sin());
            }
        }
        text.push('\n');
    }
    text
}

#[test]
fn impute_holds_at_most_three_sparse_copies_of_the_table() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("impute_memory");
    std::fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| OsString::from(folder.join(name));
    std::fs::write(path("table.csv"), table()).unwrap();
    let parameters = r#"{"kernel": "matern32", "mixing": [[1.0], [0.8], [0.5], [0.3]], "length_scales": [60.0],
        "noise": [0.02, 0.02, 0.02, 0.02]}"#;
    std::fs::write(path("p.json"), parameters).unwrap();
    let words =
        ["catena", "impute", "table.csv", "-q", "--no-learn", "--parameters", "p.json", "-o", "out.csv"];
    let words = words.map(|word| if word.contains('.') { path(word) } else { OsString::from(word) });

    let before = BYTES.live.load(Relaxed);
    for gauge in [&BYTES, &DENSE, &SPARSE] {
        gauge.peak.store(gauge.live.load(Relaxed), Relaxed);
    }
    assert_eq!(catena_cli::run(words), ExitCode::SUCCESS);
    let peak = (BYTES.peak.load(Relaxed) - before) as f64 / TABLE as f64;
    let (dense, sparse) = (DENSE.peak.load(Relaxed), SPARSE.peak.load(Relaxed));
    eprintln!("peak {peak:.2} tables, {dense} dense and {sparse} sparse copies");
    assert!(sparse <= 3, "{sparse} sparse copies");
}
