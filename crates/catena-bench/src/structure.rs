//! Structures: the greedy chain beside the reference over all pairs, and how time grows to 10⁶ points.
//!
//! Claims guarded: on 16 000 × 3 quantized inputs with duplicates the greedy chain is at least 12 times faster than the
//! reference over all pairs; 10⁶ uniform points take at most 5 s (2-D) and 8 s (3-D) on one core, chain and
//! spanning tree alike, with an exponent near 1 from 10⁴ to 10⁶.

use catena::data::{InputPoints, InputScaling};
use catena::index::RowIndex;
use catena::structure::{Start, Tree, greedy_chain, spanning_tree};
use catena_studies::brute_force_chain::brute_force_greedy_chain;
use std::error::Error;
use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use std::time::Instant;

type Failure = Box<dyn Error>;
type Builder = fn(&InputPoints) -> Result<Tree, Failure>;

const ROUNDS: usize = 7;
const BUILDERS: [(&str, Builder); 2] = [("greedy chain", chain), ("spanning tree", tree)];

fn chain(inputs: &InputPoints) -> Result<Tree, Failure> {
    Ok(greedy_chain(inputs, Start::FirstRow)?)
}

fn tree(inputs: &InputPoints) -> Result<Tree, Failure> {
    Ok(spanning_tree(inputs)?)
}

fn reference(inputs: &InputPoints) -> Result<Tree, Failure> {
    Ok(brute_force_greedy_chain(inputs, RowIndex::new(0))?)
}

/// One line of the report.
struct Line {
    question: String,
    /// Names and numbers; times in seconds.
    numbers: Vec<(&'static str, f64)>,
}

/// Measures and prints, as lines of text or as one JSON array.
pub(crate) fn run(json: bool) -> Result<(), Failure> {
    let mut lines = vec![against_all_pairs()?];
    for (name, build) in BUILDERS {
        for dim in [2, 3] {
            lines.push(growth(name, build, dim)?);
        }
    }
    let text = if json { to_json(&lines) } else { to_text(&lines) };
    writeln!(std::io::stdout(), "{text}")?;
    Ok(())
}

/// Loads of a transformer, by the hour: slow waves, quantized as meters do, then standardized.
fn against_all_pairs() -> Result<Line, Failure> {
    let inputs = quantized_loads(16_000)?;
    let mut samples = [vec![], vec![]];
    for _ in 0..ROUNDS {
        samples[0].push(seconds(|| chain(&inputs))?);
        samples[1].push(seconds(|| reference(&inputs))?);
    }
    let [fast, slow] = samples.map(median);
    let n_duplicates = chain(&inputs)?.steps()[1..].iter().filter(|&&step| step == 0.0).count();
    Ok(Line {
        question: "greedy chain, quantized 16000 x 3".to_owned(),
        numbers: vec![
            ("duplicates", n_duplicates as f64 / inputs.n_rows() as f64),
            ("chain", fast),
            ("all pairs", slow),
            ("ratio", slow / fast),
        ],
    })
}

fn growth(name: &str, build: Builder, dim: usize) -> Result<Line, Failure> {
    let mut times = vec![];
    for (n_rows, rounds) in [(10_000, ROUNDS), (100_000, ROUNDS), (1_000_000, 3)] {
        let inputs = uniform(n_rows, dim)?;
        let mut samples = vec![];
        for _ in 0..rounds {
            samples.push(seconds(|| build(&inputs))?);
        }
        times.push(median(samples));
    }
    Ok(Line {
        question: format!("{name}, uniform in {dim}-D"),
        numbers: vec![
            ("1e4", times[0]),
            ("1e5", times[1]),
            ("1e6", times[2]),
            ("exponent", (times[2] / times[0]).log10() / 2.0),
        ],
    })
}

fn seconds(work: impl FnOnce() -> Result<Tree, Failure>) -> Result<f64, Failure> {
    let start = Instant::now();
    black_box(work()?);
    Ok(start.elapsed().as_secs_f64())
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

/// Numbers in [0, 1) from a seed (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Nearly normal, with variance 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

/// Points in the unit cube.
pub(crate) fn uniform(n_rows: usize, dim: usize) -> Result<InputPoints, Failure> {
    let mut numbers = Numbers(n_rows as u64 + dim as u64);
    Ok(InputPoints::new(n_rows, dim, (0..n_rows * dim).map(|_| numbers.unit()).collect())?)
}

fn quantized_loads(n_rows: usize) -> Result<InputPoints, Failure> {
    let mut numbers = Numbers(1);
    let (mut common, mut own) = (0.0, [0.0; 3]);
    let mut values = Vec::with_capacity(n_rows * 3);
    for hour in 0..n_rows {
        let day = (std::f64::consts::TAU * hour as f64 / 24.0).sin();
        common = 0.95 * common + 0.3 * numbers.normal();
        for (column, step) in [0.028, 0.028, 0.055].into_iter().enumerate() {
            own[column] = 0.9 * own[column] + 0.12 * numbers.normal();
            values.push(((common + 0.7 * day + own[column]) / step).round() * step);
        }
    }
    let loads = InputPoints::new(n_rows, 3, values)?;
    Ok(InputScaling::standardizing(&loads).apply(&loads)?)
}

fn to_text(lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines {
        let numbers: Vec<String> =
            line.numbers.iter().map(|(name, value)| format!("{name} {value:.3e}")).collect();
        let _ = writeln!(text, "{:<34} {}", line.question, numbers.join("  "));
    }
    text
}

fn to_json(lines: &[Line]) -> String {
    let objects: Vec<String> = lines
        .iter()
        .map(|line| {
            let numbers: String =
                line.numbers.iter().map(|(name, value)| format!(",\"{name}\":{value:e}")).collect();
            format!("{{\"question\":\"{}\"{numbers}}}", line.question)
        })
        .collect();
    format!("[{}]", objects.join(","))
}
