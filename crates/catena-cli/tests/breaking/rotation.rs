//! A log that grows, is rotated and truncated while `watch --from --follow` runs, is killed and started again.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::process::Child;
use std::time::{Duration, Instant};

use crate::chance::Chance;
use crate::harness::Folder;
use crate::{Counts, HEADER, assert_has_rows, csv_line, row, with_model};

/// The writer of the log, and the process that reads it.
struct Scene {
    folder: Folder,
    child: Option<Child>,
    written: u64,
    n_rotated: usize,
    has_header: bool,
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Scene {
    fn append(&self, text: &str) {
        let mut log =
            OpenOptions::new().create(true).append(true).open(self.folder.0.join("log.csv")).unwrap();
        log.write_all(text.as_bytes()).unwrap();
    }

    fn start(&mut self) {
        if self.child.is_none() {
            let words = ["watch", "m.catena", "--from", "log.csv", "--follow", "--on-error", "stop"];
            let file = |name: &str| {
                OpenOptions::new().create(true).append(true).open(self.folder.0.join(name)).unwrap()
            };
            let mut command = self.folder.command(&words);
            self.child = Some(command.stdout(file("replies")).stderr(file("errors")).spawn().unwrap());
        }
    }

    fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Writes a row and waits until it has a reply: then the journal ends in this file.
    fn settle(&mut self) {
        self.written += 1;
        self.append(&csv_line(self.written));
        self.catch_up();
    }

    /// Waits until every written row has a reply.
    fn catch_up(&mut self) {
        self.start();
        if self.written == 0 {
            return;
        }
        let begin = Instant::now();
        // Whole minutes are printed without seconds.
        let time = row(self.written).0;
        let wanted = format!(",{},", time.strip_suffix(":00").unwrap_or(&time));
        loop {
            let replies = self.folder.read("replies");
            if replies.contains(&wanted) {
                return;
            }
            let status = self.child.as_mut().and_then(|child| child.try_wait().unwrap());
            let is_late = begin.elapsed() > Duration::from_secs(60);
            assert!(
                status.is_none() && !is_late,
                "row {} has no reply ({status:?}): {}",
                self.written,
                self.folder.read("errors")
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

pub(crate) fn run(chance: &mut Chance, counts: &mut Counts) {
    let folder = with_model("rotation");
    let mut scene = Scene { folder, child: None, written: 0, n_rotated: 0, has_header: true };
    scene.append(HEADER);
    // Rows that were not read yet are found in a file that was read before and rotated once since.
    let mut is_rotated = true;
    for _ in 0..14 {
        match chance.below(6) {
            0 | 1 => {
                let n_rows = 1 + chance.below(30) as u64;
                let text: String = (scene.written + 1..=scene.written + n_rows).map(csv_line).collect();
                let (first, rest) = text.split_at(chance.below(text.len()));
                scene.append(first);
                std::thread::sleep(Duration::from_millis(chance.below(30) as u64));
                scene.append(rest);
                scene.written += n_rows;
            }
            // Without its header a file can be followed, but not be read by a new process.
            2 if scene.has_header => {
                scene.kill();
                counts.add("kills of watch --from", 1);
            }
            2 | 3 => scene.start(),
            4 => {
                if is_rotated || scene.child.is_some() {
                    scene.settle();
                }
                is_rotated = true;
                scene.n_rotated += 1;
                let old = format!("log.csv.{}", scene.n_rotated);
                std::fs::rename(scene.folder.0.join("log.csv"), scene.folder.0.join(old)).unwrap();
                scene.append(HEADER);
                // A new process cannot read the rest of a file without a header.
                if !std::mem::replace(&mut scene.has_header, true) {
                    scene.settle();
                }
                counts.add("rotations by renaming", 1);
            }
            _ => {
                // What is truncated before it is read is lost, whoever reads it.
                scene.settle();
                is_rotated = true;
                File::options().write(true).truncate(true).open(scene.folder.0.join("log.csv")).unwrap();
                scene.has_header = chance.below(2) == 0;
                if scene.has_header {
                    scene.append(HEADER);
                }
                counts.add("rotations by truncating", 1);
            }
        }
    }
    scene.settle();
    scene.kill();
    let (folder, written) = (&scene.folder, scene.written);
    folder.run("watch m.catena --apply -o applied.catena --quiet").succeeded();
    assert_has_rows(folder, "applied.catena", &(1..=written).collect::<Vec<_>>());
    counts.add("rows of rotated logs", written);
}
