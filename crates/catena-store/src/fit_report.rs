//! Fills a [`Report`] with the numbers, predictions and warnings of a fit.

use std::collections::BTreeSet;

use catena::data::InputPoints;
use catena_fit::{
    ComponentSummary, Fit, FitError, Geometry, HeldOut, LatentSummary, MethodChoice, OutputSummary,
    PowerTransform, Predictive, Quantity, StructureOption, SumSummary, Summary, median_gap_within_groups,
};
use catena_io::FileName;
use catena_io::select::Input;
use catena_io::time::ZoneStyle;

use crate::group_report::{GroupCharts, group_charts};
use crate::predicted::predicted;
use crate::report::{
    Axis, Calibration, Candidate, CoveragePoint, EvidencePath, Fact, InputColumn, Latent, LengthScale,
    MethodScore, Model, OutputScore, OutputSeries, Places, Report, Run, Search, Shares, Structure, Table,
    TimeZone, Warning,
};
use crate::{About, GroupNames, LengthUnit, StoreError, data_digest};

/// The most places of a forecast on a page.
const MOST_AHEAD: usize = 10_000;
/// The structure is drawn up to this many rows.
const MOST_EDGES: usize = 50_000;
/// Readings are checked in tables of up to this many cells.
const MOST_CHECKED: usize = 50_000;

/// The HTML page of a fit. `held_out` are the held-out values (rows × outputs, row by row, NaN elsewhere), or empty.
///
/// # Errors
/// If a prediction overflows or the report is inconsistent.
pub fn page(title: &str, fit: &Fit, about: &About, held_out: &[f64]) -> Result<String, StoreError> {
    let file = FileName::from(std::path::Path::new(&about.data));
    let failed = |cause| StoreError::Fit { file: file.clone(), cause: Box::new(cause) };
    let summary = fit.summary();
    let (table, note) = match &about.groups {
        None => {
            let ahead = places_ahead(fit);
            let predictive = match ahead.is_empty() {
                true => fit.predict_rows(Quantity::Observation),
                false => {
                    with_places(fit, &ahead).and_then(|points| fit.predict(&points, Quantity::Observation))
                }
            };
            let bad = bad_readings(fit);
            let marks = Marks { held_out, bad: &bad };
            (table(fit, about, &predictive.map_err(failed)?, marks, &ahead), bad_note(bad.len()))
        }
        Some(names) => table_of_groups(fit, about, names, held_out).map_err(failed)?,
    };
    let report = Report {
        title: title.to_owned(),
        subtitle: Some(format!(
            "{}, {} rows, {} outputs",
            summary.method,
            summary.n_rows,
            summary.outputs.len()
        )),
        generated_by: format!("catena {}", env!("CARGO_PKG_VERSION")),
        run: Some(run(fit, about)?),
        warnings: summary
            .warnings
            .iter()
            .map(|message| Warning { message: message.clone(), advice: None })
            .collect(),
        table: Some(table),
        places: places(fit),
        structure: structure(fit),
        model: Some(model(fit, about)),
        evidence: evidence(summary),
        calibration: calibration(summary, about.length_unit()),
        search: search(summary),
        footnotes: note.into_iter().chain(summary.decisions.iter().cloned()).collect(),
    };
    report.to_html().map_err(|cause| StoreError::Page { file, cause })
}

fn places(fit: &Fit) -> Option<Places> {
    match fit.parts().method {
        MethodChoice::Space { geometry: Geometry::LatLon } => Some(Places::LatLon),
        MethodChoice::Space { geometry: Geometry::LonLat } => Some(Places::LonLat),
        method => matches!(method, MethodChoice::Space { .. }).then_some(Places::Plane),
    }
}

fn run(fit: &Fit, about: &About) -> Result<Run, StoreError> {
    let observations = fit.table().observations();
    let n_cells = observations.n_rows() * observations.n_outputs();
    Ok(Run {
        command: None,
        data: Some(about.data.clone()),
        digest: Some(format!("sha256:{}", data_digest(fit.table())?)),
        n_rows: observations.n_rows(),
        n_outputs: observations.n_outputs(),
        n_missing: n_cells - observations.n_observed(),
        facts: facts(fit),
    })
}

/// Log evidence, how learning ended, the transforms of the outputs if there are any, and the seed.
fn facts(fit: &Fit) -> Vec<Fact> {
    let summary = fit.summary();
    let is_transformed = |output: &&OutputSummary| output.power != PowerTransform::None;
    let transforms: Vec<String> = summary
        .outputs
        .iter()
        .filter(is_transformed)
        .map(|output| output.power.label(&output.name))
        .collect();
    let transforms = (!transforms.is_empty()).then(|| Fact::new("transforms", transforms.join(", ")));
    let learned =
        [Fact::new("log evidence", summary.evidence_text()), Fact::new("learning", summary.ending.clone())];
    let seed = Fact::new("seed", fit.parts().seed.to_string());
    learned.into_iter().chain(transforms).chain([seed]).collect()
}

/// The axis of an input on a page.
pub fn axis(input: &Input) -> Axis {
    let Some(time) = &input.time else { return Axis::number(&input.name, None) };
    let zone = match &time.style.zone {
        ZoneStyle::Naive => TimeZone::Naive,
        ZoneStyle::Offset { seconds, .. } => {
            TimeZone::MinutesAheadOfUtc(i16::try_from(seconds / 60).unwrap_or(0))
        }
        ZoneStyle::Utc | ZoneStyle::Named { .. } => TimeZone::MinutesAheadOfUtc(0),
    };
    Axis::time(&input.name, zone)
}

/// The places that a fit for forecasts shows after its last row: regular steps as far as its forecasts were checked.
fn places_ahead(fit: &Fit) -> Vec<f64> {
    let inputs = fit.table().inputs();
    let (Some(origins), Some(step)) = (fit.summary().origins, median_gap_within_groups(inputs)) else {
        return vec![];
    };
    let last = inputs.values().iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let count = ((origins.reach / step).round() as usize).min(MOST_AHEAD);
    (1..=count).map(|number| last + number as f64 * step).collect()
}

/// The rows of a table and places after them.
fn with_places(fit: &Fit, ahead: &[f64]) -> Result<InputPoints, FitError> {
    let rows = fit.table().inputs().values().iter().chain(ahead).copied();
    Ok(InputPoints::from_column(rows.collect())?)
}

/// Row-major places of observed cells that all others contradict, by the model of the fit. None where the method has no exact
/// distribution of a cell without itself, and for long tables.
fn bad_readings(fit: &Fit) -> BTreeSet<usize> {
    let is_short = fit.table().observations().n_observed() <= MOST_CHECKED;
    let is_line = fit.table().inputs().dim() == 1;
    let checked = (is_short && is_line).then(|| fit.check().ok()).flatten();
    checked.map_or_else(BTreeSet::new, |checked| checked.set_aside())
}

/// A note on the marks of bad readings, if there are any.
fn bad_note(count: usize) -> Option<String> {
    let marked = match count {
        0 => return None,
        1 => "1 reading that all others contradict is marked".to_owned(),
        _ => format!("{count} readings that all others contradict are marked"),
    };
    Some(format!("{marked}; catena check lists them, and catena impute --clean fills them"))
}

/// Cells drawn beside the observed ones.
#[derive(Clone, Copy)]
struct Marks<'a> {
    /// Held-out values, row-major, or empty.
    held_out: &'a [f64],
    /// Row-major places of readings that all others contradict.
    bad: &'a BTreeSet<usize>,
}

/// Rows with predictions, and after them the places of a forecast.
fn table(fit: &Fit, about: &About, predictive: &Predictive, marks: Marks<'_>, ahead: &[f64]) -> Table {
    let data = fit.table();
    let (n_outputs, dim) = (about.outputs.len(), about.inputs.len());
    let n_rows = data.n_rows() + ahead.len();
    let observed = data.observations().to_dense();
    let known = |values: &[f64], at: usize| values.get(at).copied().filter(|value| !value.is_nan());
    let input = |(at, input): (usize, &Input)| {
        let rows = data.inputs().values().iter().skip(at).step_by(dim);
        input_column(input, rows.chain(ahead).copied())
    };
    let output = |(output, name): (usize, &String)| {
        let place = |row: usize| row * n_outputs + output;
        let held_out: Vec<Option<f64>> = (0..n_rows).map(|row| known(marks.held_out, place(row))).collect();
        let is_bad =
            |row: usize| marks.bad.contains(&place(row)).then(|| known(&observed, place(row))).flatten();
        let bad: Vec<Option<f64>> = (0..n_rows).map(is_bad).collect();
        OutputSeries {
            name: name.clone(),
            observed: (0..n_rows).map(|row| known(&observed, place(row))).collect(),
            held_out: if held_out.iter().any(Option::is_some) { held_out } else { vec![] },
            bad: if bad.iter().any(Option::is_some) { bad } else { vec![] },
            ..predicted(fit, predictive, &place, output, n_rows)
        }
    };
    Table {
        inputs: about.inputs.iter().enumerate().map(input).collect(),
        outputs: about.outputs.iter().enumerate().map(output).collect(),
        ..Table::default()
    }
}

/// The charts of groups, and a note on which groups are shown.
fn table_of_groups(
    fit: &Fit,
    about: &About,
    names: &GroupNames,
    held_out: &[f64],
) -> Result<(Table, Option<String>), FitError> {
    let GroupCharts { places, outputs, note } = group_charts(fit, about, names, held_out)?;
    let inputs = about.inputs.iter().map(|input| input_column(input, places.iter().copied())).collect();
    Ok((Table { inputs, outputs, ..Table::default() }, note))
}

fn input_column(input: &Input, values: impl Iterator<Item = f64>) -> InputColumn {
    let seconds = |value: f64| input.time.as_ref().map_or(value, |axis| axis.unix_seconds(value));
    InputColumn { axis: axis(input), values: values.map(seconds).collect() }
}

/// `1 shared latent`, `2 shared latents`.
fn shared_latents(count: usize) -> String {
    format!("{count} shared latent{}", if count == 1 { "" } else { "s" })
}

/// The structure over two or three inputs, for the map.
fn structure(fit: &Fit) -> Option<Structure> {
    let parts = fit.parts();
    let inputs = parts.preparation.inputs(parts.table.inputs()).ok()?;
    let is_message_passing = parts.method.is_message_passing();
    if !is_message_passing || !(2..=3).contains(&inputs.dim()) || inputs.n_rows() > MOST_EDGES {
        return None;
    }
    if matches!(parts.structure, StructureOption::Ensemble { .. }) {
        return None;
    }
    let (name, tree) =
        (parts.structure.name(inputs.dim()), parts.structure.build_by(parts.ties, &inputs).ok()?);
    let edge = |position| {
        let parent = tree.parent(position)?;
        Some([tree.row_at(parent).get() as u32, tree.row_at(position).get() as u32])
    };
    let edges: Vec<[u32; 2]> = tree.positions().filter_map(edge).collect();
    Some(Structure { summary: format!("{name}, {} edges", edges.len()), edges })
}

fn model(fit: &Fit, about: &About) -> Model {
    let (summary, parts) = (fit.summary(), fit.parts());
    let (n_latents, n_outputs) = (summary.latents.len(), summary.outputs.len());
    let n_shared = parts.model.mixing().n_shared().min(n_latents);
    let unit = about.length_unit();
    let latent = |(at, latent): (usize, &LatentSummary)| {
        let private_to = at.checked_sub(n_shared);
        let lengths = latent.length_scales.iter();
        Latent {
            name: if private_to.is_some() { "private".to_owned() } else { format!("shared {}", at + 1) },
            private_to,
            kernel: latent.kernel_text(|length| unit.text(length)),
            length_scales: lengths
                .map(|length| LengthScale { value: *length, text: unit.text(*length) })
                .collect(),
        }
    };
    let sums = summary.sums();
    let sizes = summary.deviations();
    let row = |output: usize| -> Vec<f64> {
        let scale = parts.preparation.outputs[output].scale;
        if !sums.is_empty() {
            return sums.iter().map(|sum| summary.sum_weight(output, sum) / scale).collect();
        }
        let weights = &summary.mixing[output * n_latents..output * n_latents + n_shared];
        weights.iter().zip(&sizes).map(|(weight, size)| size * weight / scale).collect()
    };
    let latents: Vec<Latent> = match sums.is_empty() {
        true => summary.latents.iter().enumerate().map(latent).collect(),
        false => sums.iter().map(|sum| whole_sum(sum, unit)).collect(),
    };
    let privates = if parts.model.mixing().has_private() { ", one private to each output" } else { "" };
    Model {
        summary: Some(match sums.len() {
            0 => format!("{}{privates}", shared_latents(n_shared)),
            1 => format!("{}, the sum of its components", shared_latents(1)),
            count => format!("{}, each the sum of its components", shared_latents(count)),
        }),
        outputs: about.outputs.clone(),
        latents,
        mixing: if n_shared > 0 { (0..n_outputs).map(row).collect() } else { vec![] },
        mixing_unit: Some("standard deviations of the output".to_owned()),
        correlation: summary.correlation.chunks(n_outputs).map(<[f64]>::to_vec).collect(),
        shares: summary
            .outputs
            .iter()
            .map(|output| Shares {
                shared: output.shared_share,
                private: output.private_share,
                noise: output.noise_share,
            })
            .collect(),
    }
}

/// A sum as one latent, with the share and length-scale of each component.
fn whole_sum(sum: &SumSummary, unit: LengthUnit) -> Latent {
    let length = unit.writer();
    let scale = |piece: &ComponentSummary| LengthScale {
        value: piece.length_scale,
        text: format!(
            "{} {} ({:.1} %)",
            piece.kernel_text(length),
            length(piece.length_scale),
            100.0 * piece.share
        ),
    };
    Latent {
        name: sum.name.clone(),
        private_to: None,
        kernel: sum.kernel_text(length),
        length_scales: sum.components.iter().map(scale).collect(),
    }
}

fn evidence(summary: &Summary) -> Vec<EvidencePath> {
    if summary.path.is_empty() {
        return vec![];
    }
    let label = "log evidence and prior of the chosen model".to_owned();
    vec![EvidencePath { label, is_chosen: true, values: summary.path.clone() }]
}

/// Scores and coverage on the cells held out to choose the model.
fn calibration(summary: &Summary, unit: LengthUnit) -> Option<Calibration> {
    let first = summary.held_out.first()?;
    let probabilities = &summary.probabilities;
    let covered = |nominal: f64| {
        let inside = |below: &&f64| (*below - 0.5).abs() <= 0.5 * nominal;
        probabilities.iter().filter(inside).count() as f64 / probabilities.len() as f64
    };
    let levels = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95];
    let mut pit_counts = vec![0; 20];
    for below in probabilities {
        pit_counts[((below * 20.0) as usize).min(19)] += 1;
    }
    let has_any = !probabilities.is_empty();
    let points = levels.map(|nominal| CoveragePoint { nominal, observed: covered(nominal) });
    let score = |name: String, is_this_fit: bool, scores: &HeldOut| MethodScore {
        name,
        is_this_fit,
        rmse: Some(scores.rmse),
        log_score: Some(scores.log_score),
        coverage95: Some(scores.coverage),
    };
    let methods = summary.held_out.iter().enumerate();
    let methods = methods.map(|(at, scores)| score(scores.name.clone(), at == 0, scores));
    let members = summary.members.iter().map(|member| {
        let name = format!("member with weight {:.0} %: {}", 100.0 * member.weight, member.alone.name);
        score(name, false, &member.alone)
    });
    let of_output = |scores: &HeldOut| OutputScore {
        output: scores.name.clone(),
        n_cells: scores.n_cells,
        rmse: scores.rmse,
        log_score: Some(scores.log_score),
        coverage95: Some(scores.coverage),
    };
    Some(Calibration {
        description: match &summary.origins {
            None => "those on which the candidate models were compared. Errors are in standard deviations of the output."
                .to_owned(),
            Some(origins) => format!(
                "forecasts of known rows, up to {} ahead from {} origins. Errors are in standard deviations of the output.",
                unit.text(origins.reach),
                origins.n_origins
            ),
        },
        n_cells: first.n_cells,
        coverage: if has_any { points.to_vec() } else { vec![] },
        pit_counts: if has_any { pit_counts } else { vec![] },
        methods: methods.chain(members).collect(),
        by_output: summary.held_out_by_output.iter().map(of_output).collect(),
    })
}

fn search(summary: &Summary) -> Option<Search> {
    let first = summary.tried.first()?;
    let candidate = |tried: &catena_fit::CandidateSummary| Candidate {
        description: tried.name.clone(),
        is_chosen: tried.chosen,
        note: Some(format!("{}: {:.3}", tried.score_name, tried.score)),
        ..Candidate::default()
    };
    Some(Search {
        criterion: format!("by {}", first.score_name),
        candidates: summary.tried.iter().map(candidate).collect(),
    })
}
