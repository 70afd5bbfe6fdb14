//! The map of places: colors at a time, a place by clicking or keys, its bands, narrow and dark, without a complaint in the console.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

mod browser;

use browser::devtools::Browser;
use catena_store::report::{Axis, Bands, InputColumn, OutputSeries, Places, Report, Table, TimeZone};
use serde_json::{Value, json};

const PLACES: [[f64; 2]; 4] = [[40.7, -74.2], [40.6, -73.8], [40.8, -73.9], [41.1, -73.7]];
const N_TIMES: usize = 30;

/// Two outputs at four places; the last place has no row at the last time.
fn report() -> Report {
    let rows: Vec<(usize, usize)> = (0..N_TIMES)
        .flat_map(|time| (0..4).map(move |place| (time, place)))
        .filter(|row| *row != (N_TIMES - 1, 3))
        .collect();
    let column = |value: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
        rows.iter().map(|(time, place)| value(*time, *place)).collect()
    };
    let output = |name: &str, scale: f64| {
        let value = move |time: usize, place: usize| scale * ((0.3 * time as f64).sin() + place as f64);
        OutputSeries {
            name: name.to_owned(),
            observed: rows
                .iter()
                .map(|(time, place)| (time % 7 != 2).then(|| value(*time, *place)))
                .collect(),
            mean: column(&value),
            bands: Bands::Gaussian { std: column(&|_, _| 0.1 * scale) },
            ..OutputSeries::default()
        }
    };
    Report {
        title: "Four stations".to_owned(),
        table: Some(Table {
            inputs: vec![
                InputColumn { axis: Axis::number("lat", None), values: column(&|_, place| PLACES[place][0]) },
                InputColumn { axis: Axis::number("lon", None), values: column(&|_, place| PLACES[place][1]) },
                InputColumn {
                    axis: Axis::time("when", TimeZone::Naive),
                    values: column(&|time, _| 1.7e9 + 3600.0 * time as f64),
                },
            ],
            outputs: vec![output("temp", 4.0), output("wind", 2.0)],
            ..Table::default()
        }),
        places: Some(Places::LatLon),
        ..Report::default()
    }
}

/// The position of place `at` on the screen, from the labels of the axes.
fn on_screen(browser: &Browser, place: usize) -> (f64, f64) {
    let found = browser.evaluate(&format!(
        "(() => {{ const plot = document.querySelector('.places > .plot'), box = plot.getBoundingClientRect();
           const at = (selector, of) => [...plot.querySelectorAll(selector)].map(of);
           const x = at('.x-label', (n) => [Number(n.dataset.value), Number(n.getAttribute('x'))]);
           const number = (text) => Number(text.replace('\\u2212', '-'));
           const y = at('.y-label', (n) => [number(n.textContent), Number(n.getAttribute('y'))]);
           const line = (ends, value) => {{ const [a, b] = [ends[0], ends[ends.length - 1]];
             return a[1] + (value - a[0]) * (b[1] - a[1]) / (b[0] - a[0]); }};
           return [box.left + line(x, {}), box.top + line(y, {})]; }})()",
        PLACES[place][1], PLACES[place][0]
    ));
    (found[0].as_f64().unwrap(), found[1].as_f64().unwrap())
}

/// The color under a point of the screen, red, green, blue and opacity.
fn color(browser: &Browser, (x, y): (f64, f64)) -> Value {
    browser.evaluate(&format!(
        "(() => {{ const c = document.querySelector('.places > .plot canvas'), box = c.getBoundingClientRect();
           const copy = new OffscreenCanvas(c.width, c.height), context = copy.getContext('2d');
           context.drawImage(c, 0, 0);
           const scale = c.width / box.width;
           return [...context.getImageData(({x} - box.left) * scale, ({y} - box.top) * scale, 1, 1).data]; }})()"
    ))
}

fn chosen(browser: &Browser) -> Value {
    browser.evaluate("document.querySelector('.places').dataset.place")
}

fn heading(browser: &Browser) -> String {
    browser.evaluate("document.querySelector('.places h3').textContent").as_str().unwrap().to_owned()
}

#[test]
fn places_have_the_colors_of_a_time_and_their_bands_on_a_click() {
    let browser = Browser::start("places");
    browser.resize(1100, 1400);
    browser.open(&report().to_html().unwrap());
    let shown = || browser.evaluate("document.querySelector('.places .range').textContent");
    // The latest time; the last place has no row there and is hollow.
    assert!(shown().as_str().unwrap().starts_with("2023-11-16 03:13"), "{}", shown());
    let opaque = |place: usize| color(&browser, on_screen(&browser, place))[3] == json!(255);
    assert_eq!([0, 1, 2, 3].map(opaque), [true, true, true, false]);
    let before = color(&browser, on_screen(&browser, 2));
    assert_ne!(color(&browser, on_screen(&browser, 0)), before, "values differ between places");

    // An earlier time, with the button and with a key on the map.
    browser.evaluate("document.querySelector('.places button[aria-label=Earlier]').click()");
    assert!(shown().as_str().unwrap().starts_with("2023-11-16 02:13"), "{}", shown());
    assert!(opaque(3));
    browser.evaluate("document.querySelector('.places > .plot').focus()");
    for _ in 0..8 {
        browser.key("PageUp");
    }
    browser.settle();
    assert!(shown().as_str().unwrap().starts_with("2023-11-15 18:13"), "{}", shown());
    assert_ne!(color(&browser, on_screen(&browser, 2)), before, "values differ between times");

    // A click chooses a place; its chart has the rows of this place only.
    let (x, y) = on_screen(&browser, 3);
    for kind in ["mousePressed", "mouseReleased"] {
        browser.mouse(kind, x, y);
    }
    browser.settle();
    assert_eq!(heading(&browser), "lat 41.1000, lon \u{2212}73.7000");
    let figure = "document.querySelector('.place-series figure')";
    assert_eq!(browser.evaluate(&format!("{figure}.dataset.output")), json!("temp"));
    assert_eq!(browser.evaluate("document.querySelectorAll('.place-series figure').length"), json!(1));
    // Its values are around 3 · 4 = 12 and nowhere below 7.
    let lowest = browser.evaluate(&format!(
        "Math.min(...[...{figure}.querySelectorAll('.y-label')].map((label) => Number(label.textContent)))"
    ));
    assert!(lowest.as_f64().unwrap() >= 7.0, "{lowest}");

    // Arrow keys choose the neighbor in their direction.
    let north = chosen(&browser);
    browser.evaluate("document.querySelector('.places > .plot').focus()");
    browser.key("ArrowDown");
    assert_ne!(chosen(&browser), north);

    // Another output has its own chart.
    browser.evaluate(
        "(() => { const list = document.querySelector('.places select'); list.value = '1'; list.dispatchEvent(new Event('change')); })()",
    );
    browser.settle();
    assert_eq!(browser.evaluate(&format!("{figure}.dataset.output")), json!("wind"));
    assert_eq!(browser.complaints(), Vec::<String>::new());
    browser.screenshot("places.png");

    browser.prefer("dark");
    browser.resize(390, 900);
    browser.settle();
    let overflow =
        browser.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert_eq!(overflow, json!(0), "a phone needs no sideways scrolling");
    assert_eq!(color(&browser, on_screen(&browser, 0))[3], json!(255));
    browser.screenshot("places_phone.png");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
