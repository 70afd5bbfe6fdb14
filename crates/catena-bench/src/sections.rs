//! What is measured: each section states the claim it guards.

use crate::Failure;
use crate::cases::{self, Case};
use crate::contenders::{self, EVIDENCE, GRADIENT, GRAPH, PAPER_AS_WRITTEN, PAPER_TUNED, POSTERIOR};
use crate::paper_recursion::Coding;
use crate::report::{Ratio, Row};
use crate::timing::{Contender, Rounds, Samples, race};
use crate::workload::Workload;

/// One part of the report.
pub(crate) struct Section {
    pub(crate) name: &'static str,
    /// The claim that the numbers must bear out.
    pub(crate) claim: &'static str,
    pub(crate) measure: fn(Rounds) -> Result<Vec<Row>, Failure>,
}

/// In the order they are printed.
pub(crate) const ALL: &[Section] = &[
    Section {
        name: "sweep",
        claim: "the posterior beats the paper's recursion; evidence + gradient costs at most 1.6 posteriors",
        measure: sweep,
    },
    Section {
        name: "scaling",
        claim: "cost per point is constant within 35 % from 10^4 to 10^6 points, buffers reused",
        measure: scaling,
    },
    Section {
        name: "missing",
        claim: "cost per point at any missing rate is not above the complete table's",
        measure: missing,
    },
];

/// The section of this name.
pub(crate) fn find(name: &str) -> Option<&'static Section> {
    ALL.iter().find(|section| section.name == name)
}

fn sweep(rounds: Rounds) -> Result<Vec<Row>, Failure> {
    cases::SWEEP.iter().map(|case| sweep_row(case, rounds)).collect()
}

fn sweep_row(case: &Case, rounds: Rounds) -> Result<Row, Failure> {
    let workload = Workload::new(case)?;
    let graph = contenders::graph(&workload)?;
    let problem = workload.chain_problem();
    let mut racers = vec![
        contenders::posterior(&graph),
        contenders::posterior_fresh(&graph),
        contenders::evidence(&graph),
        contenders::gradient(&graph),
        contenders::graph_building(&workload),
    ];
    racers.extend(contenders::paper(Coding::Tuned, case, &problem));
    racers.extend(contenders::paper(Coding::AsWritten, case, &problem));
    demand_agreement(&mut racers)?;
    let samples = race(&mut racers, rounds)?;
    let ratios = [
        (PAPER_TUNED, POSTERIOR),
        (PAPER_AS_WRITTEN, POSTERIOR),
        (GRADIENT, POSTERIOR),
        (EVIDENCE, POSTERIOR),
    ];
    let ratios = ratios.iter().filter_map(|&(slow, fast)| ratio(&samples, slow, fast)).collect();
    Ok(Row::new(case, case.name.into(), samples, ratios))
}

/// Contenders that disagree on the evidence do not solve the same problem, and their times mean nothing.
///
/// The rival's jitter and clamp move its evidence by about 1e-9 of itself on these cases.
fn demand_agreement(racers: &mut [Contender<'_>]) -> Result<(), Failure> {
    let mut reference: Option<f64> = None;
    for racer in racers.iter_mut().filter(|racer| racer.name != GRAPH) {
        let evidence = (racer.run)()?;
        let expected = *reference.get_or_insert(evidence);
        // Written so that a result that is not a number fails, too.
        let agrees = (evidence - expected).abs() <= 1e-7 * expected.abs();
        if !agrees {
            let name = racer.name;
            return Err(format!("{name} finds a log evidence of {evidence}, not {expected}").into());
        }
    }
    Ok(())
}

/// How many times slower `slow` is than `fast`, when both ran.
fn ratio(samples: &[Samples], slow: &'static str, fast: &'static str) -> Option<Ratio> {
    let find = |name| samples.iter().find(|sample| sample.name == name);
    Some(Ratio { label: format!("{slow} / {fast}"), value: find(slow)?.times(find(fast)?) })
}

fn scaling(rounds: Rounds) -> Result<Vec<Row>, Failure> {
    let sizes = [10_000, 100_000, 1_000_000];
    let cases = sizes.map(|n_points| Case { n_points, ..cases::THREE_LATENTS });
    compare_with_first(&cases, cases.map(|case| format!("{} C={}", case.name, case.n_points)).into(), rounds)
}

fn missing(rounds: Rounds) -> Result<Vec<Row>, Failure> {
    let mut rows = vec![];
    for base in [cases::THREE_LATENTS, cases::FOUR_LATENTS] {
        let rates = [0.0, 0.1, 0.3, 0.5, 0.7, 0.9];
        let cases = rates.map(|missing| Case { missing, empty_rows: 0.0, ..base });
        let labels = cases.map(|case| format!("{} missing {}", case.name, case.missing)).into();
        rows.extend(compare_with_first(&cases, labels, rounds)?);
    }
    Ok(rows)
}

/// All cases interleaved, each sweep's cost per point as a multiple of the first case's.
fn compare_with_first(cases: &[Case], labels: Vec<String>, rounds: Rounds) -> Result<Vec<Row>, Failure> {
    let workloads = cases.iter().map(Workload::new).collect::<Result<Vec<_>, _>>()?;
    let graphs = workloads.iter().map(contenders::graph).collect::<Result<Vec<_>, _>>()?;
    let mut racers = vec![];
    for graph in &graphs {
        racers.extend([
            contenders::posterior(graph),
            contenders::evidence(graph),
            contenders::gradient(graph),
        ]);
    }
    let samples = race(&mut racers, rounds)?;
    let groups: Vec<&[Samples]> = samples.chunks_exact(3).collect();
    let mut rows = vec![];
    for ((case, label), group) in cases.iter().zip(labels).zip(&groups) {
        let per_point = case.n_points as f64 / cases[0].n_points as f64;
        let ratios = group.iter().zip(groups[0]).map(|(mine, first)| Ratio {
            label: format!("{} / first row", mine.name),
            value: mine.times(first) / per_point,
        });
        let ratios = ratios.collect();
        rows.push(Row::new(case, label, group.to_vec(), ratios));
    }
    Ok(rows)
}
