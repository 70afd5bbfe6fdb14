//! A long table and the equal wide table give the same frame, and values return to their cells.

use crate::folder::Folder;
use catena_io::read::{ReadOptions, read, read_pipe};
use catena_io::select::{Frame, LongColumns, Selection, select};
use catena_io::write::{
    Completion, FilledColumn, Interval, PredictedOutput, SeriesRows, Target, long_prediction_table,
    prediction_table, write_completed, write_table,
};
use proptest::prelude::*;

fn long_selection() -> Selection {
    let long = LongColumns { time: "time".into(), series: "series".into(), value: "value".into() };
    Selection { long: Some(long), ..Selection::default() }
}

fn frame_of(text: &str, selection: &Selection) -> Frame {
    let options = ReadOptions { text_columns: vec!["series".into()], ..ReadOptions::default() };
    select(&read_pipe(text.as_bytes(), &options, &mut |_, _| {}).unwrap(), selection).unwrap()
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| if value.is_nan() { u64::MAX } else { value.to_bits() }).collect()
}

proptest! {
    #[test]
    fn long_and_wide_agree(
        cells in prop::collection::vec(prop::collection::vec(prop::option::of(-50_i32..50), 3), 1..20),
        order in any::<u64>(),
    ) {
        // Every series has a value, and every time is met first through series 007.
        let mut wide = "time,007,x,y\n".to_owned();
        let mut rows = vec![];
        for (row, cells) in cells.iter().enumerate() {
            let time = format!("2013-01-{:02}T00:00:00Z", row + 1);
            let text: Vec<String> =
                cells.iter().map(|cell| cell.map_or(String::new(), |value| (f64::from(value) / 8.0).to_string())).collect();
            let first = if row == 0 { vec!["1".into(), "2".into(), "3".into()] } else { text };
            wide += &format!("{time},{}\n", first.join(","));
            rows.extend(["007", "x", "y"].iter().zip(first).map(|(name, value)| format!("{time},{name},{value}\n")));
        }
        // Rows of the long table in any order, as long as times and series appear in theirs.
        let n_fixed = 3;
        let mut state = order;
        for place in (n_fixed + 1..rows.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            rows.swap(place, n_fixed + (state >> 33) as usize % (place - n_fixed + 1));
        }
        let long = format!("time,series,value\n{}", rows.concat());
        let wide = frame_of(&wide, &Selection::default());
        let long_frame = frame_of(&long, &long_selection());
        prop_assert_eq!(&long_frame.outputs, &wide.outputs);
        prop_assert_eq!(long_frame.n_rows(), wide.n_rows());
        // The same rows, wherever they stand.
        let table = |frame: &Frame| {
            let mut rows: Vec<(u64, Vec<u64>)> = (0..frame.n_rows())
                .map(|row| (frame.inputs[0].values[row].to_bits(), bits(&frame.values[3 * row..3 * row + 3])))
                .collect();
            rows.sort();
            rows
        };
        prop_assert_eq!(table(&long_frame), table(&wide));
        // And back: each value stands in the row of the long table it came from.
        let back = long_frame.to_table_columns(|at| long_frame.values[at]);
        let given: Vec<f64> = rows.iter().map(|row| row.trim_end().rsplit(',').next().unwrap().parse().unwrap_or(f64::NAN)).collect();
        prop_assert_eq!(back[0].0, 2);
        prop_assert_eq!(bits(&back[0].1), bits(&given));
    }
}

#[test]
fn repeated_observations_get_rows_of_their_own() {
    let frame =
        frame_of("time,series,value\n1,a,10\n2,a,20\n1,b,11\n1,a,12\n2,b,\n1,a,13\n", &long_selection());
    assert_eq!(frame.inputs[0].values, [1.0, 2.0, 1.0, 1.0]);
    let nan = f64::NAN;
    assert_eq!(bits(&frame.values), bits(&[10.0, 11.0, 20.0, nan, 12.0, nan, 13.0, nan]));
}

#[test]
fn long_tables_are_filled_where_they_have_holes() {
    let folder = Folder::new();
    let path = folder.write("t.csv", "time,series,value,remark\n1,007,1.50,x\n1,b,NA,\n2,007,,\n2,b,3,y\n");
    let options = ReadOptions { text_columns: vec!["series".into()], ..ReadOptions::default() };
    let table = read(&path, &options).unwrap();
    let frame = select(&table, &long_selection()).unwrap();
    assert_eq!(frame.outputs, ["007", "b"]);
    assert_eq!(frame.decision.sentences()[2], "ignored: remark (not named)");
    let filled = frame.to_table_columns(|at| -1.0 - at as f64).into_iter();
    let filled = filled.map(|(position, values)| FilledColumn { position, values, decimals: None }).collect();
    let out = folder.path("out.csv");
    write_completed(
        &table,
        &Completion { filled, ..Completion::default() },
        &Target::new(&out, None).unwrap(),
    )
    .unwrap();
    let text = std::fs::read_to_string(&out).unwrap();
    assert_eq!(text, "time,series,value,remark\n1,007,1.50,x\n1,b,-2,\n2,007,-3,\n2,b,3,y\n");
}

#[test]
fn predictions_are_laid_out_wide_and_long() {
    let folder = Folder::new();
    let frame = frame_of("time,a,b\n2013-01-01,1,2\n2013-01-02,3,4\n", &Selection::default());
    let output = |name: &str, shift: f64| PredictedOutput {
        name: name.into(),
        point: vec![shift, shift + 1.0],
        point_name: "mean",
        std: vec![0.5, 0.25],
        interval: Some(Interval { low: vec![shift - 1.0; 2], high: vec![shift + 2.0; 2] }),
        quantiles: vec![(0.25, vec![shift - 0.5; 2])],
    };
    let outputs = vec![output("a", 0.0), output("b", 10.0)];
    let target = |name: &str| Target::new(&folder.path(name), None).unwrap();
    let rows = SeriesRows {
        column: "series".into(),
        names: vec!["a".into(), "b".into()],
        values: vec!["value".into()],
        outputs: vec![Some(0), Some(1)],
    };
    let long = long_prediction_table(&frame.to_input_columns(), &rows, &outputs);
    write_table(&long, &target("long.csv")).unwrap();
    write_table(&prediction_table(frame.to_input_columns(), outputs), &target("wide.csv")).unwrap();
    assert_eq!(
        std::fs::read_to_string(folder.path("wide.csv")).unwrap(),
        "time,a_mean,a_std,a_lo,a_hi,a_q0.25,b_mean,b_std,b_lo,b_hi,b_q0.25\n\
         2013-01-01,0,0.5,-1,2,-0.5,10,0.5,9,12,9.5\n2013-01-02,1,0.25,-1,2,-0.5,11,0.25,9,12,9.5\n"
    );
    assert_eq!(
        std::fs::read_to_string(folder.path("long.csv")).unwrap(),
        "time,series,value_mean,value_std,value_lo,value_hi,value_q0.25\n\
         2013-01-01,a,0,0.5,-1,2,-0.5\n2013-01-01,b,10,0.5,9,12,9.5\n\
         2013-01-02,a,1,0.25,-1,2,-0.5\n2013-01-02,b,11,0.25,9,12,9.5\n"
    );
}
