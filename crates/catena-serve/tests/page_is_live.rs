//! In a browser, a posted reading is drawn within a second, a correction moves the bands, and two browsers agree.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

#[path = "service/client.rs"]
#[allow(dead_code, reason = "each test uses a part")]
mod client;
#[path = "../../catena-store/tests/browser/devtools.rs"]
#[allow(dead_code, reason = "each test uses a part")]
mod devtools;
#[path = "service/harness.rs"]
#[allow(dead_code, reason = "each test uses a part")]
mod harness;

use std::time::{Duration, Instant};

use devtools::Browser;
use harness::{Folder, Service, line, wave};
use serde_json::{Value, json};

/// Opens the page of a service.
fn open(name: &str, service: &Service) -> Browser {
    let browser = Browser::start(name);
    browser.visit(&format!("http://{}/", service.address));
    browser.evaluate("document.querySelector('#outputs').scrollIntoView()");
    wait(&browser, "document.documentElement.dataset.version !== undefined", Duration::from_secs(20));
    browser
}

/// Waits until an expression is true; how long that took.
fn wait(browser: &Browser, expression: &str, most: Duration) -> Duration {
    let begun = Instant::now();
    while browser.evaluate(expression) != json!(true) {
        assert!(
            begun.elapsed() < most,
            "not within {most:?}: {expression}; {}",
            browser.evaluate("document.body.innerText")
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    begun.elapsed()
}

/// The page has drawn this version of the table.
fn drawn(version: &Value) -> String {
    format!("Number(document.documentElement.dataset.version) >= {version}")
}

/// A number that changes with any pixel of the chart of an output.
fn fingerprint(browser: &Browser, output: &str) -> Value {
    browser.settle();
    browser.evaluate(&format!(
        "(() => {{ const c = document.querySelector('[data-output={output}] canvas'); \
         const context = new OffscreenCanvas(c.width, c.height).getContext('2d', {{ willReadFrequently: true }}); \
         context.drawImage(c, 0, 0); const data = context.getImageData(0, 0, c.width, c.height).data; \
         let sum = 0; data.forEach((byte, at) => {{ sum = (sum * 31 + byte * (at % 251 + 1)) % 4294967291; }}); return sum; }})()"
    ))
}

/// What went wrong, apart from requests to the service itself.
fn assert_no_complaints(browser: &Browser) {
    let mut complaints = browser.complaints();
    complaints.retain(|complaint| !complaint.starts_with("request to http://127.0.0.1"));
    assert_eq!(complaints, Vec::<String>::new());
}

#[test]
fn readings_appear_within_a_second_and_two_browsers_agree() {
    let folder = Folder::with_model("page", 300);
    let service = folder.serve(&[]);
    let mut client = service.client();
    let browsers = ["page-one", "page-two"].map(|name| open(name, &service));
    let before = fingerprint(&browsers[0], "a");
    assert_eq!(before, fingerprint(&browsers[1], "a"));

    // The fastest of some, because other programs may use the machine.
    let mut fastest = Duration::MAX;
    let mut reply = json!(null);
    for number in 1..=5 {
        let t = 300.0 + f64::from(number);
        reply = client.post("/v1/readings", &line(t, &[("a", wave(t, 0))])).good();
        fastest = fastest.min(wait(&browsers[0], &drawn(&reply["version"]), Duration::from_secs(20)));
        wait(&browsers[1], &drawn(&reply["version"]), Duration::from_secs(20));
    }
    assert!(fastest < Duration::from_secs(1), "{fastest:?}");
    let after = fingerprint(&browsers[0], "a");
    assert_ne!(before, after);

    // The form corrects the reading, in one browser; both show other bands, also of another output.
    let other = fingerprint(&browsers[0], "c");
    browsers[0].evaluate(
        "(() => { const form = document.querySelector('#correct form'); const fields = form.querySelectorAll('input'); \
         form.querySelector('select').value = 'a'; fields[0].value = '305'; fields[1].value = '-2.5'; form.requestSubmit(); })()",
    );
    let version = json!(reply["version"].as_u64().unwrap() + 1);
    browsers.iter().for_each(|browser| {
        wait(browser, &drawn(&version), Duration::from_secs(20));
    });
    let corrected = fingerprint(&browsers[0], "a");
    assert_ne!(corrected, after);
    assert_ne!(fingerprint(&browsers[0], "c"), other);
    // The surprise is listed and marked in both.
    let listed = "document.querySelectorAll('#surprises tbody tr').length > 0";
    browsers.iter().for_each(|browser| {
        wait(browser, listed, Duration::from_secs(20));
    });
    std::thread::sleep(Duration::from_secs(1));
    for output in ["a", "b", "c"] {
        assert_eq!(fingerprint(&browsers[0], output), fingerprint(&browsers[1], output), "{output}");
    }
    // Its button fills the form; the value is removed.
    browsers[1].evaluate("document.querySelector('#surprises tbody button').click()");
    assert_eq!(browsers[1].evaluate("document.querySelector('#correct input').value"), json!("305"));
    browsers[1].evaluate(
        "[...document.querySelectorAll('#correct button')].find((button) => button.textContent === 'Remove').click()",
    );
    wait(
        &browsers[0],
        "document.querySelectorAll('#surprises tbody tr').length === 0",
        Duration::from_secs(5),
    );
    assert_eq!(client.get("/v1/range?from=305").good()["rows"][0].get("a"), None);
    browsers.iter().for_each(assert_no_complaints);
}

#[test]
fn the_keyboard_moves_zooms_and_picks_and_themes_change() {
    let folder = Folder::with_model("page_keys", 900);
    let service = folder.serve(&[]);
    let browser = open("page-keys", &service);
    let range = "document.querySelector('.range').textContent";
    let followed = browser.evaluate(range);
    browser.evaluate("document.querySelector('[data-output=a] .plot').focus()");
    browser.key("+");
    wait(&browser, &format!("{range} !== {followed}"), Duration::from_secs(20));
    let zoomed = browser.evaluate(range);
    for _ in 0..3 {
        browser.key("ArrowRight");
    }
    wait(
        &browser,
        "document.querySelector('[data-output=a] .readout').textContent.includes('mean')",
        Duration::from_secs(2),
    );
    browser.key("Enter");
    wait(&browser, "document.querySelector('#correct input').value !== ''", Duration::from_secs(20));
    browser.evaluate("document.querySelector('[data-output=a] .plot').focus()");
    browser.key("0");
    wait(&browser, &format!("{range} === {followed} && {range} !== {zoomed}"), Duration::from_secs(20));
    // The whole table is drawn as extremes.
    browser.evaluate("[...document.querySelectorAll('button')].find((button) => button.textContent === 'Everything').click()");
    wait(
        &browser,
        &format!("{range}.startsWith('-1') || {range}.startsWith('\\u22121')"),
        Duration::from_secs(2),
    );
    std::thread::sleep(Duration::from_millis(600));
    let light = fingerprint(&browser, "a");
    browser.evaluate("document.getElementById('theme').click()");
    assert_ne!(light, fingerprint(&browser, "a"));
    browser.resize(390, 800);
    std::thread::sleep(Duration::from_millis(800));
    assert_eq!(browser.evaluate("document.documentElement.scrollWidth <= 390"), json!(true));
    assert_no_complaints(&browser);
}

#[test]
fn the_page_asks_for_a_token() {
    let folder = Folder::with_model("page_token", 60);
    std::fs::write(folder.0.join("token"), "a-long-token-for-the-page").unwrap();
    let service = folder.serve(&["--write-token-file", "token"]);
    let browser = Browser::start("page-token");
    browser.call("Page.navigate", json!({ "url": format!("http://{}/", service.address) }));
    wait(&browser, "!!document.querySelector('input[name=token]')", Duration::from_secs(10));
    browser.evaluate("document.querySelector('input[name=token]').value = 'a-long-token-for-the-page'; document.querySelector('form').requestSubmit()");
    wait(&browser, "document.documentElement.dataset.version !== undefined", Duration::from_secs(10));
    assert_eq!(browser.evaluate("document.title"), json!("waves.csv"));
}
