//! Zoom, move, reset, hover, keys, theme, map, phone and paper work in a browser, without a complaint in the console.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

mod browser;
mod synthetic;

use std::time::{Duration, Instant};

use browser::devtools::Browser;
use browser::readback::{figure, place, x_ruler};
use catena_store::report::{Axis, Bands, InputColumn, OutputSeries, Report, Table, TimeZone, Warning};
use serde_json::{Value, json};

/// The text above the charts with the shown range.
const RANGE: &str = "document.querySelector('.range').textContent";

/// Labels of one output's horizontal axis.
fn ticks(browser: &Browser, output: usize) -> Value {
    browser.evaluate(&format!(
        "[...{}.querySelectorAll('.x-label')].map((label) => label.textContent)",
        figure(output)
    ))
}

/// Clicks a button by its text.
fn press(browser: &Browser, text: &str) {
    let query = format!(
        "[...document.querySelectorAll('button')].find((button) => button.textContent === {text:?}).click()"
    );
    browser.evaluate(&query);
    browser.settle();
}

/// A number that changes with any pixel of a canvas.
fn fingerprint(browser: &Browser, selector: &str) -> Value {
    browser.evaluate(&format!(
        "(() => {{ const c = document.querySelector({selector:?}); const copy = new OffscreenCanvas(c.width, c.height); \
         const context = copy.getContext('2d', {{ willReadFrequently: true }}); context.drawImage(c, 0, 0); \
         let sum = 0; context.getImageData(0, 0, c.width, c.height).data.forEach((byte, at) => \
         {{ sum = (sum * 31 + byte * (at % 251 + 1)) % 4294967291; }}); return sum; }})()"
    ))
}

fn assert_no_complaints(browser: &Browser) {
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn charts_zoom_move_and_reset_together() {
    let browser = Browser::start("zoom");
    browser.resize(1200, 1900);
    browser.open(&synthetic::time_report(2000, 5).to_html().unwrap());
    let whole = browser.evaluate(RANGE);
    let [left, top, width, height] = place(&browser, 1);
    let at = |share: f64| (left + share * width, top + 0.5 * height);

    // The wheel belongs to the page until a chart was clicked.
    browser.wheel(at(0.5).0, at(0.5).1, -240.0);
    assert_eq!(browser.evaluate(RANGE), whole);
    browser.evaluate("document.querySelector('#outputs').scrollIntoView()");
    browser.settle();

    browser.drag(at(0.3), at(0.6));
    let zoomed = browser.evaluate(RANGE);
    assert_ne!(zoomed, whole);
    for output in 0..5 {
        assert_eq!(ticks(&browser, output), ticks(&browser, 1), "all charts show one range");
    }
    // The dragged range fills the chart: a third of the range, three times as wide.
    let ruler = x_ruler(&browser, 1).unwrap();
    let shown = ruler.per_pixel * (width - 70.0) / 3600.0;
    assert!((shown - 2000.0 * 1.02 * 0.3 * width / (width - 70.0)).abs() < 12.0, "{shown} hours shown");

    browser.wheel(at(0.5).0, at(0.5).1, -240.0);
    let closer = x_ruler(&browser, 1).unwrap().per_pixel;
    assert!(closer < 0.9 * ruler.per_pixel, "after a click the wheel zooms");
    let shift = json!({ "type": "keyDown", "key": "ArrowRight", "modifiers": 8 });
    let before = x_ruler(&browser, 1).unwrap().zero;
    browser.call("Input.dispatchKeyEvent", shift);
    browser.settle();
    assert!(x_ruler(&browser, 1).unwrap().zero > before, "Shift and an arrow move");

    press(&browser, "Reset");
    assert_eq!(browser.evaluate(RANGE), whole);
    for button in ["+", "\u{2192}"] {
        press(&browser, button);
    }
    assert_ne!(browser.evaluate(RANGE), whole);
    for click in 1..=2 {
        for kind in ["mousePressed", "mouseReleased"] {
            let (x, y) = at(0.5);
            let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": click });
            browser.call("Input.dispatchMouseEvent", event);
        }
    }
    browser.settle();
    assert_eq!(browser.evaluate(RANGE), whole, "a double click resets");
    assert_no_complaints(&browser);
}

#[test]
fn keys_hover_themes_and_tables_work() {
    let browser = Browser::start("keys");
    browser.resize(1200, 1900);
    browser.prefer("light");
    browser.open(&synthetic::time_report(2000, 5).to_html().unwrap());

    browser.evaluate(&format!("{}.querySelector('.plot').focus()", figure(3)));
    browser.key("ArrowRight");
    let first = browser.evaluate("document.querySelector('#tooltip strong').textContent");
    browser.key("ArrowRight");
    let second = browser.evaluate("document.querySelector('#tooltip strong').textContent");
    assert_ne!(first, second, "an arrow key reads the next row");
    let readouts = browser.evaluate(
        "[...document.querySelectorAll('.readout')].filter((one) => one.textContent.includes('mean')).length",
    );
    assert_eq!(readouts, json!(5), "every chart tells its value at the cursor");
    browser.key("Escape");
    assert_eq!(browser.evaluate("document.querySelector('#tooltip').hidden"), json!(true));

    let theme = "[document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor]";
    let (light, canvas) = (browser.evaluate(theme), fingerprint(&browser, "figure.series canvas"));
    browser.prefer("dark");
    let dark = browser.evaluate(theme);
    assert_eq!((&light[0], &dark[0]), (&json!("light"), &json!("dark")));
    assert_ne!(light[1], dark[1]);
    assert_ne!(
        fingerprint(&browser, "figure.series canvas"),
        canvas,
        "charts are drawn in the colors of the theme"
    );
    browser.screenshot("dark.png");
    press(&browser, "Light");
    assert_eq!(browser.evaluate(theme), light);
    assert_eq!(fingerprint(&browser, "figure.series canvas"), canvas, "and come back exactly");
    browser.screenshot("light.png");

    let paper = std::fs::read(browser.print("paper.pdf")).unwrap();
    assert!(paper.len() > 100_000, "the printed page has {} bytes", paper.len());
    assert_eq!(browser.evaluate(theme), light, "printing leaves the screen as it was");
    check_tables(&browser);
    assert_no_complaints(&browser);
}

/// Heat maps and tables show the numbers given.
fn check_tables(browser: &Browser) {
    let report = synthetic::time_report(300, 5);
    browser.open(&report.to_html().unwrap());
    let model = report.model.as_ref().unwrap();
    for (at, matrix) in [&model.mixing, &model.correlation].iter().enumerate() {
        let cells = browser.evaluate(&format!(
            "[...document.querySelectorAll('.heat')[{at}].querySelectorAll('tbody td')].map((cell) => \
             [Number(cell.textContent.replace('\\u2212', '-')), Number(cell.dataset.value)])"
        ));
        let numbers: Vec<f64> = matrix.iter().flatten().copied().collect();
        assert_eq!(cells.as_array().unwrap().len(), numbers.len());
        for (cell, number) in cells.as_array().unwrap().iter().zip(numbers) {
            assert!((cell[0].as_f64().unwrap() - number).abs() < 0.005_001, "{cell} is not {number}");
            assert!((cell[1].as_f64().unwrap() - number).abs() < 1e-12, "{cell} is not {number}");
        }
    }
    let text = browser.evaluate("document.body.innerText");
    let text = text.as_str().unwrap();
    for expected in [
        "0.2130",
        "ridge on the other outputs",
        "2.6d",
        "3 latents, Matérn-3/2",
        "0.312",
        "18655.2",
        "sha256:",
    ] {
        assert!(text.contains(expected), "the page lacks {expected}");
    }
    let chosen = browser
        .evaluate("[...document.querySelectorAll('#search .marked th')].map((cell) => cell.textContent)");
    assert_eq!(chosen, json!(["3 latents, Matérn-3/2 / Matérn-1/2chosen"]));
}

#[test]
fn points_of_two_and_three_inputs_are_drawn_with_their_structure() {
    let browser = Browser::start("map");
    browser.resize(1200, 1700);
    for dim in [2, 3] {
        browser.open(&synthetic::map_report(400, dim).to_html().unwrap());
        let canvas = ".map canvas";
        let begun = fingerprint(&browser, canvas);
        browser.screenshot(&format!("map{dim}.png"));
        browser.evaluate("document.querySelector('.map input').click()");
        let bare = fingerprint(&browser, canvas);
        assert_ne!(begun, bare, "edges can be hidden");
        browser.evaluate("document.querySelector('.map input').click()");
        let select = "(() => { const s = document.querySelector('.map select'); s.value = '1'; s.dispatchEvent(new Event('change')); })()";
        browser.evaluate(select);
        let other = fingerprint(&browser, canvas);
        assert_ne!(begun, other, "another output has other colors");
        let spot = browser.evaluate("(() => { const b = document.querySelector('.map .plot').getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; })()");
        let spot = (spot[0].as_f64().unwrap(), spot[1].as_f64().unwrap());
        browser.drag(spot, (spot.0 + 60.0, spot.1 + 30.0));
        assert_ne!(fingerprint(&browser, canvas), other, "dragging moves or turns");
        press(&browser, "Reset");
        assert_eq!(fingerprint(&browser, canvas), other, "reset brings it back");
        let found = (0..30).any(|step| {
            browser.mouse("mouseMoved", spot.0 - 90.0 + 6.0 * f64::from(step), spot.1);
            browser.settle();
            browser.evaluate("!!document.querySelector('#tooltip:not([hidden])')?.innerText.includes('lead')")
                == json!(true)
        });
        assert!(found, "a point under the mouse tells its row");
        let squares = browser.evaluate("document.querySelectorAll('.squares figure').length");
        assert_eq!(squares, json!(2), "predicted against observed, a square per output");
    }
    assert_no_complaints(&browser);
}

/// Inputs are written in their zone and unit.
fn check_axes(browser: &Browser) {
    let zone = |minutes| Axis::time("time", TimeZone::MinutesAheadOfUtc(minutes));
    let cases = [
        (zone(120), 0.0, 3600.0, "1970-01-01 02:00 +02:00"),
        (zone(-90), 0.0, 86_400.0, "1969-12-31 22:30 \u{2212}01:30"),
        (zone(0), 1_709_164_799.5, 1.0, "2024-02-28 23:59:59.500 UTC"),
        (Axis::time("day", TimeZone::Naive), 1_709_164_800.0, 86_400.0, "2024-02-29"),
        (Axis::number("depth", Some("m")), -3.25, 0.5, "\u{2212}3.250 m"),
    ];
    for (axis, first, step, expected) in cases {
        let values = vec![first, first + step, first + 2.0 * step];
        let output = OutputSeries {
            name: "value".into(),
            observed: vec![None; 3],
            mean: vec![0.0; 3],
            bands: Bands::Gaussian { std: vec![1.0; 3] },
            ..OutputSeries::default()
        };
        let table =
            Table { inputs: vec![InputColumn { axis, values }], outputs: vec![output], ..Table::default() };
        browser.open(&Report { table: Some(table), ..Report::default() }.to_html().unwrap());
        let [left, top, _, height] = place(browser, 0);
        browser.mouse("mouseMoved", left + 60.0, top + height / 2.0);
        browser.settle();
        assert_eq!(
            browser.evaluate("document.querySelector('#tooltip strong').textContent"),
            json!(expected)
        );
        assert!(ticks(browser, 0).as_array().unwrap().len() > 1, "too few ticks for {expected}");
    }
}

#[test]
fn names_are_text_and_a_phone_needs_no_sideways_scrolling() {
    let browser = Browser::start("phone");
    browser.resize(390, 844);
    let nasty = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>\"&amp;{{data}}<!--";
    let mut report = synthetic::time_report(500, 5);
    report.title = nasty.to_owned();
    report.warnings.push(Warning { message: nasty.to_owned(), advice: Some(nasty.to_owned()) });
    report.table.as_mut().unwrap().outputs[0].name = nasty.to_owned();
    report.model.as_mut().unwrap().outputs[0] = nasty.to_owned();
    report.search.as_mut().unwrap().candidates[0].description = nasty.to_owned();
    browser.open(&report.to_html().unwrap());
    assert_eq!(browser.evaluate("typeof window.hacked"), json!("undefined"));
    for query in [
        "document.title",
        "document.querySelector('h1').textContent",
        "document.querySelector('.series .name').textContent",
    ] {
        assert_eq!(browser.evaluate(query), json!(nasty));
    }
    let widths = browser.evaluate("[document.documentElement.scrollWidth, window.innerWidth]");
    assert_eq!(widths, json!([390, 390]));
    browser.open(&synthetic::time_report(500, 5).to_html().unwrap());
    browser.unroll(390);
    browser.screenshot("phone.png");
    assert_eq!(browser.evaluate("document.documentElement.scrollWidth"), json!(390));
    assert_no_complaints(&browser);
}

#[test]
fn large_tables_all_axes_and_odd_tables_open() {
    let browser = Browser::start("large");
    let page = synthetic::time_report(100_000, 7).to_html().unwrap();
    let begun = Instant::now();
    browser.open(&page);
    let open = begun.elapsed();
    eprintln!("10⁵ rows × 7 outputs: {:.1} MB, drawn after {open:.2?}", page.len() as f64 / 1e6);
    assert!(open < Duration::from_secs(10), "took {open:?}");
    let time = browser.evaluate("(() => { const t = performance.now(); document.querySelector('#theme').click(); return performance.now() - t; })()");
    eprintln!("drawing again takes {time} ms");

    check_axes(&browser);
    // Only a title; one row; all cells missing; a constant; numbers without a prediction.
    browser.open(&Report { title: "empty".into(), ..Report::default() }.to_html().unwrap());
    for (values, observed, mean) in [
        (vec![3.0], vec![Some(2.0)], vec![2.0]),
        (vec![1.0, 2.0], vec![None, None], vec![f64::NAN, f64::NAN]),
        (vec![5.0, 5.0, 5.0], vec![Some(1.0); 3], vec![1.0; 3]),
        (vec![], vec![], vec![]),
    ] {
        let mut report = synthetic::time_report(10, 1);
        let table = report.table.as_mut().unwrap();
        let std = vec![0.0; mean.len()];
        table.inputs[0].values = values;
        table.outputs = vec![OutputSeries {
            name: "odd".into(),
            observed,
            mean,
            bands: Bands::Gaussian { std },
            ..OutputSeries::default()
        }];
        browser.open(&report.to_html().unwrap());
        press(&browser, "+");
        let [left, top, width, height] = place(&browser, 0);
        browser.mouse("mouseMoved", left + width / 2.0, top + height / 2.0);
        browser.settle();
    }
    assert_no_complaints(&browser);
}

/// Rows of the longest run of missing cells of an output.
fn longest_gap(series: &OutputSeries) -> (usize, usize) {
    let mut longest = (0, 0);
    let mut begin = None;
    for (row, value) in series.observed.iter().chain([&Some(0.0)]).enumerate() {
        match (value, begin) {
            (None, None) => begin = Some(row),
            (Some(_), Some(first)) => {
                if row - first > longest.1 - longest.0 {
                    longest = (first, row);
                }
                begin = None;
            }
            _ => {}
        }
    }
    longest
}

#[test]
fn the_page_opens_on_the_longest_gaps() {
    let browser = Browser::start("gaps");
    browser.resize(1200, 1900);
    let report = synthetic::time_report(2000, 5);
    browser.open(&report.to_html().unwrap());
    let first = browser.evaluate("document.querySelector('section').id");
    assert_eq!(first, json!("gaps"));

    let outputs = &report.table.as_ref().unwrap().outputs;
    let mut expected: Vec<(usize, &str)> = outputs
        .iter()
        .map(|series| {
            let (from, to) = longest_gap(series);
            (to - from, series.name.as_str())
        })
        .collect();
    expected.sort_by_key(|gap| std::cmp::Reverse(gap.0));
    let drawn = browser.evaluate(
        "[...document.querySelectorAll('.gap-figure')].map((one) => \
         [one.querySelector('.name').textContent, one.querySelector('.readout').textContent])",
    );
    let drawn = drawn.as_array().unwrap();
    assert_eq!(drawn.len(), expected.len(), "one chart per output");
    for (found, (n_cells, name)) in drawn.iter().zip(expected) {
        assert_eq!(found[0], json!(name), "the longest gap comes first");
        let words = found[1].as_str().unwrap();
        assert!(words.contains(&format!(", {n_cells} cells")), "{name}: {words}, expected {n_cells} cells");
    }
    let blank = browser.evaluate(
        "[...document.querySelectorAll('.gap-figure canvas')].filter((c) => c.getContext('2d').getImageData(0, 0, c.width, c.height)\
         .data.every((byte) => byte === 0)).length",
    );
    assert_eq!(blank, json!(0), "every gap is drawn");
    let listed = browser.evaluate("document.querySelectorAll('#gaps tbody tr').length");
    assert_eq!(listed, json!(12));

    // A complete table has nothing to fill.
    let mut complete = report.clone();
    for series in &mut complete.table.as_mut().unwrap().outputs {
        series.observed = series.mean.iter().map(|mean| Some(*mean)).collect();
    }
    browser.open(&complete.to_html().unwrap());
    assert_eq!(browser.evaluate("document.querySelector('#gaps')"), Value::Null);
    assert_no_complaints(&browser);
}
