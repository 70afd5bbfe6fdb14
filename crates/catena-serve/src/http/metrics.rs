//! Counters of the service in the text format of Prometheus.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A number that several threads change.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Upper ends of the bins of durations, in microseconds.
const BINS: [u64; 12] =
    [100, 250, 500, 1000, 2500, 5000, 10_000, 20_000, 50_000, 100_000, 500_000, 2_000_000];

/// How long something took.
#[derive(Debug, Default)]
pub(crate) struct Durations {
    bins: [Counter; BINS.len()],
    count: Counter,
    microseconds: Counter,
}

impl Durations {
    pub(crate) fn record(&self, duration: Duration) {
        let microseconds = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        if let Some(at) = BINS.iter().position(|end| microseconds <= *end) {
            self.bins[at].add(1);
        }
        self.count.add(1);
        self.microseconds.add(microseconds);
    }

    fn push_to(&self, text: &mut String, name: &str, help: &str) {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} histogram");
        let mut total = 0;
        for (end, bin) in BINS.iter().zip(&self.bins) {
            total += bin.get();
            let _ = writeln!(text, "{name}_bucket{{le=\"{}\"}} {total}", *end as f64 / 1e6);
        }
        let (count, sum) = (self.count.get().max(total), self.microseconds.get() as f64 / 1e6);
        let _ =
            writeln!(text, "{name}_bucket{{le=\"+Inf\"}} {count}\n{name}_sum {sum}\n{name}_count {count}");
    }
}

/// What the service counts.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) readings: Counter,
    pub(crate) refused: Counter,
    pub(crate) requests: Counter,
    pub(crate) requests_refused: Counter,
    pub(crate) connections: Counter,
    pub(crate) connections_closed: Counter,
    pub(crate) journal_lines: Counter,
    pub(crate) latency: Durations,
    pub(crate) commits: Durations,
    n_outputs: usize,
}

/// Numbers that only the owner of the posterior has.
#[derive(Debug, Clone, Default)]
pub(crate) struct OwnNumbers {
    pub(crate) n_rows: usize,
    pub(crate) n_observed: usize,
    pub(crate) journal_bytes: u64,
    pub(crate) surprises: Vec<u64>,
    pub(crate) n_skipped: u64,
    pub(crate) coverage: ([f64; 2], usize),
    pub(crate) relearned: u64,
    pub(crate) is_learning: bool,
}

impl Metrics {
    pub(crate) fn new(n_outputs: usize) -> Self {
        Self { n_outputs, ..Self::default() }
    }

    /// All numbers as text.
    pub(crate) fn text(&self, own: &OwnNumbers, outputs: &[String]) -> String {
        let mut text = String::new();
        let mut push = |name: &str, kind: &str, help: &str, value: f64| {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
        };
        let open = self.connections.get().saturating_sub(self.connections_closed.get());
        let whole = |value: u64| value as f64;
        push("catena_readings_total", "counter", "Values set or removed.", whole(self.readings.get()));
        push("catena_rows_refused_total", "counter", "Rows of refused requests.", whole(self.refused.get()));
        push("catena_requests_total", "counter", "Requests.", whole(self.requests.get()));
        push(
            "catena_requests_refused_total",
            "counter",
            "Requests without access or beyond a limit.",
            whole(self.requests_refused.get()),
        );
        push("catena_connections", "gauge", "Open connections.", whole(open));
        push("catena_rows", "gauge", "Rows of the table.", own.n_rows as f64);
        push("catena_observed_values", "gauge", "Observed values of the table.", own.n_observed as f64);
        push("catena_journal_lines", "gauge", "Last line of the journal.", whole(self.journal_lines.get()));
        push("catena_journal_bytes", "gauge", "Size of the journal.", whole(own.journal_bytes));
        push(
            "catena_readings_not_judged_total",
            "counter",
            "Readings that were not compared with what all others say, because too many waited.",
            whole(own.n_skipped),
        );
        push(
            "catena_judged_readings",
            "gauge",
            "Readings over which coverage is computed.",
            own.coverage.1 as f64,
        );
        push(
            "catena_models_swapped_total",
            "counter",
            "Models that were learned again and swapped in.",
            whole(own.relearned),
        );
        push(
            "catena_is_learning",
            "gauge",
            "1 while a model is learned.",
            f64::from(u8::from(own.is_learning)),
        );
        let name = "catena_coverage_ratio";
        let _ = writeln!(
            text,
            "# HELP {name} Share of the last judged readings inside their band.\n# TYPE {name} gauge"
        );
        for (band, share) in ["0.5", "0.95"].into_iter().zip(own.coverage.0) {
            let _ = writeln!(text, "{name}{{band=\"{band}\"}} {share}");
        }
        let name = "catena_surprises_total";
        let _ = writeln!(text, "# HELP {name} Readings far from what all others say.\n# TYPE {name} counter");
        for (output, count) in outputs.iter().zip(&own.surprises).take(self.n_outputs) {
            let label = output.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = writeln!(text, "{name}{{output=\"{label}\"}} {count}");
        }
        self.latency.push_to(
            &mut text,
            "catena_request_seconds",
            "Time from the request to its reply, without the stream of events.",
        );
        self.commits.push_to(
            &mut text,
            "catena_commit_seconds",
            "Time of one batch: journal, flush, posterior, answers.",
        );
        text
    }
}
