//! Loads a service on this machine, at a fixed rate, and prints latencies and memory.
//!
//! ```sh
//! cargo build --release -p catena-serve --bins --example load
//! target/release/examples/load --rows 1000000 --seconds 120
//! ```
//!
//! Batches of readings and single requests with answers are sent at the same time, each at its own rate, whether or not earlier ones have
//! been answered: a latency counts from the moment at which the request was due. Readings cycle over a fixed set of places after
//! the last row, so that the table stops growing and memory can be compared between the first and the last minute.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "a program for developers")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use catena::data::{Dataset, InputPoints, Observations};
use catena_fit::{FitOptions, GivenParameters, fit};
use catena_io::select::Input;
use catena_io::table::NumberStyle;
use catena_store::{About, save};

const BATCH: usize = 200;
const BATCH_SENDERS: usize = 8;
const SINGLE_SENDERS: usize = 64;
/// Places of readings.
const N_PLACES: usize = 20_000;
const NAMES: [&str; 3] = ["a", "b", "c"];

fn option(name: &str, default: f64) -> f64 {
    let words: Vec<String> = std::env::args().collect();
    let at = words.iter().position(|word| word == name);
    at.map_or(default, |at| words[at + 1].parse().expect(name))
}

fn wave(row: usize, output: usize) -> f64 {
    (row as f64 / 40.0 + output as f64).sin() + 0.1 * (row as f64 * 7.3 + output as f64).cos()
}

/// Saves a model of this many rows.
fn make_model(path: &Path, n_rows: usize) {
    let inputs = InputPoints::from_column((0..n_rows).map(|row| row as f64).collect()).unwrap();
    let values: Vec<f64> =
        (0..3 * n_rows).map(|at| if at % 10 == 9 { f64::NAN } else { wave(at / 3, at % 3) }).collect();
    let table = Dataset::new(inputs, Observations::from_dense(n_rows, 3, &values).unwrap()).unwrap();
    let parameters = GivenParameters {
        kernel: "matern32".parse().unwrap(),
        mixing: vec![vec![1.0, 0.2], vec![0.8, -0.3], vec![0.5, 0.5]],
        has_private: false,
        length_scales: vec![40.0, 12.0],
        noise: vec![0.01, 0.02, 0.03],
    };
    let options = FitOptions { parameters: Some(parameters), ..FitOptions::default() };
    let fitted = fit(&table, &options, &|_| ControlFlow::Continue(())).unwrap();
    let about = About {
        data: "load".to_owned(),
        inputs: vec![Input { name: "t".to_owned(), values: vec![], time: None, style: NumberStyle::Double }],
        outputs: NAMES.map(str::to_owned).to_vec(),
        long: None,
        wide: None,
        groups: None,
        noise_columns: vec![],
        cells: catena_io::read::CellOptions::default(),
        caller: None,
    };
    save(&fitted, &about, path).unwrap();
}

fn start(folder: &Path) -> (Child, String) {
    let own = std::env::current_exe().unwrap();
    let program = own.parent().and_then(Path::parent).unwrap().join("catena-serve");
    let mut child = Command::new(program)
        .args(["load.catena", "--listen", "127.0.0.1:0"])
        .current_dir(folder)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("listening on") {
        line.clear();
        assert!(errors.read_line(&mut line).unwrap() > 0, "the service ended");
    }
    (child, line.trim().rsplit('/').next().unwrap().to_owned())
}

/// Sends a request and waits for the whole reply.
fn ask(stream: &mut BufReader<TcpStream>, path: &str, body: &str) {
    let head =
        format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    stream.get_mut().write_all(head.as_bytes()).unwrap();
    let (mut status, mut length) = (String::new(), 0);
    stream.read_line(&mut status).unwrap();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        if let Some(text) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = text.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut reply = vec![0; length];
    stream.read_exact(&mut reply).unwrap();
    assert!(status.contains(" 200 "), "{status} {}", String::from_utf8_lossy(&reply));
}

/// Sends requests when they are due; latencies in milliseconds.
fn send(
    address: &str,
    (path, rate, n_senders): (&'static str, f64, usize),
    begun: Instant,
    seconds: f64,
    body: impl Fn(usize) -> String + Send + Sync + Clone + 'static,
) -> Vec<std::thread::JoinHandle<Vec<f64>>> {
    let next = Arc::new(AtomicUsize::new(0));
    let sender = |_| {
        let (next, body, address) = (Arc::clone(&next), body.clone(), address.to_owned());
        std::thread::spawn(move || {
            let stream = TcpStream::connect(address).unwrap();
            stream.set_nodelay(true).unwrap();
            let mut stream = BufReader::new(stream);
            let mut latencies = vec![];
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let due = begun + Duration::from_secs_f64(number as f64 / rate);
                if number as f64 / rate > seconds {
                    return latencies;
                }
                let text = body(number);
                if let Some(early) = due.checked_duration_since(Instant::now()) {
                    std::thread::sleep(early);
                }
                ask(&mut stream, path, &text);
                latencies.push(due.elapsed().as_secs_f64() * 1e3);
            }
        })
    };
    (0..n_senders).map(sender).collect()
}

fn report(name: &str, mut latencies: Vec<f64>, seconds: f64, readings: usize) {
    latencies.sort_by(f64::total_cmp);
    let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize];
    println!(
        "{name:<28} {:>8.0} requests/s {:>8.0} readings/s   ms: 50 % {:>6.2}   99 % {:>6.2}   99.9 % {:>6.2}   most {:>6.2}",
        latencies.len() as f64 / seconds,
        (latencies.len() * readings) as f64 / seconds,
        at(0.5),
        at(0.99),
        at(0.999),
        at(1.0)
    );
}

/// Resident memory in MB, and processor seconds.
fn usage(id: u32) -> (f64, f64) {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    let ticks: Vec<f64> = stat
        .rsplit(')')
        .next()
        .unwrap()
        .split_whitespace()
        .skip(11)
        .take(2)
        .map(|t| t.parse().unwrap())
        .collect();
    (kilobytes.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0, (ticks[0] + ticks[1]) / 100.0)
}

fn main() {
    let (n_rows, seconds) = (option("--rows", 1e6) as usize, option("--seconds", 60.0));
    let (batches, singles) = (option("--batches", 100.0), option("--singles", 2000.0));
    let folder = std::env::temp_dir().join(format!("catena-load-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    make_model(&folder.join("load.catena"), n_rows);
    let (mut child, address) = start(&folder);
    let (before, cpu_before) = usage(child.id());
    println!("{n_rows} rows; the service has {before:.0} MB");
    // Every place is there before memory is measured.
    let mut stream = BufReader::new(TcpStream::connect(&address).unwrap());
    for first in (0..N_PLACES).step_by(BATCH) {
        let body: String = (first..first + BATCH).map(|at| line(n_rows, at, 0)).collect();
        ask(&mut stream, "/v1/readings", &body);
    }
    let begun = Instant::now();
    let batch =
        move |number: usize| (0..BATCH).map(|row| line(n_rows, number * BATCH + row, number)).collect();
    let single = move |number: usize| line(n_rows, number * 7919, number);
    let mut threads = vec![];
    if batches > 0.0 {
        threads.push((
            "batches",
            BATCH,
            send(&address, ("/v1/readings", batches, BATCH_SENDERS), begun, seconds, batch),
        ));
    }
    if singles > 0.0 {
        let kind = ("/v1/readings?answer=row", singles, SINGLE_SENDERS);
        threads.push(("single, with answers", 1, send(&address, kind, begun, seconds, single)));
    }
    let memory = Arc::new(Mutex::new(vec![]));
    let id = child.id();
    while begun.elapsed().as_secs_f64() < seconds {
        std::thread::sleep(Duration::from_secs_f64((seconds / 12.0).max(1.0)));
        memory.lock().unwrap().push(usage(id).0);
    }
    for (name, readings, senders) in threads {
        let latencies: Vec<f64> = senders.into_iter().flat_map(|sender| sender.join().unwrap()).collect();
        report(name, latencies, seconds, readings);
    }
    let (after, cpu_after) = usage(id);
    let memory: Vec<String> = memory.lock().unwrap().iter().map(|mb| format!("{mb:.0}")).collect();
    println!("memory in MB: {}, at the end {after:.0}", memory.join(" "));
    println!("processor seconds of the service: {:.1} in {seconds:.0} s", cpu_after - cpu_before);
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
}

/// One reading at one of the places after the last row.
fn line(n_rows: usize, at: usize, round: usize) -> String {
    let place = n_rows + at % N_PLACES;
    format!(
        "{{\"t\": {place}, \"{}\": {}}}\n",
        NAMES[at % 3],
        wave(place, at % 3) + (round % 13) as f64 * 1e-3
    )
}
