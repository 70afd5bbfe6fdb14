//! Everything that is timed: catena's sweeps and the two codings of the paper's recursion.

use crate::Failure;
use crate::cases::Case;
use crate::paper_recursion::{ChainProblem, Coding, PaperRecursion, Smoothed};
use crate::timing::Contender;
use crate::workload::Workload;
use catena::graph::FactorGraph;
use catena::inference::Workspace;
use std::hint::black_box;

/// Means, variances and evidence, buffers reused.
pub(crate) const POSTERIOR: &str = "posterior";
/// The same with a fresh workspace each time.
pub(crate) const POSTERIOR_FRESH: &str = "posterior, fresh buffers";
/// The log evidence alone.
pub(crate) const EVIDENCE: &str = "evidence";
/// The log evidence and its gradient.
pub(crate) const GRADIENT: &str = "evidence + gradient";
/// Sorting the table's cells into the chain's order, once per table.
pub(crate) const GRAPH: &str = "graph from table";
/// The rival, as fast as we can make it.
pub(crate) const PAPER_TUNED: &str = "paper, tuned";
/// The rival, line by line.
pub(crate) const PAPER_AS_WRITTEN: &str = "paper, as written";

/// The factor graph of a workload.
pub(crate) fn graph(workload: &Workload) -> Result<FactorGraph<'_>, Failure> {
    Ok(FactorGraph::new(&workload.model, &workload.tree, &workload.observations)?)
}

/// Means and variances of all outputs at all points, with the evidence; buffers reused.
pub(crate) fn posterior<'a>(graph: &'a FactorGraph<'a>) -> Contender<'a> {
    let mut workspace = Workspace::new();
    let run = move || Ok(black_box(workspace.marginals(graph)?).log_evidence);
    Contender { name: POSTERIOR, run: Box::new(run) }
}

/// As [`posterior`], with a fresh workspace each time: what the first call of a program costs.
pub(crate) fn posterior_fresh<'a>(graph: &'a FactorGraph<'a>) -> Contender<'a> {
    let run = move || Ok(black_box(Workspace::new().marginals(graph)?).log_evidence);
    Contender { name: POSTERIOR_FRESH, run: Box::new(run) }
}

/// The log evidence alone.
pub(crate) fn evidence<'a>(graph: &'a FactorGraph<'a>) -> Contender<'a> {
    let mut workspace = Workspace::new();
    let run = move || Ok(workspace.log_evidence(graph)?);
    Contender { name: EVIDENCE, run: Box::new(run) }
}

/// The log evidence and its exact gradient.
pub(crate) fn gradient<'a>(graph: &'a FactorGraph<'a>) -> Contender<'a> {
    let mut workspace = Workspace::new();
    let run = move || Ok(black_box(workspace.gradient(graph)?).log_evidence);
    Contender { name: GRADIENT, run: Box::new(run) }
}

/// Building the factor graph, which the sweeps above find ready.
pub(crate) fn graph_building(workload: &Workload) -> Contender<'_> {
    let run = move || {
        black_box(graph(workload)?);
        Ok(0.0)
    };
    Contender { name: GRAPH, run: Box::new(run) }
}

/// The paper's recursion, if it is compiled for this case.
pub(crate) fn paper<'a>(coding: Coding, case: &Case, problem: &'a ChainProblem) -> Option<Contender<'a>> {
    if !case.suits_the_paper() {
        return None;
    }
    let mut recursion = PaperRecursion::new(coding, case.n_latents())?;
    let mut result = Smoothed::default();
    let name = match coding {
        Coding::AsWritten => PAPER_AS_WRITTEN,
        Coding::Tuned => PAPER_TUNED,
    };
    let run = move || {
        recursion.smooth(problem, &mut result);
        Ok(black_box(&result).log_evidence)
    };
    Some(Contender { name, run: Box::new(run) })
}

#[cfg(test)]
mod tests {
    use super::{Coding, PaperRecursion, Smoothed, graph};
    use crate::cases::{Case, SWEEP};
    use crate::workload::Workload;
    use catena::inference;

    /// Both sides of a ratio must compute the same thing; the bound is the paper's own agreement with dense algebra.
    #[test]
    fn the_rival_and_the_sweep_give_the_same_posterior() {
        for case in SWEEP.iter().filter(|case| case.suits_the_paper()) {
            let workload = Workload::new(&Case { n_points: 300, ..*case }).unwrap();
            let ours = inference::marginals(&graph(&workload).unwrap()).unwrap();
            let mut theirs = Smoothed::default();
            let mut recursion = PaperRecursion::new(Coding::Tuned, case.n_latents()).unwrap();
            recursion.smooth(&workload.chain_problem(), &mut theirs);
            assert!((theirs.log_evidence / ours.log_evidence - 1.0).abs() < 1e-7);
            let (means, variances) = (ours.prediction.means(), ours.prediction.variances());
            for at in 0..means.len() {
                let mean_error = (theirs.means[at] - means[at]).abs() / variances[at].sqrt();
                let variance_error = (theirs.variances[at] / variances[at] - 1.0).abs();
                assert!(mean_error < 1e-6 && variance_error < 1e-6, "{mean_error:e} {variance_error:e}");
            }
        }
    }
}
