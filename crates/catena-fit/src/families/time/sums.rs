//! Sums of components as models: every term is one or more latents whose columns of the mixing matrix are multiples of the
//! first column.

use std::ops::Range;

use catena::index::{LatentIndex, OutputIndex};
use catena::kernel::{Component, StateKind};
use catena::learning::Parameters;
use catena::model::{Latent, Lmc, MixingMatrix, ModelError, Process};
use catena::units::{LengthScale, Quality, Variance};

use crate::options::{ComponentKind, Term, TimeSpec};

/// The standard deviation of levels at the first row, in standard deviations of the output: nearly uninformative.
const LEVEL_DEVIATION: f64 = 10.0;

/// The initial noise variance of single outputs.
const FIRST_NOISE: f64 = 0.02;

/// One column of a sum.
#[derive(Clone, Copy, Debug)]
struct Column {
    latent: Latent,
    weight: f64,
    /// The earlier column that has the same length-scale.
    tied_to: Option<usize>,
    /// Whether the weight is fixed.
    is_fixed: bool,
}

/// The initial columns of a sum; `quickness` divides the length-scales of kernels and oscillators.
fn columns(spec: &TimeSpec, quickness: f64) -> Result<Vec<Column>, ModelError> {
    let mut columns: Vec<Column> = vec![];
    for term in spec.terms() {
        let mut push = |latent: Latent, weight: f64, tied_to: Option<usize>, is_fixed: bool| {
            columns.push(Column { latent, weight, tied_to, is_fixed });
        };
        match *term {
            Term::Kernel(kernel) => {
                let length_scale = LengthScale::new(8.0 / quickness)?;
                push(Latent::new(kernel, StateKind::Derivative, length_scale)?, 0.5, None, false);
            }
            Term::Oscillator => {
                let component = Component::Sho { quality: Quality::new(0.7)? };
                push(Latent::component(component, LengthScale::new(4.0 / quickness)?), 0.5, None, false);
            }
            // Steps of a twentieth of a standard deviation per gap.
            Term::Level => {
                let length_scale = (LEVEL_DEVIATION / 0.05).powi(2);
                push(
                    Latent::component(Component::RandomWalk, LengthScale::new(length_scale)?),
                    LEVEL_DEVIATION,
                    None,
                    true,
                );
            }
            // After one length-scale the slope is as uncertain as at the first row.
            Term::Trend => {
                push(
                    Latent::component(Component::LocalLinearTrend, LengthScale::new(3e3)?),
                    LEVEL_DEVIATION,
                    None,
                    true,
                );
            }
            // A slope of a two-hundredth of a standard deviation per gap.
            Term::DampedTrend => {
                let length_scale = LengthScale::new(100.0 / quickness)?;
                push(Latent::component(Component::DampedTrend, length_scale), 0.5, None, false);
            }
            // Shared seasons have separate columns.
            Term::Shared { .. } => {}
            Term::Season { period, harmonics } => {
                let first = columns.len();
                for harmonic in 1..=harmonics.unwrap_or(1) {
                    let order = harmonic as f64;
                    let component = Component::Cycle { period: LengthScale::new(period / order)? };
                    let latent = Latent::component(component, LengthScale::new(30.0 * period)?);
                    let tied_to = (harmonic > 1).then_some(first);
                    columns.push(Column { latent, weight: 0.5 / order, tied_to, is_fixed: false });
                }
            }
        }
    }
    Ok(columns)
}

/// The model of a single output, with its free parameters.
pub(super) fn alone(
    spec: &TimeSpec,
    quickness: f64,
    noise_floor: f64,
) -> Result<(Lmc, Parameters), ModelError> {
    let columns = columns(&spec.alone(), quickness)?;
    let weights = columns.iter().map(|column| column.weight).collect();
    let latents = columns.iter().map(|column| column.latent).collect();
    let mixing = MixingMatrix::shared(1, columns.len(), weights)?;
    let model = Lmc::new(latents, mixing, vec![Variance::new(FIRST_NOISE)?])?;
    let mut parameters = Parameters::all(model.clone(), noise_floor);
    for (at, column) in columns.iter().enumerate() {
        if column.is_fixed {
            parameters = parameters.with_fixed_weight(OutputIndex::new(0), LatentIndex::new(at));
        }
    }
    Ok((model, with_ties(parameters, &columns, 1)))
}

/// The joint model: latent l is the sum of output l, and `loadings` (row-major D×D) are the weights of each output in units of
/// its single model.
pub(super) fn together(
    spec: &TimeSpec,
    singles: &[Lmc],
    loadings: &[f64],
    groups: &[Group],
    noise_floor: f64,
) -> Result<(Lmc, Parameters), ModelError> {
    let columns = columns(spec, 1.0)?;
    let (n_outputs, n_columns) = (singles.len(), columns.len());
    let own = |latent: usize, column: usize| {
        singles[latent].mixing().weight(OutputIndex::new(0), LatentIndex::new(column))
    };
    let mut weights = vec![0.0; n_outputs * n_outputs * n_columns];
    for output in 0..n_outputs {
        for latent in 0..n_outputs {
            // The first column scales with the output's own weight, the others keep the proportions of the latent.
            let loading = loadings[output * n_outputs + latent] * first_weight(own(output, 0));
            for column in 0..n_columns {
                let multiple = own(latent, column) / first_weight(own(latent, 0));
                weights[(output * n_outputs + latent) * n_columns + column] = loading * multiple;
            }
        }
    }
    let own = singles.iter().flat_map(|single| single.latents()[..n_columns].to_vec()).collect();
    let noise = singles.iter().map(|single| single.noise()[0]).collect();
    let model = with_groups(own, &weights, groups, noise)?;
    let parameters = parameters(spec, &model, noise_floor)?;
    Ok((model, parameters))
}

/// One group of a shared season: alternating cycles and quadrature components, with the weights of every output.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) latents: Vec<Latent>,
    /// Row-major, outputs by latents.
    pub(super) weights: Vec<f64>,
}

/// A joint model of these latents followed by shared seasons.
pub(super) fn with_groups(
    own: Vec<Latent>,
    own_weights: &[f64],
    groups: &[Group],
    noise: Vec<Variance>,
) -> Result<Lmc, ModelError> {
    let (n_outputs, n_own) = (noise.len(), own.len());
    let mut weights = vec![];
    for output in 0..n_outputs {
        weights.extend_from_slice(&own_weights[output * n_own..][..n_own]);
        for Group { latents, weights: of_group } in groups {
            weights.extend_from_slice(&of_group[output * latents.len()..][..latents.len()]);
        }
    }
    let mut latents = own;
    latents.extend(groups.iter().flat_map(|group| group.latents.iter().copied()));
    let mixing = MixingMatrix::shared(n_outputs, latents.len(), weights)?;
    Lmc::new(latents, mixing, noise)
}

/// The first column of the shared seasons of a joint model.
pub(super) fn first_shared(model: &Lmc) -> usize {
    let turn = model.latents().iter().position(|latent| latent.process() == Process::Quadrature);
    turn.map_or(model.n_latents(), |turn| turn - 1)
}

/// The number of columns of each sum of a joint model.
pub(super) fn n_columns(model: &Lmc) -> usize {
    first_shared(model) / model.n_outputs()
}

/// The columns of each group of a shared season: harmonics of one length-scale, each followed by its quadrature component.
pub(super) fn group_columns(model: &Lmc) -> Vec<Range<usize>> {
    let first = first_shared(model);
    let cycles: Vec<Latent> = model.latents()[first..].iter().step_by(2).copied().collect();
    let with_turns = |cycles: Range<usize>| first + 2 * cycles.start..first + 2 * cycles.end;
    terms(&cycles).into_iter().map(with_turns).collect()
}

/// The latents of each term of a sum: the harmonics of a season together, every other latent alone.
pub(super) fn terms(latents: &[Latent]) -> Vec<Range<usize>> {
    let is_next_harmonic = |term: &Range<usize>, at: usize| {
        let cycle = |at: usize| match latents[at].process() {
            Process::Component(Component::Cycle { period }) => {
                Some((period.get(), latents[at].length_scale().get()))
            }
            _ => None,
        };
        let (Some((whole, pace)), Some((period, own_pace))) = (cycle(term.start), cycle(at)) else {
            return false;
        };
        let expected = whole / (term.len() + 1) as f64;
        (period / expected - 1.0).abs() < 1e-9 && (own_pace / pace - 1.0).abs() < 1e-9
    };
    let mut terms: Vec<Range<usize>> = vec![];
    for at in 0..latents.len() {
        match terms.last_mut() {
            Some(term) if is_next_harmonic(term, at) => term.end = at + 1,
            _ => terms.push(at..at + 1),
        }
    }
    terms
}

/// The specification of a joint model.
pub(super) fn spec_of(model: &Lmc) -> TimeSpec {
    let latents = &model.latents()[..n_columns(model)];
    let term = |columns: Range<usize>| {
        Some(match ComponentKind::of(&latents[columns.start])? {
            ComponentKind::Kernel(kernel) => Term::Kernel(kernel),
            ComponentKind::Oscillator { .. } => Term::Oscillator,
            ComponentKind::Level => Term::Level,
            ComponentKind::Trend => Term::Trend,
            ComponentKind::DampedTrend => Term::DampedTrend,
            ComponentKind::Season { period } => Term::Season { period, harmonics: Some(columns.len()) },
        })
    };
    let mut spec = TimeSpec::from_terms(terms(latents).into_iter().filter_map(term));
    let mut shared: Vec<(f64, usize, usize)> = vec![];
    for group in group_columns(model) {
        let period = model.latents()[group.start].shape().unwrap_or(1.0);
        let harmonics = group.len() / 2;
        match shared.last_mut() {
            Some((of, count, groups)) if (*of / period - 1.0).abs() < 1e-9 && *count == harmonics => {
                *groups += 1
            }
            _ => shared.push((period, harmonics, 1)),
        }
    }
    for (period, harmonics, groups) in shared {
        spec = spec.with(Term::Shared { period, harmonics: Some(harmonics), groups });
    }
    spec
}

/// The sum or group of each latent of a joint model.
pub(super) fn numbers(model: &Lmc) -> Vec<usize> {
    let own = (0..first_shared(model)).map(|column| column / n_columns(model));
    let groups = group_columns(model).into_iter().enumerate();
    let shared = groups.flat_map(|(at, group)| group.map(move |_| model.n_outputs() + at));
    own.chain(shared).collect()
}

/// The free parameters of a joint model.
pub(super) fn parameters(spec: &TimeSpec, model: &Lmc, noise_floor: f64) -> Result<Parameters, ModelError> {
    let columns = columns(spec, 1.0)?;
    let (n_outputs, n_columns) = (model.n_outputs(), columns.len());
    let n_own = n_outputs * n_columns;
    let head = |column: usize| if column < n_own { column / n_columns * n_columns } else { column };
    let heads = (0..model.n_latents()).map(head).collect();
    let mut parameters = Parameters::of_sums(model.clone(), noise_floor, heads);
    for group in group_columns(model) {
        parameters = parameters.with_tied_length_scales(group.step_by(2).map(LatentIndex::new));
    }
    for latent in 0..n_outputs {
        for (at, column) in columns.iter().enumerate() {
            if column.is_fixed && at > 0 {
                parameters = parameters.with_fixed_amplitude(LatentIndex::new(latent * n_columns + at));
            }
        }
    }
    Ok(with_ties(parameters, &columns, n_outputs))
}

/// The single model of an output of a joint model: variances are summed over latents, and a level keeps its innovation
/// variance.
pub(super) fn single_of(model: &Lmc, output: usize) -> Result<Lmc, ModelError> {
    let (n_outputs, n_columns) = (model.n_outputs(), n_columns(model));
    let weight = |latent: usize, column: usize| {
        model.mixing().weight(OutputIndex::new(output), LatentIndex::new(latent * n_columns + column))
    };
    let (mut latents, mut weights) = (vec![], vec![]);
    for column in 0..n_columns {
        let latent = model.latents()[output * n_columns + column];
        let square: f64 = (0..n_outputs).map(|other| weight(other, column).powi(2)).sum();
        let has_own_size =
            latent.is_stationary() || latent.process() == Process::Component(Component::DampedTrend);
        let size = if has_own_size { square.sqrt() } else { LEVEL_DEVIATION };
        latents.push(match latent.process() {
            Process::Component(Component::RandomWalk) if square > 0.0 => {
                let pace: f64 = (0..n_outputs)
                    .map(|other| {
                        let length = model.latents()[other * n_columns + column].length_scale().get();
                        weight(other, column).powi(2) / length
                    })
                    .sum();
                latent.with_length_scale(LengthScale::new(LEVEL_DEVIATION * LEVEL_DEVIATION / pace)?)
            }
            _ => latent,
        });
        weights.push(size);
    }
    // A shared season has the variance of all its groups and the dynamics of the first.
    let groups = group_columns(model);
    let period = |group: &Range<usize>| model.latents()[group.start].shape();
    for (at, group) in groups.iter().enumerate() {
        if at > 0 && period(group) == period(&groups[at - 1]) {
            continue;
        }
        let alike =
            || groups.iter().filter(|other| period(other) == period(group) && other.len() == group.len());
        for harmonic in (0..group.len()).step_by(2) {
            let columns = alike().flat_map(|other| [other.start + harmonic, other.start + harmonic + 1]);
            let square: f64 = columns
                .map(|column| {
                    model.mixing().weight(OutputIndex::new(output), LatentIndex::new(column)).powi(2)
                })
                .sum();
            latents.push(model.latents()[group.start + harmonic]);
            weights.push(square.sqrt());
        }
    }
    let mixing = MixingMatrix::shared(1, latents.len(), weights)?;
    Lmc::new(latents, mixing, vec![model.noise()[output]])
}

/// A joint model with the dynamics of single models and the weights of its own first columns.
pub(super) fn moving_as(model: &Lmc, singles: &[Lmc]) -> Result<Lmc, ModelError> {
    let (n_outputs, n_columns) = (model.n_outputs(), n_columns(model));
    let mut weights = vec![];
    for output in 0..n_outputs {
        for (latent, single) in singles.iter().enumerate() {
            let head = model.mixing().weight(OutputIndex::new(output), LatentIndex::new(latent * n_columns));
            let own = |column: usize| single.mixing().weight(OutputIndex::new(0), LatentIndex::new(column));
            weights.extend((0..n_columns).map(|column| head * own(column) / first_weight(own(0))));
        }
    }
    let own = singles.iter().flat_map(|single| single.latents()[..n_columns].to_vec()).collect();
    let groups: Vec<Group> =
        group_columns(model).into_iter().map(|columns| group_of(model, columns)).collect();
    with_groups(own, &weights, &groups, model.noise().to_vec())
}

/// A group of a shared season of a model.
fn group_of(model: &Lmc, columns: Range<usize>) -> Group {
    let row = |output: usize| model.mixing().shared_row(OutputIndex::new(output))[columns.clone()].to_vec();
    let weights = (0..model.n_outputs()).flat_map(row).collect();
    Group { latents: model.latents()[columns].to_vec(), weights }
}

/// Avoids division by a vanishing weight.
fn first_weight(weight: f64) -> f64 {
    if weight.abs() < 1e-3 { 1e-3_f64.copysign(weight) } else { weight }
}

/// Ties the length-scales of the harmonics of a season, in each sum.
fn with_ties(mut parameters: Parameters, columns: &[Column], n_sums: usize) -> Parameters {
    for sum in 0..n_sums {
        for (first, _) in columns.iter().enumerate() {
            let tied: Vec<LatentIndex> = (first..columns.len())
                .filter(|&at| at == first || columns[at].tied_to == Some(first))
                .map(|at| LatentIndex::new(sum * columns.len() + at))
                .collect();
            if tied.len() > 1 {
                parameters = parameters.with_tied_length_scales(tied);
            }
        }
    }
    parameters
}
