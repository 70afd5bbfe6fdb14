//! The forms of the sweep that a scenario holds to full accuracy.

use catena::graph::FactorGraph;
use catena::inference::{Form, Workspace};
use catena::posterior::Posterior;

use crate::scenario::Scenario;

/// Where no variance falls below this share of its prior, every form must reach the accuracy the library promises.
///
/// With s the smallest share left, the covariance form loses a factor 1/s² in variances, and the information form as much in
/// the evidence: at 1e-2 that is four of sixteen digits. Below, only the square-root form can be asked for ten.
const ENOUGH_LEFT_FOR_EVERY_FORM: f64 = 1e-2;

/// The sweep to run: as the library chooses (`None`), or in a named form.
pub type Choice = Option<Form>;

/// What must be accurate on this scenario: always the library's own choice and the square-root form; the others that the
/// structure allows where the cells leave enough
/// of the prior's variance.
pub fn accurate_forms(scenario: &Scenario) -> Vec<Choice> {
    let mut forms = vec![None, Some(Form::SquareRoot)];
    if scenario.smallest_share_left() >= ENOUGH_LEFT_FOR_EVERY_FORM {
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
/// When numbers overflow.
pub fn posterior<'a>(graph: &FactorGraph<'a>, choice: Choice) -> Posterior<'a> {
    choice.map_or_else(|| Posterior::new(graph), |form| Posterior::with_form(graph, form)).unwrap()
}
