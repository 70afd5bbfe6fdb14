//! Time to build chains and spanning trees, by the kd-tree and over all pairs, up to 10⁶ points.
//!
//! Claims: on 16 000 × 3 quantized inputs with duplicates the greedy chain is at least 12 times faster than a vectorized search
//! over all pairs; 10⁶ uniform points take at most 5 s (2-D) and 8 s (3-D) on one core, for chain and spanning tree, with an
//! exponent near 1 from 10⁴ to 10⁶.

use catena::data::{InputPoints, InputScaling};
use catena::structure::{NeighborSearch, Start, Tree, greedy_chain_by, spanning_tree_by};
use catena_testkit::random::SplitMix64;
use serde_json::json;

use crate::report::Table;
use crate::timing::{median, repeated, seconds};
use crate::{Failure, Options};

type Builder = fn(NeighborSearch, &InputPoints) -> Result<Tree, Failure>;

const ROUNDS: usize = 7;
const BUILDERS: [(&str, Builder); 2] = [("greedy chain", chain), ("spanning tree", tree)];
const SEARCHES: [NeighborSearch; 3] =
    [NeighborSearch::Automatic, NeighborSearch::KdTree, NeighborSearch::AllPairs];

fn chain(search: NeighborSearch, inputs: &InputPoints) -> Result<Tree, Failure> {
    Ok(greedy_chain_by(search, inputs, Start::FirstRow)?)
}

fn tree(search: NeighborSearch, inputs: &InputPoints) -> Result<Tree, Failure> {
    Ok(spanning_tree_by(search, inputs)?)
}

/// Measures and prints.
pub(crate) fn run(options: &Options<'_>) -> Result<(), Failure> {
    let mut table = Table::new("structure growth", options.json, "seconds by the number of uniform points");
    for (name, build) in BUILDERS {
        for dim in [2, 3] {
            growth(&mut table, name, build, dim)?;
        }
    }
    let note = format!("seconds of each neighbor search, medians of {ROUNDS} interleaved rounds");
    let mut table = Table::new("structure", options.json, &note);
    let loads = quantized_loads(16_000)?;
    for (name, build) in BUILDERS {
        compare(&mut table, &format!("{name}, quantized 16000 x 3"), build, &loads)?;
        for dim in [2, 4, 6, 8, 10, 12, 16] {
            for n_rows in [100, 200, 400, 1000, 4000] {
                let label = format!("{name}, uniform {n_rows} x {dim}");
                compare(&mut table, &label, build, &uniform(n_rows, dim)?)?;
            }
        }
    }
    Ok(())
}

fn growth(table: &mut Table, name: &str, build: Builder, dim: usize) -> Result<(), Failure> {
    let mut times = vec![];
    for (n_rows, rounds) in [(10_000, ROUNDS), (100_000, ROUNDS), (1_000_000, 3)] {
        let inputs = uniform(n_rows, dim)?;
        times.push(median(repeated(rounds, || build(NeighborSearch::Automatic, &inputs))?));
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

/// Whether the automatic search is the faster of the two.
fn compare(table: &mut Table, label: &str, build: Builder, inputs: &InputPoints) -> Result<(), Failure> {
    let mut samples = [vec![], vec![], vec![]];
    for _ in 0..ROUNDS {
        for (search, samples) in SEARCHES.into_iter().zip(&mut samples) {
            samples.push(seconds(|| build(search, inputs))?);
        }
    }
    let [automatic, kd_tree, all_pairs] = samples.map(median);
    let chain = greedy_chain_by(NeighborSearch::Automatic, inputs, Start::FirstRow)?;
    let n_duplicates = chain.steps()[1..].iter().filter(|&&step| step == 0.0).count();
    table.row(&[
        ("structure", json!(label)),
        ("duplicates", json!(n_duplicates as f64 / inputs.n_rows() as f64)),
        ("automatic", json!(automatic)),
        ("kd_tree", json!(kd_tree)),
        ("all_pairs", json!(all_pairs)),
        ("all_pairs_over_automatic", json!(all_pairs / automatic)),
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
