//! Who does not belong gets nothing but a status.

use std::io::Read;
use std::process::{Command, Stdio};

use crate::client::{Client, Reply};
use crate::harness::{Folder, Service, line};

const WRITE: &str = "a-write-token-of-the-test";
const READ: &str = "a-read-token-of-the-test";

fn nothing_but(reply: &Reply, status: u16) {
    assert_eq!((reply.status, reply.body.len()), (status, 0), "{}", String::from_utf8_lossy(&reply.body));
}

#[test]
fn tokens_are_needed_where_they_are_set() {
    let folder = Folder::with_model("tokens", 40);
    std::fs::write(folder.0.join("write.txt"), format!("{WRITE}\n")).unwrap();
    let before = format!("CATENA_READ_TOKEN={READ}; export CATENA_READ_TOKEN;");
    let service = Service::start(&folder, &["--write-token-file", "write.txt"], &before);
    let mut client = service.client();
    let ask = |client: &mut Client, token: &str| {
        client.request("GET", "/v1/state", &format!("Authorization: Bearer {token}\r\n"), b"")
    };
    let post = |client: &mut Client, token: &str| {
        let token = format!("Authorization: Bearer {token}\r\n");
        client.request("POST", "/v1/readings", &token, line(50.0, &[("a", 1.0)]).as_bytes())
    };
    for path in ["/v1/state", "/v1/ahead", "/v1/range", "/v1/picture", "/v1/events", "/metrics"] {
        nothing_but(&client.get(path), 401);
    }
    for path in ["/v1/readings", "/v1/remove", "/v1/predict", "/v1/expected", "/v1/relearn"] {
        nothing_but(&client.post(path, &line(1.0, &[])), 401);
    }
    for wrong in ["", "x", &WRITE[1..], &format!("{WRITE}x"), &WRITE.to_uppercase()] {
        nothing_but(&ask(&mut client, wrong), 401);
        nothing_but(&post(&mut client, wrong), 401);
    }
    nothing_but(&post(&mut client, READ), 401);
    assert_eq!(ask(&mut client, READ).status, 200);
    assert_eq!(post(&mut client, WRITE).status, 200);
    assert_eq!(ask(&mut client, WRITE).json()["line"].as_u64(), Some(1));
    // The page and the description tell nothing of the table.
    for path in ["/", "/healthz", "/openapi.json"] {
        assert_eq!(client.get(path).status, 200);
    }
}

#[test]
fn pages_of_other_addresses_are_refused_unless_allowed() {
    let folder = Folder::with_model("origins", 40);
    let service = folder.serve(&["--allow-origin", "https://here.example"]);
    let mut client = service.client();
    let reading = line(50.0, &[("a", 1.0)]);
    let from = |client: &mut Client, origin: &str| {
        client.request("POST", "/v1/readings", &format!("Origin: {origin}\r\n"), reading.as_bytes())
    };
    nothing_but(&from(&mut client, "https://evil.example"), 403);
    nothing_but(&from(&mut client, "null"), 403);
    nothing_but(&from(&mut client, "https://here.example.org"), 403);
    let own = format!("http://{}", service.address);
    assert_eq!(from(&mut client, &own).status, 200);
    assert_eq!(from(&mut client, "https://here.example").status, 200);
    // A name of another's that leads to this machine.
    client.headers = "Host: evil.example:8080\r\n".to_owned();
    nothing_but(&client.get("/v1/state"), 403);
}

#[test]
fn long_bodies_and_unknown_routes_get_a_status() {
    let folder = Folder::with_model("limits", 40);
    let service = folder.serve(&["--max-body", "1000", "--max-rate", "100000"]);
    let long = line(50.0, &[("a", 1.0)]).repeat(100);
    nothing_but(&service.client().post("/v1/readings", &long), 413);
    // The same without a length in its head.
    let mut client = service.client();
    let chunked = format!("Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{long}\r\n0\r\n\r\n", long.len());
    let reply = client.try_request("POST", "/v1/readings", &chunked, b"");
    assert!(reply.is_none_or(|reply| reply.status == 413 || reply.status == 400));
    let mut client = service.client();
    nothing_but(&client.get("/v2/state"), 404);
    nothing_but(&client.get("/v1/readings"), 405);
    nothing_but(&client.request("DELETE", "/v1/readings", "", b""), 405);
    assert_eq!(client.get("/v1/state").good()["line"].as_u64(), Some(0));
}

#[test]
fn other_machines_are_served_with_a_token_only() {
    let folder = Folder::with_model("other_machines", 40);
    let run = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_catena-serve"));
        command.arg("m.catena").args(words).current_dir(&folder.0).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut errors = String::new();
        child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        (child.wait().unwrap().code(), errors)
    };
    let (code, errors) = run(&["--listen", "0.0.0.0:0"]);
    assert!(code == Some(2) && errors.contains("--write-token-file"), "{errors}");
    std::fs::write(folder.0.join("short.txt"), "secret\n").unwrap();
    let (code, errors) = run(&["--write-token-file", "short.txt"]);
    assert!(code == Some(2) && errors.contains("openssl rand"), "{errors}");
}
