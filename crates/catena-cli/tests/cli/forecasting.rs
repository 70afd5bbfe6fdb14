//! Time models: sums and periods as options, forecasts with quantiles and paths, files, rolling scores.

use crate::harness::{Folder, columns, numbers, time_of};

/// Two outputs with a level and a daily cycle, one row an hour.
fn daily(hours: std::ops::Range<usize>) -> String {
    let wobble = |hour: usize, salt: usize| ((hour * 7919 + salt * 104_729) % 1009) as f64 / 1009.0 - 0.5;
    let line = |hour: usize| {
        let angle = std::f64::consts::TAU * (hour % 24) as f64 / 24.0;
        let level = 5.0 * (hour as f64 / 400.0).sin();
        let hole = if hour % 17 == 5 {
            String::new()
        } else {
            format!("{:.3}", 10.0 + level + 3.0 * angle.sin() + wobble(hour, 1))
        };
        format!("{},{hole},{:.3}\n", time_of(hour), 20.0 - level + 2.0 * angle.cos() + wobble(hour, 2))
    };
    format!("time,load,flow\n{}", hours.map(line).collect::<String>())
}

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("first.csv", daily(0..480));
    folder.write("all.csv", daily(0..720));
    folder
}

#[test]
fn forecasts_follow_the_season_with_bands_quantiles_and_paths() {
    let folder = folder("forecast_season");
    let words = "forecast first.csv --horizon 48h --periods 24h --budget quick";
    let told =
        folder.run(&format!("{words} --interval 0.9 --quantiles 0.05,0.5,0.95 -o next.csv")).succeeded();
    assert!(!told.stderr.contains("warning: some points"), "{}", told.stderr);
    let next = columns(&folder.read("next.csv"));
    assert_eq!(next["time"].len(), 48);
    assert_eq!(next["load_q0.05"], next["load_lo"]);
    assert_eq!(next["load_q0.95"], next["load_hi"]);
    let truth = columns(&daily(480..528));
    let (mean, low, high) =
        (numbers(&next, "flow_mean"), numbers(&next, "flow_lo"), numbers(&next, "flow_hi"));
    let (mut squares, mut inside) = (0.0, 0);
    for (at, value) in numbers(&truth, "flow").into_iter().enumerate() {
        squares += (value - mean[at]).powi(2);
        inside += usize::from((low[at]..=high[at]).contains(&value));
    }
    // The cycle has an amplitude of 2 and the noise a deviation of 0.29.
    assert!((squares / 48.0).sqrt() < 0.6, "{}", (squares / 48.0).sqrt());
    assert!(inside >= 38, "{inside} of 48 inside 90 % bands");
    folder.run(&format!("{words} --paths 3 -o paths.csv")).succeeded();
    let paths = columns(&folder.read("paths.csv"));
    assert_eq!(paths["path"].len(), 3 * 48);
    assert_eq!(paths["time"][48..96], next["time"][..]);
    assert_ne!(paths["flow"][..48], paths["flow"][48..96]);
}

#[test]
fn parameters_along_time_go_from_one_fit_to_another() {
    let folder = folder("time_parameters");
    let words = "fit first.csv --kernel sho+rw+qp(24h,2)+shared(7d) --mean linear --budget quick";
    folder.run(&format!("{words} -o learned.catena --parameters-out p.json")).succeeded();
    let text = folder.read("p.json");
    assert!(text.contains(r#""period": "1d""#) && text.contains(r#""period": "7d""#), "{text}");
    assert!(text.contains(r#""mean": "linear""#), "{text}");
    folder.run("fit first.csv --no-learn --parameters p.json -o given.catena").succeeded();
    folder.run("predict learned.catena -o learned.csv").succeeded();
    folder.run("predict given.catena -o given.csv").succeeded();
    let (learned, given) = (columns(&folder.read("learned.csv")), columns(&folder.read("given.csv")));
    for name in ["load_mean", "load_std", "flow_mean", "flow_std"] {
        for (there, back) in numbers(&learned, name).into_iter().zip(numbers(&given, name)) {
            assert!((there - back).abs() < 1e-10 * there.abs().max(1.0), "{name}: {there} {back}");
        }
    }
    // Other verbs take them too.
    folder.run("forecast first.csv --horizon 6h --no-learn --parameters p.json -o ahead.csv").succeeded();
    folder.run("impute first.csv --no-learn --parameters p.json --digits full -o filled.csv").succeeded();
    for (there, back, words) in [
        (r#""period": "1d""#, r#""period": "a day""#, &["wrong.json", "sums[0][2].period", "48h"][..]),
        (r#""quality""#, r#""frequency""#, &["sums[0][0].quality", "missing"]),
        (r#""piece": "rw""#, r#""piece": "walk""#, &["sums[0][1].piece", "walk", "matern12", "rw"]),
        (r#""mean": "linear""#, r#""mean": "wavy""#, &["mean", "wavy", "constant"]),
        (r#""noise""#, r#""nose""#, &["nose", "unknown", "noise"]),
        (r#""phases""#, r#""angles""#, &["shared[0].harmonics[0].angles", "phases"]),
    ] {
        folder.write("wrong.json", text.replacen(there, back, 1));
        let outcome = folder.run("fit first.csv --no-learn --parameters wrong.json -o m.catena");
        assert_eq!(outcome.code, 2, "{back}: {}", outcome.stderr);
        assert!(words.iter().all(|word| outcome.stderr.contains(word)), "{back}: {}", outcome.stderr);
    }
    let outcome = folder.run("fit first.csv --no-learn --parameters p.json --periods 24h -o m.catena");
    assert!(
        outcome.code == 2 && outcome.stderr.contains("--no-learn") && outcome.stderr.contains("--periods"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_sum_is_kept_in_its_file_and_rolled_over_later_rows() {
    let folder = folder("rolling");
    let learn = "--kernel sho+rw+qp(24h,2) --budget quick";
    folder.run(&format!("fit first.csv {learn} -o m.catena")).succeeded();
    folder.run(&format!("impute first.csv {learn} --digits full -o filled.csv")).succeeded();
    folder.run("predict m.catena -o rows.csv").succeeded();
    let (filled, rows) = (columns(&folder.read("filled.csv")), columns(&folder.read("rows.csv")));
    let holes: Vec<usize> = (0..480).filter(|hour| hour % 17 == 5).collect();
    assert!(holes.iter().all(|&row| filled["load"][row] == rows["load_mean"][row]), "to the bit");
    let words = "score m.catena all.csv --rolling --horizons 1h,24h --season 24h --every 7";
    let scores = folder.run(&format!("{words} --json")).succeeded().json();
    let scores = scores["rolling"].as_array().unwrap();
    assert_eq!(scores.len(), 8, "four predictors at two horizons");
    for horizon in [3600.0, 86_400.0] {
        let rmse = |name: &str| {
            let line =
                scores.iter().find(|score| score["name"] == name && score["horizon"] == horizon).unwrap();
            line["rmse"].as_f64().unwrap()
        };
        assert!(
            ["last value", "last season", "mean"].iter().all(|rule| rmse("catena") < rmse(rule)),
            "{scores:?}"
        );
    }
    let text = folder.run(words).succeeded();
    assert!(text.text().contains("catena") && text.text().contains("1d"), "{}", text.text());
}

#[test]
fn a_model_is_updated_and_learned_again() {
    let folder = folder("relearn");
    let shifted: String = daily(480..640)
        .lines()
        .map(|line| match line.split(',').collect::<Vec<_>>()[..] {
            [time, load, flow] if time != "time" => {
                let moved = |text: &str| {
                    text.parse::<f64>().map_or_else(|_| String::new(), |x| (40.0 + 3.0 * x).to_string())
                };
                format!("{time},{},{}\n", moved(load), moved(flow))
            }
            _ => format!("{line}\n"),
        })
        .collect();
    folder.write("later.csv", shifted);
    for kernel in ["matern12+rw+qp(24h,2)", "matern12"] {
        folder.run(&format!("fit first.csv --kernel {kernel} --budget quick -o m.catena")).succeeded();
        let kept = folder.run("update m.catena later.csv -o kept.catena --json").succeeded();
        assert!(
            kept.stderr.contains("added 160 rows") && kept.stderr.contains("--relearn"),
            "{}",
            kept.stderr
        );
        let again = folder
            .run("update m.catena later.csv --relearn --budget quick -o again.catena --json")
            .succeeded();
        let noise = |told: &serde_json::Value| told["outputs"][1]["noise_deviation"].as_f64().unwrap();
        assert!(noise(&again.json()) > 1.5 * noise(&kept.json()), "{kernel}");
        assert!(again.json()["decisions"].to_string().contains("learned again"), "{kernel}");
        folder.run("predict again.catena -o rows.csv").succeeded();
        assert_eq!(columns(&folder.read("rows.csv"))["time"].len(), 640);
    }
    let outcome = folder.run("update m.catena later.csv --budget quick -o out");
    assert_eq!(outcome.code, 2, "a budget is for learning: {}", outcome.stderr);
}

#[test]
fn a_linear_mean_is_kept_in_the_file_and_goes_on() {
    let folder = Folder::new("linear_mean");
    let wobble = |hour: usize| ((hour * 7919) % 1009) as f64 / 1009.0 - 0.5;
    let line = |hour: usize| format!("{},{}\n", time_of(hour), 5.0 + 0.5 * hour as f64 + wobble(hour));
    folder.write("up.csv", format!("time,level\n{}", (0..200).map(line).collect::<String>()));
    for words in ["--kernel matern12", "--kernel matern12+qp(24h,1)"] {
        let told =
            folder.run(&format!("fit up.csv {words} --mean linear --budget quick -o m.catena")).succeeded();
        assert!(
            told.text().contains("means are linear; over the 8.29d of the table: level +99"),
            "{}",
            told.text()
        );
        folder
            .run(&format!("forecast up.csv {words} --mean linear --budget quick --horizon 100 -o next.csv"))
            .succeeded();
        let last = numbers(&columns(&folder.read("next.csv")), "level_mean")[99];
        assert!((last - 154.5).abs() < 2.0, "{last}");
    }
    let outcome = folder.run("fit up.csv --mean steep -o m.catena");
    assert!(outcome.code == 2 && outcome.stderr.contains("constant or linear"), "{}", outcome.stderr);
}

/// One line per sum, and a season that many outputs share.
#[test]
fn sums_are_read_as_sums_and_seasons_can_be_shared() {
    let folder = folder("sums");
    let own = folder.run("fit first.csv --kernel sho+rw+qp(24h,2) --budget quick -o own.catena").succeeded();
    let lines: Vec<&str> = own.text().lines().filter(|line| line.starts_with("sum ")).collect();
    assert_eq!(lines.len(), 2, "{}", own.text());
    assert!(lines[0].starts_with("sum 1, as load") && own.text().contains("qp(1d,2)"), "{}", own.text());
    folder.run("report own.catena -o own.html").succeeded();
    let page = folder.read("own.html");
    assert!(page.contains("sum 2, as flow") && page.contains("+rw+qp(1d,2)") && !page.contains("shared 3"));
    let told =
        folder.run("fit first.csv --kernel sho+rw+shared(24h,2) --budget quick -o m.catena").succeeded();
    assert!(told.text().contains("season 1, shared"), "{}", told.text());
    folder.run("predict m.catena -o rows.csv").succeeded();
    folder
        .run("impute first.csv --kernel sho+rw+shared(24h,2) --budget quick --digits full -o filled.csv")
        .succeeded();
    let (filled, rows) = (columns(&folder.read("filled.csv")), columns(&folder.read("rows.csv")));
    let holes: Vec<usize> = (0..480).filter(|hour| hour % 17 == 5).collect();
    assert!(holes.iter().all(|&row| filled["load"][row] == rows["load_mean"][row]), "to the bit");
    folder.write("later.csv", daily(480..560));
    folder.run("update m.catena later.csv --relearn --budget quick -o m.catena").succeeded();
    folder.run("report m.catena -o page.html").succeeded();
    assert!(folder.read("page.html").contains("season 1, shared"));
}

#[test]
fn what_cannot_be_read_is_said_with_its_letter() {
    let folder = folder("bad_sums");
    folder.write("numbers.csv", "x,y\n1,2\n2,3\n3,5\n4,1\n");
    folder.write("plane.csv", "a,b,y\n1,2,1\n2,3,0\n3,5,2\n");
    folder.run("fit first.csv --kernel rw --budget quick -o m.catena").succeeded();
    for (words, sentences) in [
        ("fit first.csv --kernel sho+rwx -o out", &["letter 5", "rwx"][..]),
        ("fit first.csv --kernel sho+shared(24h,2,0) -o out", &["number of groups; write 1 to 8"]),
        ("fit first.csv --kernel sho+qp -o out", &["letter 7", "qp(24h)"]),
        ("fit first.csv --kernel sho+qp(24) -o out", &["no unit"]),
        ("fit numbers.csv --kernel sho+qp(24h) -o out", &["x holds numbers"]),
        ("fit first.csv --periods 24 -o out", &["no unit"]),
        ("fit first.csv --periods never -o out", &["number"]),
        ("fit plane.csv --inputs a,b --periods 24h -o out", &["one input"]),
        ("fit first.csv --kernel sho+rw --latents 2 -o out", &["one shared latent per output"]),
        ("fit first.csv --kernel sho+rw --method exact -o out", &["message passing"]),
        ("score m.catena first.csv --rolling", &["rows after the last"]),
        ("score m.catena all.csv --every 3", &["--rolling"]),
        ("forecast first.csv --horizon 3 --quantiles 2 -o out", &["between 0 and 1"]),
    ] {
        let outcome = folder.run(words);
        assert_eq!(outcome.code, 2, "{words}: {}", outcome.stderr);
        for sentence in sentences {
            assert!(outcome.stderr.contains(sentence), "{words}: {}", outcome.stderr);
        }
        assert!(!folder.names().contains(&"out".to_owned()), "{words} wrote a file");
    }
}

/// Months whose season and trend go on: the check is printed, in JSON and on the page, and a year is twelve months.
#[test]
fn a_forecast_says_how_it_did_on_known_rows() {
    let folder = Folder::new("checked_forecast");
    let wobble = |month: usize| ((month * 7919) % 1009) as f64 / 1009.0 - 0.5;
    let line = |month: usize| {
        let angle = std::f64::consts::TAU * (month % 12) as f64 / 12.0;
        let value = (4.0 + 0.01 * month as f64 + 0.2 * angle.sin() + 0.05 * wobble(month)).exp();
        format!("{}-{:02}-01,{value:.3}\n", 2010 + month / 12, month % 12 + 1)
    };
    let months =
        |range: std::ops::Range<usize>| format!("month,visitors\n{}", range.map(line).collect::<String>());
    folder.write("visitors.csv", months(0..108));
    let words = "forecast visitors.csv --horizon 12 --budget quick -o next.csv";
    let told = folder.run(&format!("{words} --page next.html")).succeeded();
    for part in ["from 48 origins, to 1y ahead", "RMSE/sd", "last value", "last season", "drift", "mean"] {
        assert!(told.stderr.contains(part), "{part}: {}", told.stderr);
    }
    let page = folder.read("next.html");
    assert!(page.contains("forecasts of known rows, up to 1y") && page.contains("last season"));
    let next = columns(&folder.read("next.csv"));
    assert_eq!((next["month"][0].as_str(), next["month"][11].as_str()), ("2019-01-01", "2019-12-01"));
    let truth = numbers(&columns(&months(108..120)), "visitors");
    for (mean, value) in numbers(&next, "visitors_mean").into_iter().zip(truth) {
        assert!((mean / value - 1.0).abs() < 0.06, "{mean} instead of {value}");
    }
    let summary = folder.run(&format!("{words} --json")).succeeded().json();
    assert_eq!(summary["origins"]["n_origins"], 48);
    assert_eq!(summary["outputs"][0]["transform"], "log");
    let names: Vec<&str> =
        summary["held_out"].as_array().unwrap().iter().filter_map(|score| score["name"].as_str()).collect();
    assert!(names.contains(&"last season"), "{names:?}");
    // A kernel that is given is checked, too, and not pooled.
    let given = folder.run(&format!("{words} --kernel matern32 --json")).succeeded().json();
    assert_eq!(given["held_out"][0]["name"], "the requested model");
    assert!(given.get("members").is_none());
    let outcome = folder.run("forecast visitors.csv --horizon 12 --page visitors.csv -o next.csv");
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
}
