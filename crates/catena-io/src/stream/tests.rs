//! Valid and invalid lines, and the replies.

use super::*;
use crate::select::Input;
use crate::table::NumberStyle;
use crate::time::{TimeAxis, TimeStyle};

fn inputs() -> Vec<Input> {
    let axis = TimeAxis::elapsed(1_700_000_000, TimeStyle::default());
    let input =
        |name: &str, time| Input { name: name.into(), values: vec![], time, style: NumberStyle::Double };
    vec![input("time", Some(axis)), input("depth", None)]
}

fn outputs() -> Vec<String> {
    vec!["temp".into(), "salt, g".into()]
}

fn csv(header: &str) -> LineReader {
    let mut reader = LineReader::new(StreamFormat::Csv, &inputs(), &outputs());
    assert!(reader.needs_header());
    reader.read_header(header.as_bytes()).unwrap();
    reader
}

/// 2023-11-14T22:13:20 is the origin.
#[test]
fn csv_and_json_lines_say_the_same() {
    let lines = csv("\u{feff}temp,\"salt, g\", time ,depth\r\n");
    let objects = LineReader::new(StreamFormat::Json, &inputs(), &outputs());
    assert!(!lines.needs_header() && !objects.needs_header());
    for (line, object, cells) in [
        (
            "1.5,-2e1,2023-11-14T22:14:20,7\n",
            r#"{"time": "2023-11-14T22:14:20", "depth": 7, "temp": 1.5, "salt, g": -20}"#,
            vec![(0, 1.5), (1, -20.0)],
        ),
        (
            " NA ,\"3\",2023-11-14 22:14:20, 7.0\r\n",
            r#"{"salt, g": 3.0, "time": "2023-11-14 22:14:20", "depth": 7e0, "temp": null}"#,
            vec![(1, 3.0)],
        ),
        (",,2023-11-14T22:14:20,7", r#"{"time": "2023-11-14T22:14:20", "depth": 7}"#, vec![]),
    ] {
        let expected = Some(StreamRow { groups: vec![], inputs: vec![60.0, 7.0], cells });
        assert_eq!(lines.read(line.as_bytes()).unwrap(), expected, "{line}");
        assert_eq!(objects.read(object.as_bytes()).unwrap(), expected, "{object}");
    }
    assert_eq!(lines.read(b" \r\n").unwrap(), None);
    assert_eq!(objects.read(b"\n").unwrap(), None);
}

#[test]
fn headers_name_what_the_model_has() {
    for (header, sentence) in [
        ("time,depth,tepm", "column tepm: the model has no such input or output; did you mean temp?"),
        ("time,depth,humidity", "column humidity: the model has no such input or output; its outputs are"),
        ("time,temp", "the header has no column depth, which is an input of the model"),
        ("time,depth,time", "column time: occurs twice"),
        ("time,\"depth", "a quote is not closed"),
    ] {
        let mut reader = LineReader::new(StreamFormat::Csv, &inputs(), &outputs());
        let error = reader.read_header(header.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(sentence), "{header}: {error}");
    }
}

#[test]
fn errors_name_the_problem() {
    let lines = csv("time,depth,temp");
    for (line, sentence) in [
        ("2023-11-14T22:14:20,1", "has 2 fields, but the header has 3"),
        ("2023-11-14T22:14:20,1,2,3", "has 4 fields, but the header has 3"),
        ("2023-11-14T22:14:20,1,inf", "column temp: \"inf\" is infinite"),
        ("2023-11-14T22:14:20,1,9007199254740993", "column temp: \"9007199254740993\" is an integer"),
        ("2023-11-14T22:14:20,1,cold", "column temp: \"cold\" is text"),
        ("2023-11-14T22:14:20,,2", "column depth: has no value; every line needs all inputs"),
        ("2023-02-30,1,2", "column time: \"2023-02-30\" is not a valid date or time"),
        ("17,1,2", "column time: \"17\" is a number in a column of times"),
        ("2023-11-14,2023-11-14,2", "column depth: \"2023-11-14\" is a time in a column of numbers"),
        (
            "2023-11-14T22:14:20Z,1,2",
            "column time: \"2023-11-14T22:14:20Z\" has a zone, but the times of the model",
        ),
        ("\"2023-11-14\"x,1,2", "text follows a closing quote"),
        ("2023-11-14,1\r2,3", "contains a line break"),
    ] {
        let error = lines.read(line.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(sentence), "{line}: {error}");
    }
    let objects = LineReader::new(StreamFormat::Json, &inputs(), &outputs());
    for (line, sentence) in [
        ("{\"time\": \"2023-11-14\"", "is not a JSON object"),
        ("[1]", "is not a JSON object"),
        (r#"{"time": "2023-11-14", "depth": NaN}"#, "is not a JSON object"),
        (r#"{"time": "2023-11-14", "depth": 1e999}"#, "is not a JSON object"),
        (r#"{"time": "2023-11-14", "depth": "3"}"#, "column depth: \"3\" is not a number"),
        (r#"{"time": "2023-11-14", "depth": 3, "temp": true}"#, "column temp: \"true\" is not a number"),
        (r#"{"time": 3, "depth": 3}"#, "column time: \"3\" is a number in a column of times"),
        (
            r#"{"time": "2023-11-14", "depth": 9007199254740993}"#,
            "column depth: \"9007199254740993\" is an integer beyond 2^53",
        ),
        (r#"{"depth": 3}"#, "column time: has no value"),
        (r#"{"time": "2023-11-14", "depth": 3, "tmep": 1}"#, "column tmep: the model has no such input"),
    ] {
        let error = objects.read(line.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(sentence), "{line}: {error}");
    }
}

/// Also in the first line, before which there was none to compare with.
#[test]
fn a_zone_is_there_if_the_model_has_one() {
    let zoned = TimeStyle { zone: crate::time::ZoneStyle::Utc, ..TimeStyle::default() };
    for (style, line, sentence) in [
        (TimeStyle::default(), "2023-11-14T22:14:20+05:00,1,2", "has a zone, but the times of the model"),
        (zoned.clone(), "2023-11-14T22:14:20,1,2", "has no zone, but the times of the model"),
        (zoned, "2023-11-14T23:14:20+01:00,7,2", ""),
    ] {
        let mut inputs = inputs();
        inputs[0].time = Some(TimeAxis::elapsed(1_700_000_000, style));
        let mut reader = LineReader::new(StreamFormat::Csv, &inputs, &outputs());
        reader.read_header(b"time,depth,temp").unwrap();
        match reader.read(line.as_bytes()) {
            Ok(row) => assert_eq!((row.unwrap().inputs, sentence), (vec![60.0, 7.0], "")),
            Err(error) => assert!(!sentence.is_empty() && error.to_string().contains(sentence), "{error}"),
        }
    }
}

#[test]
fn answers_are_lines_too() {
    let predicted = Answer { predicted: Some((1.25, 0.5)), ..Answer::default() };
    let answers = [predicted, Answer::default()];
    let mut text = String::new();
    let writer = ReplyWriter::new(StreamFormat::Csv, &inputs(), &outputs());
    writer.push_ready(&mut text, 3);
    writer.push_answer(&mut text, 4, (&[], &[60.0, 7.0]), &answers);
    writer.push_skipped(&mut text, 5, Some("why"));
    assert_eq!(
        text,
        "line,time,depth,temp_mean,temp_std,\"salt, g_mean\",\"salt, g_std\"\n\
         4,2023-11-14T22:14:20,7,1.25,0.5,,\n5,,,,,,\n"
    );
    let mut text = String::new();
    let writer = ReplyWriter::new(StreamFormat::Json, &inputs(), &outputs());
    writer.push_ready(&mut text, 3);
    writer.push_answer(&mut text, 4, (&[], &[60.0, 7.0]), &answers);
    writer.push_skipped(&mut text, 5, Some("a \"why\""));
    assert_eq!(
        text,
        "{\"ready\":true,\"applied\":3}\n\
         {\"line\":4,\"time\":\"2023-11-14T22:14:20\",\"depth\":7.0,\"temp_mean\":1.25,\"temp_std\":0.5}\n\
         {\"line\":5,\"error\":\"a \\\"why\\\"\"}\n"
    );
}

#[test]
fn deviations_come_after_all_other_columns() {
    let answers = [Answer { predicted: None, deviation: Some(-7.5) }, Answer::default()];
    let written = |format| {
        let writer = ReplyWriter::new(format, &inputs(), &outputs()).with_deviations(&outputs());
        assert!(writer.has_deviations());
        let mut text = String::new();
        writer.push_ready(&mut text, 3);
        writer.push_answer(&mut text, 4, (&[], &[60.0, 7.0]), &answers);
        writer.push_skipped(&mut text, 5, None);
        text
    };
    assert_eq!(
        written(StreamFormat::Csv),
        "line,time,depth,temp_mean,temp_std,\"salt, g_mean\",\"salt, g_std\",temp_deviation,\"salt, g_deviation\"\n\
         4,2023-11-14T22:14:20,7,,,,,-7.5,\n5,,,,,,,,\n"
    );
    assert_eq!(
        written(StreamFormat::Json),
        "{\"ready\":true,\"applied\":3}\n\
         {\"line\":4,\"time\":\"2023-11-14T22:14:20\",\"depth\":7.0,\"temp_deviation\":-7.5}\n{\"line\":5}\n"
    );
}

/// Codes, the decimal sign and the order of dates are those of the model's table.
#[test]
fn cells_are_read_as_in_the_table_of_the_model() {
    use crate::read::CellOptions;
    use crate::table::Decimal;
    let style =
        TimeStyle { form: crate::time::DateForm::DayFirst, date_separator: '/', ..TimeStyle::default() };
    let mut inputs = inputs();
    inputs[0].time = Some(TimeAxis::elapsed(0, style));
    let cells = CellOptions { missing: vec!["-999".into()], decimal: Some(Decimal::Comma), dates: None };
    let mut reader = LineReader::new(StreamFormat::Csv, &inputs[..1], &outputs()).with_cells(&cells);
    reader.read_header(b"time,temp,\"salt, g\"").unwrap();
    let row = reader.read(b"02/01/1970,\"1,5\",-999").unwrap().unwrap();
    assert_eq!((row.inputs, row.cells), (vec![86_400.0], vec![(0, 1.5)]));
    let objects = LineReader::new(StreamFormat::Json, &inputs[..1], &outputs()).with_cells(&cells);
    let line = r#"{"time": "02/01/1970", "temp": -999.0}"#;
    assert_eq!(objects.read(line.as_bytes()).unwrap().unwrap().cells, []);
}
