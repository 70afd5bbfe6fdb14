//! Models in folders of their own, and the program that serves them.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use catena::data::{Dataset, InputPoints, Observations};
use catena_fit::{Fit, FitOptions, GivenParameters, fit};
use catena_io::select::Input;
use catena_io::table::NumberStyle;
use catena_store::{About, load, save};

use crate::client::Client;

pub(crate) const N_OUTPUTS: usize = 3;

/// A folder, initially empty.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// A folder with `m.catena`: a table of rows 0, 1, … and three outputs, some of them missing.
    pub(crate) fn with_model(name: &str, n_rows: usize) -> Self {
        let folder = Self::new(name);
        let value = |at: usize| {
            let (row, output) = (at / N_OUTPUTS, at % N_OUTPUTS);
            let is_missing = output == 1 && row % 40 > 30;
            if is_missing { f64::NAN } else { wave(row as f64, output) }
        };
        let values: Vec<f64> = (0..n_rows * N_OUTPUTS).map(value).collect();
        let table = table((0..n_rows).map(|row| row as f64).collect(), &values);
        let parameters = GivenParameters {
            kernel: "matern32".parse().unwrap(),
            mixing: vec![vec![1.0, 0.2], vec![0.8, -0.3], vec![0.5, 0.5]],
            has_private: false,
            length_scales: vec![12.0, 4.0],
            noise: vec![0.01, 0.02, 0.03],
        };
        let options = FitOptions { parameters: Some(parameters), ..FitOptions::default() };
        let fitted = fit(&table, &options, &|_| ControlFlow::Continue(())).unwrap();
        save(&fitted, &about(), &folder.model()).unwrap();
        folder
    }

    pub(crate) fn model(&self) -> PathBuf {
        self.0.join("m.catena")
    }

    pub(crate) fn fit(&self) -> Fit {
        load(&self.model()).unwrap().fit
    }

    pub(crate) fn serve(&self, words: &[&str]) -> Service {
        Service::start(self, words, "")
    }
}

/// A table of these rows.
pub(crate) fn table(inputs: Vec<f64>, values: &[f64]) -> Dataset {
    let n_rows = inputs.len();
    let observations = Observations::from_dense(n_rows, N_OUTPUTS, values).unwrap();
    Dataset::new(InputPoints::from_column(inputs).unwrap(), observations).unwrap()
}

/// The value of an output.
pub(crate) fn wave(row: f64, output: usize) -> f64 {
    (row / 9.0 + output as f64).sin() + 0.1 * (row * 7.3 + output as f64).cos()
}

fn about() -> About {
    About {
        data: "waves.csv".to_owned(),
        inputs: vec![Input { name: "t".to_owned(), values: vec![], time: None, style: NumberStyle::Double }],
        outputs: ["a", "b", "c"].map(str::to_owned).to_vec(),
        long: None,
        wide: None,
        groups: None,
        noise_columns: vec![],
        cells: catena_io::read::CellOptions::default(),
        caller: None,
    }
}

/// The program, running.
pub(crate) struct Service {
    child: Child,
    pub(crate) address: SocketAddr,
    /// What it said before it was ready.
    pub(crate) notes: Vec<String>,
}

impl Service {
    /// Starts the program in a folder and waits until it listens; `before` are commands of the shell.
    pub(crate) fn start(folder: &Folder, words: &[&str], before: &str) -> Self {
        let script = format!("{before} exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command.args([
            "-c",
            &script,
            env!("CARGO_BIN_EXE_catena-serve"),
            "m.catena",
            "--listen",
            "127.0.0.1:0",
        ]);
        command.args(words).current_dir(&folder.0).stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut notes = vec![];
        let address = loop {
            let mut line = String::new();
            assert!(errors.read_line(&mut line).unwrap() > 0, "the program ended: {notes:?}");
            if let Some((_, address)) = line.trim().split_once("listening on http://") {
                break address.parse().unwrap();
            }
            notes.push(line);
        };
        // Read on, so that the program never waits for somebody to read.
        std::thread::spawn(move || errors.lines().for_each(drop));
        Self { child, address, notes }
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(self.address)
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends the program at once.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks the program to end; returns its exit code.
    pub(crate) fn end(&mut self) -> Option<i32> {
        Command::new("kill").args(["-TERM", &self.id().to_string()]).status().unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lines of readings `{"t": …, "a": …}`.
pub(crate) fn line(t: f64, values: &[(&str, f64)]) -> String {
    let cells: String = values.iter().map(|(name, value)| format!(", \"{name}\": {value:?}")).collect();
    format!("{{\"t\": {t:?}{cells}}}\n")
}
