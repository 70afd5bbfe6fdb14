//! `--transforms` names the transform of each output, and `--point` chooses between mean and median.

use crate::harness::{Folder, columns, numbers};

/// A positive and a signed output, both skewed, along a numeric input; some cells of the first are missing.
fn table() -> String {
    let row = |at: usize| {
        // Noise: the fractions of a sine that changes fast.
        let noise = (43_758.545 * (at as f64 * 12.9898 + 1.0).sin()).fract();
        let z = 2.5 + (at as f64 / 8.0).sin() + 0.6 * noise;
        let flow =
            if (30..36).contains(&at) { String::new() } else { format!("{:.3}", (1.0 + 0.4 * z).powf(2.5)) };
        format!("{at},{flow},{:.3}\n", (z - 2.5).sinh().powi(3))
    };
    format!("time,flow,change\n{}", (0..120).map(row).collect::<String>())
}

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("t.csv", table());
    folder
}

#[test]
fn transforms_by_name_are_in_the_summary_and_medians_in_the_table() {
    let folder = folder("transforms_by_name");
    let words = "t.csv --budget quick --transforms flow=box-cox,change=yeo-johnson";
    let fit = folder.run(&format!("fit {words} --json -o m.catena")).succeeded();
    let outputs = fit.json()["outputs"].clone();
    for (output, kind) in ["box-cox", "yeo-johnson"].into_iter().enumerate() {
        assert_eq!(outputs[output]["transform"], kind);
        assert!((0.0..=2.0).contains(&outputs[output]["exponent"].as_f64().unwrap()));
    }
    let means = columns(folder.run("predict m.catena").succeeded().text());
    let medians = columns(folder.run("predict m.catena --point median --quantiles 0.5").succeeded().text());
    for name in ["flow", "change"] {
        assert_eq!(medians[&format!("{name}_median")], medians[&format!("{name}_q0.5")]);
        assert_eq!(medians[&format!("{name}_std")], means[&format!("{name}_std")]);
        assert_ne!(medians[&format!("{name}_median")], means[&format!("{name}_mean")]);
    }
    // A concave transform has a mean above the median.
    let (mean, median) = (numbers(&means, "flow_mean"), numbers(&medians, "flow_median"));
    assert!(mean.iter().zip(&median).all(|(mean, median)| mean > median));
    // Filled cells, from the file as a whole and in blocks, and forecasts.
    folder.run("impute t.csv --model m.catena --point median --digits full -o whole.csv").succeeded();
    folder
        .run("impute t.csv --model m.catena --point median --digits full --max-memory 200MB -o blocks.csv")
        .succeeded();
    let (whole, blocks) = (columns(&folder.read("whole.csv")), columns(&folder.read("blocks.csv")));
    for row in 30..36 {
        for table in [&whole, &blocks] {
            let filled = numbers(table, "flow")[row];
            // The same sweep in another form.
            assert!((filled / median[row] - 1.0).abs() < 1e-9, "row {row}: {filled} {}", median[row]);
        }
    }
    let ahead = folder.run(&format!("forecast {words} --horizon 2 --point median")).succeeded();
    assert!(columns(ahead.text()).contains_key("flow_median"));
}

#[test]
fn unknown_words_and_outputs_and_values_without_a_power_are_refused() {
    let folder = folder("transforms_refused");
    for (words, message) in [
        (
            "flow=cube",
            "write auto, none, log, box-cox or yeo-johnson, or one per output such as rain=log,flow=box-cox",
        ),
        ("snow=log", "transforms names the output snow, but the table has the outputs flow, change"),
        ("change=log", "column change: this value is not positive, which log and box-cox need"),
        ("none,none", "every output has two transforms; write one"),
    ] {
        let outcome = folder.run(&format!("impute t.csv --budget quick --transforms {words} -o out.csv"));
        assert!(outcome.code == 2 && outcome.stderr.contains(message), "{words}: {}", outcome.stderr);
    }
    let outcome = folder.run("impute t.csv --point mode -o out.csv");
    assert!(outcome.code == 2 && outcome.stderr.contains("write mean or median"), "{}", outcome.stderr);
    assert_eq!(folder.names(), ["t.csv"]);
}

#[test]
fn scores_over_several_outputs_are_in_standard_deviations_of_the_outputs() {
    let folder = folder("scores_in_deviations");
    folder.run("fit t.csv --budget quick --transforms flow=log,change=yeo-johnson -o m.catena").succeeded();
    let scores = folder.run("score m.catena t.csv --json").succeeded().json()["scores"].clone();
    let table = columns(&folder.read("t.csv"));
    let deviation = |name: &str| {
        let values: Vec<f64> = numbers(&table, name).into_iter().filter(|value| !value.is_nan()).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
    };
    let number = |at: usize, key: &str| scores[at][key].as_f64().unwrap();
    let squares =
        |at: usize, name: &str| number(at, "cells") * (number(at, "rmse") / deviation(name)).powi(2);
    let expected = (squares(0, "flow") + squares(1, "change")) / (number(0, "cells") + number(1, "cells"));
    let found = number(2, "rmse").powi(2);
    // The deviations divide by n or by n − 1.
    assert!((found / expected - 1.0).abs() < 0.02, "{found} instead of {expected}: {scores}");
}
