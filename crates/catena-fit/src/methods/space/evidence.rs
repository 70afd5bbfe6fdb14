//! The log evidence of fields on a table, with its gradient, for learning.

use std::sync::Arc;

use catena::data::Dataset;
use catena::graph::FactorGraph;
use catena::inference::{Form, Gradient, Workspace};
use catena::learning::Evidence;
use catena::model::Lmc;
use catena::structure::{Tree, sorted_chain};
use catena_methods::Problem;

use crate::error::MethodError;
use crate::space::{Fields, FieldsAtPlaces, Geometry, Pivot, Places};

/// The log evidence of fields at the places of a table.
pub(crate) struct SpaceEvidence {
    places: Places,
    graph: FactorGraph<'static>,
    scale: f64,
    workspace: Workspace,
}

impl SpaceEvidence {
    /// That of a table of places and times.
    pub(super) fn new(problem: Problem<'_>, geometry: Geometry) -> Result<Self, MethodError> {
        let places = Places::of(problem.dataset().inputs(), geometry);
        let pivot = Pivot::new(problem.dataset(), &places)?;
        let scale = problem.distance_scale();
        let tree = Arc::new(sorted_chain(pivot.table.inputs())?.with_distance_scale(scale)?);
        Self::along(&places, &pivot.table, tree, problem.model(), scale.get())
    }

    /// That of a table of times over these places, on its chain; `model` is any model with its number of outputs.
    pub(crate) fn along(
        places: &Places,
        times: &Dataset,
        tree: Arc<Tree>,
        model: &Lmc,
        scale: f64,
    ) -> Result<Self, MethodError> {
        let fields = FieldsAtPlaces::new(Fields::of(model)?, places, scale)?;
        let graph = FactorGraph::new(Arc::new(fields.model(&[])?), tree, times.observations())?;
        // As for learning along any chain: the value keeps its digits at any noise.
        let workspace = Workspace::with_form(Form::Covariance).on_all_threads();
        Ok(Self { places: places.clone(), graph, scale, workspace })
    }
}

impl Evidence for SpaceEvidence {
    type Error = MethodError;

    fn gradient(&mut self, model: &Lmc) -> Result<Gradient, MethodError> {
        let fields = FieldsAtPlaces::new(Fields::of(model)?, &self.places, self.scale)?;
        let graph = self.graph.with_model(Arc::new(fields.model(&[])?))?;
        Ok(fields.pull_back(&self.workspace.gradient(&graph)?))
    }
}
