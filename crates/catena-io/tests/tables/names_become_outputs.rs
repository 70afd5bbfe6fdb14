//! Names of a column become outputs: the frame of rows by station equals that of a table with one row per time.

use catena_io::read::{ReadOptions, read_pipe};
use catena_io::select::{Frame, SelectError, Selection, WideSelection, select};
use catena_io::table::Table;
use proptest::prelude::*;

fn table(text: &str) -> Table {
    let options = ReadOptions { text_columns: vec!["station".into()], ..ReadOptions::default() };
    read_pipe(text.as_bytes(), &options, &mut |_, _| {}).unwrap()
}

fn wide_selection() -> Selection {
    let wide = WideSelection { column: "station".into(), outputs: None };
    Selection { wide: Some(wide), ..Selection::default() }
}

fn wide_frame(text: &str, selection: &Selection) -> Result<Frame, SelectError> {
    select(&table(text), selection)
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| if value.is_nan() { u64::MAX } else { value.to_bits() }).collect()
}

proptest! {
    #[test]
    fn rows_by_station_equal_one_row_per_time(
        cells in prop::collection::vec(prop::collection::vec(prop::option::of(-50_i32..50), 4), 1..20),
        order in any::<u64>(),
    ) {
        let number = |cell: &Option<i32>| cell.map_or(String::new(), |value| (f64::from(value) / 8.0).to_string());
        let mut by_time = "time,temp:007,temp:b,hum:007,hum:b\n".to_owned();
        let mut rows = vec![];
        for (row, cells) in cells.iter().enumerate() {
            let time = format!("2013-01-{:02}T00:00:00Z", row + 1);
            // Every output has a value.
            let text: Vec<String> =
                if row == 0 { (1..5).map(|at| at.to_string()).collect() } else { cells.iter().map(number).collect() };
            by_time += &format!("{time},{}\n", text.join(","));
            rows.push(format!("{time},007,{},{}\n", text[0], text[2]));
            rows.push(format!("{time},b,{},{}\n", text[1], text[3]));
        }
        let mut state = order;
        for place in (3..rows.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            rows.swap(place, 2 + (state >> 33) as usize % (place - 1));
        }
        let found = wide_frame(&format!("time,station,temp,hum\n{}", rows.concat()), &wide_selection()).unwrap();
        let expected = select(&table(&by_time), &Selection::default()).unwrap();
        prop_assert_eq!(&found.outputs, &expected.outputs);
        // The same rows, in whatever order.
        let sorted = |frame: &Frame| {
            let mut rows: Vec<(u64, Vec<u64>)> = (0..frame.n_rows())
                .map(|row| (frame.inputs[0].values[row].to_bits(), bits(&frame.values[4 * row..4 * row + 4])))
                .collect();
            rows.sort();
            rows
        };
        prop_assert_eq!(sorted(&found), sorted(&expected));
        // Each value returns to the row it came from.
        for (at, (position, values)) in found.to_table_columns(|at| found.values[at]).into_iter().enumerate() {
            let given = rows.iter().map(|row| row.trim_end().split(',').nth(2 + at).unwrap().parse().unwrap_or(f64::NAN));
            prop_assert_eq!(position, 2 + at);
            prop_assert_eq!(bits(&values), bits(&given.collect::<Vec<f64>>()));
        }
    }
}

#[test]
fn outputs_without_values_are_ignored_and_those_of_a_model_are_kept_in_its_order() {
    let text = "time,station,temp,hum\n1,a,10,\n1,b,11,50\n2,a,12,\n3,c,13,60\n";
    let frame = wide_frame(text, &wide_selection()).unwrap();
    assert_eq!(frame.outputs, ["temp:a", "temp:b", "temp:c", "hum:b", "hum:c"]);
    assert_eq!(frame.decision.sentences()[3], "ignored: hum:a (no value in any row)");
    assert_eq!(frame.inputs[0].values, [1.0, 2.0, 3.0]);
    let outputs = ["hum:b", "temp:d", "temp:a"].map(str::to_owned).to_vec();
    let wide = WideSelection { column: "station".into(), outputs: Some(outputs.clone()) };
    let selection = Selection { wide: Some(wide), may_lack_values: true, ..Selection::default() };
    let frame = wide_frame(text, &selection).unwrap();
    let nan = f64::NAN;
    assert_eq!((frame.n_rows(), &frame.outputs), (2, &outputs));
    assert_eq!(bits(&frame.values), bits(&[50.0, nan, 10.0, nan, nan, 12.0]));
    let ignored = frame.decision.sentences()[3].clone();
    assert_eq!(ignored, "ignored: temp:b, temp:c, hum:c (not in the model)");
}

#[test]
fn noise_and_groups_go_with_their_rows() {
    let text = "time,station,run,temp,sd\n1,a,x,10,0.1\n1,b,x,11,0.2\n1,a,y,12,0.3\n";
    let selection =
        Selection { groups: vec!["run".into()], noise_columns: vec!["temp=sd".into()], ..wide_selection() };
    let frame = wide_frame(text, &selection).unwrap();
    assert_eq!(bits(&frame.values), bits(&[10.0, 11.0, 12.0, f64::NAN]));
    assert_eq!(bits(&frame.noise.unwrap()), bits(&[0.1, 0.2, 0.3, f64::NAN]));
    assert_eq!(frame.groups.unwrap().of_row, [0, 1]);
}

#[test]
fn what_cannot_be_turned_is_refused() {
    let refused = |text: &str, selection: &Selection| wide_frame(text, selection).unwrap_err().to_string();
    let repeated = "time,station,temp\n1,a,10\n2,a,11\n1,b,9\n2,a,12\n1,a,\n";
    assert_eq!(
        refused(repeated, &wide_selection()),
        "standard input: 2 rows repeat the time and station of an earlier row, such as line 5 (\"a\", as in line 3); \
         remove or average them, or pass --group if another column tells them apart"
    );
    let missing = refused("time,station,temp\n1,a,10\n2,,11\n", &wide_selection());
    assert!(missing.contains("line 3, column station: the name of the series is missing"), "{missing}");
    let rows = Selection { inputs: Some(vec!["row".into()]), ..wide_selection() };
    let rows = refused("time,station,temp\n1,a,10\n2,b,11\n", &rows);
    assert!(rows.contains("pass --inputs COLUMN"), "{rows}");
    let unknown = Selection {
        wide: Some(WideSelection { column: "stations".into(), outputs: None }),
        ..Selection::default()
    };
    let unknown = refused("time,station,temp\n1,a,10\n", &unknown);
    assert!(unknown.contains("did you mean \"station\"?"), "{unknown}");
    let same = refused("time,station,t,t:a\n1,a:b,1,2\n1,b,3,4\n", &wide_selection());
    assert!(same.contains("make the same output \"t:a:b\""), "{same}");
    let twice = Selection { outputs: Some(vec!["station".into()]), ..wide_selection() };
    let twice = refused("time,station,temp\n1,a,10\n", &twice);
    assert!(twice.contains("named twice"), "{twice}");
}
