//! Members conditioned on a table, and the pool of their predictions.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use catena::data::{DataError, Dataset, InputPoints};
use catena::index::{GroupIndex, RowIndex};
use catena_methods::MemoryLimit;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardUniform};

use super::columns::FittedColumns;
use super::member::{Combination, Member, MemberKind, PoolComponent};
use super::rows::FittedRows;
use super::rule_ahead::FittedRule;
use crate::error::FitError;
use crate::methods::{ConditionedModel, Quantity, condition};
use crate::options::{MethodChoice, StructureOption};
use crate::prepare::{PooledMember, Predictive};
use crate::space::Places;

/// The random stream that draws components.
const COMPONENT_STREAM: u64 = 2;

/// The members of a fit, conditioned on its table.
pub(crate) struct FittedMembers {
    members: Vec<FittedMember>,
    components: Vec<PoolComponent>,
    inputs: InputPoints,
    /// The last row of a pool for forecasts.
    last: Option<f64>,
    /// The places at which a model of space and time has the exponents of rows.
    places: Option<Places>,
    /// Rows by group and the bits of their inputs; inputs of several rows are left out. Built when first needed.
    rows: OnceLock<HashMap<Key, RowIndex>>,
    n_outputs: usize,
}

enum FittedMember {
    Best,
    Model(ConditionedModel),
    Columns(FittedColumns),
    Rows(FittedRows),
    Ahead(FittedRule),
}

/// Where predictions are asked for.
enum Points<'a> {
    /// All rows of the table.
    Rows,
    /// Inputs, each with the row of the table there, if there is exactly one, and whether it has the exponents of a row.
    Inputs(&'a InputPoints, Vec<Option<usize>>, Vec<bool>),
}

impl Points<'_> {
    /// The exponents of a component at a point.
    fn exponents<'c>(&self, component: &'c PoolComponent, point: usize) -> &'c [f64] {
        match self {
            Self::Inputs(_, _, are_inside) if !are_inside[point] => &component.elsewhere,
            _ => &component.at_rows,
        }
    }
}

/// The group of a row and the bits of its inputs, in which −0 and 0 are equal.
type Key = (Option<GroupIndex>, Box<[u64]>);

fn key(inputs: &InputPoints, row: RowIndex) -> Key {
    (inputs.group(row), inputs.point(row).iter().map(|input| (input + 0.0).to_bits()).collect())
}

/// The last input of a table.
fn last_row(inputs: &InputPoints) -> f64 {
    inputs.rows().map(|row| inputs.point(row)[0]).fold(f64::NEG_INFINITY, f64::max)
}

fn rows_by_inputs(inputs: &InputPoints) -> HashMap<Key, RowIndex> {
    let (mut rows, mut counts) = (HashMap::new(), HashMap::new());
    for row in inputs.rows() {
        let key = key(inputs, row);
        *counts.entry(key.clone()).or_insert(0_usize) += 1;
        rows.insert(key, row);
    }
    rows.retain(|key, _| counts.get(key) == Some(&1));
    rows
}

impl FittedMembers {
    /// Conditions members on a table.
    pub(crate) fn new(
        combination: &Combination,
        table: &Dataset,
        structure: StructureOption,
        (seed, memory): (u64, MemoryLimit),
    ) -> Result<Self, FitError> {
        let fitted = |member: &Member| -> Result<FittedMember, FitError> {
            Ok(match &member.kind {
                MemberKind::Best => FittedMember::Best,
                MemberKind::Model { preparation, model } => {
                    let prepared = Arc::new(preparation.dataset(table)?);
                    let choice = (MethodChoice::Catena, structure);
                    let posterior = condition(&prepared, model, choice, None, None, (seed, memory))?;
                    FittedMember::Model(ConditionedModel::new(
                        preparation.clone(),
                        model,
                        prepared,
                        posterior,
                    ))
                }
                MemberKind::Columns(columns) => FittedMember::Columns(columns.fitted(table, (seed, memory))?),
                MemberKind::Rows(regression) => FittedMember::Rows(regression.fitted(table, structure)?),
                MemberKind::Ahead(rule) => FittedMember::Ahead(rule.fitted(table)),
            })
        };
        let members: Result<Vec<FittedMember>, FitError> = combination.members.iter().map(fitted).collect();
        let members = members?;
        let places = members.iter().find_map(|member| match member {
            FittedMember::Columns(columns) => Some(columns.places().clone()),
            _ => None,
        });
        Ok(Self {
            members,
            places,
            components: combination.components.clone(),
            inputs: table.inputs().clone(),
            last: combination.is_ahead.then(|| last_row(table.inputs())),
            rows: OnceLock::new(),
            n_outputs: table.observations().n_outputs(),
        })
    }

    /// The answer at the table's rows. `best` is the best single model.
    pub(crate) fn predict_rows(
        &self,
        best: &ConditionedModel,
        quantity: Quantity,
    ) -> Result<Predictive, FitError> {
        match &self.places {
            None => self.answer(best, &Points::Rows, quantity),
            // Later rows may be at other places.
            Some(_) => self.answer(best, &self.points(&self.inputs), quantity),
        }
    }

    /// The answer at any inputs.
    pub(crate) fn predict(
        &self,
        best: &ConditionedModel,
        at: &InputPoints,
        quantity: Quantity,
    ) -> Result<Predictive, FitError> {
        self.answer(best, &self.points(at), quantity)
    }

    fn points<'a>(&self, at: &'a InputPoints) -> Points<'a> {
        let rows = self.rows.get_or_init(|| rows_by_inputs(&self.inputs));
        let row = |point| rows.get(&key(at, point)).map(|row: &RowIndex| row.get());
        let rows: Vec<Option<usize>> = at.rows().map(row).collect();
        let is_inside = |point: RowIndex| match (self.last, &self.places) {
            (Some(last), _) => at.point(point)[0] <= last,
            (None, Some(places)) => places.number_of(at.point(point)).is_some(),
            (None, None) => rows[point.get()].is_some(),
        };
        let are_inside = at.rows().map(is_inside).collect();
        Points::Inputs(at, rows, are_inside)
    }

    /// The predictions of one member. Points at which a regression has no row are not predicted.
    fn member(
        &self,
        number: usize,
        best: &ConditionedModel,
        points: &Points<'_>,
        quantity: Quantity,
    ) -> Result<Predictive, FitError> {
        match (&self.members[number], points) {
            (FittedMember::Best, Points::Rows) => best.predict_rows(quantity),
            (FittedMember::Best, Points::Inputs(at, ..)) => best.predict(at, quantity),
            (FittedMember::Model(model), Points::Rows) => model.predict_rows(quantity),
            (FittedMember::Model(model), Points::Inputs(at, ..)) => model.predict(at, quantity),
            (FittedMember::Columns(columns), Points::Rows) => columns.predict(&self.inputs, quantity),
            (FittedMember::Columns(columns), Points::Inputs(at, ..)) => columns.predict(at, quantity),
            (FittedMember::Rows(regression), Points::Rows) => regression.predict_rows(quantity),
            (FittedMember::Rows(regression), Points::Inputs(_, rows, _)) => {
                Ok(regression.predict_rows(quantity)?.rows_at(self.n_outputs, rows))
            }
            (FittedMember::Ahead(rule), Points::Rows) => Ok(rule.predict(&self.inputs)),
            (FittedMember::Ahead(rule), Points::Inputs(at, ..)) => Ok(rule.predict(at)),
        }
    }

    /// The predictions of all members.
    fn pooled_members(
        &self,
        best: &ConditionedModel,
        points: &Points<'_>,
        quantity: Quantity,
    ) -> Result<Vec<PooledMember>, FitError> {
        let member = |number: usize| -> Result<PooledMember, FitError> {
            let function = match quantity {
                Quantity::Function => Some(self.member(number, best, points, quantity)?),
                Quantity::Observation => None,
            };
            let observation = self.member(number, best, points, Quantity::Observation)?;
            Ok(PooledMember { observation, function })
        };
        (0..self.members.len()).map(member).collect()
    }

    /// One component of the answer.
    fn component(
        component: &PoolComponent,
        members: &[PooledMember],
        points: &Points<'_>,
    ) -> Result<Predictive, FitError> {
        let exponent = |point: usize, member: usize| points.exponents(component, point)[member];
        Predictive::pooled(members, exponent).ok_or(FitError::NoStart)
    }

    /// The mixture of all components.
    fn answer(
        &self,
        best: &ConditionedModel,
        points: &Points<'_>,
        quantity: Quantity,
    ) -> Result<Predictive, FitError> {
        let members = self.pooled_members(best, points, quantity)?;
        let weighted =
            |component: &PoolComponent| Ok((component.weight, Self::component(component, &members, points)?));
        let components: Result<Vec<(f64, Predictive)>, FitError> =
            self.components.iter().map(weighted).collect();
        let mixture = Predictive::mixture(components?).ok_or(FitError::NoStart)?;
        let mixture = mixture.with_bounds(best.bounds());
        let is_number = |at: usize| {
            let (mean, deviation) = mixture.moments(at);
            mean.is_finite() && deviation.is_finite()
        };
        match (0..mixture.n_cells()).find(|&at| !is_number(at)) {
            None => Ok(mixture),
            Some(at) => {
                let (row, output) = (RowIndex::new(at / self.n_outputs), at % self.n_outputs);
                Err(DataError::UnscalingOverflow { row, output }.into())
            }
        }
    }

    /// The covariance of all outputs at each input. Outputs are correlated as in the members that predict them together; their
    /// variances are those of the answer.
    pub(crate) fn covariances(
        &self,
        best: &ConditionedModel,
        at: &InputPoints,
        quantity: Quantity,
    ) -> Result<Vec<f64>, FitError> {
        let (n_outputs, points) = (self.n_outputs, self.points(at));
        let members = self.pooled_members(best, &points, quantity)?;
        let own: Result<Vec<Option<Vec<f64>>>, FitError> = self
            .members
            .iter()
            .map(|member| match member {
                FittedMember::Best => best.covariances(at, quantity).map(Some),
                FittedMember::Model(model) => model.covariances(at, quantity).map(Some),
                FittedMember::Columns(columns) => columns.covariances(at, quantity).map(Some),
                FittedMember::Rows(_) | FittedMember::Ahead(_) => Ok(None),
            })
            .collect();
        let own = own?;
        let together = self.answer(best, &points, quantity)?;
        let mut covariances = vec![0.0; at.n_rows() * n_outputs * n_outputs];
        for component in &self.components {
            let pooled = Self::component(component, &members, &points)?;
            for (place, covariance) in covariances.iter_mut().enumerate() {
                let (cell, other) = (place / n_outputs, place % n_outputs);
                let (point, beside) = (cell / n_outputs, cell / n_outputs * n_outputs + other);
                let exponents = points.exponents(component, point);
                let (mut sum, mut squares) = (0.0, [0.0, 0.0]);
                for (member, own) in own.iter().enumerate().filter(|(member, _)| exponents[*member] > 0.0) {
                    let share =
                        |cell: usize| members[member].observation.center(cell).1.powi(-2) * exponents[member];
                    let (here, there) = (share(cell), share(beside));
                    let variance = |cell: usize| match own {
                        Some(own) => own[cell * n_outputs + cell % n_outputs],
                        None => {
                            let own = &members[member];
                            own.function.as_ref().unwrap_or(&own.observation).deviation(cell).powi(2)
                        }
                    };
                    squares[0] += here * here * variance(cell);
                    squares[1] += there * there * variance(beside);
                    sum += here * there * own.as_ref().map_or(0.0, |own| own[place]);
                }
                let correlation = if cell == beside {
                    1.0
                } else if squares[0] > 0.0 && squares[1] > 0.0 {
                    sum / (squares[0] * squares[1]).sqrt()
                } else {
                    0.0
                };
                let offset = |cell: usize| pooled.mean(cell) - together.mean(cell);
                *covariance += component.weight
                    * (correlation * pooled.deviation(cell) * pooled.deviation(beside)
                        + offset(cell) * offset(beside));
            }
        }
        Ok(covariances)
    }

    /// Joint draws. Each is of a randomly drawn component: the draws of all members, weighted as their means are and spread to
    /// the variance of the component.
    pub(crate) fn draws(
        &self,
        best: &ConditionedModel,
        at: &InputPoints,
        quantity: Quantity,
        n_draws: usize,
        seed: u64,
    ) -> Result<Vec<f64>, FitError> {
        let points = self.points(at);
        let members = self.pooled_members(best, &points, quantity)?;
        let components: Result<Vec<Predictive>, FitError> =
            self.components.iter().map(|component| Self::component(component, &members, &points)).collect();
        let components = components?;
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(COMPONENT_STREAM);
        let drawn: Vec<usize> = (0..n_draws).map(|_| self.drawn(&mut generator)).collect();
        let size = at.n_rows() * self.n_outputs;
        // Weighted deviations of the members' draws from their centers, and the variance of this sum.
        let (mut draws, mut variances) = (vec![0.0; n_draws * size], vec![0.0; n_draws * size]);
        for (number, member) in members.iter().enumerate() {
            let own = self.member_draws(
                number,
                best,
                &points,
                (quantity, n_draws),
                seed.wrapping_add(1 + number as u64),
            )?;
            let predicted = member.function.as_ref().unwrap_or(&member.observation);
            for (place, value) in own.into_iter().enumerate() {
                let (draw, cell) = (place / size, place % size);
                let exponent = points.exponents(&self.components[drawn[draw]], cell / self.n_outputs)[number];
                if exponent > 0.0 {
                    let (center, deviation, _) = predicted.center(cell);
                    let share = exponent / member.observation.center(cell).1.powi(2);
                    draws[place] += share * (value - center);
                    variances[place] += (share * deviation).powi(2);
                }
            }
        }
        for (place, draw) in draws.iter_mut().enumerate() {
            let (center, deviation, power) = components[drawn[place / size]].center(place % size);
            let spread = if variances[place] > 0.0 { *draw / variances[place].sqrt() } else { 0.0 };
            *draw = power.inverse(center + deviation * spread);
        }
        Ok(draws)
    }

    /// A component, drawn by its weight.
    fn drawn(&self, generator: &mut ChaCha8Rng) -> usize {
        let mut left: f64 = StandardUniform.sample(generator);
        for (number, component) in self.components.iter().enumerate() {
            left -= component.weight;
            if left < 0.0 {
                return number;
            }
        }
        self.components.len() - 1
    }

    /// Joint draws of the transformed outputs by one member; those of a regression at points without a row are not used.
    fn member_draws(
        &self,
        number: usize,
        best: &ConditionedModel,
        points: &Points<'_>,
        (quantity, n_draws): (Quantity, usize),
        seed: u64,
    ) -> Result<Vec<f64>, FitError> {
        let Points::Inputs(at, rows, _) = points else { return Ok(vec![]) };
        match &self.members[number] {
            FittedMember::Best => best.transformed_draws(at, quantity, n_draws, seed),
            FittedMember::Model(model) => model.transformed_draws(at, quantity, n_draws, seed),
            FittedMember::Columns(columns) => columns.draws(at, quantity, n_draws, seed),
            FittedMember::Ahead(rule) => Ok(rule.draws(at, n_draws, seed)),
            FittedMember::Rows(regression) => {
                let known: Vec<RowIndex> = rows.iter().copied().flatten().map(RowIndex::new).collect();
                let at_rows = regression.draws(&known, quantity, n_draws, seed)?;
                let mut values = at_rows.chunks_exact(self.n_outputs);
                let mut draws = Vec::with_capacity(n_draws * rows.len() * self.n_outputs);
                for row in (0..n_draws).flat_map(|_| rows) {
                    let own = row.and_then(|_| values.next());
                    draws.extend((0..self.n_outputs).map(|output| own.map_or(1.0, |own| own[output])));
                }
                Ok(draws)
            }
        }
    }
}
