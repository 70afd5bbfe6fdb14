//! Synthetic reports that use every part of the page. Nothing is fitted: predictions are a known curve and a standard deviation.

#![allow(dead_code, reason = "each test and the example use a part")]

mod model_and_scores;

use catena_store::report::{
    Axis, Bands, Fact, InputColumn, OutputSeries, Report, Run, Structure, Table, TimeZone, Warning,
};

/// 2013-01-01T00:00 in seconds since 1970.
const START: f64 = 1_356_998_400.0;

/// A number between −1 and 1 that depends on its arguments alone.
pub(crate) fn scatter(seed: u64, index: u64) -> f64 {
    let mut bits = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ index.wrapping_mul(0xd1b5_4a32_d192_ed03);
    for shift in [30, 27, 31] {
        bits = (bits ^ (bits >> shift)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    (bits >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// Roughly Gaussian with unit variance.
pub(crate) fn noise(seed: u64, index: u64) -> f64 {
    (0..6).map(|part| scatter(seed + 1000 * part, index)).sum::<f64>() / 2_f64.sqrt()
}

/// Name, unit, level, size of swings and of noise.
pub(crate) const OUTPUTS: [(&str, &str, f64, f64, f64); 5] = [
    ("river level", "cm", 212.0, 38.0, 3.0),
    ("water temperature", "°C", 14.0, 5.5, 0.35),
    ("pressure", "hPa", 1013.2, 9.0, 0.4),
    ("turbidity", "NTU", 22.0, 6.0, 1.6),
    ("oxygen", "mg/L", 9.1, 1.4, 0.12),
];

/// Whether a cell is missing: two long gaps, and some single cells.
fn is_missing(output: usize, row: usize, n_rows: usize) -> bool {
    let at = row as f64 / n_rows as f64;
    let long = (0.13 + 0.16 * output as f64, 0.03 + 0.012 * output as f64);
    let forecast = at > 0.985;
    let single = scatter(77 + output as u64, row as u64) > 0.96;
    forecast || single || (at > long.0 && at < long.0 + long.1) || (output == 3 && at > 0.5 && at < 0.55)
}

/// Held-out cells: a range in the first output, single cells in the second.
fn is_held_out(output: usize, row: usize, n_rows: usize) -> bool {
    let at = row as f64 / n_rows as f64;
    (output == 0 && at > 0.62 && at < 0.635) || (output == 1 && row % 97 == 5)
}

/// The known curve of an output at a row.
fn curve(output: usize, hours: f64) -> f64 {
    let turn = std::f64::consts::TAU * hours;
    let slow = (turn / 2900.0 + 0.4 * output as f64).sin();
    let weather = (turn / 211.0 + 0.9).sin() * (turn / 83.0 + output as f64).cos();
    let day = 0.35 * (turn / 24.0 + 0.3 * output as f64).sin();
    0.55 * slow + 0.35 * weather + if output == 2 { 0.1 * day } else { day }
}

/// One output along time. The standard deviation grows inside gaps.
fn series(output: usize, n_rows: usize) -> OutputSeries {
    let (name, unit, level, swing, sd) = OUTPUTS[output];
    let missing: Vec<bool> =
        (0..n_rows).map(|row| is_missing(output, row, n_rows) || is_held_out(output, row, n_rows)).collect();
    let mut distance = vec![0_usize; n_rows];
    for row in 0..n_rows {
        distance[row] = if missing[row] { 1 + if row > 0 { distance[row - 1] } else { 0 } } else { 0 };
    }
    let mut back = usize::MAX / 2;
    for row in (0..n_rows).rev() {
        back = if missing[row] { back + 1 } else { 0 };
        distance[row] = distance[row].min(back);
    }
    let truth =
        |row: usize| level + swing * curve(output, row as f64) + sd * noise(output as u64, row as u64);
    let std = |row: usize| {
        let share = 1.0 - (-(distance[row] as f64) / 40.0).exp();
        (sd * sd + (0.42 * swing * share).powi(2)).sqrt()
    };
    let mean: Vec<f64> = (0..n_rows)
        .map(|row| {
            let wander = 0.3 * std(row) * (row as f64 / 17.0 + output as f64).sin();
            level + swing * curve(output, row as f64) + wander
        })
        .collect();
    let bands = if output == 3 {
        // A skewed output: quantiles, further up than down.
        let quantile = |z: f64, up: f64| (0..n_rows).map(|row| mean[row] + z * up * std(row)).collect();
        Bands::Quantiles {
            lo50: quantile(-0.674, 0.8),
            hi50: quantile(0.674, 1.2),
            lo95: quantile(-1.96, 0.7),
            hi95: quantile(1.96, 1.5),
        }
    } else {
        Bands::Gaussian { std: (0..n_rows).map(std).collect() }
    };
    let held_out: Vec<Option<f64>> = if output < 2 {
        (0..n_rows).map(|row| is_held_out(output, row, n_rows).then(|| truth(row))).collect()
    } else {
        vec![]
    };
    OutputSeries {
        name: name.to_owned(),
        unit: Some(unit.to_owned()),
        observed: (0..n_rows).map(|row| (!missing[row]).then(|| truth(row))).collect(),
        held_out,
        bad: vec![],
        mean,
        bands,
    }
}

/// A report about `n_outputs` outputs by the hour, with every part filled.
pub(crate) fn time_report(n_rows: usize, n_outputs: usize) -> Report {
    let outputs: Vec<OutputSeries> = (0..n_outputs)
        .map(|output| {
            let mut series = series(output % OUTPUTS.len(), n_rows);
            if output >= OUTPUTS.len() {
                series.name = format!("{} {}", series.name, 1 + output / OUTPUTS.len());
            }
            series
        })
        .collect();
    let names: Vec<String> = outputs.iter().map(|output| output.name.clone()).collect();
    let n_missing =
        outputs.iter().flat_map(|output| &output.observed).filter(|value| value.is_none()).count();
    Report {
        title: "A river gauge in 2013".to_owned(),
        subtitle: Some("Synthetic numbers that show every part of the page; nothing was fitted".to_owned()),
        generated_by: concat!("catena-store ", env!("CARGO_PKG_VERSION")).to_owned(),
        run: Some(run(n_rows, n_outputs, n_missing)),
        warnings: vec![
            Warning {
                message: "turbidity: 5 % of the rows are missing in one gap.".to_owned(),
                advice: Some("Bands there rely on the other outputs.".to_owned()),
            },
            Warning {
                message: "One length-scale reached three times the length of the table.".to_owned(),
                advice: Some(
                    "The slowest latent is a trend that the data cannot tell from a constant.".to_owned(),
                ),
            },
        ],
        table: Some(Table {
            inputs: vec![InputColumn {
                axis: Axis::time("time", TimeZone::Naive),
                values: (0..n_rows).map(|row| START + 3600.0 * row as f64).collect(),
            }],
            outputs,
            ..Table::default()
        }),
        places: None,
        structure: None,
        model: Some(model_and_scores::model(&names)),
        evidence: model_and_scores::evidence(),
        calibration: Some(model_and_scores::calibration(&names)),
        search: Some(model_and_scores::search()),
        footnotes: vec!["The numbers on this page are synthetic.".to_owned()],
    }
}

fn run(n_rows: usize, n_outputs: usize, n_missing: usize) -> Run {
    Run {
        command: Some("catena report river.catena -o report.html".to_owned()),
        data: Some("river.csv".to_owned()),
        digest: Some("sha256:0f4c1d9a7be3c58a".to_owned()),
        n_rows,
        n_outputs,
        n_missing,
        facts: vec![Fact::new("Learned in", "3.4 s"), Fact::new("Seed", "0")],
    }
}

/// A report about two outputs over points of `dim` inputs, joined by a chain that is short enough to look at.
pub(crate) fn map_report(n_rows: usize, dim: usize) -> Report {
    let axes = [("easting", "km"), ("northing", "km"), ("depth", "m"), ("age", "a")];
    let inputs: Vec<InputColumn> = (0..dim)
        .map(|input| InputColumn {
            axis: Axis::number(axes[input].0, Some(axes[input].1)),
            values: (0..n_rows).map(|row| 5.0 + 5.0 * scatter(300 + input as u64, row as u64)).collect(),
        })
        .collect();
    let surface = |row: usize, output: usize| {
        let at = |input: usize| inputs.get(input).map_or(0.0, |input| input.values[row]);
        8.0 + (0.7 * at(0) + output as f64).sin() + (0.5 * at(1)).cos() + 0.2 * at(2)
    };
    let outputs = ["zinc", "lead"].iter().enumerate().map(|(output, name)| {
        let is_missing = |row: usize| scatter(900 + output as u64, row as u64) > 0.6;
        let truth = |row: usize| surface(row, output) + 0.2 * noise(40 + output as u64, row as u64);
        OutputSeries {
            name: (*name).to_owned(),
            unit: Some("mg/kg".to_owned()),
            observed: (0..n_rows).map(|row| (!is_missing(row)).then(|| truth(row))).collect(),
            bad: vec![],
            held_out: if output == 0 {
                (0..n_rows).map(|row| is_missing(row).then(|| truth(row))).collect()
            } else {
                vec![]
            },
            mean: (0..n_rows).map(|row| surface(row, output) + 0.05 * (row as f64).sin()).collect(),
            bands: Bands::Gaussian {
                std: (0..n_rows).map(|row| if is_missing(row) { 0.4 } else { 0.22 }).collect(),
            },
        }
    });
    let outputs: Vec<OutputSeries> = outputs.collect();
    let edges = nearest_earlier(&inputs);
    Report {
        title: format!("Soil samples, {dim} inputs"),
        generated_by: concat!("catena-store ", env!("CARGO_PKG_VERSION")).to_owned(),
        table: Some(Table { inputs, outputs, ..Table::default() }),
        structure: Some(Structure {
            summary: format!("tree, {} edges: every point to the nearest before it", edges.len()),
            edges,
        }),
        ..Report::default()
    }
}

/// Each row joined to the nearest one before it: a tree, by brute force.
fn nearest_earlier(inputs: &[InputColumn]) -> Vec<[u32; 2]> {
    let distance =
        |a: usize, b: usize| inputs.iter().map(|one| (one.values[a] - one.values[b]).powi(2)).sum::<f64>();
    let n_rows = inputs.first().map_or(0, |input| input.values.len());
    (1..n_rows)
        .filter_map(|row| {
            let nearest = (0..row).min_by(|&a, &b| distance(a, row).total_cmp(&distance(b, row)))?;
            Some([nearest as u32, row as u32])
        })
        .collect()
}
