//! What is acknowledged is in the journal: over restarts, for requests that are sent again, and when the disk is full.

use crate::answers::assert_equals_fit;
use crate::harness::{Folder, Service, line, table, wave};

const KEY: &str = "Idempotency-Key: reading-1\r\n";

#[test]
fn a_request_that_is_sent_again_changes_nothing_also_after_a_restart() {
    let folder = Folder::with_model("keys", 60);
    let mut service = folder.serve(&[]);
    let mut client = service.client();
    let body = line(70.0, &[("a", 1.0)]) + &line(71.0, &[("b", 2.0)]);
    let send = |client: &mut crate::client::Client, body: &str| {
        client.request("POST", "/v1/readings", KEY, body.as_bytes())
    };
    assert_eq!(send(&mut client, &body).good()["repeated"].as_bool(), Some(false));
    // A correction by another client is not undone by a late repetition.
    client.post("/v1/readings", &line(70.0, &[("a", 3.0)])).good();
    let again = send(&mut client, &body).good();
    assert_eq!((again["repeated"].as_bool(), again["line"].as_u64()), (Some(true), Some(3)));
    assert_eq!(send(&mut client, "{\"t\": 9}").status, 409);
    assert_eq!(service.end(), Some(0));
    let service = folder.serve(&[]);
    let mut client = service.client();
    assert_eq!(send(&mut client, &body).good()["repeated"].as_bool(), Some(true));
    assert_eq!(client.get("/v1/range?from=70&to=70").good()["rows"][0]["a"].as_f64(), Some(3.0));
    let fitted = folder
        .fit()
        .with_more_rows(&table(vec![70.0, 71.0], &[3.0, f64::NAN, f64::NAN, f64::NAN, 2.0, f64::NAN]));
    assert_equals_fit(&mut client, &fitted.unwrap(), &[55.5, 70.0, 72.0]);
}

#[test]
fn all_rows_of_a_request_are_taken_or_none() {
    let folder = Folder::with_model("whole", 60);
    let service = folder.serve(&[]);
    let mut client = service.client();
    let reply = client.post("/v1/readings", &(line(70.0, &[("a", 1.0)]) + &line(71.0, &[("b", 1e300)])));
    let error = reply.json();
    assert_eq!(
        (reply.status, error["line"].as_u64(), error["column"].as_str()),
        (422, Some(2), Some("b")),
        "{error}"
    );
    let reply = client.post("/v1/readings", &(line(70.0, &[("a", 1.0)]) + "{\"t\": 1, \"z\": 2}\n"));
    assert_eq!((reply.status, reply.json()["line"].as_u64()), (422, Some(2)));
    assert_eq!(client.get("/v1/state").good()["line"].as_u64(), Some(0));
}

#[test]
fn rows_can_be_csv_and_json() {
    let folder = Folder::with_model("formats", 60);
    let service = folder.serve(&[]);
    let mut client = service.client();
    let mut send = |kind: &str, body: &str| {
        let kind = format!("Content-Type: {kind}\r\n");
        client.request("POST", "/v1/readings", &kind, body.as_bytes()).good()["rows"].as_u64()
    };
    assert_eq!(send("text/csv", "t,a,b\n70,1,\n71,,2\n"), Some(2));
    assert_eq!(send("application/json", "[{\"t\": 72, \"a\": 1}, {\"t\": 73, \"c\": null}]"), Some(2));
    assert_eq!(send("application/json; charset=utf-8", "{\"t\": 74,\n \"a\": 1}"), Some(1));
    assert_eq!(send("application/x-ndjson", "{\"t\": 75, \"a\": 1}\n\n"), Some(1));
    // The row without a value changes nothing.
    assert_eq!(client.get("/v1/state").good()["rows"].as_u64(), Some(65));
}

#[test]
fn a_full_disk_refuses_readings_and_answers_questions() {
    let folder = Folder::with_model("full", 60);
    // In the shell of the harness the unit is 512 bytes; ignored, the signal becomes an error.
    let mut service = Service::start(&folder, &[], "trap '' XFSZ; ulimit -f 16;");
    let mut client = service.client();
    let mut taken = vec![];
    let refused = (0..200).find_map(|number| {
        let t = 100.0 + f64::from(number);
        let reply = client.post("/v1/readings", &line(t, &[("a", wave(t, 0))]));
        match reply.status {
            200 => {
                taken.push(t);
                None
            }
            status => Some((status, reply.json())),
        }
    });
    let (status, error) = refused.unwrap();
    assert_eq!(status, 507, "{error}");
    assert!(taken.len() > 20, "{}", taken.len());
    let values: Vec<f64> = taken.iter().flat_map(|t| [wave(*t, 0), f64::NAN, f64::NAN]).collect();
    let fitted = folder.fit().with_more_rows(&table(taken.clone(), &values)).unwrap();
    assert_equals_fit(&mut client, &fitted, &[59.0, 120.5, 400.0]);
    assert_eq!(client.get("/healthz").status, 200);
    service.end();
    // With room again, every acknowledged reading is there, and further ones are taken.
    let service = folder.serve(&[]);
    assert_eq!(service.notes, Vec::<String>::new());
    let mut client = service.client();
    assert_equals_fit(&mut client, &fitted, &[59.0, 120.5, 400.0]);
    client.post("/v1/readings", &line(500.0, &[("a", 1.0)])).good();
}
