//! Space and time: coordinates and a time as inputs, from one file in long form.

use crate::harness::{Folder, columns};

const PLACES: [(&str, f64, f64); 5] = [
    ("EWR", 40.6925, -74.1687),
    ("JFK", 40.6398, -73.7789),
    ("LGA", 40.7769, -73.8740),
    ("TEB", 40.8501, -74.0608),
    ("HPN", 41.0670, -73.7076),
];

/// Five stations every hour, in a mixed order, with missing values and a row that is missing altogether.
fn stations() -> String {
    let mut text = "when,station,lat,lon,temp,wind\n".to_owned();
    for at in 0..200_usize {
        let hour = (at * 7) % 40;
        let (name, lat, lon) = PLACES[(at * 7 + at / 40) % 5];
        let temp = 10.0 + 3.0 * (0.3 * hour as f64).sin() + 4.0 * (lat - 40.8) - 2.0 * (lon + 74.0);
        let temp = if at % 6 == 1 { String::new() } else { format!("{temp:.2}") };
        let wind = 5.0 + (0.2 * hour as f64 + lon).cos();
        if at != 3 {
            text += &format!(
                "2024-05-{:02} {:02}:00,{name},{lat},{lon},{temp},{wind:.2}\n",
                1 + hour / 24,
                hour % 24
            );
        }
    }
    text
}

/// The message of a command that is refused.
fn refused(folder: &Folder, words: &str) -> String {
    let outcome = folder.run(words);
    assert_eq!(outcome.code, 2, "{words}: {}", outcome.stderr);
    outcome.stderr
}

const SPACE: &str = "--space lat,lon --time when";

#[test]
fn a_filled_file_keeps_its_rows_and_a_model_file_its_places() {
    let folder = Folder::new("space");
    folder.write("w.csv", stations());
    let said = folder.run(&format!("impute w.csv {SPACE} --budget quick -o filled.csv")).succeeded().stderr;
    assert!(said.contains("inputs: lat, lon, when (named)"), "{said}");
    let names = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split(',').take(4).collect::<Vec<_>>().join(",")).collect()
    };
    assert_eq!(names(&folder.read("filled.csv")), names(&stations()));
    assert!(!folder.read("filled.csv").contains(",,"));
    let summary = folder.run(&format!("fit w.csv {SPACE} --budget quick -o m.catena")).succeeded();
    assert!(summary.text().contains("kilometers on the sphere"), "{}", summary.text());
    assert!(summary.text().contains("5 places"), "{}", summary.text());
    folder.run("impute w.csv --model m.catena -o again.csv").succeeded();
    assert_eq!(folder.read("again.csv"), folder.read("filled.csv"));
    let rows = folder.run("predict m.catena").succeeded();
    assert!(rows.text().starts_with("lat,lon,when,temp_mean"), "{}", rows.text());
    folder.write("at.csv", "lat,lon,when\n40.70,-73.95,2024-05-01 12:30\n40.6925,-74.1687,2024-05-01 12:00\n44.0,-70.0,2024-05-01 12:30\n");
    let found = columns(folder.run("predict m.catena --at at.csv").succeeded().text());
    let deviations: Vec<f64> = found["temp_std"].iter().map(|text| text.parse().unwrap()).collect();
    // A station knows most, the city between them less, a place far away almost nothing.
    assert!(deviations[1] < deviations[0] && deviations[0] < deviations[2], "{deviations:?}");
}

#[test]
fn a_forecast_has_the_same_times_at_every_place() {
    let folder = Folder::new("space_ahead");
    folder.write("w.csv", stations());
    let found = folder.run(&format!("forecast w.csv {SPACE} --horizon 3h --budget quick")).succeeded();
    let text = found.text();
    assert_eq!(text.lines().count(), 1 + 3 * 5, "{text}");
    assert!(text.starts_with("lat,lon,when,temp_mean"), "{text}");
    assert_eq!(text.matches("2024-05-02 16:00").count(), 5, "{text}");
    let said = refused(&folder, &format!("forecast w.csv {SPACE} --horizon 3h --paths 5"));
    assert!(said.contains("leave --paths out"), "{said}");
}

/// Three weeks of the airports of the demonstration in long form, without a name of a station.
fn airports() -> String {
    const WIDE: &str = include_str!("../../data/nyc_airport_weather_2013.csv");
    let mut text = "lat,lon,time,temp,dewp\n".to_owned();
    for line in WIDE.lines().skip(1 + 24 * 120).take(24 * 21) {
        let cells: Vec<&str> = line.split(',').collect();
        for (place, (_, lat, lon)) in PLACES.iter().take(3).enumerate() {
            text += &format!("{lat},{lon},{},{},{}\n", cells[0], cells[1 + 3 * place], cells[2 + 3 * place]);
        }
    }
    text
}

#[test]
fn a_real_table_of_places_and_times_is_recognised() {
    let folder = Folder::new("space_recognised");
    folder.write("w.csv", airports());
    let summary = folder.run("fit w.csv --budget quick -o m.catena").succeeded();
    assert!(summary.text().contains("predicts silent places better than"), "{}", summary.text());
    assert!(summary.text().contains("kilometers on the sphere"), "{}", summary.text());
    assert!(summary.text().contains("3 places"), "{}", summary.text());
    // The pool of the model file answers as the fit does.
    let first = folder.run("predict m.catena").succeeded().text().to_owned();
    assert_eq!(folder.run("predict m.catena").succeeded().text(), first);
    folder.run("report m.catena -o page.html").succeeded();
    assert!(folder.read("page.html").contains("\"places\":\"latlon\""));
}

#[test]
fn what_does_not_go_together_is_said_in_a_sentence() {
    let folder = Folder::new("space_refused");
    folder.write("w.csv", stations());
    for (options, sentence) in [
        ("--space lat,lon", "--time"),
        ("--time when", "--space"),
        ("--space lat,lon --time when --group station", "cannot be used with"),
        ("--space lat,lon --time when --method exact", "leave --method exact out"),
        ("--space lat,lon --time when --structure chain", "leave --structure out"),
        ("--space lat,lon --time when --kernel sho+rw", "one input"),
        ("--space lat,lon,wind --time when --method space:latlon", "latitude and a longitude"),
        ("--space lat,len --time when", "len"),
    ] {
        let said = refused(&folder, &format!("impute w.csv {options} -o x.csv"));
        assert!(said.contains(sentence), "{options}: {said}");
    }
    folder.run(&format!("fit w.csv {SPACE} --budget quick --latents 1 -o m.catena")).succeeded();
    let said = refused(&folder, "watch m.catena");
    assert!(!said.is_empty(), "{said}");
    let mut many = "x,t,y\n".to_owned();
    for at in 0..402 {
        many += &format!("{},{},{}\n", at % 201, at / 201, (f64::from(at)).sin());
    }
    folder.write("many.csv", many);
    let said = refused(&folder, "fit many.csv --space x --time t -o x.catena");
    assert!(
        said.contains("201 distinct places are too many") && said.contains("--method fullscale"),
        "{said}"
    );
}
