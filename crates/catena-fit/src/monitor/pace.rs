//! The pace of one optimization: its counted work, and its end in time.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::Instant;

use catena::learning::Progress;

use super::watch::{Reporter, locked};

/// An iteration begins if this fraction of the last one fits before the end of its stage.
const ROOM: f64 = 0.7;

/// The pace of one optimization: it counts its work, and ends it before an iteration for which no time is left.
pub(crate) struct Pace<'r> {
    reporter: &'r Reporter<'r>,
    /// The work of an evaluation; 0 if it is not known.
    work: f64,
    begin: Instant,
    /// By start: the time of the latest iteration, and the evaluations until then.
    latest: Mutex<Vec<(Instant, usize)>>,
}

impl<'r> Pace<'r> {
    /// An optimization begins whose evaluations take this work.
    pub(crate) fn new(reporter: &'r Reporter<'r>, work: f64) -> Self {
        Self { reporter, work, begin: Instant::now(), latest: Mutex::default() }
    }

    /// Counts an iteration; `Break` if the next would not end in time.
    pub(crate) fn step(&self, progress: Progress) -> ControlFlow<()> {
        let now = Instant::now();
        let (seconds, n_evaluations) = {
            let mut latest = locked(&self.latest);
            if latest.len() <= progress.start {
                latest.resize(progress.start + 1, (self.begin, 0));
            }
            let (at, before) = latest[progress.start];
            latest[progress.start] = (now, progress.evaluations);
            (now.duration_since(at).as_secs_f64(), progress.evaluations.saturating_sub(before))
        };
        let done = self.work * n_evaluations as f64;
        if done > 0.0 {
            self.reporter.watch.measure(done, seconds);
        }
        let of_one = seconds / n_evaluations.max(1) as f64;
        match ROOM * of_one > self.reporter.seconds_left() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

    use std::time::Duration;

    use super::*;
    use crate::monitor::{Event, Stage, Watch};

    #[test]
    fn an_iteration_that_does_not_fit_is_not_begun() {
        let monitor = |_: Event| ControlFlow::Continue(());
        let watch = Watch::new(&monitor, Some(Duration::from_secs(3600)));
        let reporter = Reporter::new(&watch, Stage::Learning, 0.0);
        reporter.end_within(1.0);
        let progress = |evaluations| Progress { start: 0, iteration: evaluations, evaluations, value: 0.0 };
        // One evaluation that took two hours.
        let begin = Instant::now().checked_sub(Duration::from_secs(7200)).unwrap();
        let pace = Pace { begin, ..Pace::new(&reporter, 1.0) };
        assert!(pace.step(progress(1)).is_break());
        assert!(pace.step(progress(2)).is_continue());
    }
}
