//! The parameters of fields, and the model along time of fields at places, with the gradient pulled back from one to the other.

use catena::inference::Gradient;
use catena::model::{Latent, Lmc, MixingMatrix, ModelError};
use catena::units::Variance;

use super::places::Places;
use super::root::Root;
use crate::error::MethodError;

/// L fields, mixed into D outputs with noise.
///
/// Learning, priors and model files know them as an [`Lmc`] of 2L columns: column l is field l along time and column L + l the same
/// field between places. Both have the same weights, once in the model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fields {
    /// Row-major D×L.
    weights: Vec<f64>,
    /// Each field along time.
    time: Vec<Latent>,
    /// Each field between places.
    space: Vec<Latent>,
    noise: Vec<Variance>,
}

impl Fields {
    /// Fields with the weights, the noise and the behavior along time of this model, and these latents between places.
    pub(crate) fn new(along_time: &Lmc, space: Vec<Latent>) -> Self {
        Self {
            weights: along_time.mixing().to_dense(),
            time: along_time.latents().to_vec(),
            space,
            noise: along_time.noise().to_vec(),
        }
    }

    /// The fields of a model of 2L columns.
    pub(crate) fn of(model: &Lmc) -> Result<Self, MethodError> {
        let n_fields = model.n_latents() / 2;
        let are_pairs = 2 * n_fields == model.n_latents() && n_fields > 0 && !model.mixing().has_private();
        if !are_pairs || model.latents().iter().any(|latent| latent.kernel().is_none()) {
            return Err(MethodError::NoFields { n_latents: model.n_latents() });
        }
        let rows = model.mixing().to_dense();
        let weights = rows.chunks_exact(2 * n_fields).flat_map(|row| row[..n_fields].to_vec()).collect();
        let (time, space) = model.latents().split_at(n_fields);
        Ok(Self { weights, time: time.to_vec(), space: space.to_vec(), noise: model.noise().to_vec() })
    }

    /// The model of 2L columns.
    pub(crate) fn to_model(&self) -> Result<Lmc, ModelError> {
        let twice = self.weights.chunks_exact(self.n_fields()).flat_map(|row| [row, row].concat()).collect();
        let latents = self.time.iter().chain(&self.space).copied().collect();
        Lmc::new(
            latents,
            MixingMatrix::shared(self.n_outputs(), 2 * self.n_fields(), twice)?,
            self.noise.clone(),
        )
    }

    /// The model of a single place: weights, latents along time and noise.
    pub(crate) fn along_time(&self) -> Result<Lmc, ModelError> {
        let mixing = MixingMatrix::shared(self.n_outputs(), self.n_fields(), self.weights.clone())?;
        Lmc::new(self.time.clone(), mixing, self.noise.clone())
    }

    /// The number of fields, L.
    pub(crate) fn n_fields(&self) -> usize {
        self.time.len()
    }

    /// The number of outputs, D.
    pub(crate) fn n_outputs(&self) -> usize {
        self.noise.len()
    }

    /// The noise of the outputs.
    pub(crate) fn noise(&self) -> &[Variance] {
        &self.noise
    }

    /// Each field along time.
    pub(crate) fn time(&self) -> &[Latent] {
        &self.time
    }

    /// Each field between places.
    pub(crate) fn space(&self) -> &[Latent] {
        &self.space
    }

    /// The weight of a field in an output.
    pub(crate) fn weight(&self, output: usize, field: usize) -> f64 {
        self.weights[output * self.n_fields() + field]
    }

    /// The size of the state along time of fields at this many places.
    pub(crate) fn state_size(&self, n_places: usize) -> usize {
        n_places * self.time.iter().map(Latent::state_dim).sum::<usize>()
    }

    /// The correlation of field `field` over each of these distances.
    pub(crate) fn correlations(&self, field: usize, distances: &[f64]) -> Vec<f64> {
        let latent = &self.space[field];
        distances.iter().map(|&distance| latent.correlation(distance).unwrap_or(0.0)).collect()
    }

    /// The derivative of each of these correlations in the length-scale: −ρ'(u)·u/ℓ, since u is proportional to 1/ℓ.
    fn correlation_derivatives(&self, field: usize, distances: &[f64]) -> Vec<f64> {
        let length_scale = self.space[field].length_scale();
        let Some(kernel) = self.space[field].kernel() else { return vec![0.0; distances.len()] };
        let rate = kernel.rate(length_scale);
        let derivative = |distance: &f64| {
            let u = rate * distance;
            -kernel.correlation_derivative(u) * u / length_scale.get()
        };
        distances.iter().map(derivative).collect()
    }
}

/// Fields at places: a model along time with P·D outputs and P·L latents, latent l·P + q with weight w_dl C_pq in output p·D + d.
#[derive(Clone, Debug)]
pub(crate) struct FieldsAtPlaces {
    fields: Fields,
    n_places: usize,
    /// Distances are divided by it, as those along time.
    scale: f64,
    distances: Vec<f64>,
    /// The Cholesky factor of the places' correlation, by field.
    roots: Vec<Root>,
}

impl FieldsAtPlaces {
    /// Distances between places are divided by `scale`.
    pub(crate) fn new(fields: Fields, places: &Places, scale: f64) -> Result<Self, MethodError> {
        let distances: Vec<f64> = places.distances().into_iter().map(|distance| distance / scale).collect();
        let n_places = places.len();
        let root = |field: usize| {
            let correlation = fields.correlations(field, &distances);
            Root::new(n_places, &correlation).map_err(|place| nearest_places(places, place))
        };
        let roots = (0..fields.n_fields()).map(root).collect::<Result<_, _>>()?;
        Ok(Self { fields, n_places, scale, distances, roots })
    }

    /// The fields.
    pub(crate) fn fields(&self) -> &Fields {
        &self.fields
    }

    /// For each of these new places, the weights by which a field there follows from the independent latents of its values at the places:
    /// C⁻¹k*, P numbers each.
    ///
    /// The rest of the field at the new place is independent of its values at the places, since the correlation is separable: it has the
    /// correlation of the field along time and the covariance [`FieldsAtPlaces::rest`] between new places.
    pub(crate) fn readings(&self, field: usize, places: &Places, new: &Places) -> Vec<f64> {
        let distances: Vec<f64> =
            places.distances_to(new).into_iter().map(|distance| distance / self.scale).collect();
        let correlations = self.fields.correlations(field, &distances);
        correlations.chunks_exact(self.n_places).flat_map(|row| self.roots[field].solve(row)).collect()
    }

    /// The covariance of the rest of a field between new places, row-major.
    pub(crate) fn rest(&self, field: usize, new: &Places, readings: &[f64]) -> Vec<f64> {
        let distances: Vec<f64> = new.distances().into_iter().map(|distance| distance / self.scale).collect();
        let mut rest = self.fields.correlations(field, &distances);
        let row = |at: usize| &readings[at * self.n_places..][..self.n_places];
        for (at, entry) in rest.iter_mut().enumerate() {
            let (a, b) = (at / new.len(), at % new.len());
            *entry -= row(a).iter().zip(row(b)).map(|(a, b)| a * b).sum::<f64>();
        }
        rest
    }

    /// The model along time: outputs of all places, then those of new places with these readings by field.
    pub(crate) fn model(&self, readings: &[Vec<f64>]) -> Result<Lmc, ModelError> {
        let Self { fields, n_places, .. } = self;
        let (n_fields, n_outputs) = (fields.n_fields(), fields.n_outputs());
        let n_new = readings.first().map_or(0, |rows| rows.len() / n_places);
        let mut weights = Vec::with_capacity((n_places + n_new) * n_outputs * n_places * n_fields);
        for site in 0..n_places + n_new {
            for output in 0..n_outputs {
                for field in 0..n_fields {
                    let row = match site.checked_sub(*n_places) {
                        None => self.roots[field].row(site),
                        Some(new) => &readings[field][new * n_places..][..*n_places],
                    };
                    let weight = fields.weight(output, field);
                    weights.extend(row.iter().map(|entry| weight * entry));
                }
            }
        }
        let latents = fields.time.iter().flat_map(|latent| vec![*latent; *n_places]).collect();
        let mixing = MixingMatrix::shared((n_places + n_new) * n_outputs, n_places * n_fields, weights)?;
        let noise = (0..n_places + n_new).flat_map(|_| fields.noise.clone()).collect();
        Lmc::new(latents, mixing, noise)
    }

    /// The gradient in the parameters of the fields as the model of 2L columns, from that of the model along time. The weights of the
    /// last L columns are bound to the first.
    pub(crate) fn pull_back(&self, gradient: &Gradient) -> Gradient {
        let Self { fields, n_places, .. } = self;
        let (n_fields, n_outputs) = (fields.n_fields(), fields.n_outputs());
        let width = n_places * n_fields;
        let mut mixing = vec![0.0; n_outputs * 2 * n_fields];
        let mut length_scales = vec![0.0; 2 * n_fields];
        let mut noise = vec![0.0; n_outputs];
        for (field, root) in self.roots.iter().enumerate() {
            // In the entries of C.
            let mut of_root = vec![0.0; n_places * n_places];
            for place in 0..*n_places {
                for output in 0..n_outputs {
                    let row = &gradient.mixing[(place * n_outputs + output) * width + field * n_places..]
                        [..*n_places];
                    let product: f64 = row.iter().zip(root.row(place)).map(|(a, b)| a * b).sum();
                    mixing[output * 2 * n_fields + field] += product;
                    let weight = fields.weight(output, field);
                    let entries = of_root[place * n_places..][..=place].iter_mut().zip(row);
                    entries.for_each(|(sum, entry)| *sum += weight * entry);
                }
            }
            let change = root.derivative(&fields.correlation_derivatives(field, &self.distances));
            length_scales[n_fields + field] = of_root.iter().zip(&change).map(|(a, b)| a * b).sum();
            length_scales[field] = gradient.length_scales[field * n_places..][..*n_places].iter().sum();
        }
        for (at, derivative) in gradient.noise.iter().enumerate() {
            noise[at % n_outputs] += derivative;
        }
        let shapes = vec![0.0; 2 * n_fields];
        Gradient { log_evidence: gradient.log_evidence, mixing, length_scales, shapes, noise }
    }
}

/// The error for a place whose values follow from those before it, with the place nearest to it.
fn nearest_places(places: &Places, place: usize) -> MethodError {
    let row = &places.distances()[place * places.len()..][..places.len()];
    let others = row.iter().enumerate().filter(|(other, _)| *other != place);
    let nearest = others.min_by(|a, b| a.1.total_cmp(b.1)).map_or(place, |(other, _)| other);
    let text = |place: usize| {
        let numbers: Vec<String> = places.coordinates(place).iter().map(f64::to_string).collect();
        numbers.join(", ")
    };
    MethodError::PlacesTooClose { one: text(place), other: text(nearest) }
}
