//! Values read back from the drawn page equal the numbers it was given, and a page that draws others is caught.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

mod browser;
mod synthetic;

use browser::devtools::Browser;
use browser::readback::{check_output, check_page};
use catena_store::report::{Bands, OutputSeries, Report};

/// Hours in the table: long enough to zoom, short enough to be quick.
const N_ROWS: usize = 2000;

/// The page of a changed report, compared with the numbers of the unchanged one.
fn verdict(browser: &Browser, truth: &Report, change: impl Fn(&mut OutputSeries)) -> Result<(), String> {
    let mut changed = truth.clone();
    change(&mut changed.table.as_mut().unwrap().outputs[2]);
    browser.open(&changed.to_html().unwrap());
    check_output(browser, truth, 2)
}

#[test]
fn drawn_values_equal_given() {
    let browser = Browser::start("values");
    browser.resize(1200, 1900);
    let report = synthetic::time_report(N_ROWS, 5);
    browser.open(&report.to_html().unwrap());
    assert_eq!(check_page(&browser, &report), Ok(()));

    let shot = browser.screenshot("zoomed.png");
    assert!(std::fs::metadata(shot).unwrap().len() > 20_000, "the screenshot is nearly empty");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_page_that_draws_other_values_is_caught() {
    let browser = Browser::start("wrong");
    browser.resize(1200, 1900);
    let report = synthetic::time_report(N_ROWS, 5);

    assert_eq!(verdict(&browser, &report, |_| ()), Ok(()), "the unchanged page must pass");
    let mut blanked = report.clone();
    let output = &mut blanked.table.as_mut().unwrap().outputs[2];
    output.mean.fill(f64::NAN);
    output.observed.fill(None);
    browser.open(&blanked.to_html().unwrap());
    let found = check_page(&browser, &report);
    assert!(found.as_ref().is_err_and(|why| why.contains("pressure")), "{found:?}");

    // A tenth of the swing up, a fifth wider, and one hour late.
    let raised = verdict(&browser, &report, |output| output.mean.iter_mut().for_each(|mean| *mean += 0.9));
    assert!(raised.as_ref().is_err_and(|why| why.contains("pressure")), "{raised:?}");
    let widened = verdict(&browser, &report, |output| {
        if let Bands::Gaussian { std } = &mut output.bands {
            std.iter_mut().for_each(|std| *std *= 1.2);
        }
    });
    assert!(widened.as_ref().is_err_and(|why| why.contains("band")), "{widened:?}");
    let late = verdict(&browser, &report, |output| output.mean.rotate_right(1));
    assert!(late.as_ref().is_err_and(|why| why.contains("pressure")), "{late:?}");
    let gaps_filled = verdict(&browser, &report, |output| {
        output.observed.iter_mut().zip(&output.mean).for_each(|(cell, &mean)| *cell = cell.or(Some(mean)));
    });
    assert!(gaps_filled.as_ref().is_err_and(|why| why.contains("pressure")), "{gaps_filled:?}");

    let page = report.to_html().unwrap();
    // The numbers are all there and hover works, but one canvas stays empty.
    let erased = page.replacen(
        "strokeMean(context, found, styleValue(\"--accent\"));",
        "if (output.name !== \"oxygen\") strokeMean(context, found, styleValue(\"--accent\"));",
        1,
    );
    assert_ne!(page, erased, "the sentence to replace is gone");
    browser.open(&erased);
    let found = check_output(&browser, &report, 4);
    assert!(found.as_ref().is_err_and(|why| why.contains("oxygen") && why.contains("no mean")), "{found:?}");
}
