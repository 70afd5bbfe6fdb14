//! Model files: saved and loaded to the bit, updated and scored; parameters moved from one fit to another.

use crate::harness::{Folder, columns, numbers, prepared, waves, wide};

#[test]
fn a_loaded_model_predicts_to_the_bit_what_it_did_before_it_was_saved() {
    let folder = prepared("save_load");
    // Learned, so that no number is round. `impute` predicts in memory, `predict` from the file; both print the shortest text that
    // reads back the same.
    folder.run("impute waves.csv --budget quick --std --digits full -o filled.csv").succeeded();
    folder.run("fit waves.csv --budget quick -o m.catena").succeeded();
    folder.run("predict m.catena -o rows.csv").succeeded();
    let (filled, rows) = (columns(&folder.read("filled.csv")), columns(&folder.read("rows.csv")));
    assert_eq!(rows["time"], filled["time"]);
    let mut n_missing = 0;
    for (output, name) in ["temp", "salt"].into_iter().enumerate() {
        for (row, (_, values)) in waves(72).iter().enumerate() {
            if values[output].is_nan() {
                assert_eq!(rows[&format!("{name}_mean")][row], filled[name][row]);
                assert_eq!(rows[&format!("{name}_std")][row], filled[&format!("{name}_std")][row]);
                n_missing += 1;
            }
        }
    }
    assert!(n_missing > 8);
}

#[test]
fn the_parts_of_an_output_add_up_to_its_function() {
    let folder = prepared("parts");
    folder
        .run("fit waves.csv --budget quick --kernel rw+qp(24h,1) --transforms none -o m.catena")
        .succeeded();
    folder.run("predict m.catena --components -o parts.csv").succeeded();
    folder.run("predict m.catena --without-noise -o whole.csv").succeeded();
    let (parts, whole) = (columns(&folder.read("parts.csv")), columns(&folder.read("whole.csv")));
    for name in ["temp", "salt"] {
        let part = |part: &str| numbers(&parts, &format!("{name}_{part}_mean"));
        let (mean, level, season) = (part("mean"), part("level"), part("season_1d"));
        for (row, expected) in numbers(&whole, &format!("{name}_mean")).into_iter().enumerate() {
            let sum = mean[row] + level[row] + season[row];
            assert!((sum - expected).abs() < 1e-9 * (1.0 + expected.abs()), "{name} {row}: {sum} {expected}");
        }
        assert!(numbers(&parts, &format!("{name}_level_std")).iter().all(|deviation| *deviation > 0.0));
    }
    let refused = folder.run("predict m.catena --components --interval 0.9");
    assert!(refused.code == 2 && refused.stderr.contains("--interval"), "{}", refused.stderr);
}

#[test]
fn every_method_and_structure_survives_its_file() {
    let folder = prepared("methods");
    for (at, words) in [
        "--method exact",
        "--method nngp:5",
        "--method svgp:20",
        "--method fullscale:10,5",
        "--structure chain",
        "--structure tree",
    ]
    .iter()
    .enumerate()
    {
        let learn = format!("--no-learn --parameters p.json {words}");
        folder.run(&format!("impute waves.csv {learn} --digits full -o filled{at}.csv")).succeeded();
        folder.run(&format!("fit waves.csv {learn} -o m{at}.catena")).succeeded();
        folder.run(&format!("predict m{at}.catena -o rows{at}.csv")).succeeded();
        let filled = columns(&folder.read(&format!("filled{at}.csv")));
        let rows = columns(&folder.read(&format!("rows{at}.csv")));
        assert_eq!(rows["temp_mean"][10], filled["temp"][10], "{words}");
    }
}

#[test]
fn predictions_at_new_points_use_the_clock_of_the_model() {
    let folder = prepared("points");
    folder.run("fit waves.csv --no-learn --parameters p.json -o m.catena").succeeded();
    folder.write("points.csv", "remark,time\na,2024-03-02 10:00\nb,2024-03-01 11:00\n");
    folder.run("predict m.catena --at points.csv -o out.csv").succeeded();
    folder.run("predict m.catena -o rows.csv").succeeded();
    let (at, rows) = (columns(&folder.read("out.csv")), columns(&folder.read("rows.csv")));
    assert_eq!(at["time"], ["2024-03-02 10:00", "2024-03-01 11:00"]);
    for name in ["temp_mean", "temp_std", "salt_mean", "salt_std"] {
        // A new point on a row attaches to it; the two ways agree to rounding.
        for (point, row) in [(0, 34), (1, 11)] {
            assert!((numbers(&at, name)[point] - numbers(&rows, name)[row]).abs() < 1e-8, "{name}");
        }
    }
    let outcome = folder.run("predict m.catena --at points.csv --without-noise").succeeded();
    assert!(numbers(&columns(outcome.text()), "temp_std")[0] < numbers(&at, "temp_std")[0]);
}

#[test]
fn parameters_go_from_one_fit_to_another() {
    let folder = prepared("parameters");
    let words = "fit waves.csv --budget quick -o learned.catena --parameters-out learned.json --json";
    let learned = folder.run(words).succeeded().json();
    let words = "fit waves.csv --no-learn --parameters learned.json -o given.catena --json";
    let given = folder.run(words).succeeded().json();
    let evidence = |summary: &serde_json::Value| summary["log_evidence"].as_f64().unwrap();
    // Parameters are squared and divided on their way through the user's units.
    let (first, second) = (evidence(&learned), evidence(&given));
    assert!((first - second).abs() < 1e-7 * first.abs().max(1.0), "{first} {second}");
}

#[test]
fn rows_added_at_once_or_in_parts_give_the_same_model() {
    let folder = prepared("update");
    let rows = waves(72);
    folder.write("first.csv", wide(&rows[..40]));
    folder.write("rest.csv", wide(&rows[40..]));
    folder.write("second.csv", wide(&rows[40..55]));
    folder.write("third.csv", wide(&rows[55..]));
    folder.run("fit first.csv --no-learn --parameters p.json -o m.catena").succeeded();
    folder.run("update m.catena rest.csv -o at_once.catena").succeeded();
    folder.run("update m.catena second.csv -o m.catena").succeeded();
    folder.run("update m.catena third.csv -o m.catena").succeeded();
    let (at_once, parts) =
        (folder.run("predict at_once.catena").succeeded(), folder.run("predict m.catena").succeeded());
    assert_eq!(at_once.text(), parts.text());
    assert_eq!(columns(parts.text())["time"].len(), 72);
}

#[test]
fn an_update_may_lack_all_values_of_an_output() {
    let folder = prepared("sparse_update");
    folder.run("fit waves.csv --no-learn --parameters p.json -o m.catena").succeeded();
    folder.write("new.csv", "time,temp,salt\n2024-03-05 00:00,20.5,\n2024-03-05 01:00,20.6,\n");
    folder.run("update m.catena new.csv -o m.catena").succeeded();
    assert_eq!(columns(folder.run("predict m.catena").succeeded().text())["time"].len(), 74);
}

/// An output without values needs no known noise, and a column is filled with its own predictions.
#[test]
fn an_output_without_values_keeps_its_place() {
    let folder = prepared("sparse_noise");
    let rows = |text: &str| {
        let line = |(at, line): (usize, &str)| match at {
            0 => format!("{line},et,es\n"),
            _ => format!("{line},0.1,0.2\n"),
        };
        text.lines().enumerate().map(line).collect::<String>()
    };
    folder.write("noisy.csv", rows(&wide(&waves(72))));
    let new = "time,remark,temp,salt\n2024-03-05 00:00,a,,-3.5\n2024-03-05 01:00,b,,\n";
    folder.write("new.csv", rows(new));
    for (name, noise) in [("order", "et,es"), ("named", "temp=et,salt=es")] {
        let words = format!("fit noisy.csv --outputs temp,salt --noise-columns {noise}");
        folder.run(&format!("{words} --no-learn --parameters p.json -o {name}.catena")).succeeded();
        folder.run(&format!("update {name}.catena new.csv -o more.catena")).succeeded();
        folder
            .run(&format!("impute new.csv --model {name}.catena --quantiles 0.5 --digits full -o filled.csv"))
            .succeeded();
        let filled = columns(&folder.read("filled.csv"));
        // One value of -3.5 has little influence on the temperature, which is about 20.
        assert!(numbers(&filled, "temp").iter().all(|value| (15.0..25.0).contains(value)), "{filled:?}");
        assert!((-6.0..0.0).contains(&numbers(&filled, "salt")[1]), "{filled:?}");
        assert_eq!(numbers(&filled, "temp"), numbers(&filled, "temp_q0.5"));
    }
    folder.run("predict more.catena -o rows.csv").succeeded();
    assert_eq!(columns(&folder.read("rows.csv"))["time"].len(), 74);
}

#[test]
fn models_of_long_tables_read_such_tables_again() {
    let folder = prepared("long_again");
    let rows = waves(72);
    folder.write("long.csv", crate::harness::long(&rows));
    folder
        .write("one.json", r#"{"kernel":"matern32","mixing":[[1.5]],"length_scales":["6h"],"noise":[0.02]}"#);
    let long = "--long time,series,value --no-learn";
    folder.run(&format!("fit long.csv {long} --parameters p.json -o full.catena")).succeeded();
    folder
        .run(&format!("fit long.csv {long} --outputs temp --parameters one.json -o some.catena"))
        .succeeded();
    // A series that is not in the model is ignored with a message.
    let scored = folder.run("score some.catena long.csv").succeeded();
    assert!(scored.stderr.contains("ignored: salt"), "{}", scored.stderr);
    folder.run("impute long.csv --model some.catena -o some.csv").succeeded();
    let some = columns(&folder.read("some.csv"));
    for (row, (_, values)) in rows.iter().enumerate() {
        assert!(!some["value"][2 * row].is_empty());
        assert_eq!(some["value"][2 * row + 1].is_empty(), values[1].is_nan());
    }
    // A series without a value, and series in another order than the model's.
    folder.write("new.csv", "time,series,value\n2024-03-05 00:00,salt,\n2024-03-05 00:00,temp,20.5\n");
    folder.run("update full.catena new.csv -o more.catena").succeeded();
    folder.write("holes.csv", "time,series,value\n2024-03-02 00:00,salt,\n2024-03-02 00:00,temp,20\n");
    folder.run("impute holes.csv --model full.catena -o filled.csv").succeeded();
    let filled = numbers(&columns(&folder.read("filled.csv")), "value");
    assert!((-6.0..0.0).contains(&filled[0]) && filled[1] == 20.0, "{filled:?}");
    folder.write("only.csv", "time,series,value\n2024-03-02 00:00,salt,\n2024-03-02 01:00,salt,-3\n");
    folder.run("impute only.csv --model full.catena -o filled.csv").succeeded();
    let filled = numbers(&columns(&folder.read("filled.csv")), "value");
    assert!((-6.0..0.0).contains(&filled[0]), "{filled:?}");
    folder.write("other.csv", "time,series,value\n2024-03-05 00:00,wind,4\n");
    let refused = folder.run("update full.catena other.csv -o more.catena");
    assert_eq!(refused.code, 2);
    assert!(
        refused.stderr.contains("\"wind\"") && refused.stderr.contains("temp, salt"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_page_and_parameters_may_go_to_standard_output() {
    let folder = prepared("dash");
    let given = "--no-learn --parameters p.json";
    let written = folder.run(&format!("fit waves.csv {given} -o m.catena --parameters-out -")).succeeded();
    assert_eq!(written.json()["length_scales"].as_array().unwrap().len(), 2);
    let words = ["fit", "waves.csv", "--no-learn", "--parameters", "-", "-o", "again.catena"];
    folder.run_with(&words, written.text().as_bytes()).succeeded();
    assert!(folder.run("report m.catena -o -").succeeded().text().starts_with("<!doctype html>"));
    assert_eq!(folder.names(), ["again.catena", "m.catena", "p.json", "waves.csv"]);
}

#[test]
fn scores_are_those_of_the_predictions() {
    let folder = Folder::new("score");
    let rows = waves(90);
    folder.write("p.json", crate::harness::PARAMETERS);
    folder.write("train.csv", wide(&rows[..72]));
    folder.write("truth.csv", wide(&rows[72..]));
    folder.run("fit train.csv --no-learn --parameters p.json -o m.catena").succeeded();
    folder.run("predict m.catena --at truth.csv -o out.csv").succeeded();
    let (out, truth) = (columns(&folder.read("out.csv")), columns(&wide(&rows[72..])));
    let scores = folder.run("score m.catena truth.csv --json").succeeded().json();
    for (at, name) in ["temp", "salt"].into_iter().enumerate() {
        let cells: Vec<(f64, f64, f64)> = (0..18)
            .map(|row| {
                (
                    numbers(&truth, name)[row],
                    numbers(&out, &format!("{name}_mean"))[row],
                    numbers(&out, &format!("{name}_std"))[row],
                )
            })
            .filter(|cell| !cell.0.is_nan())
            .collect();
        let n = cells.len() as f64;
        let rmse = (cells.iter().map(|(y, m, _)| (y - m).powi(2)).sum::<f64>() / n).sqrt();
        let nll = |(y, m, s): &(f64, f64, f64)| {
            0.5 * (std::f64::consts::TAU * s * s).ln() + 0.5 * ((y - m) / s).powi(2)
        };
        let log_score = -cells.iter().map(nll).sum::<f64>() / n;
        let line = &scores["scores"][at];
        assert_eq!(line["name"], name);
        assert_eq!(line["cells"], cells.len());
        assert!((line["rmse"].as_f64().unwrap() - rmse).abs() < 1e-9);
        assert!((line["log_score"].as_f64().unwrap() - log_score).abs() < 1e-9);
    }
    let text = folder.run("score m.catena truth.csv").succeeded();
    assert!(text.text().contains("all outputs"));
}

#[test]
fn words_of_earlier_versions_still_work() {
    let folder = prepared("old-words");
    folder.run("fit waves.csv --no-learn --parameters p.json -o m.catena").succeeded();
    for (old, new, word) in [
        ("chain waves.csv", "structure waves.csv", "`structure`"),
        ("predict m.catena --latent", "predict m.catena --without-noise", "`--without-noise`"),
        (
            "fit waves.csv --dry-run --period 24h -o x",
            "fit waves.csv --dry-run --periods 24h -o x",
            "`--periods`",
        ),
    ] {
        let (before, now) = (folder.run(old).succeeded(), folder.run(new).succeeded());
        assert_eq!(before.text(), now.text());
        assert!(before.stderr.contains(&format!("is now {word}")) && !now.stderr.contains("is now"), "{old}");
        assert!(!folder.run(&format!("{old} -q")).succeeded().stderr.contains("is now"));
    }
}

#[test]
fn several_inputs_work_from_fit_to_page() {
    let folder = Folder::new("plane");
    let mut text = "x,y,height,depth\n".to_owned();
    for at in 0..80 {
        let (x, y) = (f64::from(at % 9) / 9.0, f64::from((at * 37) % 80) / 80.0);
        let height = (3.0 * x).sin() + y;
        let depth = if at % 5 == 0 { String::new() } else { format!("{:.4}", 2.0 * height - x) };
        text += &format!("{x},{y},{height:.4},{depth}\n");
    }
    folder.write("plane.csv", text);
    folder.run("fit plane.csv --inputs x,y --method catena --budget quick -o m.catena").succeeded();
    folder.run("predict m.catena --interval 0.5 -o rows.csv").succeeded();
    let rows = columns(&folder.read("rows.csv"));
    assert_eq!(rows["x"].len(), 80);
    assert!(numbers(&rows, "depth_lo").iter().zip(numbers(&rows, "depth_hi")).all(|(low, high)| *low < high));
    folder.run("report m.catena -o page.html").succeeded();
    assert!(folder.read("page.html").contains("spanning tree"));
    let structure = folder.run("structure plane.csv --inputs x,y --json -o order.csv").succeeded().json();
    assert_eq!(structure["structure"], "spanning tree");
    let order = columns(&folder.read("order.csv"));
    let mut visited = numbers(&order, "row");
    visited.sort_by(f64::total_cmp);
    assert_eq!(visited, (1..=80).map(f64::from).collect::<Vec<_>>());
    assert_eq!(order["parent"].iter().filter(|row| row.is_empty()).count(), 1);
}

#[test]
fn the_memory_allowed_is_what_dense_methods_may_take() {
    let folder = prepared("memory");
    let row = |at: usize| {
        let (x, y) = ((at % 20) as f64 / 3.0, (at / 20) as f64 / 3.0);
        format!("{x},{y},{}\n", (x + 0.5 * y).sin())
    };
    let table: String = std::iter::once("x,y,height\n".to_owned()).chain((0..300).map(row)).collect();
    folder.write("map.csv", table);
    let method = |words: &str| {
        let words = format!("fit map.csv --inputs x,y --budget quick {words} --json -o m.catena");
        folder.run(&words).succeeded().json()["method"].as_str().unwrap().to_owned()
    };
    // The matrix of 300 cells has 720 kB.
    assert!(method("").contains("exact"), "{}", method(""));
    assert!(!method("--max-memory 600kB").contains("exact"), "{}", method("--max-memory 600kB"));
}
