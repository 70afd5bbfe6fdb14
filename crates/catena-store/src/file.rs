//! Model files: a fit as a JSON header and raw arrays. A loaded fit predicts to the bit what the saved one did.

use std::path::Path;

use catena::data::{Cell, Dataset, InputPoints, Observations};
use catena::index::GroupIndex;
use catena::model::Lmc;
use catena_fit::parts::{LatentKind, PlainModel};
use catena_fit::{
    Fit, FitParts, HeldOut, MemoryLimit, MethodChoice, Preparation, StructureOption, Summary, Ties,
};
use catena_io::FileName;
use catena_io::memory::default_limit;
use catena_io::model_file::{Array, Container, Digest, ModelFileError, ModelLock};
use catena_io::read::CellOptions;
use catena_io::select::{Input, LongColumns, WideColumns};
use catena_io::table::NumberStyle;
use catena_io::time::TimeAxis;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::members::{self, ComponentHeader, MemberHeader};
use crate::validation::Numbers;
use crate::{About, GroupNames, StoreError};

/// A fit and the description of its table.
#[derive(Debug)]
pub struct Model {
    /// The fit.
    pub fit: Fit,
    /// The description of its table.
    pub about: About,
}

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    catena: String,
    data: String,
    inputs: Vec<InputHeader>,
    outputs: Vec<String>,
    long: Option<[String; 3]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wide: Option<WideColumns>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    groups: Option<GroupNames>,
    noise_columns: Vec<String>,
    #[serde(default, skip_serializing_if = "CellOptions::is_default")]
    cells: CellOptions,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    caller: Option<Value>,
    method: Named,
    structure: Named,
    /// Whether ties of the structure are broken by the inputs; by the lowest row in files of earlier versions.
    #[serde(default)]
    ties_by_inputs: bool,
    seed: u64,
    latents: Vec<LatentKind>,
    preparation: Preparation,
    summary: Summary,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    members: Vec<MemberHeader>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    components: Vec<ComponentHeader>,
}

#[derive(Debug, Serialize, Deserialize)]
struct InputHeader {
    name: String,
    style: NumberStyle,
    time: Option<TimeAxis>,
}

/// The name of a method or structure, with its counts.
#[derive(Debug, Serialize, Deserialize)]
struct Named {
    name: String,
    count: usize,
    /// A second count, if there are two.
    #[serde(default)]
    neighbors: usize,
}

impl Named {
    fn of_method(method: MethodChoice) -> Self {
        let (name, [count, neighbors]) = method.to_parts();
        Self { name: name.to_owned(), count, neighbors }
    }

    fn method(&self) -> Option<MethodChoice> {
        MethodChoice::from_parts(&self.name, [self.count, self.neighbors])
    }

    fn of_structure(structure: StructureOption) -> Self {
        let (name, count) = structure.to_parts();
        Self { name: name.to_owned(), count, neighbors: 0 }
    }

    fn structure(&self) -> Option<StructureOption> {
        StructureOption::from_parts(&self.name, self.count)
    }
}

/// Writes a model file atomically.
///
/// # Errors
/// If the path cannot be written, another process uses the model there, or the model has non-finite numbers.
pub fn save(fit: &Fit, about: &About, path: &Path) -> Result<(), StoreError> {
    Ok(container(fit, about)?.write_to(path)?)
}

/// The same for a process that has locked the model to replace it.
///
/// # Errors
/// If the path cannot be written, or the model has non-finite numbers.
pub fn save_under(lock: &ModelLock, fit: &Fit, about: &About, path: &Path) -> Result<(), StoreError> {
    Ok(container(fit, about)?.write_under(lock, path)?)
}

/// The bytes of a model file.
///
/// # Errors
/// If the model has non-finite numbers.
pub fn to_bytes(fit: &Fit, about: &About) -> Result<Vec<u8>, StoreError> {
    Ok(container(fit, about)?.to_bytes()?)
}

/// The digest of the training data of a model.
///
/// # Errors
/// Never, for a valid table.
pub fn data_digest(table: &Dataset) -> Result<Digest, StoreError> {
    let (inputs, values) = data_arrays(table)?;
    Ok(digest(&inputs, &values, group_array(table).as_ref()))
}

/// The digest of the arrays of a table; a table without groups has none of theirs.
fn digest(inputs: &Array, values: &Array, groups: Option<&Array>) -> Digest {
    let arrays = [("inputs", inputs), ("values", values)];
    Digest::of_arrays(arrays.into_iter().chain(groups.map(|groups| ("groups", groups))))
}

/// The group of each row, if rows have groups.
fn group_array(table: &Dataset) -> Option<Array> {
    let groups = table.inputs().groups()?;
    Some(Array::from_f64(groups.iter().map(|group| group.get() as f64).collect()))
}

fn data_arrays(table: &Dataset) -> Result<(Array, Array), ModelFileError> {
    let (n_rows, n_outputs) = (table.n_rows(), table.observations().n_outputs());
    let inputs =
        Array::from_f64(table.inputs().values().to_vec()).with_shape(&[n_rows, table.inputs().dim()])?;
    Ok((inputs, Array::from_f64(table.observations().to_dense()).with_shape(&[n_rows, n_outputs])?))
}

fn container(fit: &Fit, about: &About) -> Result<Container, StoreError> {
    let FitParts {
        table,
        preparation,
        model,
        method,
        structure,
        ties,
        candidates,
        seed,
        summary,
        combination,
        ..
    } = fit.parts();
    let plain = PlainModel::of(model);
    let input = |input: &Input| InputHeader {
        name: input.name.clone(),
        style: input.style,
        time: input.time.clone(),
    };
    let header = Header {
        catena: env!("CARGO_PKG_VERSION").to_owned(),
        data: about.data.clone(),
        inputs: about.inputs.iter().map(input).collect(),
        outputs: about.outputs.clone(),
        long: about.long.as_ref().map(|long| [long.time.clone(), long.series.clone(), long.value.clone()]),
        wide: about.wide.clone(),
        groups: about.groups.clone(),
        noise_columns: about.noise_columns.clone(),
        cells: about.cells.clone(),
        caller: about.caller.clone(),
        method: Named::of_method(*method),
        structure: Named::of_structure(*structure),
        ties_by_inputs: *ties == Ties::ByInputs,
        seed: *seed,
        latents: plain.latents.clone(),
        preparation: preparation.clone(),
        summary: finite(summary.clone()),
        members: members::headers(combination.as_ref()),
        components: members::components(combination.as_ref()),
    };
    // JSON has no infinities or NaN: fail now rather than when the file is opened.
    let header = serde_json::to_value(&header).map_err(|_| StoreError::NotFinite)?;
    Header::deserialize(&header).map_err(|_| StoreError::NotFinite)?;
    let mut container = Container::new(header);
    let (inputs, values) = data_arrays(table)?;
    let groups = group_array(table);
    container.data_digest = Some(digest(&inputs, &values, groups.as_ref()));
    let mut add = |name: &str, array: Array| container.arrays.insert(name.to_owned(), array);
    let shape = [model.n_outputs(), model.mixing().n_shared()];
    let PlainModel { length_scales, shapes, shared, private, noise, .. } = plain;
    add("inputs", inputs);
    add("values", values);
    if let Some(groups) = groups {
        add("groups", groups);
    }
    if shapes.iter().any(Option::is_some) {
        add("shapes", Array::from_f64(shapes.iter().map(|shape| shape.unwrap_or(f64::NAN)).collect()));
    }
    add("length_scales", Array::from_f64(length_scales));
    add("shared_weights", Array::from_f64(shared).with_shape(&shape)?);
    add("private_weights", Array::from_f64(private));
    add("noise", Array::from_f64(noise));
    for (name, array) in members::arrays(combination.as_ref()) {
        add(&name, array);
    }
    if let Some(candidates) = candidates {
        let shape = [candidates.n_rows(), candidates.dim()];
        add("candidates", Array::from_f64(candidates.values().to_vec()).with_shape(&shape)?);
    }
    if table.observations().has_cell_noise() {
        let variance = |cell: Cell| cell.noise_variance.unwrap_or(f64::NAN);
        let cells = table.observations().cells().map(|(_, cell)| variance(cell)).collect();
        add("cell_noise", Array::from_f64(cells));
    }
    Ok(container)
}

/// The summary without non-finite scores, which JSON cannot hold.
fn finite(mut summary: Summary) -> Summary {
    let is_finite = |scores: &HeldOut| {
        scores.rmse.is_finite() && scores.log_score.is_finite() && scores.coverage.is_finite()
    };
    summary.held_out.retain(is_finite);
    summary.held_out_by_output.retain(is_finite);
    summary.members.retain(|member| is_finite(&member.alone));
    summary.tried.retain(|tried| tried.score.is_finite());
    summary.path.retain(|value| value.is_finite());
    summary.probabilities.retain(|value| value.is_finite());
    summary
}

/// Reads a model file.
///
/// # Errors
/// If the file is missing, damaged, or of a newer version.
pub fn load(path: &Path) -> Result<Model, StoreError> {
    let (parts, about) = load_parts(path)?;
    conditioned(parts, about, &FileName::from(path))
}

/// Reads the parts of a fit, without conditioning on its table.
///
/// # Errors
/// As [`load`].
pub fn load_parts(path: &Path) -> Result<(FitParts, About), StoreError> {
    opened(Container::read_from(path)?, &FileName::from(path))
}

/// Reads the bytes of a model file.
///
/// # Errors
/// As [`load`].
pub fn from_bytes(bytes: &[u8]) -> Result<Model, StoreError> {
    let (parts, about) = opened(Container::from_bytes(bytes)?, &FileName::Memory)?;
    conditioned(parts, about, &FileName::Memory)
}

fn conditioned(parts: FitParts, about: About, file: &FileName) -> Result<Model, StoreError> {
    let fit = Fit::from_parts(parts)
        .map_err(|cause| StoreError::Fit { file: file.clone(), cause: Box::new(cause) })?;
    Ok(Model { fit, about })
}

/// The parts of a fit in a container read from `file`.
fn opened(container: Container, file: &FileName) -> Result<(FitParts, About), StoreError> {
    let broken = |what| StoreError::File(ModelFileError::Damaged { file: file.clone(), what });
    let header: Header = serde_json::from_value(container.header.clone())
        .map_err(|_| broken("the header does not describe a fit"))?;
    let numbers = |name: &str| -> Result<Vec<f64>, StoreError> {
        let array = container.array(name).map_err(|_| broken("an array is missing"))?;
        array.as_f64().map(<[f64]>::to_vec).ok_or_else(|| broken("an array has the wrong kind"))
    };
    let checked = Numbers { file };
    checked.arrays(&container)?;
    checked.preparation(&header.preparation)?;
    checked.summary(&header.summary)?;
    let (n_inputs, n_outputs) = (header.inputs.len(), header.outputs.len());
    let inputs = numbers("inputs")?;
    if n_inputs == 0 || n_outputs == 0 || header.preparation.inputs.len() != n_inputs {
        return Err(broken("the header has no inputs or outputs"));
    }
    let of_groups = || header.preparation.groups.values();
    let columns_per_latent = header.method.method().map_or(1, MethodChoice::columns_per_latent);
    if header.preparation.outputs.len() != n_outputs
        || of_groups().any(|outputs| outputs.len() != n_outputs)
        || !is_of(&header.summary, n_outputs, header.latents.len() / columns_per_latent)
    {
        return Err(broken("the header has scales or a summary for another number of outputs"));
    }
    let n_rows = inputs.len() / n_inputs;
    let mut inputs =
        InputPoints::new(n_rows, n_inputs, inputs).map_err(|_| broken("the inputs are not a table"))?;
    if let Some(known) = &header.groups {
        let n_groups = known.names.len();
        let is_named = known.names.iter().all(|names| names.len() == known.columns.len());
        let groups = numbers("groups")?;
        let is_group = |number: &f64| *number >= 0.0 && number.fract() == 0.0 && *number < n_groups as f64;
        if !is_named || !groups.iter().all(is_group) {
            return Err(broken("a row is of a group without a name"));
        }
        let groups = groups.into_iter().map(|number| GroupIndex::new(number as usize)).collect();
        inputs = inputs.with_groups(groups).map_err(|_| broken("the groups are not those of the rows"))?;
    } else if container.arrays.contains_key("groups") {
        return Err(broken("the header does not name the groups"));
    }
    let values = numbers("values")?;
    let mut observations = Observations::from_dense(n_rows, n_outputs, &values)
        .map_err(|_| broken("the values are not a table"))?;
    if container.arrays.contains_key("cell_noise") {
        let mut known = numbers("cell_noise")?.into_iter();
        observations = observations
            .map_cells(|_, cell| Ok(Cell { noise_variance: known.next(), ..cell }))
            .map_err(|_| broken("the noise of a cell is missing"))?;
    }
    let table = Dataset::new(inputs, observations)
        .map_err(|_| broken("inputs and values have different numbers of rows"))?;
    let model = lmc(&header, &numbers).ok_or_else(|| broken("the model is incomplete"))?;
    let candidates = match container.arrays.contains_key("candidates") {
        false => None,
        true => {
            let values = numbers("candidates")?;
            let points = InputPoints::new(values.len() / n_inputs, n_inputs, values);
            Some(points.map_err(|_| broken("the candidates are not a table"))?)
        }
    };
    let structure = header.structure.structure().ok_or_else(|| broken("the structure is unknown"))?;
    checked.structure(structure)?;
    let about = about_of(&header);
    let combination = if header.members.is_empty() {
        None
    } else {
        let size = (n_inputs, n_outputs, header.summary.origins.is_some());
        let found = members::combination(header.members, header.components, size, &|name| numbers(name).ok())
            .ok_or_else(|| broken("a member of the pool is incomplete or out of range"))?;
        let preparations = found.members.iter().filter_map(members::preparation);
        preparations.into_iter().try_for_each(|own| checked.preparation(own))?;
        Some(found)
    };
    let parts = FitParts {
        table,
        preparation: header.preparation,
        model,
        method: header.method.method().ok_or_else(|| broken("the method is unknown"))?,
        structure,
        ties: if header.ties_by_inputs { Ties::ByInputs } else { Ties::ByRow },
        candidates,
        seed: header.seed,
        memory: MemoryLimit::bytes(default_limit()),
        summary: header.summary,
        combination,
    };
    Ok((parts.with_log_evidence(), about))
}

/// Whether the sizes of a summary match the model.
fn is_of(summary: &Summary, n_outputs: usize, n_latents: usize) -> bool {
    summary.outputs.len() == n_outputs
        && summary.latents.len() == n_latents
        && summary.mixing.len() == n_outputs * n_latents
        && summary.correlation.len() == n_outputs * n_outputs
}

fn lmc(header: &Header, numbers: &dyn Fn(&str) -> Result<Vec<f64>, StoreError>) -> Option<Lmc> {
    let length_scales = numbers("length_scales").ok()?;
    // Files without time components have no shapes.
    let shapes = match numbers("shapes") {
        Ok(shapes) => shapes.into_iter().map(Some).collect(),
        Err(_) => vec![None; length_scales.len()],
    };
    let model = PlainModel {
        latents: header.latents.clone(),
        length_scales,
        shapes,
        shared: numbers("shared_weights").ok()?,
        private: numbers("private_weights").ok()?,
        noise: numbers("noise").ok()?,
    };
    model.model().filter(|model| model.n_outputs() == header.outputs.len())
}

fn about_of(header: &Header) -> About {
    let input = |InputHeader { name, style, time }: &InputHeader| Input {
        name: name.clone(),
        values: vec![],
        time: time.clone(),
        style: *style,
    };
    About {
        data: header.data.clone(),
        inputs: header.inputs.iter().map(input).collect(),
        outputs: header.outputs.clone(),
        long: header.long.clone().map(|[time, series, value]| LongColumns { time, series, value }),
        wide: header.wide.clone(),
        groups: header.groups.clone(),
        noise_columns: header.noise_columns.clone(),
        cells: header.cells.clone(),
        caller: header.caller.clone(),
    }
}
