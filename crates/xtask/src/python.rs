//! The Python package: one wheel, tested with numpy alone and with all supported libraries.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The required packages.
const PLAIN: &[&str] = &["numpy"];
/// The packages for the whole test suite.
const FULL: &[&str] = &[
    "numpy",
    "dask[array,dataframe]",
    "distributed",
    "scikit-learn",
    "pandas",
    "polars",
    "pyarrow",
    "xarray",
    "matplotlib",
    "statsmodels",
    "pytest",
    "ruff==0.17.4",
];
/// The packages for the tests of the adapters, which sktime holds at earlier versions than [`FULL`].
const SKTIME: &[&str] = &["numpy", "pandas", "scikit-learn", "sktime", "pytest"];
/// The build tool.
const BUILDER: &[&str] = &["maturin>=1.9,<2"];
/// Maximum size of a released wheel.
const MOST_BYTES: u64 = 6_000_000;

/// Creates the environments of [`test()`] while something else is compiled; errors are reported by [`test()`].
pub(crate) fn prepare(target: &Path) {
    let place = target.join("python");
    for (name, packages) in [("full", FULL), ("builder", BUILDER), ("plain", PLAIN), ("sktime", SKTIME)] {
        let _ = environment(&place.join(name), packages);
    }
}

/// Builds the wheel and runs the README's example and the test suite, each in its own environment.
///
/// # Errors
/// The step that failed, or the package to install.
pub(crate) fn test(workspace: &Path, target: &Path) -> Result<(), String> {
    let place = target.join("python");
    let project = workspace.join("python");
    let full = environment(&place.join("full"), FULL)?;
    let settings = project.join("pyproject.toml");
    for check in [["format", "--check"].as_slice(), &["check"]] {
        let mut command = Command::new(&full);
        command.args(["-m", "ruff"]).args(check).arg("--config").arg(&settings);
        run("Python formatting and lints", command.args([&project, &workspace.join("benchmarks")]))?;
    }
    let builder = environment(&place.join("builder"), BUILDER)?;
    // With the profile of the Rust tests and the features of the workspace, to reuse what those compiled.
    let n_cores = n_compiled_cores(target);
    let wheel = build(&project, &place, &builder, &["--features", "as-in-workspace"], &[])?;
    if n_compiled_cores(target) > n_cores {
        return Err("the wheel enables other features of dependencies than the workspace, so nearly everything was compiled \
                    twice: compare `cargo tree -e features` of both, and add the difference to the feature \
                    as-in-workspace of python/Cargo.toml"
            .to_owned());
    }
    let plain = environment(&place.join("plain"), PLAIN)?;
    install(&plain, &wheel)?;
    run(
        "the README's example with numpy alone",
        Command::new(&plain).args(["-c", &readme_example(workspace)?]).current_dir(&place),
    )?;
    install(&full, &wheel)?;
    let program = target.join("debug").join("catena");
    let mut command = Command::new(&full);
    // Not in the project folder, where Python would import the sources instead of the wheel.
    command.args(["-m", "pytest", "--quiet"]).current_dir(project.join("tests"));
    run("Python tests", command.env("CATENA_PROGRAM", program).env("MPLBACKEND", "Agg"))?;
    let sktime = environment(&place.join("sktime"), SKTIME)?;
    install(&sktime, &wheel)?;
    let mut command = Command::new(&sktime);
    command.args(["-m", "pytest", "--quiet", "test_sktime.py"]).current_dir(project.join("tests"));
    run("tests of the adapters for sktime", &mut command)
}

/// How often the core has been compiled: once per set of features of its dependencies.
fn n_compiled_cores(target: &Path) -> usize {
    let files = std::fs::read_dir(target.join("debug").join("deps")).into_iter().flatten().flatten();
    let is_core = |name: &str| name.starts_with("libcatena-") && name.ends_with(".rlib");
    files.filter(|file| is_core(&file.file_name().to_string_lossy())).count()
}

/// The interpreter of a virtual environment with these packages; an existing environment is reused.
fn environment(folder: &Path, packages: &[&str]) -> Result<PathBuf, String> {
    let python = folder.join("bin").join("python");
    if !python.exists() {
        let missing = "the tests of the Python package need Python 3.10 or later with venv and pip (on Debian: \
                       `apt-get install python3 python3-venv`)";
        let made =
            run("creating a virtual environment", Command::new("python3").args(["-m", "venv"]).arg(folder));
        made.map_err(|_| missing.to_owned())?;
    }
    let mut command = Command::new(&python);
    command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages);
    run("installing packages with pip", &mut command)?;
    Ok(python)
}

/// Builds a release wheel in a folder, with these environment variables.
///
/// # Errors
/// The step that failed.
pub(crate) fn wheel(
    workspace: &Path,
    folder: &Path,
    variables: &[(&'static str, String)],
) -> Result<PathBuf, String> {
    let builder = environment(&folder.join("builder"), BUILDER)?;
    let wheel = build(&workspace.join("python"), folder, &builder, &["--release"], variables)?;
    let size = wheel.metadata().map_err(|error| error.to_string())?.len();
    eprintln!("the wheel has {:.1} MB", size as f64 / 1e6);
    if size > MOST_BYTES {
        return Err(format!("the wheel has {size} bytes, more than {MOST_BYTES}"));
    }
    Ok(wheel)
}

/// Builds a wheel with these maturin options.
fn build(
    project: &Path,
    place: &Path,
    builder: &Path,
    options: &[&str],
    variables: &[(&'static str, String)],
) -> Result<PathBuf, String> {
    let wheels = place.join("wheels");
    // Removes old wheels.
    if wheels.exists() {
        std::fs::remove_dir_all(&wheels).map_err(|error| format!("{}: {error}", wheels.display()))?;
    }
    let mut command = Command::new(builder);
    command.args(["-m", "maturin", "build", "--locked", "--quiet"]).args(options).arg("--out").arg(&wheels);
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    run("building the wheel", command.current_dir(project))?;
    let files = std::fs::read_dir(&wheels).map_err(|error| format!("{}: {error}", wheels.display()))?;
    let wheel =
        files.flatten().map(|file| file.path()).find(|path| path.extension().is_some_and(|end| end == "whl"));
    wheel.ok_or_else(|| "maturin built no wheel".to_owned())
}

fn install(python: &Path, wheel: &Path) -> Result<(), String> {
    let mut command = Command::new(python);
    command.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--force-reinstall",
        "--no-deps",
    ]);
    run("installing the wheel", command.arg(wheel))
}

/// The Python example in the README.
fn readme_example(workspace: &Path) -> Result<String, String> {
    let text = std::fs::read_to_string(workspace.join("README.md")).map_err(|error| error.to_string())?;
    let (_, rest) = text.split_once("```python\n").ok_or("the README has no Python example")?;
    let (lines, _) = rest.split_once("```").ok_or("the README's Python example is not closed")?;
    Ok(lines.to_owned())
}

/// Prints the name of a step and runs its command.
///
/// # Errors
/// If the command fails.
pub(crate) fn run(what: &str, command: &mut Command) -> Result<(), String> {
    eprintln!("\n== {what}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("{what}: failed")),
        Err(error) => Err(format!("{what}: {error}")),
    }
}
