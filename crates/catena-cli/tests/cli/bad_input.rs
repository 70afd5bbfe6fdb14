//! Bad input: each command exits with code 2 or 3 and one sentence with the place and the remedy, and writes nothing.

use crate::harness::{Folder, PARAMETERS, columns, prepared, waves, wide};

/// The command, its exit code, and parts of the message.
type Case = (&'static str, i32, &'static [&'static str]);

const GIVEN: &str = " --no-learn --parameters p.json";

/// A folder with one file per kind of error.
fn folder() -> Folder {
    let folder = prepared("bad_input");
    folder.run("fit waves.csv --no-learn --parameters p.json -o good.catena").succeeded();
    let model = std::fs::read(folder.0.join("good.catena")).unwrap();
    folder.write("truncated.catena", &model[..model.len() - 100]);
    let mut flipped = model.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    folder.write("flipped.catena", &flipped);
    let newer =
        [b"catena-model 99\n", &model[model.iter().position(|byte| *byte == b'\n').unwrap() + 1..]].concat();
    folder.write("newer.catena", newer);
    let good = wide(&waves(72));
    for (name, n_columns) in [("vast.csv", 100_000), ("broad.csv", 3000)] {
        let line = |cell: &dyn Fn(usize) -> String| (0..=n_columns).map(cell).collect::<Vec<_>>().join(",");
        let rows = (0..3).map(|row| line(&|column| format!("{}", (row * column) % 7 + row)));
        let lines: Vec<String> = std::iter::once(line(&|column| format!("y{column}"))).chain(rows).collect();
        folder.write(name, lines.join("\n") + "\n");
    }
    for (name, text) in [
        ("unknown.xyz", "a,b\n1,2\n"),
        ("empty.csv", ""),
        ("header_only.csv", "time,temp\n"),
        ("ragged.csv", "time,temp\n1,2\n2,3\n3,4,5\n"),
        ("text_cell.csv", "time,temp\n1,2\n2,3\n3,cold\n4,5\n5,6\n"),
        ("no_numbers.csv", "time,name\n2024-01-01,a\n2024-01-02,b\n"),
        ("duplicate.csv", "time,temp,temp\n1,2,3\n2,3,4\n"),
        ("no_name.csv", "time,,temp\n1,2,3\n2,3,4\n"),
        ("all_holes.csv", "time,temp,salt\n1,2,\n2,3,NA\n3,4,\n"),
        ("one_row.csv", "time,temp\n1,2\n"),
        ("infinite.csv", "time,temp\n1,2\n2,inf\n3,4\n"),
        (
            "overflow.json",
            r#"{"kernel":"matern32","mixing":[[1e300],[1e300]],"length_scales":["6h"],"noise":[1,1]}"#,
        ),
        ("missing_time.csv", "time,temp\n2024-01-01,2\n,3\n2024-01-03,4\n"),
        ("two_times.csv", "start,end,temp\n2024-01-01,2024-01-02,2\n2024-01-02,2024-01-03,3\n"),
        ("no_header.csv", "1,2\n3,4\n5,6\n"),
        ("quote.csv", "time,temp\n1,\"2\n2,3\n"),
        ("comma.csv", "time;temp\n1;2,500\n2;3,500\n3;1,250\n"),
        ("comma_beside.csv", "time;temp;count\n1;2,5;4.5\n2;3,5;2\n3;1,25;3\n"),
        ("day_first.csv", "id,day,temp\n1,05/03/2013,2\n2,06/03/2013,3\n3,07/03/2013,2\n"),
        (
            "digits_beside.csv",
            "time,id,temp\n1,9007199254740993,2\n2,9007199254740995,3\n3,9007199254740997,3\n",
        ),
        ("loud.csv", "time,temp,et\n1,2,1\n2,3,1e200\n3,2,1\n"),
        ("end_of_time.csv", "time,temp\n2024-02-29,2\n9999-12-31,3\n2024-03-01,3\n"),
        (
            "clock_change.csv",
            "time,temp\n2024-11-03T01:30[America/New_York],2\n2024-11-03T04:00[America/New_York],3\n",
        ),
        ("digits.csv", "id,temp\n9007199254740993,2\n9007199254740995,3\n"),
        ("most_zones.csv", "time,temp\n2024-01-01T00:00Z,2\n2024-01-01T01:00,3\n2024-01-01T02:00,3\n"),
        ("zoned_points.csv", "time,temp,salt\n2024-03-02T10:00+05:00,20,-3\n"),
        ("truths.csv", "time,temp,flag\n1,2,true\n2,,false\n3,4,\n4,3,true\n"),
        ("taken_lo.csv", "time,temp,temp_lo\n1,2,1\n2,,1\n3,4,1\n"),
        ("path.csv", "path,temp\n1,2\n2,3\n3,2.5\n4,2\n"),
        ("noisy.csv", "time,temp,salt,et,es\n1,2,3,1,1\n2,3,4,1,1\n3,2,3,1,1\n"),
        ("hours.json", r#"{"kernel":"matern32","mixing":[[1]],"length_scales":["6h"],"noise":[1]}"#),
        ("one.json", r#"{"kernel":"matern32","mixing":[[1]],"length_scales":[6],"noise":[1]}"#),
        ("zones.csv", "time,temp\n2024-01-01T00:00Z,2\n2024-01-01T01:00,3\n2024-01-01T02:00Z,3\n"),
        ("date.csv", "time,temp\n2024-02-29,2\n2024-02-30,3\n2024-03-01,3\n"),
        ("not.parquet", "time,temp\n1,2\n"),
        ("not.arrow", "time,temp\n1,2\n"),
        ("numbers.csv", "x,temp\n1,2\n2,3\n3,2.5\n4,2\n"),
        ("denormal.csv", "x,temp\n1e-310,2\n2e-310,3\n3e-310,2.5\n4e-310,2\n"),
        ("same.csv", "x,temp\n1,2\n1,3\n1,2.5\n"),
        ("plane.csv", "x,y,temp\n1,2,3\n2,3,4\n3,1,2\n"),
        ("no_series.csv", "time,series,value\n1,a,2\n2,,3\n"),
        ("points.csv", "when,temp\n2024-03-01,1\n"),
        ("number_points.csv", "time,temp\n1,1\n"),
        ("lacks_salt.csv", "time,temp\n2024-03-09 00:00,1\n"),
        ("no_values.csv", "time,temp,salt\n2024-03-09 00:00,,\n"),
        ("taken.csv", "time,temp,temp_std\n1,2,1\n2,,1\n3,4,1\n"),
        ("not.json", "mixing: 1"),
        (
            "unknown_key.json",
            r#"{"kernel":"matern32","mixing":[[1]],"length_scales":[1],"noise":[1],"jitter":1}"#,
        ),
        (
            "negative.json",
            r#"{"kernel":"matern32","mixing":[[1,0],[0,1]],"length_scales":[1,2],"noise":[1,-1]}"#,
        ),
        ("zero.json", r#"{"kernel":"matern32","mixing":[[1,0],[0,1]],"length_scales":[1,0],"noise":[1,1]}"#),
        ("uneven.json", r#"{"kernel":"matern32","mixing":[[1,0],[0]],"length_scales":[1,2],"noise":[1,1]}"#),
        (
            "three.json",
            r#"{"kernel":"matern32","mixing":[[1],[1],[1]],"length_scales":["6h"],"noise":[1,1,1]}"#,
        ),
        ("kernel.json", r#"{"kernel":"cubic","mixing":[[1],[1]],"length_scales":["6h"],"noise":[1,1]}"#),
        (
            "unit.json",
            r#"{"kernel":"matern32","mixing":[[1],[1]],"length_scales":["6 parsecs"],"noise":[1,1]}"#,
        ),
    ] {
        folder.write(name, text);
    }
    folder.write("binary.csv", (0..2000_u32).map(|at| (at * 31 % 256) as u8).collect::<Vec<_>>());
    folder.write("packed.csv", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03rest");
    folder.write("latin.csv", b"time,temp,name\n1,2,caf\xe9\n2,3,b\n");
    let wide_text: Vec<u8> = good.encode_utf16().flat_map(u16::to_le_bytes).collect();
    folder.write("utf16.csv", [&b"\xff\xfe"[..], &wide_text].concat());
    folder.write("one_line.csv", "7".repeat(10 << 20));
    std::fs::create_dir(folder.0.join("folder.csv")).unwrap();
    folder
}

const CASES: &[Case] = &[
    ("impute nowhere.csv -o out.csv", 2, &["nowhere.csv", "no such file"]),
    ("impute folder.csv -o out.csv", 2, &["folder.csv", "directory"]),
    ("impute unknown.xyz -o out.csv", 2, &["unknown.xyz", "suffix"]),
    ("impute empty.csv -o out.csv", 2, &["empty.csv", "empty"]),
    ("impute header_only.csv -o out.csv", 2, &["no rows"]),
    ("impute ragged.csv -o out.csv", 2, &["ragged.csv", "line 4", "3 cells", "2 columns"]),
    ("impute text_cell.csv -o out.csv", 2, &["line 4", "column temp", "cold"]),
    ("impute no_numbers.csv -o out.csv", 2, &["no column of numbers"]),
    ("impute duplicate.csv -o out.csv", 2, &["columns 2 and 3", "temp"]),
    ("impute no_name.csv -o out.csv", 2, &["column 2", "no name"]),
    ("impute all_holes.csv --outputs temp,salt -o out.csv", 2, &["salt", "no value"]),
    ("fit one_row.csv -o out.catena", 2, &["one row"]),
    ("impute infinite.csv -o out.csv", 2, &["line 3", "column temp", "infinite"]),
    (
        "impute waves.csv --no-learn --parameters overflow.json -o out.csv",
        3,
        &["waves.csv", "line", "overflow"],
    ),
    ("impute missing_time.csv -o out.csv", 2, &["line 3", "column time", "missing"]),
    ("impute two_times.csv -o out.csv", 2, &["start, end", "pass --inputs"]),
    ("impute no_header.csv -o out.csv", 2, &["line 1", "header"]),
    ("impute quote.csv -o out.csv", 2, &["line 2", "quote"]),
    ("impute comma.csv -o out.csv", 2, &["column temp", "--decimal comma"]),
    ("impute comma_beside.csv -o out.csv", 2, &["line 2", "column temp", "decimal comma", "pass --inputs"]),
    (
        "impute day_first.csv -o out.csv",
        2,
        &["line 2", "column day", "day and month", "--dates", "pass --inputs"],
    ),
    ("structure day_first.csv", 2, &["line 2", "column day"]),
    ("structure digits.csv", 2, &["line 2", "column id", "2^53"]),
    ("impute most_zones.csv -o out.csv", 2, &["line 3", "column time", "zone"]),
    ("impute zones.csv -o out.csv", 2, &["line 3", "zone"]),
    ("impute date.csv -o out.csv", 2, &["line 3", "2024-02-30"]),
    ("impute not.parquet -o out.csv", 2, &["not.parquet", "Parquet"]),
    ("impute not.arrow -o out.csv", 2, &["not.arrow", "Arrow"]),
    ("impute binary.csv -o out.csv", 2, &["binary"]),
    ("impute packed.csv -o out.csv", 2, &["gzip"]),
    ("impute latin.csv -o out.csv", 2, &["line 2", "column name", "UTF-8"]),
    ("impute utf16.csv -o out.csv", 2, &["UTF-16"]),
    ("impute one_line.csv -o out.csv", 2, &["one_line.csv", "line 1"]),
    ("impute - -o out.csv", 2, &["standard input", "empty"]),
    ("impute waves.csv --outputs tmp -o out.csv", 2, &["\"tmp\"", "did you mean \"temp\""]),
    ("impute waves.csv --inputs tiem -o out.csv", 2, &["\"tiem\"", "did you mean \"time\""]),
    ("impute waves.csv --inputs remark -o out.csv", 2, &["remark", "text"]),
    ("impute waves.csv --inputs temp --outputs temp -o out.csv", 2, &["temp", "twice"]),
    ("impute waves.csv --long time,temp -o out.csv", 2, &["TIME,SERIES,VALUE"]),
    ("impute waves.csv --long time,sensor,temp -o out.csv", 2, &["sensor"]),
    ("impute no_series.csv --long time,series,value -o out.csv", 2, &["line 3", "series"]),
    ("impute waves.csv --outputs temp --noise-columns remark -o out.csv", 2, &["remark", "noise"]),
    (
        "impute noisy.csv --outputs temp --noise-columns temp=et,temp=es -o out.csv",
        2,
        &["\"temp\"", "two noise columns"],
    ),
    ("impute noisy.csv --outputs temp,salt --noise-columns et,et -o out.csv", 2, &["\"et\"", "twice"]),
    ("impute truths.csv --outputs temp,flag -o out.csv", 2, &["truths.csv", "column flag", "true and false"]),
    ("impute taken_lo.csv --interval 0.9 -o out.csv", 2, &["temp_lo", "--interval"]),
    ("impute waves.csv -o waves.csv/out.csv", 2, &["waves.csv/out.csv", "not a folder"]),
    ("impute waves.csv -o nowhere/out.csv", 2, &["nowhere/out.csv", "folder"]),
    ("impute waves.csv -o folder.csv", 2, &["folder.csv", "directory"]),
    ("impute waves.csv -o out.xlsx", 2, &["out.xlsx", "suffix", "not written", "csv"]),
    ("impute waves.csv -o /dev/full --format csv --no-learn --parameters p.json", 2, &["/dev/full", "full"]),
    ("impute taken.csv --std -o out.csv", 2, &["temp_std", "rename"]),
    ("impute waves.csv --json", 2, &["--json", "-o"]),
    ("impute waves.csv --no-learn -o out.csv", 2, &["--no-learn", "--parameters"]),
    ("impute waves.csv --parameters p.json -o out.csv", 2, &["--no-learn"]),
    ("impute waves.csv --no-learn --parameters nowhere.json -o out.csv", 2, &["nowhere.json"]),
    ("impute waves.csv --no-learn --parameters not.json -o out.csv", 2, &["not.json", "line 1"]),
    ("impute waves.csv --no-learn --parameters unknown_key.json -o out.csv", 2, &["jitter"]),
    ("impute waves.csv --no-learn --parameters negative.json -o out.csv", 2, &["noise", "positive"]),
    ("impute waves.csv --no-learn --parameters zero.json -o out.csv", 2, &["length-scale", "positive"]),
    ("impute waves.csv --no-learn --parameters uneven.json -o out.csv", 2, &["mixing", "2 numbers"]),
    ("impute waves.csv --no-learn --parameters three.json -o out.csv", 2, &["mixing", "3", "2"]),
    ("impute waves.csv --no-learn --parameters kernel.json -o out.csv", 2, &["cubic", "matern32"]),
    ("impute waves.csv --no-learn --parameters unit.json -o out.csv", 2, &["parsecs"]),
    ("impute waves.csv --kernel cubic -o out.csv", 2, &["cubic", "matern32"]),
    ("impute waves.csv --latents many -o out.csv", 2, &["many", "whole number"]),
    ("impute waves.csv --latents 0 --private no -o out.csv", 2, &["latents"]),
    ("impute waves.csv --structure ensemble:0 -o out.csv", 2, &["ensemble:K"]),
    ("impute waves.csv --method magic -o out.csv", 2, &["magic", "exact"]),
    ("impute waves.csv --method nngp:5000 --no-learn --parameters p.json -o out.csv", 2, &["5000"]),
    ("impute waves.csv --budget endless -o out.csv", 2, &["endless", "thorough", "see `catena help impute`"]),
    ("impute waves.csv --threads 0 -o out.csv", 2, &["--threads 0"]),
    ("impute waves.csv --interval 95 -o out.csv", 2, &["95", "between 0 and 1"]),
    ("fit digits_beside.csv -o out.catena", 2, &["line 2", "id", "2^53", "subtract an origin", "--outputs"]),
    ("fit loud.csv --noise-columns et -o out.catena", 2, &["line 3", "et", "1e150", "1e200"]),
    ("fit end_of_time.csv -o out.catena", 2, &["line 3", "9999-12-31", "out of range"]),
    ("fit clock_change.csv -o out.catena", 2, &["line 2", "clocks change", "offset"]),
    (
        "fit waves.csv --structure ensemble:1000000000 -o out.catena",
        2,
        &["ensemble:1000000000", "from 1 to 1000"],
    ),
    ("fit vast.csv -o out.catena", 2, &["vast.csv", "GB of memory", "--max-memory"]),
    ("fit vast.csv --dry-run -o out.catena", 2, &["vast.csv", "GB of memory", "--max-memory"]),
    (
        "fit broad.csv --private yes --budget quick -o out.catena",
        2,
        &["broad.csv", "3000 outputs", "--private no"],
    ),
    ("impute waves.csv --max-memory 1kB -o out.csv", 2, &["memory", "1.0 kB"]),
    ("impute waves.csv --max-memory lots -o out.csv", 2, &["lots", "3GB"]),
    ("impute waves.csv --ouptuts temp -o out.csv", 2, &["--ouptuts", "--outputs"]),
    ("imptue waves.csv -o out.csv", 2, &["imptue", "impute"]),
    ("fit waves.csv", 2, &["--output"]),
    ("fit waves.csv -o waves.csv", 2, &["waves.csv", "read by this command"]),
    ("fit waves.csv -o ./waves.csv", 2, &["waves.csv", "read by this command"]),
    ("fit waves.csv --no-learn --parameters p.json -o p.json", 2, &["p.json", "read by this command"]),
    ("fit waves.csv -o both --parameters-out both", 2, &["both", "two results"]),
    ("fit waves.csv -o -", 2, &["model", "standard output"]),
    ("fit waves.csv --parameters-out - --json -o out.catena", 2, &["--json"]),
    ("fit waves.csv --dry-run -o nowhere/m.catena", 2, &["folder"]),
    ("fit waves.csv --dry-run --max-memory 1kB -o out.catena", 2, &["memory", "1.0 kB"]),
    (
        "fit numbers.csv --no-learn --parameters hours.json -o out.catena",
        2,
        &["length_scales[0]", "duration", "x"],
    ),
    (
        "fit numbers.csv --no-learn --parameters one.json --latents 5 -o out.catena",
        2,
        &["--no-learn", "--latents"],
    ),
    ("fit numbers.csv --no-learn --parameters one.json --kernel matern12 -o out.catena", 2, &["--kernel"]),
    ("fit numbers.csv --periods 24 --kernel matern12 -o out.catena", 2, &["--periods", "--kernel"]),
    ("fit waves.csv -o nowhere/m.catena", 2, &["folder"]),
    ("forecast waves.csv --horizon 3 --format csv -o waves.csv", 2, &["waves.csv", "read by this command"]),
    ("forecast waves.csv --horizon 3 --paths 2 --interval 0.9 -o out.csv", 2, &["--paths", "--interval"]),
    ("forecast waves.csv --horizon 3 --paths 0 -o out.csv", 2, &["--paths", "whole number"]),
    ("forecast path.csv --horizon 3 --paths 2 -o out.csv", 2, &["\"path\"", "rename"]),
    ("forecast waves.csv -o out.csv", 2, &["--horizon"]),
    ("forecast waves.csv --horizon 0 -o out.csv", 2, &["at least one"]),
    ("forecast waves.csv --horizon soon -o out.csv", 2, &["soon", "48h"]),
    ("forecast waves.csv --horizon 5parsecs -o out.csv", 2, &["parsecs"]),
    ("forecast waves.csv --horizon 10min -o out.csv", 2, &["10min", "1h"]),
    ("forecast waves.csv --horizon 9000d --step 1ms -o out.csv", 2, &["9000d", "--step"]),
    (
        "forecast waves.csv --horizon 1000000000 -o out.csv",
        2,
        &["1000000000 steps", "more than 10000000", "--step"],
    ),
    (
        "forecast waves.csv --horizon 1000000 --paths 1000000 -o out.csv",
        2,
        &["needs about 48.0 TB of memory", "fewer --paths", "raise --max-memory"],
    ),
    (
        "forecast waves.csv --horizon 1000000 --max-memory 10MB -o out.csv",
        2,
        &["needs about 96.0 MB of memory, more than 10.0 MB", "shorter horizon"],
    ),
    ("forecast waves.csv --horizon 5 --step 3 -o out.csv", 2, &["--step", "unit"]),
    ("forecast numbers.csv --horizon 48h -o out.csv", 2, &["input x", "number of steps"]),
    ("forecast numbers.csv --horizon 3 --step 1h -o out.csv", 2, &["1h", "x"]),
    (
        "forecast denormal.csv --no-learn --parameters one.json --horizon 3 -o out.csv",
        2,
        &["denormal.csv", "length-scale", "too large for inputs this close together", "multiply the inputs"],
    ),
    (
        "forecast denormal.csv --kernel rw+qp(4) --horizon 3 -o out.csv",
        2,
        &["denormal.csv", "period", "too large for inputs this close together", "multiply the inputs"],
    ),
    ("forecast same.csv --horizon 3 -o out.csv", 2, &["same x", "--step"]),
    ("forecast plane.csv --inputs x,y --horizon 3 -o out.csv", 2, &["one input"]),
    ("predict nowhere.catena -o out.csv", 2, &["nowhere.catena", "no such file"]),
    ("predict waves.csv -o out.csv", 2, &["waves.csv", "not a catena model"]),
    ("predict empty.csv -o out.csv", 2, &["empty.csv"]),
    ("predict truncated.catena -o out.csv", 2, &["truncated.catena", "truncated"]),
    ("predict flipped.catena -o out.csv", 2, &["flipped.catena", "damaged"]),
    ("predict newer.catena -o out.csv", 2, &["newer.catena", "99", "newer catena"]),
    ("predict good.catena --at points.csv -o out.csv", 2, &["points.csv", "\"time\""]),
    ("predict good.catena --at number_points.csv -o out.csv", 2, &["time", "numbers", "times"]),
    ("predict good.catena --at zoned_points.csv -o out.csv", 2, &["time", "with a zone", "without a zone"]),
    ("update good.catena zoned_points.csv -o out.catena", 2, &["time", "with a zone", "without a zone"]),
    ("predict good.catena --format csv -o good.catena", 2, &["good.catena", "read by this command"]),
    ("predict good.catena --at number_points.csv -o number_points.csv", 2, &["read by this command"]),
    ("update good.catena waves.csv -o waves.csv", 2, &["waves.csv", "read by this command"]),
    ("update good.catena lacks_salt.csv -o good.catena", 2, &["lacks_salt.csv", "\"salt\""]),
    ("update good.catena nowhere.csv -o good.catena", 2, &["nowhere.csv"]),
    ("update good.catena number_points.csv -o good.catena", 2, &["salt"]),
    ("score good.catena no_values.csv", 2, &["no_values.csv", "no observed value"]),
    ("score good.catena waves.csv --rolling --every 0", 2, &["--every", "whole number"]),
    ("compare numbers.csv", 2, &["too few", "5 in one output"]),
    ("compare waves.csv --max-memory 1kB", 2, &["memory", "1.0 kB"]),
    ("compare path.csv --kernel sho+rw+qp(24h)", 2, &["24h", "path"]),
    ("compare plane.csv --inputs x,y --block 3", 2, &["one input"]),
    ("report good.catena -o nowhere/page.html", 2, &["folder"]),
    ("report good.catena -o good.catena", 2, &["good.catena", "read by this command"]),
    ("report good.catena -o - --json", 2, &["--json"]),
    ("report truncated.catena -o page.html", 2, &["truncated"]),
    ("structure no_numbers.csv --inputs name", 2, &["name", "text"]),
    ("structure waves.csv --structure ensemble:8", 2, &["ensemble:8", "auto, chain or tree"]),
    ("structure waves.csv --json -o -", 2, &["--json"]),
    ("structure waves.csv -o waves.csv", 2, &["waves.csv", "read by this command"]),
    ("demo --directory waves.csv", 2, &["waves.csv", "not a folder"]),
    ("completion klingon", 2, &["klingon"]),
    ("fit waves.csv", 2, &["--output <MODEL>", "see `catena help fit`"]),
    ("fill waves.csv", 2, &["'fill'", "see `catena --help`"]),
    ("reproduce sensor -o results", 2, &["cargo run --release -p catena-experiments -- sensor -o results"]),
    ("help reproduce", 2, &["cargo run --release -p catena-experiments -- sensor -o results"]),
];

#[test]
fn each_ends_with_its_code_and_one_sentence_and_writes_nothing() {
    let folder = folder();
    let before = folder.names();
    let model = std::fs::read(folder.0.join("good.catena")).unwrap();
    assert!(CASES.len() >= 40);
    let mut wrong = vec![];
    for (words, code, pieces) in CASES {
        let quiet = if words.starts_with("completion") || words.starts_with("help") { "" } else { " -q" };
        let outcome = folder.run(&format!("{words}{quiet}"));
        let lines: Vec<&str> = outcome.stderr.lines().collect();
        let is_sentence = lines.len() == 1 && lines[0].starts_with("catena: ");
        let has_pieces = pieces.iter().all(|piece| outcome.stderr.contains(piece));
        if outcome.code != *code || !is_sentence || !has_pieces || !outcome.stdout.is_empty() {
            wrong.push(format!(
                "{words}\n  code {} (expected {code}), {pieces:?}\n  {}",
                outcome.code, outcome.stderr
            ));
        }
        assert_eq!(folder.names(), before, "{words} wrote a file");
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), CASES.len(), wrong.join("\n"));
    assert_eq!(std::fs::read(folder.0.join("good.catena")).unwrap(), model, "the old model is still there");
}

#[test]
fn the_table_itself_would_be_filled() {
    // The cases above do not fail because of the table or the parameters.
    let folder = Folder::new("good_input");
    folder.write("waves.csv", wide(&waves(72)));
    folder.write("p.json", PARAMETERS);
    folder.run(&format!("impute waves.csv -o out.csv{GIVEN}")).succeeded();
}

/// Inputs below the normal doubles are scaled like all others: by a power of two, the answers are equal to the last digit.
#[test]
fn denormal_inputs_are_inputs() {
    let folder = Folder::new("denormal_inputs");
    let unit = 2_f64.powi(-1040);
    assert!(unit.is_subnormal() && (40.0 * unit).is_subnormal());
    let answers = |scale: f64| {
        let row = |at: u32| {
            let wobble = f64::from(at * 7919 % 101) / 1010.0;
            format!("{:?},{:.4}\n", f64::from(at) * scale, (f64::from(at) / 3.0).sin() + wobble)
        };
        folder.write("t.csv", "x,temp\n".to_owned() + &(0..40).map(row).collect::<String>());
        let parameters = format!(
            r#"{{"kernel":"matern32","mixing":[[1]],"length_scales":[{:?}],"noise":[0.1]}}"#,
            5.0 * scale
        );
        folder.write("t.json", parameters);
        folder.run("fit t.csv --budget quick -o t.catena").succeeded();
        [
            "predict t.catena",
            "forecast t.csv --horizon 5 --budget quick -o -",
            "forecast t.csv --horizon 5 --no-learn --parameters t.json -o -",
        ]
        .map(|words| {
            let table = columns(folder.run(words).succeeded().text());
            (table["temp_mean"].clone(), table["temp_std"].clone())
        })
    };
    assert_eq!(answers(unit), answers(1.0));
}

/// A damaged file must not print internal errors of the format's library.
#[test]
fn a_damaged_binary_table_is_one_sentence() {
    let folder = prepared("damaged_arrow");
    folder.run(&format!("impute waves.csv -o waves.arrow{GIVEN}")).succeeded();
    let whole = std::fs::read(folder.0.join("waves.arrow")).unwrap();
    let mut n_caught = 0;
    // The descriptions of buffers are in the first and last thousand bytes.
    let ends = (8..1000).chain(whole.len().saturating_sub(1000)..whole.len() - 8);
    for at in ends.step_by(7) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x40;
        folder.write("damaged.arrow", bytes);
        let outcome = folder.run("structure damaged.arrow -q");
        if outcome.code != 0 {
            assert_eq!(outcome.stderr.lines().count(), 1, "byte {at}: {}", outcome.stderr);
            n_caught += usize::from(outcome.stderr.contains("cannot be decoded"));
        }
    }
    assert!(n_caught > 0, "no damage was found that the library of the format does not expect");
}
