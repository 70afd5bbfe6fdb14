//! Runs the program in its own folder, on small tables.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The result of a run.
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Outcome {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }

    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.code, 0, "{}", self.stderr);
        self
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(self.text()).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

/// A folder, initially empty.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.0.join(name), bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        String::from_utf8(std::fs::read(self.0.join(name)).unwrap()).unwrap()
    }

    /// Names of all files, including hidden ones.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs the program with words separated by blanks.
    pub(crate) fn run(&self, words: &str) -> Outcome {
        self.run_with(&words.split_whitespace().collect::<Vec<_>>(), b"")
    }

    pub(crate) fn run_with(&self, words: &[&str], stdin: &[u8]) -> Outcome {
        let mut child = self.command(words).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let stdin = stdin.to_vec();
        // Written from another thread: a program that replies line by line blocks if its replies are not read.
        let writer = std::thread::spawn(move || {
            // A program that refuses its arguments does not read.
            let _ = input.write_all(&stdin);
        });
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Outcome {
            code: output.status.code().unwrap(),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_catena"));
        command.current_dir(&self.0).args(words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// Parameters for the table of [`waves`]: two shared latents.
pub(crate) const PARAMETERS: &str = r#"{"kernel": "matern32", "mixing": [[1.5, 0.3], [0.4, 0.8]],
    "length_scales": ["6h", "30h"], "noise": [0.02, 0.05]}"#;

/// Length-scales of [`PARAMETERS`] in hours, and the rest.
pub(crate) const LENGTHS: [f64; 2] = [6.0, 30.0];
pub(crate) const MIXING: [[f64; 2]; 2] = [[1.5, 0.3], [0.4, 0.8]];
pub(crate) const NOISE: [f64; 2] = [0.02, 0.05];

/// Hours, and two outputs with missing values as NaN.
pub(crate) fn waves(n_rows: usize) -> Vec<(usize, [f64; 2])> {
    let row = |hour: usize| {
        let t = hour as f64;
        let wobble = ((hour * 7919) % 101) as f64 / 101.0 - 0.5;
        let first = 20.0 + 1.5 * (t / 5.0).sin() + 0.2 * wobble;
        let second = -3.0 + (t / 9.0).cos() + 0.4 * (t / 5.0).sin() - 0.3 * wobble;
        let is_first_missing = (10..14).contains(&(hour % 37));
        let is_second_missing = hour % 11 == 3;
        (
            hour,
            [
                if is_first_missing { f64::NAN } else { first },
                if is_second_missing { f64::NAN } else { second },
            ],
        )
    };
    (0..n_rows).map(row).collect()
}

/// The time of an hour, as the tables have it.
pub(crate) fn time_of(hour: usize) -> String {
    format!("2024-03-{:02} {:02}:00", 1 + hour / 24, hour % 24)
}

fn cell(value: f64) -> String {
    if value.is_nan() { String::new() } else { format!("{value:.3}") }
}

/// The table of [`waves`], wide.
pub(crate) fn wide(rows: &[(usize, [f64; 2])]) -> String {
    let line = |(hour, [first, second]): &(usize, [f64; 2])| {
        format!("{},note {hour},{},{}\n", time_of(*hour), cell(*first), cell(*second))
    };
    "time,remark,temp,salt\n".to_owned() + &rows.iter().map(line).collect::<String>()
}

/// The table of [`waves`], long; missing values have rows without a value.
pub(crate) fn long(rows: &[(usize, [f64; 2])]) -> String {
    let lines = |(hour, [first, second]): &(usize, [f64; 2])| {
        let time = time_of(*hour);
        format!("{time},temp,{}\n{time},salt,{}\n", cell(*first), cell(*second))
    };
    "time,series,value\n".to_owned() + &rows.iter().map(lines).collect::<String>()
}

/// A folder with `waves.csv` and `p.json`.
pub(crate) fn prepared(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("waves.csv", wide(&waves(72)));
    folder.write("p.json", PARAMETERS);
    folder
}

/// Columns of a CSV text without quotes, by name.
pub(crate) fn columns(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let mut columns: BTreeMap<String, Vec<String>> =
        names.iter().map(|name| ((*name).to_owned(), vec![])).collect();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells.len(), names.len(), "{line}");
        for (name, cell) in names.iter().zip(cells) {
            columns.get_mut(*name).unwrap().push(cell.to_owned());
        }
    }
    columns
}

/// A column of numbers; an empty cell is NaN.
pub(crate) fn numbers(columns: &BTreeMap<String, Vec<String>>, name: &str) -> Vec<f64> {
    let column = columns.get(name).unwrap_or_else(|| panic!("no column {name} in {:?}", columns.keys()));
    column.iter().map(|cell| if cell.is_empty() { f64::NAN } else { cell.parse().unwrap() }).collect()
}
