//! Cost per point of the sweeps: compared with the paper's recursion, by table size and by missing rate.

use serde_json::json;

use crate::cases::{self, Case};
use crate::paper_recursion::Coding;
use crate::pinning::pin_to_one_core;
use crate::report::{Table, machine};
use crate::tasks::{self, GRAPH, POSTERIOR};
use crate::timing::{ROUNDS, Samples, Task, interleaved};
use crate::workload::Workload;
use crate::{Failure, Options};
use catena::inference::Workspace;

/// One section of the report.
pub(crate) struct Section {
    name: &'static str,
    /// The claim that the numbers must support.
    claim: &'static str,
    measure: fn(&mut Table, usize) -> Result<(), Failure>,
}

/// In the order they are printed.
const ALL: &[Section] = &[
    Section {
        name: "sweep",
        claim: "the posterior is faster than the paper's recursion; evidence + gradient costs at most 1.6 posteriors",
        measure: sweep,
    },
    Section {
        name: "scaling",
        claim: "cost per point is constant within 35 % from 10^4 to 10^6 points, buffers reused",
        measure: scaling,
    },
    Section {
        name: "missing",
        claim: "cost per point at any missing rate is not above that of the complete table",
        measure: missing,
    },
];

/// The section of this name.
pub(crate) fn find(name: &str) -> Option<&'static Section> {
    ALL.iter().find(|section| section.name == name)
}

/// Measures the chosen sections, or all.
pub(crate) fn run(options: &Options<'_>) -> Result<(), Failure> {
    let rounds = options.value("--rounds").map_or(Ok(ROUNDS), parse_rounds)?;
    let machine = format!("{}, {}", machine(), pin_to_one_core());
    for section in ALL.iter().filter(|one| options.names.is_empty() || options.names.contains(&one.name)) {
        eprintln!("measuring: {}", section.name);
        let note = format!("{}\n{machine}; medians of {} interleaved rounds", section.claim, rounds);
        (section.measure)(&mut Table::new(section.name, options.json, &note), rounds)?;
    }
    Ok(())
}

/// At least 7, so that a median is meaningful.
fn parse_rounds(word: &str) -> Result<usize, Failure> {
    let rounds = word.parse().ok().filter(|&rounds| rounds >= 7);
    rounds.ok_or_else(|| format!("--rounds needs a number of at least 7, not '{word}'").into())
}

/// Prints the times of all tasks on one case, in microseconds per point, and their ratio to a reference.
fn print(
    table: &mut Table,
    (case, label): (&Case, &str),
    samples: &[Samples],
    (name, ratio): (&'static str, impl Fn(&Samples) -> Option<f64>),
) {
    let per_point = |seconds: f64| json!(1e6 * seconds / case.n_points as f64);
    for sample in samples {
        table.row(&[
            ("case", json!(label)),
            ("task", json!(sample.name)),
            ("median_us", per_point(sample.median())),
            ("fastest_us", per_point(sample.fastest())),
            (name, json!(ratio(sample))),
        ]);
    }
}

fn sweep(table: &mut Table, rounds: usize) -> Result<(), Failure> {
    for case in cases::SWEEP {
        let workload = Workload::new(case)?;
        let graph = tasks::graph(&workload)?;
        let problem = workload.chain_problem();
        let mut tasks = vec![
            tasks::posterior(&graph, Workspace::new()),
            tasks::posterior_fresh(&graph),
            tasks::evidence(&graph, Workspace::new()),
            tasks::gradient(&graph, Workspace::new()),
            tasks::graph_building(&workload),
        ];
        tasks.extend(tasks::paper(Coding::Tuned, case, &problem));
        tasks.extend(tasks::paper(Coding::AsWritten, case, &problem));
        check_agreement(&mut tasks)?;
        let samples = interleaved(&mut tasks, rounds)?;
        let posterior = samples.iter().find(|sample| sample.name == POSTERIOR);
        print(
            table,
            (case, case.name),
            &samples,
            ("over_posterior", |sample| {
                posterior.filter(|_| sample.name != GRAPH).map(|posterior| sample.times(posterior))
            }),
        );
    }
    Ok(())
}

/// Tasks with different evidence do not solve the same problem, and their times cannot be compared. The jitter and the clamp
/// of the paper's recursion change its evidence by about 1e-9 relative on these cases.
fn check_agreement(tasks: &mut [Task<'_>]) -> Result<(), Failure> {
    let mut reference: Option<f64> = None;
    for task in tasks.iter_mut().filter(|task| task.name != GRAPH) {
        let evidence = (task.run)()?;
        let expected = *reference.get_or_insert(evidence);
        // NaN does not agree.
        let agrees = (evidence - expected).abs() <= 1e-7 * expected.abs();
        if !agrees {
            let name = task.name;
            return Err(format!("{name} computes a log evidence of {evidence} instead of {expected}").into());
        }
    }
    Ok(())
}

fn scaling(table: &mut Table, rounds: usize) -> Result<(), Failure> {
    let sizes = [10_000, 100_000, 1_000_000];
    let cases = sizes.map(|n_points| Case { n_points, ..cases::THREE_LATENTS });
    compare_with_first(table, &cases, |case| format!("{} C={}", case.name, case.n_points), rounds)
}

fn missing(table: &mut Table, rounds: usize) -> Result<(), Failure> {
    for base in [cases::THREE_LATENTS, cases::FOUR_LATENTS] {
        let rates = [0.0, 0.1, 0.3, 0.5, 0.7, 0.9];
        let cases = rates.map(|missing| Case { missing, empty_rows: 0.0, ..base });
        compare_with_first(table, &cases, |case| format!("{} missing {}", case.name, case.missing), rounds)?;
    }
    Ok(())
}

/// All cases interleaved, the cost per point of each sweep as a multiple of that of the first case.
fn compare_with_first(
    table: &mut Table,
    cases: &[Case],
    label: impl Fn(&Case) -> String,
    rounds: usize,
) -> Result<(), Failure> {
    let workloads = cases.iter().map(Workload::new).collect::<Result<Vec<_>, _>>()?;
    let graphs = workloads.iter().map(tasks::graph).collect::<Result<Vec<_>, _>>()?;
    let mut tasks = vec![];
    for graph in &graphs {
        tasks.extend(tasks::SWEEPS.map(|task| task(graph, Workspace::new())));
    }
    let samples = interleaved(&mut tasks, rounds)?;
    let groups: Vec<&[Samples]> = samples.chunks_exact(tasks::SWEEPS.len()).collect();
    for (case, group) in cases.iter().zip(&groups) {
        let points = case.n_points as f64 / cases[0].n_points as f64;
        let first = |name: &str| groups[0].iter().find(|first| first.name == name);
        print(
            table,
            (case, &label(case)),
            group,
            ("over_first", |sample| first(sample.name).map(|first| sample.times(first) / points)),
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::parse_rounds;

    #[test]
    fn fewer_than_seven_rounds_are_refused() {
        assert!(parse_rounds("6").is_err() && parse_rounds("x").is_err());
        assert_eq!(parse_rounds("7").unwrap(), 7);
    }
}
