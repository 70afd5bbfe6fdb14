//! What kind of machine made the numbers: cores, processor and memory, nothing that names it.

/// One line.
pub(super) fn description() -> String {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let processor =
        line_of("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let memory = line_of("/proc/meminfo", "MemTotal").and_then(|text| {
        let kilobytes: f64 = text.split_whitespace().next()?.parse().ok()?;
        Some(format!(", {:.0} GB of memory", kilobytes / 1e6))
    });
    format!("{cores} cores, {processor}{}", memory.unwrap_or_default())
}

/// The first value of a key in a file of `key : value` lines, where the system has one.
fn line_of(path: &str, key: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(key))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
