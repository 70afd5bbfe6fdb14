//! Time to build chains and spanning trees up to 10⁶ points, compared with a search over all pairs.
//!
//! Claims: on 16 000 × 3 quantized inputs with duplicates the greedy chain is at least 12 times faster than the reference over
//! all pairs; 10⁶ uniform points take at most 5 s (2-D) and 8 s (3-D) on one core, for chain and spanning tree, with an exponent
//! near 1 from 10⁴ to 10⁶.

use catena::data::{InputPoints, InputScaling};
use catena::index::RowIndex;
use catena::structure::{Start, Tree, greedy_chain, spanning_tree};
use catena_studies::brute_force_chain::brute_force_greedy_chain;
use catena_testkit::random::SplitMix64;
use serde_json::json;

use crate::report::Table;
use crate::timing::{ROUNDS, Task, interleaved, median, repeated};
use crate::{Failure, Options};

type Builder = fn(&InputPoints) -> Result<Tree, Failure>;

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

/// Measures and prints.
pub(crate) fn run(options: &Options<'_>) -> Result<(), Failure> {
    compare_with_all_pairs(options.json)?;
    let mut table = Table::new("structure growth", options.json, "seconds by the number of uniform points");
    for (name, build) in BUILDERS {
        for dim in [2, 3] {
            growth(&mut table, name, build, dim)?;
        }
    }
    Ok(())
}

fn compare_with_all_pairs(json: bool) -> Result<(), Failure> {
    let inputs = quantized_loads(16_000)?;
    let task = |name, build: Builder| {
        let inputs = &inputs;
        Task { name, run: Box::new(move || Ok(build(inputs)?.total_length())) }
    };
    let mut tasks = [task("kd-tree", chain), task("all pairs", reference)];
    let samples = interleaved(&mut tasks, ROUNDS)?;
    let built = chain(&inputs)?;
    let n_duplicates = built.steps()[1..].iter().filter(|&&step| step == 0.0).count();
    Table::new("structure", json, "seconds for the greedy chain over 16000 x 3 quantized inputs").row(&[
        ("duplicates", json!(n_duplicates as f64 / inputs.n_rows() as f64)),
        ("kd_tree", json!(samples[0].median())),
        ("all_pairs", json!(samples[1].median())),
        ("all_pairs_over_kd_tree", json!(samples[1].times(&samples[0]))),
    ]);
    Ok(())
}

fn growth(table: &mut Table, name: &str, build: Builder, dim: usize) -> Result<(), Failure> {
    let mut times = vec![];
    for (n_rows, rounds) in [(10_000, ROUNDS), (100_000, ROUNDS), (1_000_000, 3)] {
        let inputs = uniform(n_rows, dim)?;
        times.push(median(repeated(rounds, || build(&inputs))?));
    }
    table.row(&[
        ("structure", json!(format!("{name}, uniform in {dim}-D"))),
        ("1e4", json!(times[0])),
        ("1e5", json!(times[1])),
        ("1e6", json!(times[2])),
        ("exponent", json!((times[2] / times[0]).log10() / 2.0)),
    ]);
    Ok(())
}

/// Uniform points in the unit cube.
pub(crate) fn uniform(n_rows: usize, dim: usize) -> Result<InputPoints, Failure> {
    let mut random = SplitMix64::new(n_rows as u64 + dim as u64);
    Ok(InputPoints::new(n_rows, dim, (0..n_rows * dim).map(|_| random.unit()).collect())?)
}

/// Hourly loads of a transformer: slow waves, quantized like meter readings, then standardized.
fn quantized_loads(n_rows: usize) -> Result<InputPoints, Failure> {
    let mut random = SplitMix64::new(1);
    // A sum of twelve uniform numbers is nearly normal.
    let mut normal = || (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
    let (mut common, mut own) = (0.0, [0.0; 3]);
    let mut values = Vec::with_capacity(n_rows * 3);
    for hour in 0..n_rows {
        let day = (std::f64::consts::TAU * hour as f64 / 24.0).sin();
        common = 0.95 * common + 0.3 * normal();
        for (column, step) in [0.028, 0.028, 0.055].into_iter().enumerate() {
            own[column] = 0.9 * own[column] + 0.12 * normal();
            values.push(((common + 0.7 * day + own[column]) / step).round() * step);
        }
    }
    let loads = InputPoints::new(n_rows, 3, values)?;
    Ok(InputScaling::standardizing(&loads).apply(&loads)?)
}
