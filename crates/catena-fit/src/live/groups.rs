//! A fit with groups that takes edits: a live posterior for each group, with the parameters of all.

use std::collections::BTreeMap;

use catena::data::{DataError, Dataset, InputPoints, Observations};
use catena::index::{GroupIndex, OutputIndex, RowIndex};

use super::error::LiveFitError;
use super::live_fit::LiveFit;
use crate::error::FitError;
use crate::fit::{Fit, FitParts};
use crate::prepare::Preparation;

/// The live posteriors of a fit. A fit without groups has one; a group gets its own when it is first named.
#[derive(Clone, Debug)]
pub struct LiveGroups {
    /// The fit, whose table has the rows of all groups; `None` for a fit without groups.
    parts: Option<FitParts>,
    /// The rows of each group in the table.
    rows: BTreeMap<usize, Vec<RowIndex>>,
    /// The inputs of the empty row with which a group without rows began.
    begun: BTreeMap<usize, Vec<f64>>,
    live: BTreeMap<Option<usize>, LiveFit>,
}

impl LiveGroups {
    /// A fit prepared for edits, with the same predictions.
    ///
    /// # Errors
    /// As [`LiveFit::new`].
    pub fn new(fit: &Fit) -> Result<Self, LiveFitError> {
        let inputs = fit.parts.table.inputs();
        let (rows, begun, live) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut found = Self { parts: None, rows, begun, live };
        if inputs.groups().is_none() {
            found.live.insert(None, LiveFit::new(fit)?);
            return Ok(found);
        }
        found.parts = Some(fit.parts.clone());
        for row in inputs.rows() {
            if let Some(group) = inputs.group(row) {
                found.rows.entry(group.get()).or_default().push(row);
            }
        }
        // What cannot be streamed is refused at once.
        if let Some((&first, _)) = found.rows.first_key_value() {
            found.group(Some(GroupIndex::new(first)), &[])?;
        }
        Ok(found)
    }

    /// The live posterior of a group; of a fit without groups that of the table. A group without rows begins with an empty one at
    /// `inputs`.
    ///
    /// # Errors
    /// When the fit has groups and none is named, or the other way around, or `inputs` are invalid.
    pub fn group(&mut self, group: Option<GroupIndex>, inputs: &[f64]) -> Result<&mut LiveFit, LiveFitError> {
        let has_groups = self.parts.is_some();
        if has_groups != group.is_some() {
            return Err(LiveFitError::Groups { has_groups });
        }
        let number = group.map(GroupIndex::get);
        if let (Some(new), Some(parts)) = (number, &self.parts)
            && !self.live.contains_key(&number)
        {
            let live = self.new_group(parts, new, inputs)?;
            self.live.insert(number, live);
            if !self.rows.contains_key(&new) {
                self.begun.insert(new, inputs.to_vec());
            }
        }
        self.live.get_mut(&number).ok_or(LiveFitError::Groups { has_groups })
    }

    fn new_group(&self, of_all: &FitParts, number: usize, inputs: &[f64]) -> Result<LiveFit, LiveFitError> {
        let FitParts { table, preparation, .. } = of_all;
        let dim = table.inputs().dim();
        let own = match self.rows.get(&number) {
            Some(rows) => table.select_rows(rows),
            None if inputs.len() == dim && inputs.iter().all(|input| input.is_finite()) => {
                let empty = vec![f64::NAN; table.observations().n_outputs()];
                let observations = Observations::from_dense(1, empty.len(), &empty);
                observations.and_then(|cells| Dataset::new(InputPoints::new(1, dim, inputs.to_vec())?, cells))
            }
            None => return Err(LiveFitError::Inputs { expected: dim, found: inputs.to_vec() }),
        };
        let failed = |error: DataError| LiveFitError::Group { cause: Box::new(error.into()) };
        let own = own.map_err(failed)?;
        let points = InputPoints::new(own.n_rows(), dim, own.inputs().values().to_vec()).map_err(failed)?;
        let table = Dataset::new(points, own.observations().clone()).map_err(failed)?;
        let outputs = preparation.outputs_in(Some(GroupIndex::new(number))).to_vec();
        let inputs = preparation.inputs.clone();
        let preparation = Preparation { inputs, outputs, groups: BTreeMap::new() };
        // A stream uses the model without its pool.
        let parts = FitParts { table, preparation, combination: None, ..of_all.clone() };
        let fit = Fit::from_parts(parts).map_err(|cause| LiveFitError::Group { cause: Box::new(cause) })?;
        LiveFit::new(&fit)
    }

    /// The fit with the edited table, from the fit that this one started with. New rows are after the others, group by group.
    ///
    /// # Errors
    /// As [`LiveFit::to_fit`].
    pub fn to_fit(&self, began_with: &Fit) -> Result<Fit, FitError> {
        if let Some(live) = self.live.get(&None) {
            return live.to_fit(began_with);
        }
        let table = began_with.table();
        let (dim, n_outputs) = (table.inputs().dim(), table.observations().n_outputs());
        let mut values = table.observations().to_dense();
        let mut places = table.inputs().values().to_vec();
        let mut groups: Vec<GroupIndex> =
            table.inputs().rows().filter_map(|row| table.inputs().group(row)).collect();
        for (number, live) in self.live.iter().filter_map(|(number, live)| Some(((*number)?, live))) {
            let known = self.rows.get(&number).map_or(&[][..], Vec::as_slice);
            let begun = self.begun.get(&number).map(Vec::as_slice);
            // The row in the table of each row of the live posterior.
            let mut rows: Vec<Option<usize>> = known.iter().map(|row| Some(row.get())).collect();
            for inputs in begun.into_iter().chain(live.later.chunks_exact(dim)) {
                let mut cells = live.edits.range(cells_of(rows.len(), n_outputs));
                let is_kept = !rows.is_empty() || begun.is_none() || cells.any(|(_, value)| value.is_some());
                rows.push(is_kept.then_some(groups.len()));
                if is_kept {
                    places.extend(inputs);
                    groups.push(GroupIndex::new(number));
                }
            }
            values.resize(groups.len() * n_outputs, f64::NAN);
            for (&(row, output), value) in &live.edits {
                if let Some(Some(row)) = rows.get(row.get()) {
                    values[row * n_outputs + output.get()] = value.unwrap_or(f64::NAN);
                }
            }
        }
        let inputs = InputPoints::new(groups.len(), dim, places)?.with_groups(groups)?;
        let observations = Observations::from_dense(inputs.n_rows(), n_outputs, &values)?;
        began_with.with_table(Dataset::new(inputs, observations)?, vec![])
    }
}

/// The range of the cells of a row.
fn cells_of(row: usize, n_outputs: usize) -> std::ops::Range<(RowIndex, OutputIndex)> {
    (RowIndex::new(row), OutputIndex::new(0))..(RowIndex::new(row), OutputIndex::new(n_outputs))
}
