//! Reads values back from what a page drew (pixels, tick labels, hover text) and compares them with the numbers given.
//!
//! Nothing here looks into the page's own variables: scales come from the labels of the axes, means and bands from the
//! pixels of the canvas, as an eye would take them.

use catena_store::report::{Bands, OutputSeries, Report};
use serde_json::Value;

use super::devtools::Browser;

/// A straight map from pixels to values, fitted to labels of an axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ruler {
    pub(crate) zero: f64,
    pub(crate) per_pixel: f64,
}

impl Ruler {
    fn through(labels: &[(f64, f64)]) -> Result<Self, String> {
        let (Some(first), Some(last)) = (labels.first(), labels.last()) else {
            return Err("no labels".to_owned());
        };
        if labels.len() < 2 {
            return Err(format!("an axis needs two labels: {labels:?}"));
        }
        let per_pixel = (last.1 - first.1) / (last.0 - first.0);
        Ok(Self { zero: first.1 - per_pixel * first.0, per_pixel })
    }

    pub(crate) fn value(self, pixel: f64) -> f64 {
        self.zero + self.per_pixel * pixel
    }

    pub(crate) fn pixel(self, value: f64) -> f64 {
        (value - self.zero) / self.per_pixel
    }
}

/// The figure of an output, as an expression.
pub(crate) fn figure(output: usize) -> String {
    format!("document.querySelectorAll('figure.series')[{output}]")
}

/// Where the chart of an output is in the window: left, top, width, height.
pub(crate) fn place(browser: &Browser, output: usize) -> [f64; 4] {
    let found = browser.evaluate(&format!(
        "(() => {{ const b = {}.querySelector('.plot').getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; }})()",
        figure(output)
    ));
    [0, 1, 2, 3].map(|at| found[at].as_f64().unwrap())
}

fn labels(browser: &Browser, output: usize, class: &str, value: &str) -> Vec<(f64, f64)> {
    let found = browser.evaluate(&format!(
        "[...{}.querySelectorAll('.{class}')].map((label) => [Number(label.getAttribute('{}')), {value}])",
        figure(output),
        if class == "x-label" { "x" } else { "y" },
    ));
    let pairs = found.as_array().unwrap().iter();
    pairs.map(|pair| (pair[0].as_f64().unwrap(), pair[1].as_f64().unwrap())).collect()
}

/// The horizontal axis of an output's chart.
pub(crate) fn x_ruler(browser: &Browser, output: usize) -> Result<Ruler, String> {
    Ruler::through(&labels(browser, output, "x-label", "Number(label.dataset.value)"))
}

/// The vertical axis, from its labels.
pub(crate) fn y_ruler(browser: &Browser, output: usize) -> Result<Ruler, String> {
    Ruler::through(&labels(browser, output, "y-label", "Number(label.textContent.replace('\\u2212', '-'))"))
}

/// Red, green, blue and opacity down one pixel column of an output's canvas, read from a copy of that column.
fn column(browser: &Browser, output: usize, x: f64) -> Vec<[u8; 4]> {
    let found = browser.evaluate(&format!(
        "(() => {{ const c = {}.querySelector('canvas'); const copy = new OffscreenCanvas(1, c.height); \
         const context = copy.getContext('2d', {{ willReadFrequently: true }}); context.drawImage(c, {}, 0); \
         return [...context.getImageData(0, 0, 1, c.height).data]; }})()",
        figure(output),
        -x.floor()
    ));
    let bytes: Vec<u8> = found.as_array().unwrap().iter().map(|byte| byte.as_u64().unwrap() as u8).collect();
    bytes.chunks(4).map(|pixel| [pixel[0], pixel[1], pixel[2], pixel[3]]).collect()
}

/// Middle of the pixels that satisfy a condition, and the ends of their range.
fn run_of(pixels: &[[u8; 4]], is_in: impl Fn(&[u8; 4]) -> bool) -> Option<(f64, f64, f64)> {
    let rows: Vec<usize> = (0..pixels.len()).filter(|&row| is_in(&pixels[row])).collect();
    let (first, last) = (*rows.first()?, *rows.last()?);
    Some(((first + last + 1) as f64 / 2.0, first as f64, (last + 1) as f64))
}

/// Ends of the 50 % and 95 % bands of a row, lower then upper.
pub(crate) fn band_ends(output: &OutputSeries, row: usize) -> [[f64; 2]; 2] {
    match &output.bands {
        Bands::Gaussian { std } => [0.674_489_75, 1.959_963_98]
            .map(|width| [output.mean[row] - width * std[row], output.mean[row] + width * std[row]]),
        Bands::Quantiles { lo50, hi50, lo95, hi95 } => [[lo50[row], hi50[row]], [lo95[row], hi95[row]]],
    }
}

/// A drawn edge is at the right place within this many pixels: half for the sample's column, one for smoothed edges.
const PIXELS: f64 = 1.5;

/// Compares one cell's drawn mean with the number given.
pub(crate) fn check_mean(
    browser: &Browser,
    output: usize,
    series: &OutputSeries,
    x: f64,
    row: usize,
) -> Result<(), String> {
    let ruler = y_ruler(browser, output)?;
    let pixels = column(browser, output, x);
    // The theme's accent is blue and opaque; points are grey, bands are transparent.
    let line =
        run_of(&pixels, |[red, _, blue, opacity]| *opacity > 190 && i32::from(*blue) - i32::from(*red) > 60);
    let Some((middle, ..)) = line else { return Err(format!("`{}`, row {row}: no mean drawn", series.name)) };
    let off = (middle - ruler.pixel(series.mean[row])).abs();
    if off > PIXELS {
        let drawn = ruler.value(middle);
        return Err(format!(
            "`{}`, row {row}: mean drawn at {drawn}, given {} ({off:.1} pixels off)",
            series.name, series.mean[row]
        ));
    }
    Ok(())
}

/// Compares the drawn bands at a missing cell, where no point hides them, with the given numbers.
pub(crate) fn check_bands(
    browser: &Browser,
    output: usize,
    series: &OutputSeries,
    x: f64,
    row: usize,
) -> Result<(), String> {
    let ruler = y_ruler(browser, output)?;
    let pixels = column(browser, output, x);
    for (ends, least_opacity, name) in [(0, 70, "50 %"), (1, 20, "95 %")] {
        let band = run_of(&pixels, |pixel| pixel[3] > least_opacity);
        let Some((_, top, bottom)) = band else {
            return Err(format!("`{}`, row {row}: no {name} band drawn", series.name));
        };
        let [lo, hi] = band_ends(series, row)[ends];
        let off = (top - ruler.pixel(hi)).abs().max((bottom - ruler.pixel(lo)).abs());
        if off > PIXELS {
            let drawn = (ruler.value(bottom), ruler.value(top));
            return Err(format!(
                "`{}`, row {row}: {name} band drawn {drawn:?}, given {lo} to {hi} ({off:.1} pixels off)",
                series.name
            ));
        }
    }
    Ok(())
}

/// Points at a row and compares every line of the hover text with the numbers given.
pub(crate) fn check_hover(
    browser: &Browser,
    output: usize,
    report: &Report,
    x: f64,
    row: usize,
) -> Result<(), String> {
    let table = report.table.as_ref().unwrap();
    let series = &table.outputs[output];
    let [left, top, _, height] = place(browser, output);
    browser.mouse("mouseMoved", left + x, top + height / 2.0);
    browser.settle();
    let heading = browser.evaluate("document.querySelector('#tooltip strong').textContent");
    let expected = clock(table.inputs[0].values[row]);
    if heading.as_str() != Some(&expected) {
        return Err(format!("`{}`: hover shows {heading}, expected {expected}", series.name));
    }
    let lines = browser.evaluate(
        "Object.fromEntries([...document.querySelectorAll('#tooltip dt')].map((dt) => [dt.textContent.slice(0, 2), dt.nextSibling.textContent]))",
    );
    let [[lo50, hi50], [lo95, hi95]] = band_ends(series, row);
    let at = |label: &str, numbers: &[f64]| {
        same_numbers(&lines[label], numbers)
            .map_err(|why| format!("`{}`, row {row}, {label}: {why}", series.name))
    };
    at("me", &[series.mean[row]])?;
    at("50", &[lo50, hi50])?;
    at("95", &[lo95, hi95])?;
    match series.observed[row] {
        Some(value) => at("ob", &[value]),
        None if lines["ob"] == "missing" => Ok(()),
        None => Err(format!("`{}`, row {row}: a missing cell shows {}", series.name, lines["ob"])),
    }
}

/// Whether a text begins with these numbers, each right to its last digit.
fn same_numbers(text: &Value, expected: &[f64]) -> Result<(), String> {
    let text = text.as_str().ok_or("no such line")?.replace('\u{2212}', "-");
    let found: Vec<&str> = text.split_whitespace().filter(|word| word.parse::<f64>().is_ok()).collect();
    if found.len() < expected.len() {
        return Err(format!("`{text}` has too few numbers"));
    }
    for (word, &number) in found.iter().zip(expected) {
        let decimals = word.split_once('.').map_or(0, |(_, digits)| digits.len());
        // Half of the last digit, and single precision of a difference from the output's center.
        let tolerance = 0.5001 * 10_f64.powi(-(decimals as i32)) + 1e-6 * number.abs();
        let off = (word.parse::<f64>().unwrap() - number).abs();
        if off > tolerance || decimals == 0 && number.abs() < 10.0 {
            return Err(format!("`{word}` is not {number}"));
        }
    }
    Ok(())
}

/// Seconds since 1970 as year-month-day hour:minute, by counting days.
fn clock(seconds: f64) -> String {
    let minutes = (seconds / 60.0).round() as i64;
    let (mut days, minute) = (minutes.div_euclid(1440), minutes.rem_euclid(1440));
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let mut year = 1970;
    while days >= 365 + i64::from(is_leap(year)) {
        days -= 365 + i64::from(is_leap(year));
        year += 1;
    }
    let lengths = [31, 28 + i64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    format!("{year}-{:02}-{:02} {:02}:{:02}", month + 1, days + 1, minute / 60, minute % 60)
}

/// Zooms to a window around an output's first long gap and compares means at four cells, bands at three missing cells, and hover
/// text at a missing and at an observed cell.
pub(crate) fn check_output(browser: &Browser, report: &Report, output: usize) -> Result<(), String> {
    let table = report.table.as_ref().unwrap();
    let (values, series) = (&table.inputs[0].values, &table.outputs[output]);
    let gap =
        series.observed.windows(20).position(|cells| cells.iter().all(Option::is_none)).ok_or("no gap")?;
    browser.evaluate(
        "[...document.querySelectorAll('button')].find((button) => button.textContent === 'Reset').click()",
    );
    browser.settle();
    let ruler = x_ruler(browser, output)?;
    let [left, top, _, height] = place(browser, output);
    let across = |row: usize| (left + ruler.pixel(values[row]), top + height / 2.0);
    browser.drag(across(gap.saturating_sub(40)), across(gap + 60));
    let ruler = x_ruler(browser, output)?;
    for row in [gap - 30, gap - 15, gap + 10, gap + 45] {
        check_mean(browser, output, series, ruler.pixel(values[row]), row)?;
    }
    for row in [gap + 4, gap + 9, gap + 17] {
        check_bands(browser, output, series, ruler.pixel(values[row]), row)?;
    }
    let seen = (gap - 25..gap).find(|&row| series.observed[row].is_some()).ok_or("no observed cell")?;
    for row in [gap + 12, seen] {
        check_hover(browser, output, report, ruler.pixel(values[row]), row)?;
    }
    Ok(())
}

/// The same for every output: with five, means at 20 cells.
pub(crate) fn check_page(browser: &Browser, report: &Report) -> Result<(), String> {
    (0..report.table.as_ref().unwrap().outputs.len())
        .try_for_each(|output| check_output(browser, report, output))
}
