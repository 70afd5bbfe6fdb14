//! The memory that a process may use, as reported by the operating system.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// The share of the machine's memory that a table or a fit may use unless the user sets a limit.
const SHARE: f64 = 0.75;
/// The memory of a machine that does not report it, in bytes.
const UNKNOWN: u64 = 8_000_000_000;

/// The default limit in bytes: three quarters of the memory of the machine or of the process's control group, whichever is
/// smaller.
pub fn default_limit() -> u64 {
    let root = Path::new("/");
    let found = [total(root), group_limit(root), address_space(root)].into_iter().flatten().min();
    (SHARE * found.unwrap_or(UNKNOWN) as f64) as u64
}

/// A number of bytes as text, such as `4.0 GB`.
pub fn bytes_text(bytes: f64) -> String {
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    match units.iter().find(|(size, _)| bytes >= *size) {
        Some((size, name)) => format!("{:.1} {name}", bytes / size),
        None => format!("{bytes:.0} bytes"),
    }
}

/// The number of bytes of a text such as `3GB` or `500 MB`; `None` if it is not a positive amount.
pub fn bytes_of(text: &str) -> Option<f64> {
    let letters = text.trim().to_ascii_uppercase();
    let length = letters.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(letters.len());
    let unit = match letters[length..].trim() {
        "" | "B" => 1.0,
        "K" | "KB" => 1e3,
        "M" | "MB" => 1e6,
        "G" | "GB" => 1e9,
        "T" | "TB" => 1e12,
        _ => return None,
    };
    let number: f64 = letters[..length].trim().parse().ok()?;
    (number > 0.0 && number.is_finite()).then_some(number * unit)
}

/// The memory of the machine.
fn total(root: &Path) -> Option<u64> {
    let text = read_to_string(root.join("proc/meminfo")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The smallest limit of the control groups of this process and their parents.
fn group_limit(root: &Path) -> Option<u64> {
    let groups = read_to_string(root.join("proc/self/cgroup")).ok()?;
    let mut limits = vec![];
    for line in groups.lines() {
        // `hierarchy:controllers:path`; version 2 has no controllers.
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let (folder, file) = match controllers {
            "" => (root.join("sys/fs/cgroup"), "memory.max"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                (root.join("sys/fs/cgroup/memory"), "memory.limit_in_bytes")
            }
            _ => continue,
        };
        for parent in Path::new(path.trim_start_matches('/')).ancestors() {
            limits.push(number_in(&folder.join(parent).join(file)));
        }
    }
    limits.into_iter().flatten().min()
}

/// The limit of the address space of this process (`ulimit -v`).
fn address_space(root: &Path) -> Option<u64> {
    let text = read_to_string(root.join("proc/self/limits")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The number in a file; `None` for a word such as `max`.
fn number_in(path: &PathBuf) -> Option<u64> {
    read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> PathBuf {
        let name = format!("catena-memory-{}-{}", std::process::id(), files.len());
        let root = std::env::temp_dir().join(name);
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn limits_are_read_from_the_system() {
        let root = folder(&[
            ("proc/meminfo", "MemTotal:       16000000 kB\nMemFree:         1000 kB\n"),
            ("proc/self/cgroup", "0::/user/session\n"),
            (
                "proc/self/limits",
                "Limit  Soft  Hard  Units\nMax address space  unlimited  unlimited  bytes\n",
            ),
            ("sys/fs/cgroup/memory.max", "max\n"),
            ("sys/fs/cgroup/user/memory.max", "2000000000\n"),
            ("sys/fs/cgroup/user/session/memory.max", "max\n"),
        ]);
        assert_eq!(total(&root), Some(16_384_000_000));
        assert_eq!(group_limit(&root), Some(2_000_000_000));
        assert_eq!(address_space(&root), None);
        std::fs::remove_dir_all(root).unwrap();
        let root = folder(&[
            ("proc/self/cgroup", "3:cpu,cpuacct:/a\n4:memory:/a\n"),
            ("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "500000000\n"),
            ("proc/self/limits", "Max address space  100  200  bytes\n"),
        ]);
        assert_eq!((total(&root), group_limit(&root)), (None, Some(500_000_000)));
        assert_eq!(address_space(&root), Some(100));
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn bytes_read_well() {
        let cases = [(12.0, "12 bytes"), (4.56e9, "4.6 GB"), (8e13, "80.0 TB"), (1e6, "1.0 MB")];
        assert!(cases.iter().all(|(bytes, text)| bytes_text(*bytes) == *text));
        assert!(default_limit() > 1_000_000);
    }
}
