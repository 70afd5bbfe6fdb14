//! `bounds`: both sides of Lemma 1, Lemma 2 and Theorem 1, the growth of ε_π, and what learning does to the bound.

use std::ops::ControlFlow;

use catena::diagnostics::{Distortion, PairSampling, covariance_gap_bound};
use catena::kernel::{Kernel, StateKind};
use catena::structure::{Start, greedy_chain};
use catena::units::Variance;
use catena_fit::{Budget, FitOptions, KernelPair, StructureOption, TransformOptions, fit};
use catena_methods::bounds::{Sides, covariance_gap, latent_gap, posterior_gap};
use catena_studies::sensor_study::sensor_study_of;
use catena_studies::study::Study;

use crate::chapter::{Chapter, Table, number, rounded, seeds};
use crate::error::ExperimentError;
use crate::figure::{Axis, Figure, Look, Panel, Point, Scale, Series};
use crate::job::Job;
use crate::ledger::{Ledger, Record, column};
use crate::settings::{Context, Extent};
use crate::statistics::{exponent, mean};
use crate::verdict::{Comparison, Rule};

const STUDY: &str = "bounds";
const SEEDS: u32 = 3;
const DIMS: [usize; 5] = [2, 4, 8, 16, 32];
const GROWTH: [usize; 5] = [125, 250, 500, 1000, 2000];
const NOISE: f64 = 0.1;
/// The inequalities, by their names in records.
const INEQUALITIES: [(&str, &str); 5] = [
    ("lemma1-first", "Lemma 1, ‖K₁ − K_π,1‖₂"),
    ("lemma1-second", "Lemma 1, ‖K₂ − K_π,2‖₂"),
    ("theorem1", "Theorem 1, η = ‖K − K_π‖₂"),
    ("lemma2-mean", "Lemma 2, ‖μ − μ_π‖₂"),
    ("lemma2-covariance", "Lemma 2, ‖Σ − Σ_π‖₂"),
];

fn dims(extent: Extent) -> &'static [usize] {
    match extent {
        Extent::Full => &DIMS,
        Extent::Quick => &DIMS[..2],
    }
}

/// Points at which both sides are computed: dense algebra of C·D columns.
fn n_points(extent: Extent) -> usize {
    match extent {
        Extent::Full => 400,
        Extent::Quick => 100,
    }
}

fn growth_sizes(extent: Extent) -> &'static [usize] {
    match extent {
        Extent::Full => &GROWTH,
        Extent::Quick => &GROWTH[..3],
    }
}

fn sides_name(dim: usize, extent: Extent) -> String {
    format!("M{dim}-C{}", n_points(extent))
}

fn growth_name(dim: usize) -> String {
    format!("M{dim}-growth")
}

fn learned_name(dim: usize, extent: Extent) -> String {
    format!("M{dim}-C{}-learned", n_points(extent))
}

pub(super) fn jobs(context: &Context) -> Vec<Job<'_>> {
    let extent = context.extent;
    let mut jobs = vec![];
    for seed in 0..context.n_seeds(SEEDS) {
        for &dim in dims(extent) {
            let study = move || sensor_study_of(dim, n_points(extent), seed);
            jobs.push(Job::new((STUDY, sides_name(dim, extent), seed), 8.0, move || both_sides(&study()?)));
            jobs.push(Job::new((STUDY, growth_name(dim), seed), 1.0, move || growth(dim, seed, extent)));
            jobs.push(Job::new((STUDY, learned_name(dim, extent), seed), 2.0, move || learned(&study()?)));
        }
    }
    jobs
}

fn put(record: &mut Record, name: &str, sides: Sides) {
    record.put(format!("{name}.left"), sides.left);
    record.put(format!("{name}.right"), sides.right);
}

/// All points observed with one noise, derivative states on the greedy chain: what the paper's statements speak of.
fn both_sides(study: &Study) -> Result<Record, ExperimentError> {
    let (inputs, chain) = (study.dataset.inputs(), study.scaled_chain()?);
    let mut record = Record::default();
    for (latent, (name, _)) in study.model.latents().iter().zip(INEQUALITIES) {
        put(&mut record, name, latent_gap(inputs, &chain, latent)?);
    }
    put(&mut record, "theorem1", covariance_gap(inputs, &chain, &study.model)?);
    let scaling = &study.output_scaling;
    let values: Vec<f64> = study
        .truth
        .iter()
        .zip(scaling.iter().cycle())
        .map(|(value, (shift, scale))| (value - shift) / scale)
        .collect();
    let sides = posterior_gap(inputs, &chain, &study.model, Variance::new(NOISE)?, &values)?;
    put(&mut record, "lemma2-mean", sides.mean);
    put(&mut record, "lemma2-covariance", sides.covariance);
    record.put("distortion", Distortion::of(inputs, &chain, PairSampling::default()).upper_bound());
    Ok(record)
}

/// ε_π in units of the inputs, by the number of points.
fn growth(dim: usize, seed: u32, extent: Extent) -> Result<Record, ExperimentError> {
    let mut record = Record::default();
    for &n_points in growth_sizes(extent) {
        let study = sensor_study_of(dim, n_points, seed)?;
        let chain = greedy_chain(study.dataset.inputs(), Start::FirstRow)?;
        let distortion = Distortion::of(study.dataset.inputs(), &chain, PairSampling::default());
        record.put(format!("C{n_points}.distortion"), distortion.upper_bound());
    }
    Ok(record)
}

/// The bound with the study's parameters and with learned ones, distances in the same unit.
fn learned(study: &Study) -> Result<Record, ExperimentError> {
    let options = FitOptions {
        structure: StructureOption::Chain,
        state: Some(StateKind::Derivative),
        latents: Some(study.model.n_latents()),
        private: Some(false),
        kernel: Some(KernelPair { shared: Kernel::Matern32, private: Kernel::Matern32 }),
        transforms: TransformOptions::NONE,
        budget: Budget::Quick,
        ..FitOptions::default()
    };
    let fitted = fit(&study.dataset, &options, &|_| ControlFlow::Continue(()))?;
    let (inputs, chain) = (study.dataset.inputs(), study.scaled_chain()?);
    let distortion = Distortion::of(inputs, &chain, PairSampling::default()).upper_bound();
    let fixed_bound = covariance_gap_bound(&study.model, chain.len(), distortion);
    // The fit scales each input by its own deviation; the smallest one gives a bound that holds in every direction. Length-scales
    // are then in units of the inputs, the study's in median gaps.
    let (model, preparation) = (&fitted.parts().model, &fitted.parts().preparation);
    let smallest = preparation.inputs.iter().fold(f64::INFINITY, |least, (_, scale)| least.min(*scale));
    let unit = smallest / study.distance_scale.get();
    let weights = model.mixing().to_dense();
    let mut bound = 0.0;
    let mut record = Record::default();
    for (at, latent) in model.latents().iter().enumerate() {
        let of_latent = weights.iter().skip(at).step_by(model.n_latents()).zip(&preparation.outputs);
        let squared_norm: f64 = of_latent.map(|(weight, output)| (weight * output.scale).powi(2)).sum();
        let length_scale = latent.length_scale().get() * unit;
        let lipschitz = 3.0_f64.sqrt() / (std::f64::consts::E * length_scale);
        bound += chain.len() as f64 * distortion * squared_norm * lipschitz;
        record.put(format!("length-scale-{at}"), length_scale);
    }
    record.put("bound.fixed", fixed_bound);
    record.put("bound.learned", bound);
    Ok(record)
}

pub(super) fn chapter(ledger: &Ledger, extent: Extent) -> Result<Option<Chapter>, ExperimentError> {
    let mut chapter = Chapter::new(STUDY, "The paper's bounds, both sides computed");
    chapter.words.push(format!(
        "The sensor network with C = {} points, all observed with noise {NOISE}, derivative states on the greedy chain. A \
         bound is loose by right / left: at such sizes it certifies no small error, as the paper says.",
        n_points(extent)
    ));
    let header = ["M", "seeds", "ε_π", "inequality", "left", "right", "right / left"];
    let mut sides = Table::new("bounds_sides", "Means over seeds; every seed is judged.", &header);
    let header =
        ["M", "length-scales learned (fixed: 1, 2)", "bound, fixed", "bound, learned", "learned / fixed"];
    let caption = "Theorem 1's bound with learned length-scales and weights, in median gaps. The paper expects learned \
                   length-scales to absorb the chain's stretch and to raise α_l.";
    let mut of_learned = Table::new("bounds_learned", caption, &header);
    let mut n_seeds = 0;
    for &dim in dims(extent) {
        let records = ledger.seeds(STUDY, &sides_name(dim, extent))?;
        n_seeds = n_seeds.max(records.len());
        for (name, title) in INEQUALITIES {
            let of = |side: &str| column(&records, &format!("{name}.{side}"));
            let (Some(left), Some(right)) = (of("left"), of("right")) else { continue };
            let tightest = left.iter().zip(&right).map(|(left, right)| left / right).fold(0.0, f64::max);
            let label = format!("M = {dim}: {title} over its bound, largest of {}", seeds(left.len()));
            chapter.comparisons.push(Comparison::new(label, 1.0, tightest, Rule::AtMost));
            let distortions = column(&records, "distortion").unwrap_or_default();
            sides.push([
                dim.to_string(),
                left.len().to_string(),
                number(mean(&distortions)),
                title.to_owned(),
                number(mean(&left)),
                number(mean(&right)),
                rounded(mean(&right) / mean(&left)),
            ]);
        }
        of_learned.rows.extend(learned_row(dim, &ledger.seeds(STUDY, &learned_name(dim, extent))?));
    }
    if n_seeds == 0 {
        return Ok(None);
    }
    chapter.tables.push(sides);
    if !of_learned.rows.is_empty() {
        chapter.tables.push(of_learned);
    }
    grown(&mut chapter, ledger, extent)?;
    Ok(Some(chapter))
}

fn learned_row(dim: usize, records: &[Record]) -> Option<Vec<String>> {
    let of = |name: &str| Some(mean(&column(records, name)?));
    let (fixed, learned) = (of("bound.fixed")?, of("bound.learned")?);
    let lengths = format!("{}, {}", rounded(of("length-scale-0")?), rounded(of("length-scale-1")?));
    Some(vec![dim.to_string(), lengths, number(fixed), number(learned), rounded(learned / fixed)])
}

/// ε_π over C beside C^(1 − 1/M).
fn grown(chapter: &mut Chapter, ledger: &Ledger, extent: Extent) -> Result<(), ExperimentError> {
    let sizes = growth_sizes(extent);
    let header = ["M", "exponent of C, measured", "1 − 1/M", "ε_π at the largest C"];
    let mut table = Table::new(
        "bounds_growth",
        "Growth of ε_π with the number of points, in units of the inputs.",
        &header,
    );
    let mut series = vec![];
    for (at, &dim) in dims(extent).iter().enumerate() {
        let records = ledger.seeds(STUDY, &growth_name(dim))?;
        let of_size = |n_points: &usize| {
            Some((*n_points as f64, mean(&column(&records, &format!("C{n_points}.distortion"))?)))
        };
        let Some(pairs) = sizes.iter().map(of_size).collect::<Option<Vec<(f64, f64)>>>() else { continue };
        let (found, expected) = (exponent(&pairs), 1.0 - 1.0 / dim as f64);
        let label = format!("M = {dim}: exponent of C in ε_π (paper: at most 1 − 1/M, up to constants)");
        chapter.comparisons.push(Comparison::new(label, expected, found, Rule::Context));
        let last = pairs.last().map_or(f64::NAN, |(_, distortion)| *distortion);
        table.push([dim.to_string(), rounded(found), rounded(expected), number(last)]);
        let points = pairs.iter().map(|(size, distortion)| Point::bare(*size, *distortion)).collect();
        series.push(Series::new(format!("M = {dim}"), Look::method(at), points));
    }
    if series.is_empty() {
        return Ok(());
    }
    let panel = Panel {
        title: "distortion".to_owned(),
        x: Axis::new("points C", Scale::Logarithmic).with_ticks(sizes.iter().map(|size| *size as f64)),
        y: Axis::new("ε_π, units of the inputs", Scale::Logarithmic),
        series,
    };
    chapter.tables.push(table);
    chapter.figures.push(Figure::chart(
        "distortion_growth",
        "Growth of ε_π with the number of points",
        1,
        vec![panel],
    ));
    Ok(())
}
