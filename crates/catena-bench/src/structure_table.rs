//! A check by hand on a table of one's own: are fast and slow structures the same, and how much faster is fast?

use catena::data::{InputPoints, InputScaling};
use catena::index::RowIndex;
use catena::structure::{NeighborSearch, Start, Tree, greedy_chain_by, spanning_tree_by};
use catena_studies::brute_force_chain::brute_force_greedy_chain;
use std::error::Error;
use std::io::Write as _;
use std::time::Instant;

type Failure = Box<dyn Error>;

const ROUNDS: usize = 7;

/// Reads the named columns of a comma-separated file with a header, standardizes them, builds every structure in every
/// way, compares, and prints median times.
pub(crate) fn run(path: &str, columns: &str) -> Result<(), Failure> {
    let table = read(path, columns)?;
    let inputs = InputScaling::standardizing(&table).apply(&table)?;
    let reference = brute_force_greedy_chain(&inputs, RowIndex::new(0))?;
    let n_zero = reference.steps()[1..].iter().filter(|&&step| step == 0.0).count();
    let mut out = std::io::stdout().lock();
    writeln!(out, "{} rows of {} inputs, {n_zero} steps of length 0", inputs.n_rows(), inputs.dim())?;
    let chain = |search| Ok(greedy_chain_by(search, &inputs, Start::FirstRow)?);
    let tree = |search| Ok(spanning_tree_by(search, &inputs)?);
    let [fast, slow] = race(&chain)?;
    writeln!(
        out,
        "greedy chain: {:.2} ms, over all pairs {:.2} ms, ratio {:.1}",
        fast.1,
        slow.1,
        slow.1 / fast.1
    )?;
    writeln!(out, "  both equal the reference: {}", fast.0 == reference && slow.0 == reference)?;
    let [fast, slow] = race(&tree)?;
    writeln!(
        out,
        "spanning tree: {:.2} ms, over all pairs {:.2} ms, ratio {:.1}",
        fast.1,
        slow.1,
        slow.1 / fast.1
    )?;
    writeln!(out, "  both equal: {}, length {}", fast.0 == slow.0, fast.0.total_length())?;
    Ok(())
}

/// The structure and the median time in milliseconds, automatic and over all pairs, interleaved.
fn race(build: &dyn Fn(NeighborSearch) -> Result<Tree, Failure>) -> Result<[(Tree, f64); 2], Failure> {
    let searches = [NeighborSearch::Automatic, NeighborSearch::AllPairs];
    let mut samples = [vec![], vec![]];
    for _ in 0..ROUNDS {
        for (search, samples) in searches.into_iter().zip(&mut samples) {
            let start = Instant::now();
            std::hint::black_box(build(search)?);
            samples.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    let [fast, slow] = samples.map(|mut samples| {
        samples.sort_by(f64::total_cmp);
        samples[samples.len() / 2]
    });
    Ok([(build(searches[0])?, fast), (build(searches[1])?, slow)])
}

fn read(path: &str, columns: &str) -> Result<InputPoints, Failure> {
    let text = std::fs::read_to_string(path)?;
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().ok_or("the file is empty")?.split(',').collect();
    let mut places = vec![];
    for column in columns.split(',') {
        let place = names.iter().position(|name| name.trim() == column);
        places.push(place.ok_or_else(|| format!("no column {column}"))?);
    }
    let (mut values, mut n_rows) = (vec![], 0);
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        for &place in &places {
            values.push(fields.get(place).ok_or("a line is too short")?.trim().parse()?);
        }
        n_rows += 1;
    }
    Ok(InputPoints::new(n_rows, places.len(), values)?)
}
