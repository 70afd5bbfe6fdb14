//! Release files: the wheel and a static program, built reproducibly.
//!
//! Source paths and the build time are removed from the files. `--twice` builds everything again in another folder and compares.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::python;

/// The target for a program without system libraries.
const STATIC_TARGET: &str = "x86_64-unknown-linux-musl";

/// Builds wheel and program into `target/dist` and writes their digests; with `twice` does so again and compares.
///
/// # Errors
/// The step that failed, or the file that differs.
pub(crate) fn dist(workspace: &Path, target: &Path, twice: bool) -> Result<(), String> {
    let place = target.join("dist");
    let first = build(workspace, &place.join("build"))?;
    if twice {
        let second = build(workspace, &place.join("build-again"))?;
        for (name, bytes) in &first {
            let same = second.iter().any(|(other, again)| other == name && again == bytes);
            if !same {
                return Err(format!("{name}: two builds differ"));
            }
        }
        eprintln!("both builds are identical");
    }
    for (name, bytes) in &first {
        let path = place.join(name);
        std::fs::write(&path, bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        make_executable(&path, name)?;
        eprintln!("{}  {} bytes", path.display(), bytes.len());
    }
    Ok(())
}

/// The release files by name, built in a folder.
fn build(workspace: &Path, folder: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let environment = environment(workspace, folder)?;
    let mut files = vec![program(workspace, folder, &environment)?];
    let wheel = python::wheel(workspace, folder, &environment)?;
    files.push(named(&wheel, None)?);
    Ok(files)
}

/// The environment of a reproducible build.
fn environment(workspace: &Path, folder: &Path) -> Result<Vec<(&'static str, String)>, String> {
    let path = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned()).display().to_string();
    let home = std::env::var("CARGO_HOME").map(PathBuf::from).ok();
    let home = home.or_else(|| std::env::var("HOME").ok().map(|home| Path::new(&home).join(".cargo")));
    let home = home.ok_or("neither CARGO_HOME nor HOME is set")?;
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let renamed = [(path(folder), "target"), (path(workspace), "catena"), (path(&home), "cargo")];
    let flags: Vec<String> =
        renamed.iter().map(|(from, to)| format!("--remap-path-prefix={from}={to}")).collect();
    Ok(vec![
        ("RUSTFLAGS", flags.join(" ")),
        ("SOURCE_DATE_EPOCH", commit_time(workspace)),
        ("CARGO_INCREMENTAL", "0".to_owned()),
        ("CARGO_TARGET_DIR", folder.display().to_string()),
    ])
}

/// The time of the last commit; without git, the earliest time of a zip archive.
fn commit_time(workspace: &Path) -> String {
    let output = Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(workspace).output();
    let time = output.ok().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    time.filter(|time| !time.is_empty()).unwrap_or_else(|| "315532800".to_owned())
}

/// The program; static if the target is installed.
fn program(
    workspace: &Path,
    folder: &Path,
    environment: &[(&'static str, String)],
) -> Result<(String, Vec<u8>), String> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["build", "--release", "--locked", "--quiet", "--package", "catena-gp"]);
    command.current_dir(workspace).envs(environment.iter().map(|(name, value)| (name, value)));
    let missing = missing_for_static();
    if let Some(missing) = &missing {
        eprintln!("the program will depend on the system's C library; for a static one: {missing}");
    }
    let is_static = missing.is_none();
    let mut built = folder.to_owned();
    if is_static {
        command.args(["--target", STATIC_TARGET]);
        built.push(STATIC_TARGET);
    }
    python::run("building the program", &mut command)?;
    let suffix = if is_static { STATIC_TARGET } else { std::env::consts::ARCH };
    let name = format!("catena-{}-{suffix}", env!("CARGO_PKG_VERSION"));
    named(&built.join("release").join("catena"), Some(name))
}

/// The command that installs what a static build needs, if something is missing.
fn missing_for_static() -> Option<&'static str> {
    let installed =
        Command::new("rustc").args(["--print", "target-libdir", "--target", STATIC_TARGET]).output();
    let has_library = installed.is_ok_and(|output| {
        output.status.success() && Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir()
    });
    if !has_library {
        return Some("rustup target add x86_64-unknown-linux-musl");
    }
    // zstd is written in C.
    let has_compiler = Command::new("musl-gcc").arg("--version").output().is_ok();
    (!has_compiler).then_some("apt-get install musl-tools")
}

fn named(path: &Path, name: Option<String>) -> Result<(String, Vec<u8>), String> {
    let own = || path.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.or_else(own).ok_or("a file without a name")?;
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok((name, bytes))
}

#[cfg(unix)]
fn make_executable(path: &Path, name: &str) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = if name.ends_with(".whl") { 0o644 } else { 0o755 };
    let permissions = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(path, permissions).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(not(unix))]
fn make_executable(_path: &Path, _name: &str) -> Result<(), String> {
    Ok(())
}
