//! Effects of known columns, checked by forecasts of known rows.

use std::sync::atomic::AtomicBool;

use catena::data::{Dataset, InputPoints, Observations};
use catena_methods::simple_rules::WeightedRegression;

use super::effects::Regressors;
use super::features::{Feature, FeatureSet, KnownColumns};
use super::{KnownScore, first_rows};
use crate::error::FitError;
use crate::fit::Fit;
use crate::forecast::candidates::ChoicePlan;
use crate::forecast::origins::Origins;
use crate::forecast::rolling::{SortedRows, spreads};
use crate::forecast::setting::{AheadModel, Choice};
use crate::monitor::{FitMonitor, Watch};
use crate::options::{FitOptions, TransformOptions};
use crate::power::PowerTransform;

/// A form of effects must be better than simpler ones by this many nats per cell.
const WORTHWHILE: f64 = 0.02;

/// Which effects forecast known rows best, under given transforms.
pub(super) struct Checked {
    pub(super) scores: Vec<KnownScore>,
    /// The features; `None` if forecasts are better without.
    pub(super) set: Option<FeatureSet>,
    pub(super) powers: Vec<PowerTransform>,
    /// The mean log derivative of the transforms at the scored values.
    jacobian: f64,
}

impl Checked {
    /// The log score in the units of the table; without a check all are equal.
    pub(super) fn best_score(&self) -> f64 {
        self.scores.iter().find(|score| score.chosen).map_or(0.0, |score| score.log_score + self.jacobian)
    }
}

/// A transformed table with the rows to forecast, and features at its rows.
pub(super) struct Problem {
    /// The rows of the table, cells without all features left out.
    pub(super) own: Dataset,
    /// These and the rows to forecast, which have no values.
    pub(super) whole: Dataset,
    pub(super) features: Vec<Feature>,
    /// The standard deviation of each output.
    pub(super) scales: Vec<f64>,
    /// The last row of the table.
    pub(super) last: f64,
}

impl Problem {
    pub(super) fn new(
        table: &Dataset,
        known: &KnownColumns,
        set: FeatureSet,
        powers: &[PowerTransform],
    ) -> Result<Self, FitError> {
        let order: Vec<usize> = SortedRows::new(table).rows.iter().map(|row| row.get()).collect();
        Self::with_features(table, known, known.features(set, &order), powers)
    }

    fn with_features(
        table: &Dataset,
        known: &KnownColumns,
        features: Vec<Feature>,
        powers: &[PowerTransform],
    ) -> Result<Self, FitError> {
        let (n_rows, n_outputs) = (table.n_rows(), powers.len());
        let n_whole = n_rows + known.times_ahead.len();
        let mut values = vec![f64::NAN; n_whole * n_outputs];
        for (row, cell) in table.observations().cells() {
            if features.iter().all(|feature| feature.values[row.get()].is_finite()) {
                let output = cell.output.get();
                values[row.get() * n_outputs + output] = powers[output].forward(cell.value);
            }
        }
        let mut times: Vec<f64> = table.inputs().rows().map(|row| table.inputs().point(row)[0]).collect();
        let last = times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        times.extend(&known.times_ahead);
        let whole = Dataset::new(
            InputPoints::from_column(times)?,
            Observations::from_dense(n_whole, n_outputs, &values)?,
        )?;
        let own = whole.select_rows(&first_rows(n_rows))?;
        let scales = spreads(&own).into_iter().map(|(_, deviation)| deviation).collect();
        Ok(Self { own, whole, features, scales, last })
    }

    pub(super) fn regressors<'a>(&'a self, rows: &'a SortedRows) -> Regressors<'a> {
        Regressors { table: &self.whole, rows, features: &self.features, scales: &self.scales }
    }

    /// The rows of the table among those of a whole table.
    pub(super) fn rows_of(&self, whole: &Dataset) -> Result<Dataset, FitError> {
        Ok(whole.select_rows(&first_rows(self.own.n_rows()))?)
    }

    /// A choice that learns models of the table, whose outputs are transformed already.
    pub(super) fn choice<'a>(
        &'a self,
        options: &'a FitOptions,
        (reach, monitor): (f64, &'a FitMonitor<'a>),
    ) -> Choice<'a> {
        Choice {
            table: &self.own,
            recent: &self.own,
            options,
            reach,
            monitor,
            is_stopped: AtomicBool::new(false),
            watch: Watch::new(monitor, options.time_limit),
        }
    }
}

impl Choice<'_> {
    /// A level with a damped trend and seasons, without transforms: the model under which effects are learned.
    pub(super) fn usual_model(&self) -> Result<AheadModel, FitError> {
        let n_outputs = self.table.observations().n_outputs();
        let asked = self.options.time.clone().filter(|time| time.spec.is_none());
        let seasons = self.seasons(&asked.unwrap_or_default(), &mut vec![])?;
        let plan = ChoicePlan::new(&seasons, n_outputs, self.options.budget);
        let spec = plan.sums.into_iter().nth(1).ok_or(FitError::NoStart)?;
        Ok(self.model(spec, TransformOptions::NONE))
    }
}

/// Log score and error of forecasts with effects, and the effects; `None` if they cannot be computed.
type Scored = Option<((f64, f64), WeightedRegression)>;

/// The scores of all forms of effects under given transforms. All are compared at the same cells.
pub(super) fn checked(
    table: &Dataset,
    known: &KnownColumns,
    options: &FitOptions,
    (reach, monitor): (f64, &FitMonitor<'_>),
    powers: &[PowerTransform],
) -> Result<Checked, FitError> {
    let order: Vec<usize> = SortedRows::new(table).rows.iter().map(|row| row.get()).collect();
    let n_rows = table.n_rows();
    let is_usable = |set: &FeatureSet| {
        let features = known.features(*set, &order);
        let is_known = |feature: &Feature| feature.values[n_rows..].iter().all(|value| value.is_finite());
        // Sets that add nothing to the first one are left out.
        features.iter().all(is_known) && (*set == FeatureSet::Linear || features.len() > known.names.len())
    };
    let sets: Vec<FeatureSet> = FeatureSet::ALL.into_iter().filter(is_usable).collect();
    // A name for each feature, so that those which several sets have are computed once.
    let mut all: Vec<Feature> = vec![];
    let mut places: Vec<Vec<usize>> = vec![];
    for &set in &sets {
        let place = |feature: Feature| {
            all.iter().position(|other| other.name == feature.name).unwrap_or_else(|| {
                all.push(feature);
                all.len() - 1
            })
        };
        places.push(known.features(set, &order).into_iter().map(place).collect());
    }
    let powers = powers.to_vec();
    if all.is_empty() {
        return Ok(Checked { scores: vec![], set: None, powers, jacobian: 0.0 });
    }
    let problem = Problem::with_features(table, known, all, &powers)?;
    let unchecked = Checked { scores: vec![], set: Some(FeatureSet::Linear), powers, jacobian: 0.0 };
    let Some(origins) = Origins::new(&problem.own, reach, 1) else { return Ok(unchecked) };
    let choice = problem.choice(options, (reach, monitor));
    let (model, fold) = (choice.usual_model()?, &origins.folds[0]);
    let learned = |table: &Dataset| choice.learned(table, &model, (Some(0.2), true));
    let first = learned(&fold.training)?;
    let whole = SortedRows::new(&problem.whole);
    let with_set = |number: usize| Problem {
        features: places[number].iter().map(|&at| problem.features[at].clone()).collect(),
        own: problem.own.clone(),
        whole: problem.whole.clone(),
        scales: problem.scales.clone(),
        last: problem.last,
    };
    let scored = |number: usize, fit: &Fit| -> Result<Scored, FitError> {
        let own = with_set(number);
        let regressors = own.regressors(&whole);
        let Some(effects) = regressors.effects(fit, fold.cut)? else { return Ok(None) };
        let responses = regressors.responses(fit, &fold.pairs, true)?;
        Ok(Some((responses.score(Some(&effects), &own.scales), effects)))
    };
    let nothing = Regressors { features: &[], ..problem.regressors(&whole) };
    let alone = nothing.responses(&first, &fold.pairs, true)?;
    let (log_score, rmse) = alone.score(None, &problem.scales);
    let mut scores = vec![KnownScore { name: "without".to_owned(), rmse, log_score, chosen: false }];
    for (number, &set) in sets.iter().enumerate() {
        let Some((mut score, effects)) = scored(number, &first)? else { continue };
        // The model again, without the effects.
        let own = with_set(number);
        let rest = own.regressors(&whole).without(&effects)?;
        let rest = rest.select_rows(&whole.rows[..fold.training.n_rows()])?;
        if let Some((again, _)) = scored(number, &learned(&rest)?)? {
            score = again;
        }
        scores.push(KnownScore {
            name: set.name().to_owned(),
            rmse: score.1,
            log_score: score.0,
            chosen: false,
        });
    }
    // A form with more coefficients must be worth them.
    let worthwhile = |best: usize, other: usize| {
        if scores[other].log_score > scores[best].log_score + WORTHWHILE { other } else { best }
    };
    let best = (1..scores.len()).fold(0, worthwhile);
    scores[best].chosen = true;
    let set = sets.into_iter().find(|set| set.name() == scores[best].name);
    let n_outputs = problem.scales.len();
    let derivative = |&(place, value): &(usize, f64)| {
        let power = unchecked.powers[place % n_outputs];
        power.log_derivative(power.inverse(value))
    };
    let jacobian = fold.cells.iter().map(derivative).sum::<f64>() / fold.cells.len() as f64;
    Ok(Checked { scores, set, jacobian, ..unchecked })
}
