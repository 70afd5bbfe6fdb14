//! `--wide`: the names in a column become outputs, and tables keep the rows of their input.

use crate::harness::{Folder, columns};

/// Temperature and humidity of two stations by time; the second has no humidity.
fn cells() -> Vec<[String; 4]> {
    let cell = |at: usize| {
        let wave = (0.3 * at as f64).sin();
        let wobble = 0.05 * (((at * 7919) % 101) as f64 / 101.0 - 0.5);
        let temp = if at % 7 == 3 { String::new() } else { format!("{:.3}", 10.0 + wave + wobble) };
        let other = if at % 9 == 5 { String::new() } else { format!("{:.3}", 12.0 + 2.0 * wave - wobble) };
        let humidity =
            if at % 11 == 6 { String::new() } else { format!("{:.3}", 60.0 - 4.0 * wave + wobble) };
        [temp, other, humidity, String::new()]
    };
    (0..60).map(cell).collect()
}

fn by_station() -> String {
    let rows = cells().into_iter().enumerate();
    let rows = rows.map(|(hour, [north, south, humidity, none])| {
        format!("{hour},north,{north},{humidity}\n{hour},007,{south},{none}\n")
    });
    format!("hour,station,temp,hum\n{}", rows.collect::<String>())
}

fn by_time() -> String {
    let rows = cells().into_iter().enumerate();
    let rows = rows.map(|(hour, [north, south, humidity, _])| format!("{hour},{north},{south},{humidity}\n"));
    format!("hour,temp:north,temp:007,hum:north\n{}", rows.collect::<String>())
}

#[test]
fn a_table_by_station_is_filled_as_the_table_by_time() {
    let folder = Folder::new("wide_fill");
    folder.write("stations.csv", by_station());
    folder.write("times.csv", by_time());
    let said =
        folder.run("impute stations.csv --wide station --budget quick --std -o filled.csv").succeeded();
    assert!(said.stderr.contains("series: station (named)"), "{}", said.stderr);
    assert!(said.stderr.contains("outputs: temp:north, temp:007, hum:north (a series)"), "{}", said.stderr);
    assert!(said.stderr.contains("ignored: hum:007 (no value in any row)"), "{}", said.stderr);
    folder.run("impute times.csv --budget quick --std -o expected.csv").succeeded();
    let (found, expected) = (columns(&folder.read("filled.csv")), columns(&folder.read("expected.csv")));
    let of =
        |name: &str, first: usize| found[name].iter().skip(first).step_by(2).cloned().collect::<Vec<_>>();
    for suffix in ["", "_std"] {
        assert_eq!(of(&format!("temp{suffix}"), 0), expected[&format!("temp:north{suffix}")]);
        assert_eq!(of(&format!("temp{suffix}"), 1), expected[&format!("temp:007{suffix}")]);
        assert_eq!(of(&format!("hum{suffix}"), 0), expected[&format!("hum:north{suffix}")]);
        assert!(of(&format!("hum{suffix}"), 1).iter().all(String::is_empty));
    }
    assert_eq!(found["station"], columns(&by_station())["station"]);
    let words = "impute stations.csv --wide station --budget quick --max-std temp=1e-9 -o empty.csv";
    let said = folder.run(words).succeeded().stderr;
    assert!(said.contains("filled 5 missing values in 3 outputs; left 16 empty"), "{said}");
}

#[test]
fn a_model_file_keeps_the_columns() {
    let folder = Folder::new("wide_model");
    folder.write("stations.csv", by_station());
    folder.run("fit stations.csv --wide station --budget quick -o m.catena").succeeded();
    folder.run("impute stations.csv --wide station --budget quick -o filled.csv").succeeded();
    folder.run("impute stations.csv --model m.catena -o again.csv").succeeded();
    let number = |text: &str| text.parse::<f64>().ok();
    let (one, two) = (columns(&folder.read("filled.csv")), columns(&folder.read("again.csv")));
    for (left, right) in one["temp"].iter().zip(&two["temp"]) {
        assert!((number(left).unwrap() - number(right).unwrap()).abs() < 2e-3, "{left} {right}");
    }
    let rows = folder.run("predict m.catena").succeeded();
    assert!(
        rows.text().starts_with("hour,station,temp_mean,temp_std,hum_mean,hum_std\n0,north,"),
        "{}",
        rows.text()
    );
    folder.write("points.csv", "hour\n70\n");
    let found = columns(folder.run("predict m.catena --at points.csv").succeeded().text());
    assert_eq!(found["station"], ["north", "007"]);
    assert!(found["hum_mean"][1].is_empty() && !found["temp_mean"][1].is_empty());
    folder.write("more.csv", "hour,station,temp,hum\n60,007,12.1,\n60,east,9,\n61,north,10.2,59\n");
    let said = folder.run("update m.catena more.csv -o m.catena").succeeded().stderr;
    assert!(said.contains("ignored: temp:east (outputs that are not in the model)"), "{said}");
    assert!(said.contains("added 2 rows, 62 in total"), "{said}");
    let scores = folder.run("score m.catena stations.csv").succeeded();
    assert!(scores.text().contains("temp:007"), "{}", scores.text());
    folder.write("other.csv", "hour,station,temp,hum\n60,007,99,\n");
    let refused = folder.run("update m.catena other.csv -o m.catena").stderr;
    assert!(refused.contains("line 2, column temp:007: the model has the value 12.1"), "{refused}");
    folder.run("report m.catena -o page.html").succeeded();
}

#[test]
fn forecasts_have_a_row_per_time_and_station() {
    let folder = Folder::new("wide_forecast");
    folder.write("stations.csv", by_station());
    let words = "forecast stations.csv --wide station --budget quick --kernel matern32 --horizon 2";
    let found = columns(folder.run(words).succeeded().text());
    assert_eq!(found["hour"], ["60", "60", "61", "61"]);
    assert_eq!(found["station"], ["north", "007", "north", "007"]);
    assert!(found["hum_mean"][1].is_empty() && !found["hum_mean"][0].is_empty());
    let paths = columns(folder.run(&format!("{words} --paths 2")).succeeded().text());
    assert_eq!(paths["path"], ["1", "1", "1", "1", "2", "2", "2", "2"]);
    assert_eq!(paths["station"][..2], ["north", "007"]);
    assert!(paths["hum"][1].is_empty() && !paths["temp"][1].is_empty());
}

#[test]
fn what_does_not_know_names_says_so() {
    let folder = Folder::new("wide_refused");
    folder.write("stations.csv", by_station() + "3,north,10.5,\n");
    for (words, part) in [
        (
            "fit stations.csv --wide station -o m.catena",
            "one row repeats the hour and station of an earlier row",
        ),
        ("fit stations.csv --wide station --long hour,station,temp -o m.catena", "cannot be used with"),
        ("fit stations.csv --wide statoin -o m.catena", "did you mean \"station\"?"),
        ("structure stations.csv --wide station", "leave --wide out"),
    ] {
        let refused = folder.run(words);
        assert!(refused.code == 2 && refused.stderr.contains(part), "{words}: {}", refused.stderr);
    }
}
