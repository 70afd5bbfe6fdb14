//! The members of a pool in a model file.
//!
//! Files of earlier versions have a mixture of members, each with a weight and a factor on its standard deviations: one component
//! per member, in which only this member has an exponent.

use catena::model::Lmc;
use catena_fit::parts::{LatentKind, PlainModel};
use catena_fit::{
    AheadRule, Combination, Geometry, Member, MemberKind, PlaceColumns, Places, PoolComponent,
    PowerTransform, Preparation, ResidualProcess, RowRegression, RowRule, RuleAhead,
};
use catena_io::model_file::Array;
use serde::{Deserialize, Serialize};

/// The most neighbors of a rule.
const MOST_NEIGHBORS: usize = 1000;
/// The largest lag of a rule.
const MOST_LAG: usize = 1024;
/// The most components of a file.
const MOST_COMPONENTS: usize = 1000;

/// A member without its numbers, which are arrays of the file.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct MemberHeader {
    name: String,
    weight: f64,
    /// In files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    widening: Option<f64>,
    kind: KindHeader,
}

/// A component of the answer, with the exponent of each member.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ComponentHeader {
    weight: f64,
    at_rows: Vec<f64>,
    elsewhere: Vec<f64>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum KindHeader {
    Best,
    Model { preparation: Preparation, latents: Vec<LatentKind> },
    Columns { geometry: GeometryHeader, preparation: Preparation, latents: Vec<LatentKind> },
    Rows { preparation: Preparation, rule: RowRule },
    Ahead { rule: RuleHeader, powers: Vec<PowerTransform> },
}

/// How distances between places are measured.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum GeometryHeader {
    Plane,
    LatLon,
    LonLat,
}

impl GeometryHeader {
    fn of(geometry: Geometry) -> Self {
        match geometry {
            Geometry::Auto | Geometry::Plane => Self::Plane,
            Geometry::LatLon => Self::LatLon,
            Geometry::LonLat => Self::LonLat,
        }
    }

    fn geometry(self) -> Geometry {
        match self {
            Self::Plane => Geometry::Plane,
            Self::LatLon => Geometry::LatLon,
            Self::LonLat => Geometry::LonLat,
        }
    }
}

/// A simple rule of a forecast.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RuleHeader {
    LastValue,
    Drift,
    Mean,
    LastSeason { period: f64 },
    Smoothing { period: Option<f64> },
}

impl RuleHeader {
    fn of(rule: AheadRule) -> Self {
        match rule {
            AheadRule::LastValue => Self::LastValue,
            AheadRule::Drift => Self::Drift,
            AheadRule::Mean => Self::Mean,
            AheadRule::LastSeason { period } => Self::LastSeason { period },
            AheadRule::Smoothing { period } => Self::Smoothing { period },
        }
    }

    /// The rule; `None` if its period is no length.
    fn rule(self) -> Option<AheadRule> {
        Some(match self {
            Self::LastValue => AheadRule::LastValue,
            Self::Drift => AheadRule::Drift,
            Self::Mean => AheadRule::Mean,
            Self::LastSeason { period } if is_positive(period) => AheadRule::LastSeason { period },
            Self::Smoothing { period } if period.is_none_or(is_positive) => AheadRule::Smoothing { period },
            Self::LastSeason { .. } | Self::Smoothing { .. } => return None,
        })
    }
}

/// The name of an array of a member.
fn array_name(number: usize, what: &str) -> String {
    format!("member_{number}_{what}")
}

/// The header of each member.
pub(crate) fn headers(combination: Option<&Combination>) -> Vec<MemberHeader> {
    let kind = |member: &Member| match &member.kind {
        MemberKind::Best => KindHeader::Best,
        MemberKind::Model { preparation, model } => {
            KindHeader::Model { preparation: preparation.clone(), latents: PlainModel::of(model).latents }
        }
        MemberKind::Columns(PlaceColumns { places, preparation, model }) => KindHeader::Columns {
            geometry: GeometryHeader::of(places.geometry()),
            preparation: preparation.clone(),
            latents: PlainModel::of(model).latents,
        },
        MemberKind::Rows(RowRegression { preparation, rule, .. }) => {
            KindHeader::Rows { preparation: preparation.clone(), rule: *rule }
        }
        MemberKind::Ahead(RuleAhead { rule, powers }) => {
            KindHeader::Ahead { rule: RuleHeader::of(*rule), powers: powers.clone() }
        }
    };
    let header = |member: &Member| MemberHeader {
        name: member.name.clone(),
        weight: member.weight,
        widening: None,
        kind: kind(member),
    };
    combination.iter().flat_map(|several| &several.members).map(header).collect()
}

/// The header of each component.
pub(crate) fn components(combination: Option<&Combination>) -> Vec<ComponentHeader> {
    let header = |PoolComponent { weight, at_rows, elsewhere }: &PoolComponent| ComponentHeader {
        weight: *weight,
        at_rows: at_rows.clone(),
        elsewhere: elsewhere.clone(),
    };
    combination.iter().flat_map(|several| &several.components).map(header).collect()
}

/// The arrays of all members, by name.
pub(crate) fn arrays(combination: Option<&Combination>) -> Vec<(String, Array)> {
    let mut arrays = vec![];
    for (number, member) in combination.iter().flat_map(|several| &several.members).enumerate() {
        let mut add = |what: &str, numbers: Vec<f64>| {
            arrays.push((array_name(number, what), Array::from_f64(numbers)));
        };
        match &member.kind {
            MemberKind::Best | MemberKind::Ahead(_) => {}
            MemberKind::Model { model, .. } | MemberKind::Columns(PlaceColumns { model, .. }) => {
                if let MemberKind::Columns(columns) = &member.kind {
                    add("places", columns.places.to_rows());
                }
                let PlainModel { length_scales, shapes, shared, private, noise, .. } = PlainModel::of(model);
                if shapes.iter().any(Option::is_some) {
                    add("shapes", shapes.iter().map(|shape| shape.unwrap_or(0.0)).collect());
                }
                add("length_scales", length_scales);
                add("shared_weights", shared);
                add("private_weights", private);
                add("noise", noise);
            }
            MemberKind::Rows(regression) => {
                let of =
                    |field: fn(&ResidualProcess) -> f64| regression.residuals.iter().map(field).collect();
                add("deviations", of(|process| process.deviation));
                add("length_scales", of(|process| process.length_scale));
                add("noise", of(|process| process.noise));
            }
        }
    }
    arrays
}

/// Whether the settings of a rule are in range.
fn is_valid(rule: RowRule) -> bool {
    match rule {
        RowRule::Gaussian { shrinkage, .. } => (0.0..=1.0).contains(&shrinkage),
        RowRule::Mean => true,
        RowRule::Lagged { reach } => (1..=MOST_LAG).contains(&reach),
        RowRule::Nearest { n_neighbors, exclusion } => {
            (1..=MOST_NEIGHBORS).contains(&n_neighbors) && exclusion >= 0.0 && exclusion.is_finite()
        }
        RowRule::Seasonal { period, second, exclusion, shrinkage } => {
            // A season of less than two steps has no harmonic.
            let is_period = |period: f64| period >= 2.0 && period.is_finite();
            is_period(period)
                && second.is_none_or(is_period)
                && exclusion.is_none_or(|length| length >= 0.0 && length.is_finite())
                && shrinkage.is_none_or(|shrinkage| (0.0..=1.0).contains(&shrinkage))
        }
    }
}

/// The units of a member that has its own.
pub(crate) fn preparation(member: &Member) -> Option<&Preparation> {
    match &member.kind {
        MemberKind::Best | MemberKind::Ahead(_) => None,
        MemberKind::Model { preparation, .. }
        | MemberKind::Columns(PlaceColumns { preparation, .. })
        | MemberKind::Rows(RowRegression { preparation, .. }) => Some(preparation),
    }
}

fn is_positive(number: f64) -> bool {
    number > 0.0 && number.is_finite()
}

/// Whether numbers are positive and sum to 1.
fn are_weights(weights: impl Iterator<Item = f64> + Clone) -> bool {
    weights.clone().all(is_positive) && (weights.sum::<f64>() - 1.0).abs() <= 1e-6
}

/// The components of a file with these members; `None` if a number is out of range. At rows of the table some member has a
/// positive exponent, and at other inputs some model has one.
fn checked_components(headers: Vec<ComponentHeader>, members: &[Member]) -> Option<Vec<PoolComponent>> {
    let is_able_elsewhere =
        |at: usize| !matches!(members[at].kind, MemberKind::Rows(_) | MemberKind::Columns(_));
    let is_able_at_rows = |at: usize| !matches!(members[at].kind, MemberKind::Ahead(_));
    let is_in_range = |exponents: &[f64], is_able: &dyn Fn(usize) -> bool| {
        exponents.len() == members.len()
            && exponents.iter().all(|exponent| *exponent == 0.0 || is_positive(*exponent))
            && (0..members.len()).any(|at| exponents[at] > 0.0)
            && (0..members.len()).all(|at| exponents[at] == 0.0 || is_able(at))
    };
    let is_valid = |header: &ComponentHeader| {
        is_in_range(&header.at_rows, &is_able_at_rows) && is_in_range(&header.elsewhere, &is_able_elsewhere)
    };
    let weights = headers.iter().map(|header| header.weight);
    if headers.len() > MOST_COMPONENTS || !are_weights(weights) || !headers.iter().all(is_valid) {
        return None;
    }
    let component =
        |ComponentHeader { weight, at_rows, elsewhere }| PoolComponent { weight, at_rows, elsewhere };
    Some(headers.into_iter().map(component).collect())
}

/// The components of a mixture of members, as in files of earlier versions: a model takes the place of a regression where there
/// is no row.
fn components_of_mixture(members: &[Member], widenings: &[Option<f64>]) -> Option<Vec<ComponentHeader>> {
    let best = members.iter().position(|member| matches!(member.kind, MemberKind::Best))?;
    let component = |(number, (member, widening)): (usize, (&Member, &Option<f64>))| {
        let exponent = widening.filter(|widening| is_positive(*widening))?.powi(-2);
        let alone = |at: usize| {
            let mut exponents = vec![0.0; members.len()];
            exponents[at] = exponent;
            exponents
        };
        let elsewhere = if matches!(member.kind, MemberKind::Rows(_)) { best } else { number };
        Some(ComponentHeader { weight: member.weight, at_rows: alone(number), elsewhere: alone(elsewhere) })
    };
    members.iter().zip(widenings).enumerate().map(component).collect()
}

/// The members of a file with this many inputs and outputs and their components; `None` if a part is missing or out of range.
pub(crate) fn combination(
    headers: Vec<MemberHeader>,
    components: Vec<ComponentHeader>,
    (n_inputs, n_outputs, is_ahead): (usize, usize, bool),
    numbers: &dyn Fn(&str) -> Option<Vec<f64>>,
) -> Option<Combination> {
    let mut widenings: Vec<Option<f64>> = headers.iter().map(|header| header.widening).collect();
    let mut members = members(headers, (n_inputs, n_outputs), numbers)?;
    let components = match components.is_empty() {
        true if !are_weights(members.iter().map(|member| member.weight)) => return None,
        true => {
            if !members.iter().any(|member| matches!(member.kind, MemberKind::Best)) {
                let name = "best single model".to_owned();
                members.push(Member { name, weight: 0.0, kind: MemberKind::Best });
                widenings.push(Some(1.0));
            }
            let mut components = components_of_mixture(&members, &widenings)?;
            components.retain(|component| component.weight > 0.0);
            components
        }
        false => components,
    };
    let components = checked_components(components, &members)?;
    Some(Combination { is_ahead, members, components })
}

/// The model of a member.
fn model_of(latents: Vec<LatentKind>, array: &dyn Fn(&str) -> Option<Vec<f64>>) -> Option<Lmc> {
    let length_scales = array("length_scales")?;
    let shapes = match array("shapes") {
        Some(shapes) => shapes.into_iter().map(|shape| (shape > 0.0).then_some(shape)).collect(),
        None => vec![None; length_scales.len()],
    };
    let plain = PlainModel {
        shapes,
        latents,
        length_scales,
        shared: array("shared_weights")?,
        private: array("private_weights")?,
        noise: array("noise")?,
    };
    plain.model()
}

fn members(
    headers: Vec<MemberHeader>,
    (n_inputs, n_outputs): (usize, usize),
    numbers: &dyn Fn(&str) -> Option<Vec<f64>>,
) -> Option<Vec<Member>> {
    let member = |(number, header): (usize, MemberHeader)| {
        let MemberHeader { name, weight, kind, .. } = header;
        let array = |what: &str| numbers(&array_name(number, what));
        let is_of = |preparation: &Preparation| {
            preparation.inputs.len() == n_inputs && preparation.outputs.len() == n_outputs
        };
        if !(0.0..=1.0).contains(&weight) {
            return None;
        }
        let kind = match kind {
            KindHeader::Best => MemberKind::Best,
            KindHeader::Model { preparation, latents } if is_of(&preparation) => {
                let model = model_of(latents, &array)?;
                MemberKind::Model {
                    preparation,
                    model: Some(model).filter(|own| own.n_outputs() == n_outputs)?,
                }
            }
            KindHeader::Columns { geometry, preparation, latents } if n_inputs > 1 => {
                let places = Places::from_rows(geometry.geometry(), n_inputs - 1, &array("places")?)?;
                let model = model_of(latents, &array)?;
                let n_columns = places.len().checked_mul(n_outputs)?;
                let is_of_columns = preparation.inputs.len() == 1
                    && preparation.outputs.len() == n_columns
                    && model.n_outputs() == n_columns
                    && (!geometry.geometry().is_sphere() || n_inputs == 3);
                if !is_of_columns {
                    return None;
                }
                MemberKind::Columns(PlaceColumns { places, preparation, model })
            }
            KindHeader::Rows { preparation, rule } if is_of(&preparation) && is_valid(rule) => {
                let (deviations, lengths, noise) =
                    (array("deviations")?, array("length_scales")?, array("noise")?);
                if [&deviations, &lengths, &noise].iter().any(|numbers| numbers.len() != n_outputs) {
                    return None;
                }
                let numbers = deviations.into_iter().zip(lengths).zip(noise);
                let residuals = numbers.map(|((deviation, length_scale), noise)| {
                    let is_valid = deviation >= 0.0
                        && deviation.is_finite()
                        && is_positive(length_scale)
                        && is_positive(noise);
                    is_valid.then_some(ResidualProcess { deviation, length_scale, noise })
                });
                MemberKind::Rows(RowRegression {
                    preparation,
                    rule,
                    residuals: residuals.collect::<Option<_>>()?,
                })
            }
            KindHeader::Ahead { rule, powers } if n_inputs == 1 && powers.len() == n_outputs => {
                MemberKind::Ahead(RuleAhead { rule: rule.rule()?, powers })
            }
            _ => return None,
        };
        Some(Member { name, weight, kind })
    };
    headers.into_iter().enumerate().map(member).collect()
}
