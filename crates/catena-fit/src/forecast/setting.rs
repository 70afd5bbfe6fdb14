//! What a choice of a forecast works on: its table, its options, and the models that it learns.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use catena::data::Dataset;
use catena::learning::{LogNormal, Priors};

use crate::error::FitError;
use crate::fit::{Fit, fit, fit_time_model};
use crate::monitor::{Event, FitMonitor, Stage, Watch};
use crate::options::{Budget, FitOptions, TimeOptions, TimeSpec, TransformKind, TransformOptions};
use crate::power::PowerTransform;

/// Periods in which the shape of a season changes, before anything is known.
const SEASONS: f64 = 30.0;
/// Rows times cubes of outputs of a small table.
const SMALL: usize = 1000;
/// Share of a time limit for the choice.
const SHARE_OF_CHOICE: f64 = 0.6;

/// A choice that is being made.
pub(super) struct Choice<'a> {
    pub(super) table: &'a Dataset,
    /// The rows on which forecasts are compared.
    pub(super) recent: &'a Dataset,
    pub(super) options: &'a FitOptions,
    pub(super) reach: f64,
    pub(super) monitor: &'a FitMonitor<'a>,
    pub(super) is_stopped: AtomicBool,
    pub(super) watch: Watch<'a>,
}

/// A model that may forecast.
pub(super) struct AheadModel {
    /// `None` for the model that the options determine.
    pub(super) spec: Option<TimeSpec>,
    pub(super) transforms: TransformOptions,
    pub(super) name: String,
}

impl Choice<'_> {
    /// The model that the options determine.
    pub(super) fn fixed(&self) -> AheadModel {
        let (transforms, name) = (self.options.transforms.clone(), "the requested model".to_owned());
        AheadModel { spec: None, transforms, name }
    }

    pub(super) fn model(&self, spec: TimeSpec, transforms: TransformOptions) -> AheadModel {
        let mut name = spec.text(self.options.length_text);
        let kinds: Vec<TransformKind> = transforms.by_name.iter().map(|(_, kind)| *kind).collect();
        if let Some(kind) = kinds.iter().find(|kind| **kind != TransformKind::None) {
            let some = if kinds.iter().all(|other| other == kind) { "" } else { " of some outputs" };
            name = format!("{name}, {kind}{some}");
        }
        AheadModel { spec: Some(spec), transforms, name }
    }

    /// The requested transforms, with this one for open outputs.
    pub(super) fn requested_transforms(&self, open: TransformKind) -> Result<TransformOptions, FitError> {
        let n_outputs = self.table.observations().n_outputs();
        let kinds = self.options.transform_kinds(n_outputs)?;
        let kind = |kind: &TransformKind| if *kind == TransformKind::Auto { open } else { *kind };
        Ok(self.transforms_of(&kinds.iter().map(kind).collect::<Vec<_>>()))
    }

    pub(super) fn transforms_of(&self, kinds: &[TransformKind]) -> TransformOptions {
        let named = |(output, kind): (usize, &TransformKind)| (self.options.output_name(output), *kind);
        match kinds.iter().all(|kind| *kind == TransformKind::None) {
            true => TransformOptions::NONE,
            false => TransformOptions {
                others: TransformKind::None,
                by_name: kinds.iter().enumerate().map(named).collect(),
            },
        }
    }

    /// Options of a candidate.
    fn options_of(&self, model: &AheadModel, budget: Budget) -> FitOptions {
        let time = match &model.spec {
            Some(spec) => Some(TimeOptions { spec: Some(spec.clone()), ..TimeOptions::default() }),
            None => self.options.time.clone(),
        };
        FitOptions {
            time,
            transforms: model.transforms.clone(),
            output_names: self.names(),
            time_limit: None,
            budget,
            priors: self.options.priors.clone().or_else(|| model.spec.as_ref().map(|_| self.priors())),
            ..self.options.clone()
        }
    }

    /// Priors for sums with seasons, in median gaps: a season lasts, and its prior counts once for all harmonics.
    fn priors(&self) -> Priors {
        let season = Some(LogNormal { center: SEASONS, weight: 0.25 });
        Priors { season, ..Priors::for_points(1.0, self.recent.n_rows() as f64) }
    }

    /// The names of all outputs, which transforms are given by.
    fn names(&self) -> Vec<String> {
        (0..self.table.observations().n_outputs()).map(|output| self.options.output_name(output)).collect()
    }

    /// Learns a candidate on a table.
    pub(super) fn learned(
        &self,
        table: &Dataset,
        model: &AheadModel,
        (share, for_comparison): (Option<f64>, bool),
    ) -> Result<Fit, FitError> {
        // Many models are compared; the chosen ones, and those of small tables, are learned with the whole budget.
        let outputs = table.observations().n_outputs();
        let for_comparison = for_comparison && table.n_rows() * outputs.pow(3) > SMALL;
        let budget = match (for_comparison && model.spec.is_some(), self.options.budget) {
            (true, Budget::Thorough) => Budget::Default,
            (true, _) => Budget::Quick,
            (false, budget) => budget,
        };
        let options = self.options_of(model, budget);
        match share {
            Some(share) => {
                let monitor = self.quiet(0.5);
                let watch = Watch::new(&monitor, self.limit(share));
                match &options.time {
                    Some(time) => fit_time_model(table, time, &options, &watch),
                    None => fit(table, &FitOptions { time_limit: self.limit(share), ..options }, &monitor),
                }
            }
            None => {
                let limit = self.limit(1.0);
                fit(table, &FitOptions { time_limit: limit, ..options }, self.monitor)
            }
        }
    }

    /// A fit without a check.
    pub(super) fn unchecked(&self, model: &AheadModel, reasons: Vec<String>) -> Result<Fit, FitError> {
        let mut fitted = self.learned(self.table, model, (None, false))?;
        fitted.parts.summary.decisions.extend(reasons);
        Ok(fitted)
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed) || self.watch.seconds_left() <= 0.0
    }

    /// A share of the time that is left, if there is a limit.
    pub(super) fn limit(&self, share: f64) -> Option<Duration> {
        let share = if share < 1.0 { SHARE_OF_CHOICE * share } else { share };
        self.watch.has_limit().then(|| Duration::from_secs_f64(share * self.watch.seconds_left()))
    }

    /// A monitor for the choice: all of its fits are one stage.
    pub(super) fn quiet(&self, done: f64) -> impl Fn(Event) -> ControlFlow<()> + Sync + '_ {
        move |event: Event| {
            let answer = (self.monitor)(Event { stage: Stage::Candidates, done, ..event });
            if answer.is_break() {
                self.is_stopped.store(true, Ordering::Relaxed);
            }
            answer
        }
    }
}

/// The transform of each output of a fit.
pub(super) fn powers_of(fit: &Fit) -> Vec<PowerTransform> {
    fit.parts().preparation.outputs.iter().map(|output| output.power).collect()
}
