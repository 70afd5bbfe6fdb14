//! The additive parts of every output: level, trend, seasons and oscillators of a time model, or shared and private latents.
//!
//! A part is an output of the same model that is never observed: its row of the mixing matrix has the weights of its own latents
//! and zeros elsewhere. So its posterior is that of the states, exactly, at rows and between them.

use std::ops::Range;

use catena::data::{Dataset, InputPoints, Observations};
use catena::index::{LatentIndex, OutputIndex};
use catena::model::{Lmc, MixingMatrix};

use crate::error::{FitError, MethodError};
use crate::fit::{Fit, FitParts, Summary};
use crate::methods::{Place, Quantity, condition_at};
use crate::options::StructureOption;

/// The name of the prior mean among the components.
const MEAN: &str = "mean";

/// Additive parts of every output, in units of the outputs; those of an output with a transform are in units of the transformed
/// output. Their means add up to the mean of the function.
#[derive(Clone, Debug, PartialEq)]
pub struct Components {
    /// The names, the prior mean first.
    pub names: Vec<String>,
    /// The number of outputs.
    pub n_outputs: usize,
    /// The posterior means: row by row, in each row output by output, for each output component by component.
    pub means: Vec<f64>,
    /// The posterior standard deviations, in the same order; 0 for the prior mean.
    pub deviations: Vec<f64>,
}

/// The latents of one component, by name.
struct NamedLatents {
    name: String,
    latents: Vec<usize>,
}

impl Fit {
    /// The additive parts of every output at the rows of the table, or at other points. Of a pool they are those of its single
    /// model. `length` writes periods.
    ///
    /// # Errors
    /// When the method is not message passing on one structure, or numbers overflow.
    pub fn components(
        &self,
        at: Option<&InputPoints>,
        length: fn(f64) -> String,
    ) -> Result<Components, FitError> {
        let FitParts { table, preparation, model, method, structure, seed, memory, .. } = self.parts();
        if preparation.has_likelihoods() {
            let what = "has no decomposition into components yet; fit without --likelihood for components";
            return Err(FitError::WithLikelihood { what });
        }
        if !method.is_message_passing() || matches!(structure, StructureOption::Ensemble { .. }) {
            return Err(MethodError::NotOffered { what: "components of outputs" }.into());
        }
        let named = named_latents(self.summary(), model, length);
        let extended = with_unobserved_parts(model, &named)?;
        let prepared = preparation.dataset(table)?;
        let cells = prepared.inputs().rows().map(|row| prepared.observations().row(row));
        let observations = Observations::from_rows(extended.n_outputs(), cells)?;
        let prepared = Dataset::new(prepared.inputs().clone(), observations)?;
        let candidates = self.parts().candidates.as_ref();
        let candidates = candidates.map(|points| preparation.inputs(points)).transpose()?;
        let place =
            Place { structure: *structure, ties: self.parts().ties, tree: None, candidates, seed: *seed };
        let posterior = condition_at(&prepared, &extended, *method, place, (*seed, *memory))?;
        let points = at.map(|at| preparation.inputs(at)).transpose()?;
        let points = points.as_ref().unwrap_or(prepared.inputs());
        let found = match at {
            None => posterior.predict_rows(Quantity::Function)?,
            Some(_) => posterior.predict(points, Quantity::Function)?,
        };
        let (means, variances) = found.into_arrays();
        let (n_outputs, n_parts) = (model.n_outputs(), named.len());
        let mut parts = Components {
            names: std::iter::once(MEAN.to_owned()).chain(named.into_iter().map(|part| part.name)).collect(),
            n_outputs,
            means: Vec::with_capacity(points.n_rows() * n_outputs * (1 + n_parts)),
            deviations: Vec::with_capacity(points.n_rows() * n_outputs * (1 + n_parts)),
        };
        for row in points.rows() {
            let begin = row.get() * extended.n_outputs();
            for (output, units) in preparation.outputs_in(points.group(row)).iter().enumerate() {
                parts.means.push(units.unscaled(0.0, points.point(row)));
                parts.deviations.push(0.0);
                let first = begin + n_outputs + output * n_parts;
                parts.means.extend(means[first..first + n_parts].iter().map(|mean| mean * units.scale));
                let deviations = variances[first..first + n_parts].iter().map(|variance| variance.sqrt());
                parts.deviations.extend(deviations.map(|deviation| deviation * units.scale));
            }
        }
        Ok(parts)
    }
}

/// The latents of every component: those of equal names, such as a season of each output and one that outputs share, are one.
fn named_latents(summary: &Summary, model: &Lmc, length: fn(f64) -> String) -> Vec<NamedLatents> {
    let mut named: Vec<NamedLatents> = vec![];
    let mut add = |name: String, latents: Range<usize>| match named.iter_mut().find(|part| part.name == name)
    {
        Some(part) => part.latents.extend(latents),
        None => named.push(NamedLatents { name, latents: latents.collect() }),
    };
    let sums = summary.sums();
    for component in sums.iter().flat_map(|sum| &sum.components) {
        add(component.plain_name(length), component.columns.clone());
    }
    if sums.is_empty() {
        let n_shared = model.mixing().n_shared();
        (0..n_shared).for_each(|latent| add(format!("shared {}", latent + 1), latent..latent + 1));
        if model.mixing().has_private() {
            add("private".to_owned(), n_shared..model.n_latents());
        }
    }
    named
}

/// The model with an unobserved output for every component of every output, after its own outputs.
fn with_unobserved_parts(model: &Lmc, named: &[NamedLatents]) -> Result<Lmc, MethodError> {
    let (n_outputs, n_latents) = (model.n_outputs(), model.n_latents());
    let mut weights = model.mixing().to_dense();
    let mut noise = model.noise().to_vec();
    for output in (0..n_outputs).map(OutputIndex::new) {
        for part in named {
            let mut row = vec![0.0; n_latents];
            for &latent in &part.latents {
                row[latent] = model.mixing().weight(output, LatentIndex::new(latent));
            }
            weights.extend(row);
            noise.push(model.noise()[output.get()]);
        }
    }
    let mixing = MixingMatrix::shared(noise.len(), n_latents, weights)?;
    Ok(Lmc::new(model.latents().to_vec(), mixing, noise)?)
}
