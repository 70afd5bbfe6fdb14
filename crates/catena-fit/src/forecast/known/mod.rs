//! Forecasts with columns that are known ahead: temperatures, prices, holidays.
//!
//! An output is the sum of the effects of known columns and a time model. Effects are learned together with a model of one sum of
//! components, checked by forecasts of known rows with and without them, and taken off the table; the rest is forecast like any other
//! table. Where a logarithm forecasts better, effects are factors.

mod checked;
mod effects;
mod features;

use std::time::Duration;

use catena::data::{Dataset, InputPoints};
use catena::index::RowIndex;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};

pub use self::features::KnownColumns;

use self::checked::Checked;
use self::effects::Responses;
use self::features::Feature;
use super::choice::fit_ahead;
use super::rolling::SortedRows;
use crate::error::FitError;
use crate::fit::Fit;
use crate::methods::Quantity;
use crate::monitor::{FitMonitor, Watch};
use crate::options::{FitOptions, MOST_OUTPUTS, TransformKind, TransformOptions};
use crate::power::PowerTransform;
use crate::prepare::Predictive;
use catena_methods::simple_rules::WeightedRegression;

/// The random stream that draws coefficients.
const COEFFICIENT_STREAM: u64 = 5;

/// The effect of a feature on an output.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// The output.
    pub output: String,
    /// The known column, or a lag or a bend of it.
    pub feature: String,
    /// The change of the output, or of its logarithm, per unit of the column; per standard deviation for a part of a smooth effect.
    pub value: f64,
    /// Its standard deviation.
    pub deviation: f64,
}

/// Scores of forecasts of known rows, with the effects of known columns or without.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownScore {
    /// Which effects.
    pub name: String,
    /// Root mean squared error, in standard deviations of the outputs; of their logarithms if these are modelled.
    pub rmse: f64,
    /// Mean log density with the best factor on standard deviations, up to a constant.
    pub log_score: f64,
    /// Whether they are used.
    pub chosen: bool,
}

/// A forecast with columns that are known ahead.
pub struct KnownFit {
    fit: Fit,
    times: Vec<f64>,
    /// The change of each forecast, row-major, and its responses to errors of the coefficients; `None` without effects.
    added: Option<Added>,
    powers: Vec<PowerTransform>,
    scores: Vec<KnownScore>,
    effects: Vec<Effect>,
}

struct Added {
    shifts: Vec<f64>,
    responses: Responses,
    regression: WeightedRegression,
}

/// A fit for forecasts at the times of `known`, with the effects of its columns if they improve forecasts of known rows. Effects are
/// linear, linear with lags, or smooth. Each form is used only if its log score is above that of the simpler ones by 0.02 nats per
/// cell. Transforms are none or the logarithm.
///
/// # Errors
/// As [`fit_ahead`](super::fit_ahead); for tables with groups, known noise, likelihoods, several inputs or too many outputs; for
/// columns whose values ahead are not all known.
pub fn fit_known(
    table: &Dataset,
    known: &KnownColumns,
    options: &FitOptions,
    monitor: &FitMonitor<'_>,
) -> Result<KnownFit, FitError> {
    check(table, known, options)?;
    let last =
        table.inputs().rows().map(|row| table.inputs().point(row)[0]).fold(f64::NEG_INFINITY, f64::max);
    let reach = known.times_ahead.last().copied().unwrap_or(last) - last;
    let watch = Watch::new(monitor, options.time_limit);
    // The options for what may take a share of the time that is left.
    let within = |share: f64| {
        let limit = watch.has_limit().then(|| Duration::from_secs_f64(share * watch.seconds_left()));
        FitOptions { time_limit: limit, ..options.clone() }
    };
    let plain = logarithms(table, options, false)?;
    let mut best = checked::checked(table, known, &within(0.2), (reach, monitor), &plain)?;
    let logged = logarithms(table, options, true)?;
    if logged != plain {
        let other = checked::checked(table, known, &within(0.2), (reach, monitor), &logged)?;
        if other.best_score() > best.best_score() {
            best = other;
        }
    }
    finished(table, known, &within, (reach, monitor), best)
}

/// The fit with the effects that did best.
fn finished(
    table: &Dataset,
    known: &KnownColumns,
    within: &dyn Fn(f64) -> FitOptions,
    (reach, monitor): (f64, &FitMonitor<'_>),
    checked: Checked,
) -> Result<KnownFit, FitError> {
    let Checked { scores, set, powers, .. } = checked;
    let none = || vec![PowerTransform::None; powers.len()];
    let Some(set) = set else {
        let (fit, times) = (fit_ahead(table, &within(1.0), reach, monitor)?, known.times_ahead.clone());
        return Ok(KnownFit { fit, times, added: None, powers: none(), scores, effects: vec![] });
    };
    let problem = checked::Problem::new(table, known, set, &powers)?;
    let options = &within(0.5);
    let choice = problem.choice(options, (reach, monitor));
    let model = choice.usual_model()?;
    let whole = SortedRows::new(&problem.whole);
    let regressors = problem.regressors(&whole);
    let no_effect =
        || FitError::Known { what: "have effects that cannot be computed; rescale them".to_owned() };
    // Effects and model, by turns.
    let mut fitted = choice.learned(&problem.own, &model, (Some(0.2), false))?;
    let last = problem.last;
    let first = regressors.effects(&fitted, last)?.ok_or_else(no_effect)?;
    fitted = choice.learned(&problem.rows_of(&regressors.without(&first)?)?, &model, (Some(0.2), false))?;
    let regression = regressors.effects(&fitted, last)?.ok_or_else(no_effect)?;
    let rest = problem.rows_of(&regressors.without(&regression)?)?;
    let plain = FitOptions { transforms: TransformOptions::NONE, ..within(1.0) };
    let fit = fit_ahead(&rest, &plain, reach, monitor)?;
    let n_rows = table.n_rows();
    let origin = n_rows - 1;
    let pairs: Vec<(usize, usize)> =
        (n_rows..n_rows + known.times_ahead.len()).map(|at| (origin, at)).collect();
    let responses = regressors.responses(&fitted, &pairs, false)?;
    let n_outputs = powers.len();
    let cells = pairs.iter().flat_map(|&(_, at)| (0..n_outputs).map(move |output| (at, output)));
    let shifts =
        cells.map(|(at, output)| regressors.sum(&regression, whole.rows[at].get(), output)).collect();
    let effects = described(&problem.features, &regression, (&problem.scales, options));
    let added = Some(Added { shifts, responses, regression });
    Ok(KnownFit { fit, times: known.times_ahead.clone(), added, powers, scores, effects })
}

/// Refuses what known columns are not made for.
fn check(table: &Dataset, known: &KnownColumns, options: &FitOptions) -> Result<(), FitError> {
    let refuse = |what: &str| Err(FitError::Known { what: what.to_owned() });
    let n_outputs = table.observations().n_outputs();
    if table.inputs().groups().is_some() {
        return refuse("are not combined with groups; forecast each group as a table of its own");
    }
    if table.observations().has_cell_noise() {
        return refuse("are not combined with known noise of cells; leave the noise columns out");
    }
    if options.likelihood_choices(n_outputs)?.is_some() {
        return refuse("are not combined with likelihoods; leave the likelihood out");
    }
    if options.bounds_of_outputs(n_outputs)?.iter().any(Option::is_some) {
        return refuse("are not combined with bounds; leave the bounds out");
    }
    if table.inputs().dim() != 1 {
        return refuse("need a table with a single input; choose one");
    }
    if n_outputs > MOST_OUTPUTS {
        return refuse(&format!("are for at most {MOST_OUTPUTS} outputs; forecast fewer at once"));
    }
    let (n_columns, n_ahead) = (known.names.len(), known.times_ahead.len());
    for (expected, found) in
        [(table.n_rows() * n_columns, known.at_rows.len()), (n_ahead * n_columns, known.ahead.len())]
    {
        if expected != found {
            return Err(FitError::ParameterShape { what: "the known columns", expected, found });
        }
    }
    match known.ahead.iter().position(|value| !value.is_finite()) {
        Some(at) => refuse(&format!(
            "must be known at every row to forecast, but {} has no value at row {} ahead",
            known.names[at % n_columns],
            at / n_columns + 1
        )),
        None => Ok(()),
    }
}

/// The transform of each output: those requested, and for open outputs of positive values the logarithm if `open` says so.
fn logarithms(table: &Dataset, options: &FitOptions, open: bool) -> Result<Vec<PowerTransform>, FitError> {
    let kinds = options.transform_kinds(table.observations().n_outputs())?;
    let mut powers = vec![];
    for (output, kind) in kinds.into_iter().enumerate() {
        let own = || table.observations().cells().filter(move |(_, cell)| cell.output.get() == output);
        let first = own().find(|(_, cell)| cell.value <= 0.0);
        powers.push(match (kind, first) {
            (TransformKind::Log, Some((row, cell))) => {
                let (output, value) = (cell.output, cell.value);
                return Err(FitError::NotTransformable { row, output, value, kind: "log" });
            }
            (TransformKind::Log, None) => PowerTransform::Log,
            (TransformKind::Auto, None) if open => PowerTransform::Log,
            (TransformKind::Auto | TransformKind::None, _) => PowerTransform::None,
            (kind @ (TransformKind::BoxCox | TransformKind::YeoJohnson), _) => {
                return Err(FitError::Known {
                    what: format!("are not combined with the transform {kind}; choose none or log"),
                });
            }
        });
    }
    Ok(powers)
}

/// The effects in units of their columns, where these are linear.
fn described(
    features: &[Feature],
    regression: &WeightedRegression,
    (scales, options): (&[f64], &FitOptions),
) -> Vec<Effect> {
    let n_outputs = scales.len();
    let effect = |(at, coefficient): (usize, &f64)| {
        let (feature, output) = (&features[at / n_outputs], at % n_outputs);
        let scale = scales[output] / feature.scale.unwrap_or(1.0);
        let mut unit = vec![0.0; regression.coefficients().len()];
        unit[at] = 1.0;
        Effect {
            output: options.output_name(output),
            feature: feature.name.clone(),
            value: scale * coefficient,
            deviation: scale * regression.variance(&unit).sqrt(),
        }
    };
    regression.coefficients().iter().enumerate().map(effect).collect()
}

impl KnownFit {
    /// The fit of the table without the effects.
    pub fn fit(&self) -> &Fit {
        &self.fit
    }

    /// The scores of forecasts of known rows with effects and without; empty for a table of too few rows.
    pub fn scores(&self) -> &[KnownScore] {
        &self.scores
    }

    /// The effects; empty if forecasts are better without.
    pub fn effects(&self) -> &[Effect] {
        &self.effects
    }

    fn points(&self) -> Result<InputPoints, FitError> {
        Ok(InputPoints::from_column(self.times.clone())?)
    }

    /// Predictive distributions at the rows to forecast.
    ///
    /// # Errors
    /// As [`Fit::predict`].
    pub fn predict(&self, quantity: Quantity) -> Result<Predictive, FitError> {
        let predictive = self.fit.predict(&self.points()?, quantity)?;
        let Some(Added { shifts, responses, regression }) = &self.added else { return Ok(predictive) };
        let variances: Vec<f64> =
            (0..shifts.len()).map(|cell| regression.variance(&responses.of_cell(cell))).collect();
        Ok(predictive.shifted(shifts, &variances, &self.powers))
    }

    /// Joint draws at the rows to forecast, each row-major, one after the other.
    ///
    /// # Errors
    /// As [`Fit::draws`].
    pub fn draws(&self, quantity: Quantity, n_draws: usize, seed: u64) -> Result<Vec<f64>, FitError> {
        let mut draws = self.fit.draws(&self.points()?, quantity, n_draws, seed)?;
        let Some(Added { shifts, responses, regression }) = &self.added else { return Ok(draws) };
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(COEFFICIENT_STREAM);
        for draw in draws.chunks_exact_mut(shifts.len()) {
            let count = regression.coefficients().len();
            let normals = (0..count).map(|_| StandardNormal.sample(&mut generator)).collect();
            let errors = regression.draw(normals);
            for (cell, value) in draw.iter_mut().enumerate() {
                let of_cell = responses.of_cell(cell);
                let error: f64 = of_cell.iter().zip(&errors).map(|(own, error)| own * error).sum();
                *value = self.powers[cell % self.powers.len()].inverse(*value + shifts[cell] + error);
            }
        }
        Ok(draws)
    }
}

/// The row of a table at each of the first places.
fn first_rows(n_rows: usize) -> Vec<RowIndex> {
    (0..n_rows).map(RowIndex::new).collect()
}
