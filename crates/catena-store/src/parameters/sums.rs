//! Parameters of a time model: sums of components, mixing, shared seasons and noise.

use catena::kernel::{Kernel, StateKind};
use catena_fit::{
    ComponentKind, ComponentParameters, MeanChoice, SharedHarmonic, SharedSeason, TimeParameters,
};
use serde::Serialize;

use super::entry::Entry;
use super::{Length, ParameterError};

#[derive(Serialize)]
struct File<'a> {
    /// `constant` or `linear`.
    mean: &'static str,
    /// One sum per output, all of the same components.
    sums: Vec<Vec<Piece<'a>>>,
    /// A row per output, a column per sum.
    mixing: &'a [Vec<f64>],
    /// Seasons that all outputs share.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shared: Vec<Shared<'a>>,
    /// One variance per output.
    noise: &'a [f64],
}

#[derive(Serialize)]
struct Piece<'a> {
    piece: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    period: Option<Length>,
    length_scale: Length,
    #[serde(skip_serializing_if = "Option::is_none")]
    quality: Option<f64>,
    /// One, or one per harmonic of a season.
    amplitudes: &'a [f64],
}

#[derive(Serialize)]
struct Shared<'a> {
    period: Length,
    length_scale: Length,
    harmonics: Vec<Harmonic<'a>>,
}

#[derive(Serialize)]
struct Harmonic<'a> {
    amplitudes: &'a [f64],
    phases: &'a [f64],
}

const PIECES: &str = "matern12, matern32, matern52, sho, rw, llt, dt or qp";

pub(super) fn read(whole: &Entry<'_>) -> Result<TimeParameters, ParameterError> {
    whole.has_only(&["mean", "sums", "mixing", "shared", "noise"])?;
    let mean = match whole.get("mean")? {
        None => MeanChoice::Constant,
        Some(entry) => match entry.text("\"constant\" or \"linear\"")? {
            "constant" => MeanChoice::Constant,
            "linear" => MeanChoice::Linear,
            _ => return Err(entry.wrong("\"constant\" or \"linear\"")),
        },
    };
    let sums = whole.need("sums", "a list of sums, one per output")?;
    let sums = sums.list("a list of sums, one per output")?;
    let sum = |sum: &Entry<'_>| sum.list("a list of components")?.iter().map(piece).collect();
    let sums: Vec<Vec<ComponentParameters>> = sums.iter().map(sum).collect::<Result<_, _>>()?;
    let shared = match whole.get("shared")? {
        None => vec![],
        Some(entry) => {
            let seasons = entry.list("a list of seasons")?;
            seasons.iter().map(season).collect::<Result<Vec<SharedSeason>, _>>()?
        }
    };
    let mixing = whole.need("mixing", "a row per output, with a weight for every sum")?;
    Ok(TimeParameters {
        mean,
        mixing: mixing.rows(sums.len(), "sum")?,
        sums,
        shared,
        noise: whole.need("noise", "a variance per output")?.positives("noise variance")?,
    })
}

fn piece(entry: &Entry<'_>) -> Result<ComponentParameters, ParameterError> {
    let name = entry.need("piece", PIECES)?;
    let has_time_state = |kernel: &Kernel| kernel.state_dim(StateKind::Derivative).is_ok();
    let mut known = vec!["piece", "length_scale", "amplitudes"];
    let kind = match name.text(PIECES)? {
        "sho" => {
            known.push("quality");
            ComponentKind::Oscillator {
                quality: entry.need("quality", "a positive quality")?.positive("quality")?,
            }
        }
        "rw" => ComponentKind::Level,
        "llt" => ComponentKind::Trend,
        "dt" => ComponentKind::DampedTrend,
        "qp" => {
            known.push("period");
            let expected = "the period of the season, such as \"24h\"";
            ComponentKind::Season { period: entry.need("period", expected)?.length("period")? }
        }
        other => match Kernel::ALL.iter().find(|kernel| kernel.name() == other) {
            Some(kernel) if has_time_state(kernel) => ComponentKind::Kernel(*kernel),
            _ => return Err(name.wrong(PIECES)),
        },
    };
    entry.has_only(&known)?;
    let expected = "a list of numbers, one per harmonic of a season";
    let amplitudes = entry.need("amplitudes", expected)?;
    let numbers = amplitudes.numbers()?;
    match kind {
        ComponentKind::Season { .. } if numbers.is_empty() => return Err(amplitudes.wrong(expected)),
        ComponentKind::Season { .. } => {}
        _ if numbers.len() != 1 => return Err(amplitudes.wrong("a list of one number")),
        _ => {}
    }
    let length_scale = entry.need("length_scale", "a positive length-scale")?.length("length-scale")?;
    Ok(ComponentParameters { kind, length_scale, amplitudes: numbers })
}

fn season(entry: &Entry<'_>) -> Result<SharedSeason, ParameterError> {
    entry.has_only(&["period", "length_scale", "harmonics"])?;
    let harmonics = entry.need("harmonics", "a list of harmonics")?;
    let listed = harmonics.list("a list of harmonics")?;
    if listed.is_empty() {
        return Err(harmonics.wrong("at least one harmonic"));
    }
    let harmonic = |entry: &Entry<'_>| -> Result<SharedHarmonic, ParameterError> {
        entry.has_only(&["amplitudes", "phases"])?;
        let amplitudes = entry.need("amplitudes", "a number per output")?.numbers()?;
        let phases = entry.need("phases", "an angle in radians per output")?;
        let angles = phases.numbers()?;
        if angles.len() != amplitudes.len() {
            return Err(phases.wrong(format!("{} numbers, one per amplitude", amplitudes.len())));
        }
        Ok(SharedHarmonic { amplitudes, phases: angles })
    };
    Ok(SharedSeason {
        period: entry.need("period", "the period of the season, such as \"24h\"")?.length("period")?,
        length_scale: entry.need("length_scale", "a positive length-scale")?.length("length-scale")?,
        harmonics: listed.iter().map(harmonic).collect::<Result<_, _>>()?,
    })
}

pub(super) fn text(given: &TimeParameters, is_time: bool) -> String {
    let file = File {
        mean: if given.mean == MeanChoice::Linear { "linear" } else { "constant" },
        sums: given.sums.iter().map(|sum| sum.iter().map(|of| written(of, is_time)).collect()).collect(),
        mixing: &given.mixing,
        shared: given.shared.iter().map(|season| written_season(season, is_time)).collect(),
        noise: &given.noise,
    };
    serde_json::to_string_pretty(&file).unwrap_or_default()
}

fn written(of: &ComponentParameters, is_time: bool) -> Piece<'_> {
    let (period, quality) = match of.kind {
        ComponentKind::Season { period } => (Some(Length::new(period, is_time)), None),
        ComponentKind::Oscillator { quality } => (None, Some(quality)),
        ComponentKind::Kernel(_)
        | ComponentKind::Level
        | ComponentKind::Trend
        | ComponentKind::DampedTrend => (None, None),
    };
    let length_scale = Length::new(of.length_scale, is_time);
    Piece { piece: of.kind.name(), period, length_scale, quality, amplitudes: &of.amplitudes }
}

fn written_season(season: &SharedSeason, is_time: bool) -> Shared<'_> {
    let harmonics = season.harmonics.iter();
    Shared {
        period: Length::new(season.period, is_time),
        length_scale: Length::new(season.length_scale, is_time),
        harmonics: harmonics
            .map(|SharedHarmonic { amplitudes, phases }| Harmonic { amplitudes, phases })
            .collect(),
    }
}
