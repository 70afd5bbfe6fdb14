//! Groups: independent tables with one model, from one file.

use crate::harness::{Folder, columns};

/// Three stations at irregular times in a mixed order, with missing values.
fn stations() -> String {
    let mut text = "hour,station,temp,wind\n".to_owned();
    for at in 0..90_u32 {
        let (station, hour) = (["north", "south", "007"][(at % 3) as usize], f64::from(at * at % 61));
        let curve = (0.2 * hour + f64::from(at % 3)).sin();
        let temp =
            if at % 7 == 2 { String::new() } else { format!("{:.3}", 10.0 * f64::from(at % 3) + curve) };
        text += &format!("{hour},{station},{temp},{:.3}\n", 3.0 - curve);
    }
    text
}

#[test]
fn a_filled_file_keeps_its_rows_and_a_model_file_its_groups() {
    let folder = Folder::new("groups");
    folder.write("stations.csv", stations());
    let said =
        folder.run("impute stations.csv --group station --budget quick -o filled.csv").succeeded().stderr;
    assert!(said.contains("groups: station (named)") && said.contains("3 groups share one model"), "{said}");
    let names = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split(',').nth(1).unwrap().to_owned()).collect()
    };
    assert_eq!(names(&folder.read("filled.csv")), names(&stations()));
    assert!(!folder.read("filled.csv").contains(",,"));
    folder.run("fit stations.csv --group station --budget quick -o m.catena").succeeded();
    folder.run("impute stations.csv --model m.catena -o again.csv").succeeded();
    assert_eq!(folder.read("again.csv"), folder.read("filled.csv"));
    let rows = folder.run("predict m.catena").succeeded();
    assert!(rows.text().starts_with("station,hour,temp_mean"), "{}", rows.text());
}

#[test]
fn new_groups_have_the_prior_until_they_have_rows() {
    let folder = Folder::new("new_groups");
    folder.write("stations.csv", stations());
    folder.run("fit stations.csv --group station --budget quick -o m.catena").succeeded();
    folder.write("points.csv", "station,hour\neast,5\neast,50\nsouth,5\n");
    let before = folder.run("predict m.catena --at points.csv").succeeded();
    assert!(before.stderr.contains("1 group without rows in the model, such as east"), "{}", before.stderr);
    let found = columns(before.text());
    assert_eq!(found["temp_mean"][0], found["temp_mean"][1]);
    folder.write("more.csv", "hour,station,temp,wind\n5,east,21.5,\n");
    folder.run("update m.catena more.csv -o m.catena").succeeded();
    let after = columns(folder.run("predict m.catena --at points.csv").succeeded().text());
    let deviation = |table: &std::collections::BTreeMap<String, Vec<String>>| -> f64 {
        table["temp_std"][0].parse().unwrap()
    };
    assert!(deviation(&after) < 0.9 * deviation(&found));
    assert_eq!(after["temp_mean"][2], found["temp_mean"][2]);
    let same = folder.run("update m.catena more.csv -o m.catena").succeeded().stderr;
    assert!(same.contains("nothing was added"), "{same}");
}

#[test]
fn a_forecast_follows_the_last_row_of_each_group() {
    let folder = Folder::new("forecast_groups");
    let first = "t,id,y\n0,a,1\n1,a,1.4\n2,a,1.1\n3,a,1.3\n0,b,5\n1,b,5.2\n2,b,4.9\n3,b,5.3\n4,b,5.1\n";
    folder.write("two.csv", first);
    let found = folder.run("forecast two.csv --group id --budget quick --horizon 2").succeeded();
    let places: Vec<&str> = found.text().lines().skip(1).map(|line| &line[..3]).collect();
    assert_eq!(places, ["a,4", "a,5", "b,5", "b,6"]);
    let paths = folder.run("forecast two.csv --group id --budget quick --horizon 2 --paths 2").succeeded();
    let rows: Vec<&str> = paths.text().lines().map(|line| line.rsplit_once(',').unwrap().0).collect();
    assert_eq!(rows, ["path,id,t", "1,a,4", "1,a,5", "1,b,5", "1,b,6", "2,a,4", "2,a,5", "2,b,5", "2,b,6"]);
}

#[test]
fn a_column_that_looks_like_a_group_is_proposed() {
    let folder = Folder::new("proposed_groups");
    let rows = (0..40).map(|at| format!("{},{},{}\n", at / 4, ["a", "b", "c", "d"][at % 4], at % 7));
    folder.write("stocks.csv", format!("day,symbol,close\n{}9,a,\n", rows.collect::<String>()));
    let said = folder.run("impute stocks.csv --budget quick -o filled.csv").succeeded().stderr;
    assert!(!said.contains("--group"), "the last row repeats a day of its symbol: {said}");
    let rows = (0..40).map(|at| format!("{},{},{}\n", at / 4, ["a", "b", "c", "d"][at % 4], at % 7));
    folder.write("stocks.csv", format!("day,symbol,close\n{}10,a,\n", rows.collect::<String>()));
    let said = folder.run("impute stocks.csv --budget quick -o filled.csv").succeeded().stderr;
    assert!(said.contains("column symbol repeats each day about 4 times; pass --group symbol"), "{said}");
}

#[test]
fn what_does_not_know_groups_says_so() {
    let folder = Folder::new("refused_groups");
    folder.write("stations.csv", stations());
    folder.run("fit stations.csv --group station --budget quick -o m.catena").succeeded();
    for words in [
        "compare stations.csv --group station --block 5",
        "structure stations.csv --group station",
        "fit stations.csv --group station --method exact -o n.catena",
        "impute stations.csv --model m.catena --max-memory 1GB -o n.csv",
    ] {
        let refused = folder.run(words);
        assert!(refused.code == 2 && refused.stderr.contains("groups"), "{words}: {}", refused.stderr);
    }
    folder.write("alone.csv", "hour,id,temp\n1,a,2\n2,b,3\n3,c,4\n");
    folder.write("rows.csv", "hour,temp,wind\n100,1,2\n");
    folder
        .write("both.csv", "hour,station,temp,wind\n5,north,1,2\n5,north,1.5,2\n6,north,1,\n7,north,1.2,2\n");
    folder.write("months.csv", "symbol,date,price\nA,1-janv-2000,3\nA,1-mars-2000,4\nB,1-janv-2000,7\n");
    for (words, part) in [
        (
            "fit months.csv -o n.catena",
            "date with the name of a month in a form that is not read; write dates as",
        ),
        ("fit months.csv --group symbol -o n.catena", "line 2, column date: \"1-janv-2000\""),
        ("fit alone.csv --group id -o n.catena", "of one row each has nothing to learn from"),
        ("fit stations.csv --group statoin -o n.catena", "did you mean \"station\""),
        ("fit stations.csv --group station --outputs station -o n.catena", "station"),
        ("fit stations.csv --group hour,hour -o n.catena", "hour"),
        ("update m.catena rows.csv -o n.catena", "station"),
        ("predict m.catena --at rows.csv", "station"),
        ("impute rows.csv --model m.catena -o n.csv", "station"),
        ("score m.catena rows.csv", "station"),
    ] {
        let refused = folder.run(words);
        assert!(refused.code == 2 && refused.stderr.contains(part), "{words}: {}", refused.stderr);
        assert_eq!(refused.stderr.lines().filter(|line| line.starts_with("catena:")).count(), 1);
    }
    let told = folder.run("impute both.csv --group station --budget quick -o n.csv").stderr;
    assert!(told.contains("1 row has the hour of another row of its group"), "{told}");
    folder.write("holes.csv", stations().replace(",south,", ",,"));
    let refused = folder.run("fit holes.csv --group station --budget quick -o n.catena").stderr;
    assert!(refused.contains("the name of the group is missing"), "{refused}");
}

/// Replies equal predictions by the model with the rows added at once; the journal keeps the groups, new ones too.
#[test]
fn a_stream_names_the_group_of_each_line() {
    let folder = Folder::new("watched_groups");
    folder.write("stations.csv", stations());
    folder.run("fit stations.csv --group station --budget quick -o m.catena").succeeded();
    let (first, second) = ("62,north,10.5,\n63,east,21,2\n62,007,,2.5\n", "63.5,east,,2.25\n64,north,9,3\n");
    let header = "hour,station,temp,wind\n";
    let questions = "70,north,,\n70,east,,\n70,west,,\n";
    let lines = format!("{header}{first}{questions}");
    folder.run_with(&["watch", "m.catena"], lines.as_bytes()).succeeded();
    // The journal brings the first lines back; they are not applied again.
    let lines = format!("{lines}{second}{questions}");
    let replies = folder.run_with(&["watch", "m.catena"], lines.as_bytes()).succeeded();
    assert!(replies.text().starts_with("line,station,hour,temp_mean"), "{}", replies.text());
    let found = columns(replies.text());
    let n_lines = found["line"].len();
    assert_eq!(found["station"][n_lines - 3..], ["north", "east", "west"]);
    folder.write("rows.csv", format!("{header}{first}{second}"));
    folder.run("update m.catena rows.csv -o updated.catena").succeeded();
    folder.write("points.csv", "station,hour\nnorth,70\neast,70\nwest,70\n");
    let expected = columns(folder.run("predict updated.catena --at points.csv").succeeded().text());
    folder.run("watch m.catena --apply -o applied.catena").succeeded();
    let applied = columns(folder.run("predict applied.catena --at points.csv").succeeded().text());
    for name in ["temp_mean", "temp_std", "wind_mean", "wind_std"] {
        for at in 0..3 {
            let number = |table: &std::collections::BTreeMap<String, Vec<String>>, at: usize| -> f64 {
                table[name][at].parse().unwrap()
            };
            let exact = number(&expected, at);
            for other in [number(&found, n_lines - 3 + at), number(&applied, at)] {
                assert!((other - exact).abs() < 1e-9, "{name} {at}: {other} instead of {exact}");
            }
        }
    }
    let objects = b"{\"hour\":70,\"station\":\"east\"}\n{\"hour\":70}\n{\"hour\":70,\"station\":null}\n";
    let replies = folder.run_with(&["watch", "applied.catena", "--format", "json"], objects).succeeded();
    let replies: Vec<serde_json::Value> =
        replies.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(replies[1]["station"], "east");
    for reply in &replies[2..] {
        assert!(
            reply["error"].as_str().unwrap().contains("column station: is empty; every line names its group")
        );
    }
    let refused = folder.run_with(&["watch", "applied.catena"], b"hour,temp\n70,1\n");
    assert!(
        refused.code == 2 && refused.stderr.contains("no column station, which names the groups"),
        "{}",
        refused.stderr
    );
}

#[test]
fn pools_of_groups_are_kept_in_a_model_file() {
    let folder = Folder::new("pools_of_groups");
    let mut text = "land,year,life,wealth\n".to_owned();
    for at in 0..240_u32 {
        let (land, year) = (at / 12, f64::from(at % 12));
        let common = f64::from(land * 37 % 11) + 0.3 * year + 0.1 * f64::from(at * at % 7);
        let wealth = if at % 8 == 3 { String::new() } else { format!("{:.3}", 30.0 - 2.0 * common) };
        let life = if at % 9 == 4 { String::new() } else { format!("{common:.3}") };
        text += &format!("Land {land},{},{life},{wealth}\n", 1990 + at % 12);
    }
    folder.write("lands.csv", text);
    for scaling in ["shared", "own"] {
        let words = format!("lands.csv --group land --group-scaling {scaling}");
        folder.run(&format!("impute {words} -o filled.csv")).succeeded();
        let fitted = folder.run(&format!("fit {words} --json -o m.catena")).succeeded().json();
        assert!(!fitted["members"].as_array().unwrap().is_empty(), "{fitted}");
        folder.run("impute lands.csv --model m.catena -o again.csv").succeeded();
        assert_eq!(folder.read("again.csv"), folder.read("filled.csv"));
    }
}

#[test]
fn own_means_and_scales_are_kept_in_a_model_file() {
    let folder = Folder::new("own_scales_of_groups");
    folder.write("stations.csv", stations());
    let words = "--group station --group-scaling own --budget quick";
    folder.run(&format!("impute stations.csv {words} -o filled.csv")).succeeded();
    folder.run(&format!("fit stations.csv {words} -o m.catena")).succeeded();
    folder.run("impute stations.csv --model m.catena -o again.csv").succeeded();
    assert_eq!(folder.read("again.csv"), folder.read("filled.csv"));
    folder.run("impute stations.csv --group station --budget quick -o shared.csv").succeeded();
    assert_ne!(folder.read("shared.csv"), folder.read("filled.csv"));
    let refused = folder.run("fit stations.csv --group station --group-scaling each -o n.catena");
    assert!(refused.stderr.contains("auto, shared or own"), "{}", refused.stderr);
}

#[test]
fn models_of_groups_are_compared_with_rules() {
    let folder = Folder::new("compared_groups");
    folder.write("stations.csv", stations());
    let told = folder.run("compare stations.csv --group station").succeeded();
    let names: Vec<&str> = told.text().lines().filter_map(|line| line.split("  ").next()).collect();
    assert!(names.contains(&"interpolation") && names.contains(&"independent outputs"), "{}", told.text());
    assert!(!names.iter().any(|name| name.starts_with("exact")), "{}", told.text());
}

#[test]
fn long_tables_with_a_column_of_groups() {
    let folder = Folder::new("long_groups");
    folder.write("stations.csv", stations());
    let mut long = "station,hour,variable,value\n".to_owned();
    for line in stations().lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [hour, station, temp, wind] = cells[..] else { panic!("{line}") };
        long += &format!("{station},{hour},temp,{temp}\n{station},{hour},wind,{wind}\n");
    }
    folder.write("long.csv", &long);
    folder.run("impute stations.csv --group station --budget quick -o expected.csv").succeeded();
    let words = "impute long.csv --long station,hour,variable,value --budget quick -o filled.csv";
    let said = folder.run(words).succeeded().stderr;
    assert!(said.contains("groups: station (named)") && said.contains("3 groups share one model"), "{said}");
    let (found, expected) = (columns(&folder.read("filled.csv")), columns(&folder.read("expected.csv")));
    for (at, name) in ["temp", "wind"].into_iter().enumerate() {
        let values: Vec<&String> = found["value"].iter().skip(at).step_by(2).collect();
        assert_eq!(values, expected[name].iter().collect::<Vec<_>>());
    }
    let words = "impute long.csv --group station --long hour,variable,value --budget quick -o same.csv";
    folder.run(words).succeeded();
    assert_eq!(folder.read("same.csv"), folder.read("filled.csv"));
    folder.run("fit long.csv --long station,hour,variable,value --budget quick -o m.catena").succeeded();
    folder.run("impute long.csv --model m.catena -o again.csv").succeeded();
    assert_eq!(folder.read("again.csv"), folder.read("filled.csv"));
    let rows = folder.run("predict m.catena").succeeded();
    assert!(rows.text().starts_with("station,hour,variable,value_mean,value_std\n"), "{}", rows.text());
    let refused = folder.run("fit long.csv --long station,hour,variable,value,more -o n.catena");
    assert!(
        refused.code == 2 && refused.stderr.contains("or of four, ID,TIME,SERIES,VALUE"),
        "{}",
        refused.stderr
    );
}
