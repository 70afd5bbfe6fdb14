//! A reduced run of everything that needs no data: numbers are those of the paper, files are whole, and nothing is
//! computed twice.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot set up its case must fail")]

use std::path::{Path, PathBuf};

use catena_experiments::settings::{Extent, Settings, StudyName};
use catena_experiments::verdict::Verdict;
use catena_experiments::{ExperimentError, Outcome, run};

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    path
}

fn quick(folder: &Path, studies: &[StudyName], seeds: u32) -> Outcome {
    let settings = Settings {
        studies: studies.to_vec(),
        folder: folder.to_owned(),
        seeds: Some(seeds),
        exact_seeds: Some(1),
        ett: None,
        extent: Extent::Quick,
    };
    run(&settings, 1, &|_| {}).unwrap()
}

fn misses(outcome: &Outcome) -> Vec<String> {
    let missed = outcome.comparisons.iter().filter(|(_, row)| row.verdict == Verdict::Misses);
    missed.map(|(study, row)| format!("{study}: {row:?}")).collect()
}

/// The judged rows of a study, by the beginning of their names.
fn judged(outcome: &Outcome, study: &str, beginning: &str) -> usize {
    let is_it = |quantity: &str| quantity.starts_with(beginning);
    let rows = outcome.comparisons.iter().filter(|(of, row)| *of == study && is_it(&row.quantity));
    rows.filter(|(_, row)| row.verdict == Verdict::Agrees).count()
}

fn number(outcome: &Outcome, study: &str, words: &[&str]) -> f64 {
    let is_it = |quantity: &str| words.iter().all(|word| quantity.contains(word));
    let mut rows = outcome.comparisons.iter().filter(|(of, row)| *of == study && is_it(&row.quantity));
    rows.next().unwrap_or_else(|| panic!("{study} has no {words:?}")).1.ours
}

#[test]
fn all_studies_without_electricity() {
    let folder = folder("quick-all");
    let outcome = quick(&folder, &StudyName::ALL, 1);
    assert_eq!(misses(&outcome), Vec::<String>::new());
    // Four methods by seed and the gaps by seed, at two dimensions: the authors' numbers to six digits.
    assert_eq!((judged(&outcome, "sensor", "M = 2, "), judged(&outcome, "sensor", "M = 8, ")), (4, 4));
    assert_eq!(
        (judged(&outcome, "sensor", "M = 2: mean, "), judged(&outcome, "sensor", "M = 8: mean, ")),
        (1, 1)
    );
    // Five inequalities at two dimensions.
    assert_eq!(judged(&outcome, "bounds", "M = "), 10);
    // The printed proposition is false on four points and holds on the studies'; the corrected one holds everywhere.
    assert_eq!(outcome.count(Verdict::Refutes), 1);
    assert!((number(&outcome, "start", &["points −1", "printed"]) - 1.7).abs() < 1e-12);
    // The first cell of each network and two factors of the proposition.
    assert_eq!(judged(&outcome, "start", "sensor, M = "), 6);
    assert!(
        (number(&outcome, "start", &["sensor, M = 2", "first row"]) - 0.158_155_251_629_79).abs() < 1e-12
    );
    // Learned parameters: the tree beats the paper's fixed chain (0.067 on this seed) by far.
    assert!(number(&outcome, "beyond", &["M = 2, tree"]) < 0.03);
    assert!(number(&outcome, "beyond", &["M = 2, exact"]) < 0.01);
    // Time is linear in the points. A busy machine may bend the slope, not make it a square.
    let slope = number(&outcome, "complexity", &["posterior over the points"]);
    assert!((0.6..1.6).contains(&slope), "{slope}");
    assert_eq!(outcome.left_out.len(), 4, "{:?}", outcome.left_out);

    for name in [
        "dim_sweep",
        "chain_gap",
        "chain_start",
        "distortion_growth",
        "complexity",
        "beyond_sensor",
        "ffg_model",
    ] {
        let png = std::fs::read(folder.join(format!("figures/{name}.png"))).unwrap();
        assert!(png.starts_with(b"\x89PNG") && png.len() > 5000, "{name}");
        assert!(folder.join(format!("figures/{name}.svg")).exists());
    }
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
    assert!(readme.contains("1 of the paper's 100 seeds") && readme.contains("refutes the claim"));
    let page = std::fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert!(!page.contains("src=\"http") && !page.contains("href=\"http"));

    let again = quick(&folder, &StudyName::ALL, 1);
    assert_eq!(again.n_computed, 0);
    assert_eq!(again.comparisons, outcome.comparisons);
}

#[test]
fn a_run_goes_on_where_another_stopped() {
    let folder = folder("quick-resumed");
    // Two dimensions, each with the fast methods and the exact one.
    assert_eq!(quick(&folder, &[StudyName::Sensor], 1).n_computed, 4);
    std::fs::remove_file(folder.join("cells/sensor/M8/seed-000.json")).unwrap();
    // What was removed, and the fast methods on one more seed.
    assert_eq!(quick(&folder, &[StudyName::Sensor], 2).n_computed, 3);
}

#[test]
fn electricity_without_its_table_says_where_to_get_it() {
    let folder = folder("quick-ett");
    let settings = Settings { studies: vec![StudyName::Ett], folder: folder.clone(), ..Settings::default() };
    let error = run(&settings, 1, &|_| {}).unwrap_err();
    assert!(matches!(error, ExperimentError::NoElectricity { .. }) && !error.is_numeric());
    for word in ["zhouhaoyi/ETDataset", "f18de3ad269c", "--ett"] {
        assert!(error.to_string().contains(word), "{error}");
    }
    std::fs::write(folder.join("other.csv"), "date,HUFL\n").unwrap();
    let settings = Settings { ett: Some(folder.join("other.csv")), ..settings };
    assert!(matches!(run(&settings, 1, &|_| {}), Err(ExperimentError::ElectricityDiffers { .. })));
}
