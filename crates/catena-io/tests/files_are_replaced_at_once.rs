//! A file is complete or untouched: what fails leaves the old file and nothing beside it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

mod folder;

use std::io::Write;
use std::path::Path;

use catena_io::table::{Column, Table};
use catena_io::write::{Target, TargetFile, WriteError, remove_unfinished_files, write_table};
use folder::Folder;

fn target(path: &Path) -> Target {
    Target::new(path, None).unwrap()
}

fn table(n_rows: usize) -> Table {
    Table::new(vec![Column::numbers("a", (0..n_rows).map(|row| row as f64).collect())])
}

/// One test, because an interrupt removes the unfinished files of all.
#[test]
fn unfinished_files_vanish() {
    let folder = Folder::new();
    let path = folder.write("t.csv", "old");
    let mut dropped = TargetFile::create(target(&path).file()).unwrap();
    dropped.write_all(b"half").unwrap();
    dropped.flush().unwrap();
    assert_eq!(folder.names().len(), 2, "the new file lies beside the old");
    drop(dropped);
    assert_eq!(folder.names(), ["t.csv"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");

    let mut interrupted = TargetFile::create(target(&path).file()).unwrap();
    interrupted.write_all(b"half").unwrap();
    remove_unfinished_files();
    assert_eq!(folder.names(), ["t.csv"]);
    assert!(interrupted.commit().is_err(), "nothing is left to put in place");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");

    let mut completed = TargetFile::create(target(&path).file()).unwrap();
    completed.write_all(b"new").unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old", "until the end");
    completed.commit().unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(folder.names(), ["t.csv"]);

    let error = write_table(&table(3), &target(&folder.path("no/such/t.csv"))).unwrap_err();
    assert!(matches!(error, WriteError::NoFolder { .. }), "{error:?}");
    assert!(error.to_string().contains("t.csv"));
    std::fs::create_dir(folder.path("d.csv")).unwrap();
    let error = write_table(&table(3), &target(&folder.path("d.csv"))).unwrap_err();
    assert!(matches!(error, WriteError::IsDirectory { .. }), "{error:?}");
    let error = Target::new(&folder.path("t.doc"), None).unwrap_err();
    assert!(matches!(error, WriteError::UnknownFormat { .. }), "{error:?}");
    let error = write_table(&table(3), &target(&folder.path("t.csv/x.csv"))).unwrap_err();
    assert!(matches!(error, WriteError::NotAFolder { .. }), "{error:?}");
    assert_eq!(folder.names(), ["d.csv", "t.csv"]);
}

/// Linux has a device that is always full.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_so() {
    use catena_io::model_file::{Container, ModelFileError};
    use catena_io::read::Format;
    for format in Format::ALL.iter().copied().filter(|format| format.is_written()) {
        let full = Target::new(Path::new("/dev/full"), Some(format)).unwrap();
        let error = write_table(&table(100_000), &full).unwrap_err();
        assert!(matches!(error, WriteError::DiskFull { .. }), "{format:?}: {error:?}");
    }
    let error = Container::new(serde_json::Value::Null).write_to(Path::new("/dev/full")).unwrap_err();
    assert!(matches!(error, ModelFileError::Write(WriteError::DiskFull { .. })), "{error:?}");
}

#[cfg(unix)]
#[test]
fn links_and_permissions_stay() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let real = folder.write("real.csv", "old");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
    let link = folder.path("link.csv");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    write_table(&table(2), &target(&link)).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(std::fs::read_to_string(&real).unwrap(), "a\n0\n1\n");
    assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
}
