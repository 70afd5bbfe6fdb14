//! Sums as models: every term is one or more latents whose columns of the mixing matrix are multiples of the first.

use catena::index::{LatentIndex, OutputIndex};
use catena::kernel::{Piece, StateKind};
use catena::learning::Parameters;
use catena::model::{Latent, Lmc, MixingMatrix, ModelError};
use catena::units::{LengthScale, Quality, Variance};

use super::spec::{Term, TimeSpec};

/// Levels begin ten standard deviations wide: the first row finds where they are.
const LEVEL_DEVIATION: f64 = 10.0;

/// Where single outputs begin, in standard deviations of the output and median gaps of the input.
const FIRST_NOISE: f64 = 0.02;

/// One column of a sum.
#[derive(Clone, Copy, Debug)]
struct Column {
    latent: Latent,
    weight: f64,
    /// The earlier column of the sum whose length-scale it shares.
    tied_to: Option<usize>,
    /// Whether its size is given.
    is_fixed: bool,
}

/// The columns of a sum at its start; `quickness` divides the length-scales of what is not a season or a level.
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
                let piece = Piece::Sho { quality: Quality::new(0.7)? };
                push(Latent::piece(piece, LengthScale::new(4.0 / quickness)?), 0.5, None, false);
            }
            // A step of a twentieth of a standard deviation per gap.
            Term::Level => {
                let length_scale = (LEVEL_DEVIATION / 0.05).powi(2);
                push(
                    Latent::piece(Piece::RandomWalk, LengthScale::new(length_scale)?),
                    LEVEL_DEVIATION,
                    None,
                    true,
                );
            }
            // After a length-scale the slope is as uncertain as at the root.
            Term::Trend => {
                push(
                    Latent::piece(Piece::LocalLinearTrend, LengthScale::new(3e3)?),
                    LEVEL_DEVIATION,
                    None,
                    true,
                );
            }
            Term::Season { period, harmonics } => {
                let first = columns.len();
                for harmonic in 1..=harmonics.unwrap_or(1) {
                    let order = harmonic as f64;
                    let piece = Piece::Cycle { period: LengthScale::new(period / order)? };
                    let latent = Latent::piece(piece, LengthScale::new(30.0 * period)?);
                    let tied_to = (harmonic > 1).then_some(first);
                    columns.push(Column { latent, weight: 0.5 / order, tied_to, is_fixed: false });
                }
            }
        }
    }
    Ok(columns)
}

/// A sum for one output alone, with the parameters that are free in it.
pub(super) fn alone(
    spec: &TimeSpec,
    quickness: f64,
    noise_floor: f64,
) -> Result<(Lmc, Parameters), ModelError> {
    let columns = columns(spec, quickness)?;
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

/// All outputs together: latent l is the sum that output l has alone, and `loadings` (row-major D×D) say how much of it each
/// output has, in units of that output alone.
pub(super) fn together(
    spec: &TimeSpec,
    singles: &[Lmc],
    loadings: &[f64],
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
            // Of the first column as much as the output has of its own; of the others in the latent's own proportions.
            let loading = loadings[output * n_outputs + latent] * first_weight(own(output, 0));
            for column in 0..n_columns {
                let multiple = own(latent, column) / first_weight(own(latent, 0));
                weights[(output * n_outputs + latent) * n_columns + column] = loading * multiple;
            }
        }
    }
    let latents: Vec<Latent> = singles.iter().flat_map(|single| single.latents().to_vec()).collect();
    let noise = singles.iter().map(|single| single.noise()[0]).collect();
    let model = Lmc::new(latents, MixingMatrix::shared(n_outputs, n_outputs * n_columns, weights)?, noise)?;
    let heads = (0..n_outputs * n_columns).map(|column| column / n_columns * n_columns).collect();
    let mut parameters = Parameters::of_sums(model.clone(), noise_floor, heads);
    for latent in 0..n_outputs {
        for (at, column) in columns.iter().enumerate() {
            if column.is_fixed && at > 0 {
                parameters = parameters.with_fixed_amplitude(LatentIndex::new(latent * n_columns + at));
            }
        }
    }
    Ok((model, with_ties(parameters, &columns, n_outputs)))
}

/// A weight that has vanished still has proportions.
fn first_weight(weight: f64) -> f64 {
    if weight.abs() < 1e-3 { 1e-3_f64.copysign(weight) } else { weight }
}

/// Length-scales of the harmonics of a season are one, in each latent.
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
