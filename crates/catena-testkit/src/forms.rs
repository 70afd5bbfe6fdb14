//! The forms of the sweep that must be accurate on a scenario.

use catena::graph::FactorGraph;
use catena::inference::{Form, Workspace};
use catena::posterior::Posterior;

use crate::scenario::Scenario;

/// Every form must be accurate if no variance falls below this fraction of its prior.
///
/// With s the smallest ratio, the covariance form loses a factor 1/s² in variances, and the information form as much in the
/// evidence: at 1e-2 that is four of sixteen digits. Below, only the square-root form keeps ten.
const LARGE_ENOUGH_RATIO: f64 = 1e-2;

/// The sweep to run: as the library chooses (`None`), or in a named form.
pub type Choice = Option<Form>;

/// The forms that must be accurate on a scenario: always the library's choice and the square-root form; the others that the
/// structure allows if the variance ratios are large enough.
pub fn accurate_forms(scenario: &Scenario) -> Vec<Choice> {
    let mut forms = vec![None, Some(Form::SquareRoot)];
    if scenario.smallest_variance_ratio() >= LARGE_ENOUGH_RATIO {
        forms.push(Some(Form::Information));
        if scenario.tree.is_chain() {
            forms.push(Some(Form::Covariance));
        }
    }
    forms
}

/// A workspace that runs this choice.
pub fn workspace(choice: Choice) -> Workspace {
    choice.map_or_else(Workspace::new, Workspace::with_form)
}

/// The joint posterior by this choice.
///
/// # Panics
/// If numbers overflow.
pub fn posterior<'a>(graph: &FactorGraph<'a>, choice: Choice) -> Posterior<'a> {
    choice.map_or_else(|| Posterior::new(graph), |form| Posterior::with_form(graph, form)).unwrap()
}
