//! The live posteriors of a model by the names of their groups; groups that the model does not have get numbers after its own.

use std::collections::HashMap;

use catena::index::GroupIndex;
use catena_fit::{Fit, FitError, LiveFit, LiveFitError, LiveGroups};
use catena_store::{About, GroupNames};

/// A model that takes edits, with the names of its groups.
pub(crate) struct LiveModel {
    live: LiveGroups,
    /// The names of each group; empty for a model without groups.
    names: Vec<Vec<String>>,
    numbers: HashMap<Vec<String>, usize>,
}

impl LiveModel {
    pub(crate) fn new(fit: &Fit, about: &About) -> Result<Self, LiveFitError> {
        let names = about.groups.as_ref().map_or_else(Vec::new, |groups| groups.names.clone());
        let numbers = names.iter().cloned().enumerate().map(|(number, names)| (names, number)).collect();
        Ok(Self { live: LiveGroups::new(fit)?, names, numbers })
    }

    /// The live posterior of the group of a row with these inputs; `names` are empty for a model without groups.
    pub(crate) fn of(&mut self, names: &[String], inputs: &[f64]) -> Result<&mut LiveFit, LiveFitError> {
        if names.is_empty() {
            return self.live.group(None, inputs);
        }
        let number = self.numbers.get(names).copied().unwrap_or(self.names.len());
        let live = self.live.group(Some(GroupIndex::new(number)), inputs)?;
        if number == self.names.len() {
            self.names.push(names.to_vec());
            self.numbers.insert(names.to_vec(), number);
        }
        Ok(live)
    }

    /// The fit with all rows, and the description of its table with all groups.
    pub(crate) fn to_fit(&self, fit: &Fit, about: &About) -> Result<(Fit, About), FitError> {
        let groups =
            about.groups.as_ref().map(|groups| GroupNames { names: self.names.clone(), ..groups.clone() });
        Ok((self.live.to_fit(fit)?, About { groups, ..about.clone() }))
    }
}
