//! Converts keyword arguments to the options of a fit.

use std::fmt::Display;
use std::str::FromStr;
use std::time;

use catena::data::{Dataset, InputPoints};
use catena_fit::{
    Bounds, BoundsOptions, Budget, ByOutput, CombineChoice, FitOptions, GivenParameters, GroupScaling,
    InvalidBounds, InvalidLikelihood, KernelPair, LikelihoodOptions, LikelihoodRequest, MeanChoice,
    MemoryLimit, MethodChoice, StructureOption, TimeOptions, TimeSpec, TransformKind, TransformOptions,
    UnknownWord,
};
use catena_io::memory::{bytes_of, default_limit};
use catena_io::units::Duration;
use catena_store::{ParameterError, Parameters};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;

use crate::arrays;
use crate::failure::Failure;

/// A memory limit from a size such as `3GB`; without one, a share of the machine's memory.
pub(crate) fn memory_limit(text: Option<&str>) -> Result<MemoryLimit, Failure> {
    let bytes = match text {
        None => default_limit(),
        Some(text) => bytes_of(text).ok_or_else(|| {
            Failure::Input(format!("max_memory={text:?} is unknown; write a size such as 500MB or 3GB"))
        })? as u64,
    };
    Ok(MemoryLimit::bytes(bytes))
}

/// Options from Python; `None` is decided from the data.
#[derive(FromPyObject)]
pub(crate) struct RequestedOptions<'py> {
    #[pyo3(item)]
    latents: Option<usize>,
    #[pyo3(item)]
    private: Option<bool>,
    #[pyo3(item)]
    ard: Option<bool>,
    #[pyo3(item)]
    kernel: Option<String>,
    /// Seasonal periods in units of the input.
    #[pyo3(item)]
    periods: Vec<f64>,
    /// Whether the input is a time, in seconds.
    #[pyo3(item)]
    is_time: bool,
    /// Whether the last of several inputs, and no other, is a time.
    #[pyo3(item)]
    time_is_last: bool,
    #[pyo3(item)]
    mean: String,
    #[pyo3(item)]
    group_scaling: String,
    #[pyo3(item)]
    structure: String,
    #[pyo3(item)]
    method: String,
    #[pyo3(item)]
    combine: String,
    #[pyo3(item)]
    budget: String,
    #[pyo3(item)]
    seed: u64,
    #[pyo3(item)]
    standardize: bool,
    #[pyo3(item)]
    transforms: Vec<(Option<String>, String)>,
    #[pyo3(item)]
    likelihood: Vec<(Option<String>, String)>,
    /// As `lower..upper`.
    #[pyo3(item)]
    bounds: Vec<(Option<String>, String)>,
    /// Given mixing, length-scales and noise.
    #[pyo3(item)]
    parameters: Option<Given>,
    /// All parameters as JSON.
    #[pyo3(item)]
    written: Option<String>,
    #[pyo3(item)]
    candidates: Option<PyReadonlyArray2<'py, f64>>,
    /// Known noise variances of the cells, n×D.
    #[pyo3(item)]
    cell_noise: Option<PyReadonlyArray2<'py, f64>>,
    /// A size such as `3GB`.
    #[pyo3(item)]
    max_memory: Option<String>,
    /// In seconds.
    #[pyo3(item)]
    time_limit: Option<f64>,
}

/// Parameters in the user's units.
#[derive(FromPyObject)]
struct Given {
    #[pyo3(item)]
    mixing: Vec<Vec<f64>>,
    #[pyo3(item)]
    length_scales: Vec<f64>,
    #[pyo3(item)]
    noise: Vec<f64>,
    /// Whether the last columns of the mixing matrix are private latents, one per output.
    #[pyo3(item)]
    has_private: bool,
}

/// Choices by the names of outputs, `None` for all others.
fn by_output<T: FromStr<Err = E>, E: Display>(
    option: &str,
    texts: &[(Option<String>, String)],
) -> Result<ByOutput<T>, Failure> {
    let mut found = ByOutput::default();
    for (name, text) in texts {
        let option = || name.as_ref().map_or_else(|| option.to_owned(), |name| format!("{option}[{name:?}]"));
        let choice = text.parse::<T>().map_err(|error| Failure::Input(format!("{}: {error}", option())))?;
        match name {
            Some(name) => found.by_name.push((name.clone(), choice)),
            None => found.others = Some(choice),
        }
    }
    Ok(found)
}

impl RequestedOptions<'_> {
    /// A table with the known noise of its cells.
    pub(crate) fn with_cell_noise(&self, table: Dataset) -> Result<Dataset, Failure> {
        let Some(noise) = &self.cell_noise else { return Ok(table) };
        let observations = table.observations().clone().with_cell_noise(&arrays::to_rows(noise))?;
        Ok(Dataset::new(table.inputs().clone(), observations)?)
    }

    /// The options, with the names of inputs and outputs.
    pub(crate) fn into_options(self, inputs: &[String], outputs: &[String]) -> Result<FitOptions, Failure> {
        let word = |name: &str, text: &str, error: UnknownWord| {
            Failure::Input(format!("{name}={text:?} is unknown; {error}"))
        };
        let structure: StructureOption =
            self.structure.parse().map_err(|error| word("structure", &self.structure, error))?;
        let method: MethodChoice =
            self.method.parse().map_err(|error| word("method", &self.method, error))?;
        let mean: MeanChoice = self.mean.parse().map_err(|error| word("mean", &self.mean, error))?;
        let group_scaling: GroupScaling =
            self.group_scaling.parse().map_err(|error| word("group_scaling", &self.group_scaling, error))?;
        let budget: Budget = self.budget.parse().map_err(|error| word("budget", &self.budget, error))?;
        let combine: CombineChoice =
            self.combine.parse().map_err(|error| word("combine", &self.combine, error))?;
        let mut transforms = TransformOptions::default();
        for (name, text) in &self.transforms {
            let option =
                name.as_ref().map_or_else(|| "transforms".to_owned(), |name| format!("transforms[{name:?}]"));
            let kind: TransformKind = text.parse().map_err(|error| word(&option, text, error))?;
            match name {
                Some(name) => transforms.by_name.push((name.clone(), kind)),
                None => transforms.others = kind,
            }
        }
        let likelihoods: LikelihoodOptions =
            by_output::<LikelihoodRequest, InvalidLikelihood>("likelihood", &self.likelihood)?;
        let bounds: BoundsOptions = by_output::<Bounds, InvalidBounds>("bounds", &self.bounds)?;
        let time = self.time()?;
        let kernel: Option<KernelPair> = match (&self.kernel, &time) {
            (Some(kernel), None) => Some(kernel.parse().map_err(Failure::input)?),
            _ => None,
        };
        let parameters = match self.parameters {
            None => None,
            Some(given) => Some(given.into_parameters(kernel)?),
        };
        let candidates: Option<InputPoints> = self.candidates.as_ref().map(arrays::points).transpose()?;
        let memory = memory_limit(self.max_memory.as_deref())?;
        let mut options = FitOptions {
            memory,
            method,
            structure,
            latents: self.latents,
            private: self.private,
            ard: self.ard,
            kernel,
            time,
            mean,
            group_scaling,
            parameters,
            standardize: self.standardize,
            transforms,
            likelihoods,
            bounds,
            candidates,
            combine,
            budget,
            time_limit: self.time_limit.and_then(|limit| time::Duration::try_from_secs_f64(limit).ok()),
            seed: self.seed,
            time_is_last: self.time_is_last,
            input_names: inputs.to_vec(),
            output_names: outputs.to_vec(),
            ..FitOptions::default()
        };
        if let Some(text) = &self.written {
            let wrong = |error: ParameterError| Failure::Input(format!("parameters: {error}"));
            Parameters::read(text).map_err(wrong)?.give_to(&mut options);
        }
        Ok(options)
    }
}

impl RequestedOptions<'_> {
    /// The time model, if one is requested by its components, by `time`, or by seasonal periods.
    fn time(&self) -> Result<Option<TimeOptions>, Failure> {
        let spec = match self.kernel.as_deref() {
            Some(text) if TimeSpec::is_meant_by(text) => {
                let period = |text: &str| -> Result<f64, String> {
                    if self.is_time {
                        return text
                            .parse::<Duration>()
                            .map(Duration::seconds)
                            .map_err(|error| error.to_string());
                    }
                    text.parse().map_err(|_| {
                        format!("{text:?} is not a number, but the input holds numbers, not times")
                    })
                };
                Some(TimeSpec::parse(text, &period).map_err(Failure::input)?)
            }
            Some("time") => None,
            None if !self.periods.is_empty() => None,
            _ => return Ok(None),
        };
        Ok(Some(TimeOptions { spec, periods: self.periods.clone(), ..TimeOptions::default() }))
    }
}

impl Given {
    fn into_parameters(self, kernel: Option<KernelPair>) -> Result<GivenParameters, Failure> {
        let kernel = kernel.ok_or_else(|| {
            Failure::Input("given parameters need a kernel, for example kernel=\"matern32\"".to_owned())
        })?;
        let Self { mixing, length_scales, noise, has_private } = self;
        Ok(GivenParameters { kernel, mixing, has_private, length_scales, noise })
    }
}
