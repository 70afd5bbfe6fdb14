//! `report`, `compare`, `demo`, help, completion and manual pages.

use crate::harness::{Folder, columns, numbers, prepared, waves, wide};

#[test]
fn a_report_is_one_page_with_the_data_inside() {
    let folder = prepared("report");
    folder.run("fit waves.csv --no-learn --parameters p.json -o m.catena").succeeded();
    folder.run("report m.catena -o page.html --title Waves").succeeded();
    let page = folder.read("page.html");
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    for piece in ["<title>Waves</title>", "temp", "salt", "6h", "sha256:"] {
        assert!(page.contains(piece), "{piece}");
    }
    assert!(
        !page.contains("src=\"http") && !page.contains("href=\"http"),
        "the page must not need a network"
    );
}

#[test]
fn compare_ranks_methods_by_error_and_names_the_best() {
    let folder = Folder::new("compare");
    folder.write("waves.csv", wide(&waves(120)));
    let found = folder.run("compare waves.csv --budget quick --json").succeeded().json();
    let methods = found["methods"].as_array().unwrap();
    let names: Vec<&str> = methods.iter().map(|method| method["name"].as_str().unwrap()).collect();
    for name in ["catena", "independent outputs", "exact", "interpolation", "training mean"] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    let errors: Vec<f64> = methods.iter().filter_map(|method| method["rmse"].as_f64()).collect();
    assert!(errors.is_sorted());
    let of = |name: &str| {
        methods[names.iter().position(|other| *other == name).unwrap()]["rmse"].as_f64().unwrap()
    };
    // Along one input message passing is exact, so the same parameters give the same answer.
    assert!((of("catena") - of("exact")).abs() < 1e-8);
    assert!(of("catena") < of("training mean"));
    // Held-out cells leave rows without values; methods that pick points pick among the other rows.
    folder.write("few.csv", wide(&waves(72)));
    let few = folder.run("compare few.csv --budget quick --json").succeeded().json();
    let is_left_out = |method: &&serde_json::Value| method.get("left_out").is_some();
    assert_eq!(few["methods"].as_array().unwrap().iter().find(is_left_out), None);
    let block = folder.run("compare waves.csv --budget quick --block 12h").succeeded();
    assert!(block.text().contains("smallest RMSE: "), "{}", block.text());
}

#[test]
fn compare_has_the_scores_of_the_summary_of_fit() {
    let folder = Folder::new("compare-fit");
    folder.write("waves.csv", wide(&waves(120)));
    let fitted = folder.run("fit waves.csv -o waves.catena --json").succeeded().json();
    let compared = folder.run("compare waves.csv --json").succeeded().json();
    let methods = compared["methods"].as_array().unwrap();
    for held_out in fitted["held_out"].as_array().unwrap() {
        let row = methods.iter().find(|method| method["name"] == held_out["name"]).unwrap();
        for (own, other) in [("rmse", "rmse"), ("log_score", "log_score"), ("coverage", "coverage95")] {
            assert_eq!(held_out[own], row[other], "{own} of {}", held_out["name"]);
        }
        assert_eq!(held_out["n_cells"], compared["held_out_cells"]);
    }
    // The answer of the fit has no difference to itself; others have one with its standard error.
    let first = &fitted["held_out"][0]["name"];
    for method in methods {
        let is_first = method["name"] == *first;
        assert_eq!(method["difference"].is_null(), is_first, "{method}");
        assert!(is_first || method["difference_error"].as_f64().unwrap() >= 0.0);
    }
}

#[test]
fn the_demo_learns_fills_and_shows() {
    let folder = Folder::new("demo");
    let found = folder.run("demo --json").succeeded().json();
    for gap in found["gaps"].as_array().unwrap() {
        let error = |at: usize| gap["methods"][at]["rmse"].as_f64().unwrap();
        assert!(error(0) < 0.5 * error(1) && error(0) < 0.5 * error(2), "{gap}");
        // Ridge regression on the other outputs reaches 1.88 °F and 1.37 hPa over many gaps.
        let most = if gap["output"] == "temp_LGA" { 1.9 } else { 1.37 };
        assert!(error(0) < most, "{gap}");
    }
    let filled = columns(&folder.read("demo/filled.csv"));
    assert_eq!(filled["time"].len(), 8730);
    assert!(numbers(&filled, "temp_LGA").iter().all(|value| value.is_finite()));
    assert!(folder.read("demo/report.html").contains("temp_LGA"));
    assert_eq!(folder.names(), ["demo"]);
}

#[test]
fn every_verb_has_examples_a_manual_page_and_completion() {
    let folder = Folder::new("help");
    let help = folder.run("--help").succeeded();
    let commands = help.text().split("Commands:").nth(1).unwrap().split("Options:").next().unwrap();
    // A line that goes on with a description is indented farther.
    let names = commands.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let verbs: Vec<&str> = names.filter_map(|line| line.split_whitespace().next()).collect();
    let verbs: Vec<&str> = verbs.into_iter().filter(|verb| *verb != "help").collect();
    assert!(verbs.contains(&"watch") && verbs.contains(&"completion") && verbs.len() >= 12, "{verbs:?}");
    folder.run("completion --man man1").succeeded();
    for verb in &verbs {
        let help = folder.run(&format!("{verb} --help")).succeeded();
        assert!(help.text().contains("Examples:"), "{verb}");
        assert!(folder.read(&format!("man1/catena-{verb}.1")).contains(verb));
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = folder.run(&format!("completion {shell}")).succeeded();
        assert!(verbs.iter().all(|verb| script.text().contains(verb)), "{shell}");
    }
}
