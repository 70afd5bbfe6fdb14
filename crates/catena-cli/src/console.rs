//! Messages on standard error, and progress bars if it is a terminal.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::time::Duration;

use catena_fit::{Event, Stage};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Prints an error as one line.
pub(crate) fn complain(error: &dyn Display) {
    let sentence = error.to_string().replace('\n', " ");
    let _ = writeln!(io::stderr(), "catena: {sentence}");
}

/// A count with its noun: `1 block`, `2 blocks`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Writes messages and progress to standard error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Console {
    is_quiet: bool,
}

impl Console {
    /// `is_quiet` suppresses everything but errors.
    pub(crate) fn new(is_quiet: bool) -> Self {
        Self { is_quiet }
    }

    /// Prints a message.
    pub(crate) fn say(self, text: impl Display) {
        if !self.is_quiet {
            let _ = writeln!(io::stderr(), "{text}");
        }
    }

    fn bar(self, length: u64, template: &str) -> ProgressBar {
        let is_seen = !self.is_quiet && io::stderr().is_terminal();
        let target = if is_seen { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(Some(length), target).with_style(style);
        if is_seen {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        bar
    }

    /// A bar for bytes read.
    pub(crate) fn reading(self) -> ProgressBar {
        self.bar(0, "reading {bar:30} {bytes}/{total_bytes} {eta} left")
    }

    /// A bar for the stages of a fit.
    pub(crate) fn fitting(self) -> FitBar {
        let bar = self.bar(1000, "{prefix} {bar:30} {elapsed} {msg}");
        FitBar { bar, state: Mutex::default() }
    }
}

/// An estimate of a time, with no more digits than it deserves.
fn rounded(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds @ ..10.0 => format!("{:.0} s", seconds.max(1.0)),
        seconds @ ..120.0 => format!("{:.0} s", 5.0 * (seconds / 5.0).round()),
        seconds => format!("{:.0} min", seconds / 60.0),
    }
}

/// Progress of a fit, updated from several threads.
pub(crate) struct FitBar {
    bar: ProgressBar,
    state: Mutex<Shown>,
}

/// What a bar shows.
#[derive(Default)]
struct Shown {
    stage: Option<Stage>,
    /// The best log posterior of the stage.
    best: Option<f64>,
    message: String,
}

impl FitBar {
    /// Shows an event.
    pub(crate) fn show(&self, event: Event) {
        if self.bar.is_hidden() {
            return;
        }
        let Ok(mut state) = self.state.lock() else { return };
        if state.stage != Some(event.stage) {
            *state = Shown { stage: Some(event.stage), ..Shown::default() };
            self.bar.set_prefix(match event.stage {
                Stage::Smoothness => "comparing smoothness",
                Stage::Candidates => "comparing models    ",
                Stage::Structure => "building structure  ",
                Stage::Learning => "learning            ",
                Stage::Posterior => "posterior           ",
            });
        }
        self.bar.set_position((1000.0 * event.done.clamp(0.0, 1.0)) as u64);
        if let Some(value) = event.log_posterior.filter(|value| state.best.is_none_or(|best| *value > best)) {
            state.best = Some(value);
        }
        let left = event.left.map(|left| format!("about {} left", rounded(left)));
        let value = state.best.map(|value| format!("log evidence + prior {value:.1}"));
        let message = left.into_iter().chain(value).collect::<Vec<_>>().join(", ");
        if message != state.message {
            self.bar.set_message(message.clone());
            state.message = message;
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(self) {
        self.bar.finish_and_clear();
    }
}
