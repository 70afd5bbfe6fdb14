//! Structures and sweeps over small tables, under any parameters: a number or an error that names a row.

use catena::data::InputPoints;
use catena::graph::FactorGraph;
use catena::inference::{Begins, Form, Summary, Workspace};
use catena::posterior::Posterior;
use catena::structure::{Start, greedy_chain, sorted_chain, spanning_tree};

use super::small::{check_prediction, model, table};
use crate::Supply;

/// A structure, three forms, evidence, marginals, gradient, new points and a summary.
pub(super) fn run(bytes: &[u8]) {
    let mut supply = Supply::new(bytes);
    let form =
        supply.choice(&[None, Some(Form::Covariance), Some(Form::Information), Some(Form::SquareRoot)]);
    let Some(dataset) = table(&mut supply, 12, 2) else { return };
    let inputs = dataset.inputs();
    let is_line = inputs.dim() == 1;
    let structure = match supply.below(3) {
        0 if is_line => sorted_chain(inputs),
        1 => spanning_tree(inputs),
        _ => greedy_chain(inputs, Start::FirstRow),
    };
    let Some(model) = model(&mut supply, dataset.observations().n_outputs(), is_line) else { return };
    let Ok(tree) = structure else { return };
    let Ok(graph) = FactorGraph::new(&model, &tree, dataset.observations()) else { return };
    let mut workspace = form.map_or_else(Workspace::new, Workspace::with_form);
    if let Ok(log_evidence) = workspace.log_evidence(&graph) {
        assert!(log_evidence.is_finite(), "log evidence {log_evidence}");
    }
    if let Ok(marginals) = workspace.marginals(&graph) {
        assert!(marginals.log_evidence.is_finite());
        check_prediction("marginals", &marginals.prediction);
        // A form that is forced on a table that needs another loses digits, and may lose all of them.
        let variances = marginals.prediction.variances();
        let is_positive = variances.iter().all(|variance| *variance >= 0.0);
        assert!(form.is_some() || is_positive, "{:?}: variances {variances:?}", marginals.form);
    }
    if let Ok(gradient) = workspace.gradient(&graph) {
        let slopes = gradient.mixing.iter().chain(&gradient.length_scales).chain(&gradient.shapes);
        assert!(slopes.chain(&gradient.noise).all(|slope| slope.is_finite()), "{gradient:?}");
    }
    if let Ok(posterior) = Posterior::new(&graph) {
        check_prediction("posterior", posterior.prediction());
        let new_inputs = elsewhere(inputs, &mut supply);
        let prediction = posterior.with_inputs(inputs).and_then(|known| known.predict_at(&new_inputs));
        if let Ok(prediction) = prediction {
            check_prediction("new points", &prediction);
        }
    }
    if let Ok(summary) = Summary::of(&graph, Begins::AtRoot) {
        assert_eq!(Summary::from_bytes(&summary.to_bytes()).as_ref(), Ok(&summary));
    }
}

/// Points near the rows, at them and far away.
fn elsewhere(inputs: &InputPoints, supply: &mut Supply<'_>) -> InputPoints {
    let moved: Vec<f64> = inputs.values().iter().map(|value| value + supply.finite()).collect();
    let moved = InputPoints::new(inputs.n_rows(), inputs.dim(), moved);
    // A sum that overflows is no point.
    moved.unwrap_or_else(|_| inputs.clone())
}
