//! The members of a mixture in a model file.

use catena_fit::parts::{LatentKind, PlainModel};
use catena_fit::{Member, MemberKind, Preparation, ResidualProcess, RowRegression, RowRule};
use catena_io::model_file::Array;
use serde::{Deserialize, Serialize};

/// The most neighbors of a rule.
const MOST_NEIGHBORS: usize = 1000;

/// A member without its numbers, which are arrays of the file.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct MemberHeader {
    name: String,
    weight: f64,
    widening: f64,
    kind: KindHeader,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum KindHeader {
    Best,
    Model { preparation: Preparation, latents: Vec<LatentKind> },
    Rows { preparation: Preparation, rule: RowRule },
}

/// The name of an array of a member.
fn array_name(number: usize, what: &str) -> String {
    format!("member_{number}_{what}")
}

/// The header of each member.
pub(crate) fn headers(members: &[Member]) -> Vec<MemberHeader> {
    let kind = |member: &Member| match &member.kind {
        MemberKind::Best => KindHeader::Best,
        MemberKind::Model { preparation, model } => {
            KindHeader::Model { preparation: preparation.clone(), latents: PlainModel::of(model).latents }
        }
        MemberKind::Rows(RowRegression { preparation, rule, .. }) => {
            KindHeader::Rows { preparation: preparation.clone(), rule: *rule }
        }
    };
    let header = |member: &Member| MemberHeader {
        name: member.name.clone(),
        weight: member.weight,
        widening: member.widening,
        kind: kind(member),
    };
    members.iter().map(header).collect()
}

/// The arrays of all members, by name.
pub(crate) fn arrays(members: &[Member]) -> Vec<(String, Array)> {
    let mut arrays = vec![];
    for (number, member) in members.iter().enumerate() {
        let mut add = |what: &str, numbers: Vec<f64>| {
            arrays.push((array_name(number, what), Array::from_f64(numbers)));
        };
        match &member.kind {
            MemberKind::Best => {}
            MemberKind::Model { model, .. } => {
                let PlainModel { length_scales, shared, private, noise, .. } = PlainModel::of(model);
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
        RowRule::Nearest { n_neighbors, exclusion } => {
            (1..=MOST_NEIGHBORS).contains(&n_neighbors) && exclusion >= 0.0 && exclusion.is_finite()
        }
    }
}

/// The units of a member that has its own.
pub(crate) fn preparation(member: &Member) -> Option<&Preparation> {
    match &member.kind {
        MemberKind::Best => None,
        MemberKind::Model { preparation, .. } | MemberKind::Rows(RowRegression { preparation, .. }) => {
            Some(preparation)
        }
    }
}

/// The members of a file with this many inputs and outputs; `None` if a part is missing or out of range.
pub(crate) fn members(
    headers: Vec<MemberHeader>,
    (n_inputs, n_outputs): (usize, usize),
    numbers: &dyn Fn(&str) -> Option<Vec<f64>>,
) -> Option<Vec<Member>> {
    let total: f64 = headers.iter().map(|header| header.weight).sum();
    if !headers.is_empty() && (total - 1.0).abs() > 1e-6 {
        return None;
    }
    let member = |(number, header): (usize, MemberHeader)| {
        let MemberHeader { name, weight, widening, kind } = header;
        let array = |what: &str| numbers(&array_name(number, what));
        let is_of = |preparation: &Preparation| {
            preparation.inputs.len() == n_inputs && preparation.outputs.len() == n_outputs
        };
        let is_positive = |number: f64| number > 0.0 && number.is_finite();
        if !is_positive(weight) || !is_positive(widening) {
            return None;
        }
        let kind = match kind {
            KindHeader::Best => MemberKind::Best,
            KindHeader::Model { preparation, latents } if is_of(&preparation) => {
                let length_scales = array("length_scales")?;
                let plain = PlainModel {
                    shapes: vec![None; length_scales.len()],
                    latents,
                    length_scales,
                    shared: array("shared_weights")?,
                    private: array("private_weights")?,
                    noise: array("noise")?,
                };
                let model = plain.model().filter(|model| model.n_outputs() == n_outputs)?;
                MemberKind::Model { preparation, model }
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
            _ => return None,
        };
        Some(Member { name, weight, widening, kind })
    };
    headers.into_iter().enumerate().map(member).collect()
}
