//! `update` knows rows by their inputs: the same table twice changes nothing.

use crate::harness::{columns, prepared, waves, wide};

const GIVEN: &str = "--no-learn --parameters p.json";

#[test]
fn an_update_with_known_rows_changes_nothing() {
    let folder = prepared("known_rows");
    let rows = waves(72);
    folder.write("first.csv", wide(&rows[..40]));
    folder.write("rest.csv", wide(&rows[30..]));
    folder.run(&format!("fit first.csv {GIVEN} -o m.catena")).succeeded();
    let first = folder.run("update m.catena rest.csv -o m.catena").succeeded();
    assert!(
        first.stderr.contains("added 32 rows, 72 in total; 10 rows already in the model"),
        "{}",
        first.stderr
    );
    let bytes = std::fs::read(folder.0.join("m.catena")).unwrap();
    let second = folder.run("update m.catena rest.csv -o m.catena").succeeded();
    assert!(
        second.stderr.contains("all 42 rows are in the model already; nothing was added"),
        "{}",
        second.stderr
    );
    assert_eq!(std::fs::read(folder.0.join("m.catena")).unwrap(), bytes);
    folder.run("update m.catena rest.csv -o copy.catena").succeeded();
    let rows_of = |name: &str| columns(folder.run(&format!("predict {name}")).succeeded().text());
    assert_eq!(rows_of("copy.catena"), rows_of("m.catena"));
    // Row by row it is the model of all rows.
    folder.run(&format!("fit waves.csv {GIVEN} -o whole.catena")).succeeded();
    assert_eq!(rows_of("m.catena")["time"], rows_of("whole.catena")["time"]);
    // A value for a cell that was missing is new; another value is refused, or repeated on request.
    folder.write("late.csv", "time,temp,salt\n2024-03-01 10:00,21.25,\n");
    let late = folder.run("update m.catena late.csv -o late.catena").succeeded();
    assert!(late.stderr.contains("added 1 rows, 73 in total"), "{}", late.stderr);
    folder.write("other.csv", "time,temp,salt\n2024-03-09 00:00,20,\n2024-03-01 09:00,99.5,\n");
    let other = folder.run("update m.catena other.csv -o other.catena");
    assert_eq!(other.code, 2);
    for part in ["other.csv: line 3, column temp", "99.5", "--append"] {
        assert!(other.stderr.contains(part), "{}", other.stderr);
    }
    folder.run("update m.catena other.csv --append -o other.catena").succeeded();
    assert_eq!(rows_of("other.catena")["time"].len(), 74);
    // Codes of missing values are known from the model.
    let coded = wide(&rows[..40]).replace(",,", ",-999,").replace(",\n", ",-999\n");
    folder.write("coded.csv", &coded);
    folder.run(&format!("fit coded.csv --missing -999 {GIVEN} -o coded.catena")).succeeded();
    let known = folder.run("update coded.catena coded.csv -o more.catena").succeeded();
    assert!(known.stderr.contains("all 40 rows are in the model already"), "{}", known.stderr);
}
