//! Learning beside the service, and the exchange of the model with its journal.

use std::time::{Duration, Instant};

use crate::answers::assert_equals_fit;
use crate::client::Client;
use crate::harness::{Folder, line, table, wave};

fn wait_for_model(client: &mut Client) -> serde_json::Value {
    let begun = Instant::now();
    loop {
        let state = client.get("/v1/state").good();
        if state["learning"] == serde_json::json!(false) {
            return state;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{state}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn post_rows(client: &mut Client, rows: std::ops::Range<u32>, key: &str) {
    let body: String =
        rows.map(f64::from).map(|t| line(t, &[("a", wave(t, 0)), ("b", wave(t, 1))])).collect();
    client.request("POST", "/v1/readings", &format!("Idempotency-Key: {key}\r\n"), body.as_bytes()).good();
}

#[test]
fn the_journal_is_merged_into_the_model_and_begins_anew() {
    let folder = Folder::with_model("merged", 60);
    let mut service = folder.serve(&[]);
    let mut client = service.client();
    post_rows(&mut client, 60..80, "first");
    let before = folder.fit();
    assert_eq!(client.post("/v1/relearn?parameters=keep", "").status, 202);
    // Readings that arrive meanwhile are in the next journal.
    post_rows(&mut client, 80..90, "second");
    let state = wait_for_model(&mut client);
    assert_eq!(state["learned"]["count"].as_u64(), Some(1), "{state}");
    let rows: Vec<f64> = (60..90).map(f64::from).collect();
    let values: Vec<f64> = rows.iter().flat_map(|t| [wave(*t, 0), wave(*t, 1), f64::NAN]).collect();
    let fitted = before.with_more_rows(&table(rows, &values)).unwrap();
    let places = [30.0, 61.5, 85.0, 100.0];
    assert_equals_fit(&mut client, &fitted, &places);
    let merged = folder.fit();
    assert!([80, 90].contains(&merged.table().n_rows()), "{}", merged.table().n_rows());
    assert!(!folder.0.join("m.catena.next").exists() && !folder.0.join("m.catena.journal.next").exists());
    // The keys of merged requests are known, lines are counted on, and a kill loses nothing.
    post_rows(&mut client, 60..80, "first");
    assert_eq!(client.get("/v1/state").good()["line"].as_u64(), Some(30));
    service.kill();
    let service = folder.serve(&[]);
    let mut client = service.client();
    assert_eq!(client.get("/v1/state").good()["line"].as_u64(), Some(30));
    let body: String =
        (60..80).map(f64::from).map(|t| line(t, &[("a", wave(t, 0)), ("b", wave(t, 1))])).collect();
    let again = client.request("POST", "/v1/readings", "Idempotency-Key: first\r\n", body.as_bytes()).good();
    assert_eq!(again["repeated"].as_bool(), Some(true));
    assert_equals_fit(&mut client, &fitted, &places);
}

#[test]
fn an_interrupted_exchange_is_completed_or_forgotten() {
    let folder = Folder::with_model("exchange", 60);
    let mut service = folder.serve(&[]);
    let mut client = service.client();
    post_rows(&mut client, 60..80, "first");
    let old =
        [std::fs::read(folder.model()).unwrap(), std::fs::read(folder.0.join("m.catena.journal")).unwrap()];
    client.post("/v1/relearn?parameters=keep", "");
    wait_for_model(&mut client);
    service.kill();
    let new =
        [std::fs::read(folder.model()).unwrap(), std::fs::read(folder.0.join("m.catena.journal")).unwrap()];
    let rows: Vec<f64> = (60..80).map(f64::from).collect();
    let values: Vec<f64> = rows.iter().flat_map(|t| [wave(*t, 0), wave(*t, 1), f64::NAN]).collect();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.0.join(name), bytes).unwrap();
    write("m.catena", &old[0]);
    let fitted = folder.fit().with_more_rows(&table(rows, &values)).unwrap();
    for (journal, is_done) in [(&old[1], false), (&new[1], true)] {
        // As a kill leaves them before and after the journal was renamed.
        write("m.catena", &old[0]);
        write("m.catena.next", &new[0]);
        write("m.catena.journal", journal);
        let mut service = folder.serve(&[]);
        assert_equals_fit(&mut service.client(), &fitted, &[30.0, 61.5, 85.0]);
        service.kill();
        assert_eq!(std::fs::read(folder.model()).unwrap() == new[0], is_done);
        assert!(!folder.0.join("m.catena.next").exists());
    }
}

#[test]
fn a_model_is_learned_again_beside_the_service() {
    let folder = Folder::with_model("learned", 60);
    let service = folder.serve(&[]);
    let mut client = service.client();
    post_rows(&mut client, 60..90, "rows");
    assert_eq!(client.post("/v1/relearn", "").status, 202);
    assert_eq!(client.post("/v1/relearn", "").status, 409);
    post_rows(&mut client, 90..95, "more");
    let state = wait_for_model(&mut client);
    assert_eq!((state["learned"]["count"].as_u64(), state["rows"].as_u64()), (Some(1), Some(95)), "{state}");
    let learned = folder.fit();
    assert!(learned.parts().model.noise()[0].get() != 0.01);
    let rows: Vec<f64> = (90..95).map(f64::from).filter(|_| learned.table().n_rows() == 90).collect();
    let values: Vec<f64> = rows.iter().flat_map(|t| [wave(*t, 0), wave(*t, 1), f64::NAN]).collect();
    let fitted =
        if rows.is_empty() { learned } else { learned.with_more_rows(&table(rows, &values)).unwrap() };
    assert_equals_fit(&mut client, &fitted, &[30.0, 61.5, 92.0, 100.0]);
}
