//! Kills under load: every acknowledged reading is there after the restart, and answers equal a fit of the acknowledged table.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use crate::answers::assert_equals_fit;
use crate::client::Client;
use crate::harness::{Folder, N_OUTPUTS, line, table};

/// Rounds of the test; `CATENA_SERVE_KILLS` for more.
const ROUNDS: usize = 4;
const WRITERS: usize = 4;

/// Values by place and output: what was acknowledged, and what was sent last without an acknowledgment.
#[derive(Default)]
struct Ledger {
    acknowledged: BTreeMap<(u32, usize), f64>,
    /// Neither these nor their absence is promised.
    unknown: BTreeMap<(u32, usize), f64>,
}

/// Numbers that look random.
fn scattered(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z ^ (z >> 27)
}

/// Sends readings until the connection breaks. Every writer has places of its own, which it also corrects.
fn write_until_killed(address: SocketAddr, writer: usize, round: usize) -> Ledger {
    let mut ledger = Ledger::default();
    let mut client = Client::new(address);
    for request in 0.. {
        let seed = scattered((round * WRITERS + writer) as u64 * 1_000_000 + request);
        let n_rows = 1 + (seed % 7) as u32;
        let mut sent = BTreeMap::new();
        for row in 0..n_rows {
            let place =
                200 + (scattered(seed ^ u64::from(row)) % 150) as u32 * WRITERS as u32 + writer as u32;
            let output = ((seed % 97) as usize + row as usize) % N_OUTPUTS;
            sent.insert((place, output), (scattered(!seed ^ u64::from(row)) % 2000) as f64 / 1000.0 - 1.0);
        }
        let body: String = sent
            .iter()
            .map(|(&(place, output), &value)| line(f64::from(place), &[(["a", "b", "c"][output], value)]))
            .collect();
        let key = format!("Idempotency-Key: {round}-{writer}-{request}\r\n");
        match client.try_request("POST", "/v1/readings", &key, body.as_bytes()) {
            Some(reply) => {
                assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
                ledger.acknowledged.extend(sent);
            }
            None => {
                ledger.unknown.extend(sent);
                return ledger;
            }
        }
    }
    ledger
}

#[test]
fn acknowledged_readings_survive_kills() {
    let rounds =
        std::env::var("CATENA_SERVE_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(ROUNDS);
    let folder = Folder::with_model("kills", 100);
    let mut known: BTreeMap<(u32, usize), f64> = BTreeMap::new();
    let mut n_acknowledged = 0;
    for round in 0..rounds {
        let mut service = folder.serve(&[]);
        let address = service.address;
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| std::thread::spawn(move || write_until_killed(address, writer, round)))
            .collect();
        std::thread::sleep(Duration::from_millis(60 + scattered(round as u64) % 300));
        service.kill();
        let mut unknown = BTreeMap::new();
        for writer in writers {
            let ledger = writer.join().unwrap();
            n_acknowledged += ledger.acknowledged.len();
            known.extend(ledger.acknowledged);
            unknown.extend(ledger.unknown);
        }
        let service = folder.serve(&[]);
        let mut client = service.client();
        let rows = client.get("/v1/range?from=200").good()["rows"].clone();
        let mut found = BTreeMap::new();
        for row in rows.as_array().unwrap() {
            for (output, name) in ["a", "b", "c"].into_iter().enumerate() {
                if let Some(value) = row[name].as_f64() {
                    found.insert((row["t"].as_f64().unwrap() as u32, output), value);
                }
            }
        }
        // What was sent last without an acknowledgment may be there: then it is known from now on.
        for (cell, value) in &unknown {
            if found.get(cell) == Some(value) {
                known.insert(*cell, *value);
            }
        }
        assert_eq!(found, known, "round {round}");
        let mut inputs: Vec<f64> = vec![];
        let mut values: Vec<f64> = vec![];
        for (&(place, output), &value) in &known {
            if inputs.last() != Some(&f64::from(place)) {
                inputs.push(f64::from(place));
                values.extend([f64::NAN; N_OUTPUTS]);
            }
            let begin = values.len() - N_OUTPUTS;
            values[begin + output] = value;
        }
        let fitted = folder.fit().with_more_rows(&table(inputs, &values)).unwrap();
        assert_equals_fit(&mut client, &fitted, &[50.0, 99.5, 150.0, 201.0, 333.3, 640.0, 801.5, 1000.0]);
    }
    assert!(n_acknowledged > 20 * rounds, "{n_acknowledged}");
    println!("{rounds} kills, {n_acknowledged} acknowledged values");
}
