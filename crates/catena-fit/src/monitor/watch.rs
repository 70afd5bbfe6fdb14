//! Progress of a fit, requests to stop it, and its time limit.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use catena::learning::Progress;

/// A stage of a fit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stage {
    /// Comparing smoothness.
    Smoothness,
    /// Comparing candidate models.
    Candidates,
    /// Building the structure over all points.
    Structure,
    /// Learning the chosen model.
    Learning,
    /// Conditioning on all cells.
    Posterior,
}

/// Progress of a fit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Event {
    /// The current stage.
    pub stage: Stage,
    /// An upper bound of the completed fraction of the stage.
    pub done: f64,
    /// The best log posterior of the parameters so far, while learning.
    pub log_posterior: Option<f64>,
    /// An estimate of the time until the end of the fit: counted work at the speed of this fit so far.
    pub left: Option<Duration>,
}

/// A callback for progress, called from several threads. `Break` stops the fit and keeps the best model so far.
pub type FitMonitor<'a> = dyn Fn(Event) -> ControlFlow<()> + Sync + 'a;

/// Seconds over which an estimate of the time left follows a longer one.
const PATIENCE: f64 = 4.0;
/// Seconds of planned work that count as done at the speed of one core when a fit begins.
const HEAD_START: f64 = 0.5;

/// A step of a fit whose work is planned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Smoothness,
    Candidates,
    /// Variants of the best candidate: one length-scale, no private latents, transforms, factors.
    Variants,
    /// Regressions on other outputs, for a pool.
    Regressions,
    /// Members of a pool.
    Members,
    Learning,
    Posterior,
}

const N_STEPS: usize = 7;

/// Seconds of one core that each step of a fit takes by counted work.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct StepWork(pub(crate) [f64; N_STEPS]);

impl StepWork {
    pub(crate) fn add(&mut self, step: Step, seconds: f64) {
        self.0[step as usize] += seconds;
    }

    pub(crate) fn total(self) -> f64 {
        self.0.iter().sum()
    }
}

/// Planned work and where a fit is in it.
#[derive(Debug, Default)]
struct Course {
    planned: Option<StepWork>,
    /// The number of the current step, and its completed fraction.
    step: usize,
    fraction: f64,
    /// Work of optimizations, and the seconds that their threads took for it.
    measured: (f64, f64),
    /// The latest estimate of the seconds left, and when it was made.
    shown: Option<(f64, Instant)>,
}

/// What all stages of one fit report to: its monitor, its time limit, and its counted work.
pub(crate) struct Watch<'a> {
    monitor: &'a FitMonitor<'a>,
    begin: Instant,
    end: Option<Instant>,
    is_stopped: AtomicBool,
    course: Mutex<Course>,
    /// Seconds kept for the steps after learning.
    reserve: Mutex<f64>,
    /// What was cut short.
    cuts: Mutex<Vec<String>>,
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Watch<'a> {
    /// Begins a fit, which must end within the limit.
    pub(crate) fn new(monitor: &'a FitMonitor<'a>, limit: Option<Duration>) -> Self {
        let begin = Instant::now();
        Self {
            monitor,
            begin,
            end: limit.and_then(|limit| begin.checked_add(limit)),
            is_stopped: AtomicBool::new(false),
            course: Mutex::default(),
            reserve: Mutex::default(),
            cuts: Mutex::default(),
        }
    }

    pub(crate) fn has_limit(&self) -> bool {
        self.end.is_some()
    }

    /// Sets the work that the steps will take, for the estimate of the time left.
    pub(crate) fn plan(&self, work: StepWork) {
        locked(&self.course).planned = Some(work);
    }

    /// Says how far the fit is.
    pub(crate) fn reach(&self, step: Step, fraction: f64) {
        let mut course = locked(&self.course);
        (course.step, course.fraction) = (step as usize, fraction.clamp(0.0, 1.0));
    }

    /// Whether a later step was reached.
    fn is_past(&self, step: Step) -> bool {
        locked(&self.course).step > step as usize
    }

    /// The seconds of one core that a step should take.
    pub(crate) fn planned(&self, step: Step) -> f64 {
        locked(&self.course).planned.map_or(0.0, |planned| planned.0[step as usize])
    }

    /// The seconds since the begin of the fit.
    pub(crate) fn elapsed(&self) -> f64 {
        self.begin.elapsed().as_secs_f64()
    }

    /// Keeps more seconds for the steps after learning.
    pub(crate) fn reserve(&self, seconds: f64) {
        *locked(&self.reserve) += seconds;
    }

    /// The seconds until the limit, without those kept for the last steps; infinite without a limit, and 0 after a request to stop.
    pub(crate) fn seconds_left(&self) -> f64 {
        if self.is_stopped() {
            return 0.0;
        }
        let left = |end: Instant| end.saturating_duration_since(Instant::now()).as_secs_f64();
        self.end.map_or(f64::INFINITY, |end| (left(end) - *locked(&self.reserve)).max(0.0))
    }

    /// When this share of the seconds left will be used; `None` without a limit.
    fn end_of(&self, share: f64) -> Option<Instant> {
        self.end?;
        Instant::now().checked_add(Duration::from_secs_f64(share * self.seconds_left()))
    }

    /// Seconds of one thread for counted work, at the speed of the optimizations so far.
    pub(crate) fn seconds_for(&self, work: f64) -> f64 {
        let (counted, seconds) = locked(&self.course).measured;
        if counted > 0.0 { work * seconds / counted } else { work }
    }

    /// Counts the work of an optimization and the seconds that its thread took for it.
    pub(super) fn measure(&self, work: f64, seconds: f64) {
        let measured = &mut locked(&self.course).measured;
        *measured = (measured.0 + work, measured.1 + seconds);
    }

    /// Whether the monitor asked to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Remembers what was cut short, for the summary.
    pub(crate) fn cut(&self, what: String) {
        locked(&self.cuts).push(what);
    }

    /// A warning of what was cut short, if anything was.
    pub(crate) fn warning(&self) -> Option<String> {
        let cuts = locked(&self.cuts);
        if cuts.is_empty() {
            return None;
        }
        let (cause, remedy) = match self.is_stopped() {
            true => ("interrupted", "fit again for the whole choice"),
            false => ("time limit", "for more, give a larger --time-limit (time_limit= in Python)"),
        };
        Some(format!("{cause}: {}; {remedy}", cuts.join("; ")))
    }

    /// Reports a step, and whether the monitor lets the fit go on.
    fn send(&self, event: Event) -> ControlFlow<()> {
        let left = self.left();
        if self.is_stopped() || (self.monitor)(Event { left, ..event }).is_break() {
            self.is_stopped.store(true, Ordering::Relaxed);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// Reports a step without iterations.
    pub(crate) fn announce(&self, stage: Stage, done: f64) {
        let (ControlFlow::Continue(()) | ControlFlow::Break(())) =
            self.send(Event { stage, done, log_posterior: None, left: None });
    }

    /// The estimated time until the end: planned work that is left, at the speed so far. It may always fall, and rises slowly.
    fn left(&self) -> Option<Duration> {
        let now = Instant::now();
        let elapsed = now.duration_since(self.begin).as_secs_f64();
        let mut course = locked(&self.course);
        let StepWork(planned) = course.planned?;
        let reached = course.fraction * planned[course.step];
        let done = planned[..course.step].iter().sum::<f64>() + reached;
        let rest = planned[course.step..].iter().sum::<f64>() - reached;
        let estimate = rest * (elapsed + HEAD_START) / (done + HEAD_START);
        let shown = match course.shown {
            None => estimate,
            Some((before, at)) => {
                let passed = now.duration_since(at).as_secs_f64();
                let expected = (before - passed).max(0.0);
                let weight = -(-passed / PATIENCE).exp_m1();
                if estimate < expected { estimate } else { expected + weight * (estimate - expected) }
            }
        };
        course.shown = Some((shown, now));
        let until_limit = self.end.map(|end| end.saturating_duration_since(now).as_secs_f64());
        Some(Duration::from_secs_f64(shown.min(until_limit.unwrap_or(f64::INFINITY)).clamp(0.0, 1e9)))
    }
}

/// Reports the progress of some stages and remembers a request to stop.
pub(crate) struct Reporter<'a> {
    pub(crate) watch: &'a Watch<'a>,
    latest: Mutex<Event>,
    /// When the current stage must end.
    end: Mutex<Option<Instant>>,
}

impl<'a> Reporter<'a> {
    pub(crate) fn new(watch: &'a Watch<'a>, stage: Stage, done: f64) -> Self {
        let latest = Mutex::new(Event { stage, done, log_posterior: None, left: None });
        Self { watch, latest, end: Mutex::default() }
    }

    /// With a limit, the work from now on ends when this share of the seconds left is used.
    pub(crate) fn end_within(&self, share: f64) {
        *locked(&self.end) = self.watch.end_of(share);
    }

    /// Seconds until the end of the current stage; infinite without a limit, and 0 after a request to stop.
    pub(crate) fn seconds_left(&self) -> f64 {
        if self.watch.is_stopped() {
            return 0.0;
        }
        let end = *locked(&self.end);
        let left = |end: Instant| end.saturating_duration_since(Instant::now()).as_secs_f64();
        end.map_or(f64::INFINITY, left)
    }

    /// Reports the completed fraction of a stage.
    pub(crate) fn report(&self, stage: Stage, done: f64) {
        let step = match stage {
            Stage::Smoothness => Step::Smoothness,
            Stage::Candidates if self.watch.is_past(Step::Candidates) => Step::Variants,
            Stage::Candidates => Step::Candidates,
            Stage::Structure | Stage::Learning => Step::Learning,
            Stage::Posterior => Step::Posterior,
        };
        self.watch.reach(step, done);
        let (ControlFlow::Continue(()) | ControlFlow::Break(())) =
            self.send(Event { stage, done, log_posterior: None, left: None });
    }

    /// Repeats the latest report. Called at every iteration of an optimizer, so that a stop does not wait for its end.
    pub(crate) fn go_on(&self) -> ControlFlow<()> {
        // Not in one expression: `send` takes the lock too.
        let latest = *locked(&self.latest);
        self.send(latest)
    }

    /// Reports an iteration of the final optimization, which has at most `limit` iterations.
    pub(crate) fn learning(&self, progress: Progress, limit: usize) -> ControlFlow<()> {
        let done = progress.iteration as f64 / limit as f64;
        self.watch.reach(Step::Learning, done);
        let log_posterior = Some(progress.value);
        self.send(Event { stage: Stage::Learning, done, log_posterior, left: None })
    }

    /// Whether there was a request to stop, or the time of the stage is used.
    pub(crate) fn is_stopped(&self) -> bool {
        self.seconds_left() <= 0.0
    }

    fn send(&self, event: Event) -> ControlFlow<()> {
        *locked(&self.latest) = event;
        self.watch.send(event)?;
        if self.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

    use super::*;

    fn work() -> StepWork {
        StepWork([1.0, 5.0, 2.0, 1.0, 1.0, 3.0, 1.0])
    }

    #[test]
    fn without_a_limit_no_stage_ends() {
        let monitor = |_: Event| ControlFlow::Continue(());
        let watch = Watch::new(&monitor, None);
        let reporter = Reporter::new(&watch, Stage::Candidates, 0.0);
        reporter.end_within(0.0);
        assert!(
            !reporter.is_stopped() && watch.seconds_left() == f64::INFINITY && reporter.go_on().is_continue()
        );
        assert_eq!(watch.warning(), None);
    }

    #[test]
    fn a_stage_ends_with_its_share_and_the_next_goes_on() {
        let monitor = |_: Event| ControlFlow::Continue(());
        let watch = Watch::new(&monitor, Some(Duration::from_secs(1000)));
        let reporter = Reporter::new(&watch, Stage::Smoothness, 0.0);
        reporter.end_within(0.0);
        assert!(reporter.is_stopped() && reporter.go_on().is_break());
        reporter.end_within(0.5);
        assert!(!reporter.is_stopped() && (400.0..=500.0).contains(&reporter.seconds_left()));
        watch.reserve(900.0);
        assert!((50.0..=100.0).contains(&watch.seconds_left()));
        watch.cut("selection stopped after 2 of 9 candidates".to_owned());
        assert!(
            watch.warning().unwrap().starts_with("time limit: selection stopped after 2 of 9 candidates; ")
        );
    }

    #[test]
    fn a_request_to_stop_ends_all_stages() {
        let monitor = |_: Event| ControlFlow::Break(());
        let watch = Watch::new(&monitor, None);
        let reporter = Reporter::new(&watch, Stage::Smoothness, 0.0);
        assert!(!reporter.is_stopped());
        assert!(reporter.go_on().is_break() && watch.is_stopped());
        assert!(Reporter::new(&watch, Stage::Learning, 0.0).is_stopped());
    }

    #[test]
    fn the_estimate_of_the_time_left_falls_with_the_work_and_keeps_to_the_limit() {
        let monitor = |_: Event| ControlFlow::Continue(());
        let watch = Watch::new(&monitor, None);
        assert_eq!(watch.left(), None);
        watch.plan(work());
        let mut before = watch.left().unwrap();
        for (step, fraction) in [(Step::Candidates, 0.0), (Step::Candidates, 0.9), (Step::Learning, 0.5)] {
            watch.reach(step, fraction);
            let left = watch.left().unwrap();
            assert!(left < before, "{step:?} {fraction}: {left:?} {before:?}");
            before = left;
        }
        watch.reach(Step::Posterior, 1.0);
        assert_eq!(watch.left(), Some(Duration::ZERO));
        let limited = Watch::new(&monitor, Some(Duration::from_secs(2)));
        limited.plan(StepWork([1e6; N_STEPS]));
        assert!(limited.left().unwrap() <= Duration::from_secs(2));
    }
}
