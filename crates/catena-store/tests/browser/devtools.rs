//! Chromium without a window, steered over a pipe: the DevTools protocol is JSON messages, each ended by a zero byte.

use std::cell::{Cell, RefCell};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Far above what any step takes, so that it ends a hang and nothing else.
const PATIENCE: Duration = Duration::from_secs(25);

/// One browser with one page.
pub(crate) struct Browser {
    child: Child,
    commands: RefCell<ChildStdin>,
    messages: Receiver<Value>,
    session: String,
    next_id: Cell<u64>,
    /// Console errors, warnings and uncaught exceptions, in order.
    complaints: RefCell<Vec<String>>,
    folder: PathBuf,
}

/// The browser's program, from `CATENA_CHROMIUM` or the usual names.
fn program() -> PathBuf {
    if let Some(path) = std::env::var_os("CATENA_CHROMIUM") {
        return path.into();
    }
    let folders: Vec<PathBuf> =
        std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let found = names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|path| path.is_file());
    found.unwrap_or_else(|| {
        panic!(
            "this test draws pages in a browser, and none was found. Install one (Debian: `apt-get install chromium`) \
             or set CATENA_CHROMIUM to its program"
        )
    })
}

impl Browser {
    /// A fresh browser with an empty page; its profile goes to a folder of its own.
    pub(crate) fn start(name: &str) -> Self {
        let program = program();
        let folder =
            PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("browser-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            "--no-first-run",
            "--force-device-scale-factor=1",
            "--remote-debugging-pipe",
        ];
        // The protocol's pipes are descriptors 3 and 4; the shell makes them out of standard input and output.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null"])
            .arg(program)
            .args(arguments)
            .arg(format!("--user-data-dir={}", folder.join("profile").display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let commands = RefCell::new(child.stdin.take().unwrap());
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            loop {
                let mut bytes = vec![];
                match reader.read_until(0, &mut bytes) {
                    Ok(1..) => bytes.pop(),
                    _ => break,
                };
                let Ok(message) = serde_json::from_slice(&bytes) else { break };
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let complaints = RefCell::new(vec![]);
        let mut browser = Self {
            child,
            commands,
            messages,
            session: String::new(),
            next_id: Cell::new(0),
            complaints,
            folder,
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        browser.session =
            browser.call("Target.attachToTarget", attach)["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.resize(1200, 900);
        browser
    }

    /// Sends a command and waits for its answer.
    pub(crate) fn call(&self, method: &str, parameters: Value) -> Value {
        let id = self.next_id.get() + 1;
        self.next_id.set(id);
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = serde_json::to_vec(&message).unwrap();
        bytes.push(0);
        self.commands.borrow_mut().write_all(&bytes).unwrap();
        let begun = Instant::now();
        loop {
            let left = PATIENCE.saturating_sub(begun.elapsed());
            let answer = self
                .messages
                .recv_timeout(left)
                .unwrap_or_else(|_| panic!("no answer to {method}: did the browser start?"));
            if answer["id"] == json!(id) {
                assert!(answer.get("error").is_none(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.note(&answer);
        }
    }

    /// Keeps what a user would find in the console, and any attempt to use the network.
    fn note(&self, event: &Value) {
        let parameters = &event["params"];
        let complaint = match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => Some(parameters["exceptionDetails"].to_string()),
            Some("Runtime.consoleAPICalled") => Some(format!("console: {}", parameters["args"])),
            Some("Log.entryAdded") => Some(format!("log: {}", parameters["entry"])),
            Some("Network.requestWillBeSent") => {
                let url = parameters["request"]["url"].as_str().unwrap_or_default();
                let is_local =
                    url.starts_with("file:") || url.starts_with("data:") || url.starts_with("about:");
                (!is_local).then(|| format!("request to {url}"))
            }
            _ => None,
        };
        self.complaints.borrow_mut().extend(complaint);
    }

    /// What went wrong on the page so far.
    pub(crate) fn complaints(&self) -> Vec<String> {
        // One more round trip, so that everything sent before has been read.
        self.evaluate("0");
        self.complaints.borrow().clone()
    }

    /// The value of an expression on the page; promises are waited for.
    pub(crate) fn evaluate(&self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", parameters);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Waits for the end of the next frame, when everything is drawn.
    pub(crate) fn settle(&self) {
        self.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))");
    }

    /// Opens a page from its text and waits until it has drawn itself.
    pub(crate) fn open(&self, html: &str) {
        let path = self.folder.join("page.html");
        std::fs::write(&path, html).unwrap();
        self.visit(&format!("file://{}", path.display()));
        // Charts of outputs are drawn once they are on the screen.
        self.settle();
        self.evaluate("document.querySelector('#outputs')?.scrollIntoView()");
        self.settle();
        self.settle();
    }

    /// Goes to an address and waits until the page says that it is ready.
    pub(crate) fn visit(&self, url: &str) {
        self.call("Page.navigate", json!({ "url": url }));
        let begun = Instant::now();
        while self.evaluate("document.documentElement?.dataset.ready === 'yes'") != json!(true) {
            assert!(begun.elapsed() < PATIENCE, "the page did not get ready: {:?}", self.complaints.borrow());
            self.evaluate("new Promise((done) => setTimeout(done, 20))");
        }
    }

    pub(crate) fn resize(&self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// Sets the color scheme of the system.
    pub(crate) fn prefer(&self, scheme: &str) {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        // The page learns of it by an event, on a busy machine some frames later.
        let query = format!("matchMedia('(prefers-color-scheme: {scheme})')");
        self.evaluate(&format!(
            "void (window.schemeChanged = {query}.matches ? null : new Promise((done) =>
                {query}.addEventListener('change', () => done(null), {{ once: true }})))"
        ));
        self.call("Emulation.setEmulatedMedia", features);
        self.evaluate("window.schemeChanged");
        self.settle();
    }

    /// A mouse event at a place of the window: `mouseMoved`, `mousePressed`, `mouseReleased`.
    pub(crate) fn mouse(&self, kind: &str, x: f64, y: f64) {
        let button = if kind == "mouseMoved" { "none" } else { "left" };
        self.call(
            "Input.dispatchMouseEvent",
            json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": 1 }),
        );
    }

    /// Drags from one place to another along a line.
    pub(crate) fn drag(&self, from: (f64, f64), to: (f64, f64)) {
        self.mouse("mouseMoved", from.0, from.1);
        self.mouse("mousePressed", from.0, from.1);
        for step in 1..=4 {
            let share = f64::from(step) / 4.0;
            let (x, y) = (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1));
            let event = json!({ "type": "mouseMoved", "x": x, "y": y, "button": "left", "buttons": 1 });
            self.call("Input.dispatchMouseEvent", event);
        }
        self.mouse("mouseReleased", to.0, to.1);
        self.settle();
    }

    pub(crate) fn wheel(&self, x: f64, y: f64, delta: f64) {
        let event = json!({ "type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": delta });
        self.call("Input.dispatchMouseEvent", event);
        self.settle();
    }

    pub(crate) fn key(&self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", json!({ "type": kind, "key": key }));
        }
        self.settle();
    }

    /// Makes the window as high as the page, so that everything is drawn.
    pub(crate) fn unroll(&self, width: u32) {
        self.resize(width, 900);
        let height = self.evaluate("document.documentElement.scrollHeight").as_u64().unwrap();
        self.resize(width, height as u32);
        self.settle();
        self.settle();
    }

    /// Writes what the window shows and returns the file's path.
    pub(crate) fn screenshot(&self, name: &str) -> PathBuf {
        self.write(
            name,
            self.call("Page.captureScreenshot", json!({ "format": "png" }))["data"].as_str().unwrap(),
        )
    }

    /// Prints to a PDF file and returns its path.
    pub(crate) fn print(&self, name: &str) -> PathBuf {
        self.write(
            name,
            self.call("Page.printToPDF", json!({ "printBackground": false }))["data"].as_str().unwrap(),
        )
    }

    fn write(&self, name: &str, base64: &str) -> PathBuf {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&path, decoded(base64)).unwrap();
        path
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let bytes = b"{\"id\":0,\"method\":\"Browser.close\"}\0";
        let is_told = self.commands.borrow_mut().write_all(bytes).is_ok();
        let begun = Instant::now();
        while is_told && begun.elapsed() < Duration::from_secs(3) && matches!(self.child.try_wait(), Ok(None))
        {
            std::thread::sleep(Duration::from_millis(20));
        }
        // Harmless if it has ended by itself.
        self.child.kill().ok();
        self.child.wait().ok();
        std::fs::remove_dir_all(&self.folder).ok();
    }
}

fn decoded(base64: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let letters: Vec<u8> = base64.bytes().filter(|&letter| letter != b'=').collect();
    letters
        .chunks(4)
        .flat_map(|group| {
            let bits = group.iter().fold(0_u32, |bits, &letter| bits << 6 | u32::from(value(letter)));
            let bits = bits << (6 * (4 - group.len()));
            bits.to_be_bytes()[1..group.len()].to_vec()
        })
        .collect()
}
