//! Wall time and processor time of a computation; short computations are repeated.
//!
//! Tables and figures show processor seconds over all threads. Other processes on the machine delay long computations more than
//! short ones, so ratios of wall times would depend on them. With one thread on an idle machine both times are equal.

use std::time::{Duration, Instant};

use crate::error::ExperimentError;
use crate::ledger::Record;
use crate::statistics::median;

/// Shorter runs are repeated, and their median is used: the first run allocates fresh memory, a large part of a short run.
const SHORT_SECONDS: f64 = 0.2;
const REPEATS: usize = 5;

/// Seconds of a computation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Seconds {
    pub(crate) wall: f64,
    pub(crate) processor: f64,
}

impl Seconds {
    /// Adds both times to a record.
    pub(crate) fn note(self, record: &mut Record, name: &str) {
        record.put(format!("{name}.seconds"), self.processor);
        record.put(format!("{name}.wall_seconds"), self.wall);
    }
}

/// A running clock.
pub(crate) struct Stopwatch {
    begin: Instant,
    processor: Option<Duration>,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self { begin: Instant::now(), processor: processor_time() }
    }

    pub(crate) fn read(&self) -> Seconds {
        let wall = self.begin.elapsed().as_secs_f64();
        let processor =
            processor_time().zip(self.processor).map(|(now, then)| now.saturating_sub(then).as_secs_f64());
        Seconds { wall, processor: processor.unwrap_or(wall) }
    }
}

/// The processor time of all threads of this process; `None` if the system does not report it.
#[cfg(unix)]
fn processor_time() -> Option<Duration> {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(now).ok()
}

#[cfg(not(unix))]
fn processor_time() -> Option<Duration> {
    None
}

/// The result and its seconds.
pub(crate) fn timed<T>(
    run: impl Fn() -> Result<T, ExperimentError>,
) -> Result<(T, Seconds), ExperimentError> {
    let once = || -> Result<(T, Seconds), ExperimentError> {
        let stopwatch = Stopwatch::start();
        let result = run()?;
        Ok((result, stopwatch.read()))
    };
    let (result, first) = once()?;
    if first.processor >= SHORT_SECONDS {
        return Ok((result, first));
    }
    // The first run fills caches; it does not count.
    let mut all = Vec::with_capacity(REPEATS);
    for _ in 0..REPEATS {
        all.push(once()?.1);
    }
    let of = |part: fn(&Seconds) -> f64| median(&all.iter().map(part).collect::<Vec<_>>());
    Ok((result, Seconds { wall: of(|seconds| seconds.wall), processor: of(|seconds| seconds.processor) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_takes_wall_seconds_and_no_others() {
        let wait = || {
            let waited = timed(|| {
                std::thread::sleep(Duration::from_millis(30));
                Ok(())
            });
            waited.unwrap().1
        };
        // The clock is that of the whole process, and other tests may be at work in it: they can only add.
        let quietest = |a: Seconds, b: Seconds| if b.processor < a.processor { b } else { a };
        let seconds = (0..20).map(|_| wait()).reduce(quietest).unwrap();
        assert!(seconds.wall >= 0.03);
        assert!(cfg!(not(unix)) || seconds.processor < 0.015, "{seconds:?}");
    }
}
