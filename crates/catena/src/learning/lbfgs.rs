//! Maximization of a smooth function by L-BFGS, with a line search that tolerates trial points without a finite value.

use super::line_search::{LineSearch, Outcome, Probe};
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// A function to maximize.
pub(super) trait Objective {
    /// The value at a point, with its gradient written to `gradient`.
    ///
    /// A value or gradient that is not finite rejects the point: the line search tries a shorter step.
    fn evaluate(&mut self, point: &[f64], gradient: &mut [f64]) -> f64;

    /// The lengths, entry by entry, over which the value changes by about as much near a point: a diagonal preconditioner.
    /// Wrong lengths cost iterations and do not change the maximum.
    fn scales(&self, _point: &[f64], scales: &mut [f64]) {
        scales.fill(1.0);
    }
}

impl<F: FnMut(&[f64], &mut [f64]) -> f64> Objective for F {
    fn evaluate(&mut self, point: &[f64], gradient: &mut [f64]) -> f64 {
        self(point, gradient)
    }
}

/// Stopping rules and memory of the L-BFGS optimizer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OptimizerSettings {
    /// At most this many iterations.
    pub max_iterations: usize,
    /// Steps kept for the curvature; 0 is steepest optimizer.
    pub memory: usize,
    /// Converged when [`OptimizerSettings::patience`] iterations together gain less than this, or the predicted gain of the next is
    /// below a thousandth of it; in nats for a log evidence.
    pub tolerance: f64,
    /// See [`OptimizerSettings::tolerance`].
    pub patience: usize,
}

impl Default for OptimizerSettings {
    fn default() -> Self {
        Self { max_iterations: 300, memory: 20, tolerance: 1e-2, patience: 10 }
    }
}

/// A step whose predicted gain is below this share of the tolerance is not taken.
const NEGLIGIBLE_SHARE: f64 = 1e-3;

/// Why an optimization ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StopReason {
    /// The gradient vanishes, the predicted gain of a step is negligible, or several iterations gained less than the
    /// tolerance.
    Converged,
    /// No step along the last direction improves the value, although the gradient does not vanish.
    Stalled,
    /// The limit on iterations was reached first.
    IterationLimit,
    /// The monitor ended it.
    Interrupted,
    /// The value or gradient at the start is not finite.
    NoValue,
}

/// A finished iteration, as passed to a monitor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The number of the start.
    pub start: usize,
    /// Iterations so far.
    pub iteration: usize,
    /// Evaluations of the objective so far.
    pub evaluations: usize,
    /// The best value so far.
    pub value: f64,
}

/// A maximization that can be paused and continued, with the best point so far.
#[derive(Clone, Debug)]
pub(super) struct Lbfgs {
    settings: OptimizerSettings,
    point: Vec<f64>,
    gradient: Vec<f64>,
    /// Squares of the objective's scales at the point.
    metric: Vec<f64>,
    value: f64,
    /// Steps s and changes y of the negative gradient, latest last, with 1/⟨s, y⟩.
    curvature: VecDeque<(Vec<f64>, Vec<f64>, f64)>,
    path: Vec<f64>,
    evaluations: usize,
    stop: Option<StopReason>,
    /// What is evaluated next, if an evaluation is due.
    trial: Option<Trial>,
}

/// A point to be evaluated.
#[derive(Clone, Debug)]
struct Trial {
    point: Vec<f64>,
    /// The direction and the search along it; `None` at the start.
    line: Option<(Vec<f64>, Search)>,
}

/// A search that keeps the point and gradient of its best trial.
type Search = LineSearch<(Vec<f64>, Vec<f64>)>;

/// The scales of an objective at a point; see [`Objective::scales`].
pub(super) type Scales<'a> = &'a dyn Fn(&[f64], &mut [f64]);

impl Lbfgs {
    /// The optimization at its start, which is evaluated.
    pub(super) fn new(objective: &mut impl Objective, start: Vec<f64>, settings: OptimizerSettings) -> Self {
        let mut optimizer = Self::at(start, settings);
        optimizer.evaluate(objective);
        optimizer
    }

    /// The optimization before its start is evaluated: the first [`Lbfgs::trial`].
    pub(super) fn at(start: Vec<f64>, settings: OptimizerSettings) -> Self {
        Self {
            settings,
            gradient: vec![0.0; start.len()],
            metric: vec![1.0; start.len()],
            value: f64::NAN,
            curvature: VecDeque::new(),
            path: vec![],
            evaluations: 0,
            stop: None,
            trial: Some(Trial { point: start.clone(), line: None }),
            point: start,
        }
    }

    /// Runs at most `n_iterations` more iterations, within the limit of the settings. `Break` from the monitor ends it for good.
    pub(super) fn run(
        &mut self,
        objective: &mut impl Objective,
        n_iterations: usize,
        monitor: &mut impl FnMut(Progress) -> ControlFlow<()>,
    ) {
        for _ in 0..n_iterations {
            if !self.begin_iteration() {
                return;
            }
            self.evaluate(objective);
            self.end_iteration(monitor);
        }
    }

    /// Evaluates until no evaluation is due.
    fn evaluate(&mut self, objective: &mut impl Objective) {
        let mut gradient = vec![0.0; self.point.len()];
        while let Some(point) = self.trial() {
            let value = objective.evaluate(point, &mut gradient);
            self.tell(value, &gradient, &|point, scales| objective.scales(point, scales));
        }
    }

    /// The point to be evaluated next; `None` between two iterations and at the end.
    pub(super) fn trial(&self) -> Option<&[f64]> {
        self.trial.as_ref().map(|trial| &trial.point[..])
    }

    /// Begins an iteration unless the optimization has ended. The iteration may end it without an evaluation.
    pub(super) fn begin_iteration(&mut self) -> bool {
        if self.stop.is_none() && self.n_iterations() >= self.settings.max_iterations {
            self.stop = Some(StopReason::IterationLimit);
        }
        if self.stop.is_some() {
            return false;
        }
        if norm(&self.gradient) <= 1e-8 * self.value.abs().max(1.0) {
            self.stop = Some(StopReason::Converged);
        } else {
            self.begin_line();
        }
        true
    }

    /// Reports a finished iteration.
    pub(super) fn end_iteration(&mut self, monitor: &mut impl FnMut(Progress) -> ControlFlow<()>) {
        let (iteration, evaluations, value) = (self.n_iterations(), self.evaluations, self.value);
        if monitor(Progress { start: 0, iteration, evaluations, value }).is_break() {
            self.stop = Some(StopReason::Interrupted);
        }
    }

    /// Takes the value and gradient at [`Lbfgs::trial`].
    pub(super) fn tell(&mut self, value: f64, gradient: &[f64], scales: Scales<'_>) {
        let Some(Trial { point, line }) = self.trial.take() else { return };
        self.evaluations += 1;
        let Some((direction, search)) = line else {
            let has_value = value.is_finite() && gradient.iter().all(|slope| slope.is_finite());
            self.gradient.copy_from_slice(gradient);
            self.value = value;
            self.metric = metric_at(scales, &self.point);
            self.path = if has_value { vec![value] } else { vec![] };
            self.stop = (!has_value).then_some(StopReason::NoValue);
            return;
        };
        let slope = dot(&direction, gradient);
        let has_value = value.is_finite() && slope.is_finite();
        let probe = Probe { length: search.length(), value, slope };
        match search.tell(has_value.then(|| (probe, (point, gradient.to_vec())))) {
            Outcome::Continue(search) => self.try_along(direction, search),
            Outcome::Found(probe, (point, gradient)) => {
                self.accept(probe.value, point, gradient);
                self.metric = metric_at(scales, &self.point);
                self.stop = self.has_converged().then_some(StopReason::Converged);
            }
            Outcome::NothingBetter => self.turn(),
        }
    }

    /// Begins a search along the direction of the curvature known so far.
    fn begin_line(&mut self) {
        let direction = self.direction();
        let slope = dot(&direction, &self.gradient);
        // The quadratic model gains ½ slope; a smaller gain would drown in rounding.
        let negligible = 0.0..NEGLIGIBLE_SHARE * self.settings.tolerance;
        if !self.curvature.is_empty() && negligible.contains(&(0.5 * slope)) {
            self.stop = Some(StopReason::Converged);
            return;
        }
        // The first step is no longer than one scale.
        let first = if self.curvature.is_empty() { 1.0 / slope.sqrt().max(1.0) } else { 1.0 };
        match LineSearch::new(Probe { length: 0.0, value: self.value, slope }, first) {
            Some(search) => self.try_along(direction, search),
            None => self.turn(),
        }
    }

    /// Sets the next point of a search.
    fn try_along(&mut self, direction: Vec<f64>, search: Search) {
        let mut point = self.point.clone();
        add_scaled(search.length(), &direction, &mut point);
        self.trial = Some(Trial { point, line: Some((direction, search)) });
    }

    /// After a direction without a better point: the curvature may be wrong, so the gradient is tried once.
    fn turn(&mut self) {
        if self.curvature.is_empty() {
            self.stop = Some(StopReason::Stalled);
        } else {
            self.curvature.clear();
            self.begin_line();
        }
    }

    fn accept(&mut self, value: f64, point: Vec<f64>, gradient: Vec<f64>) {
        let step: Vec<f64> = point.iter().zip(&self.point).map(|(new, old)| new - old).collect();
        let change: Vec<f64> = self.gradient.iter().zip(&gradient).map(|(old, new)| old - new).collect();
        let product = dot(&step, &change);
        // A pair without positive curvature could make the next direction a descent direction.
        if product > 1e-10 * norm(&step) * norm(&change) {
            self.curvature.push_back((step, change, product.recip()));
            if self.curvature.len() > self.settings.memory {
                self.curvature.pop_front();
            }
        }
        (self.point, self.gradient, self.value) = (point, gradient, value);
        self.path.push(value);
    }

    /// The two-loop recursion: the inverse Hessian approximation times the gradient.
    fn direction(&self) -> Vec<f64> {
        let mut direction = self.gradient.clone();
        let mut shares = Vec::with_capacity(self.curvature.len());
        for (step, change, inverse) in self.curvature.iter().rev() {
            let share = inverse * dot(step, &direction);
            add_scaled(-share, change, &mut direction);
            shares.push(share);
        }
        direction.iter_mut().zip(&self.metric).for_each(|(entry, metric)| *entry *= metric);
        if let Some((_, change, inverse)) = self.curvature.back() {
            let squares: f64 =
                change.iter().zip(&self.metric).map(|(entry, metric)| metric * entry * entry).sum();
            let scale = (inverse * squares).recip();
            direction.iter_mut().for_each(|entry| *entry *= scale);
        }
        for ((step, change, inverse), share) in self.curvature.iter().zip(shares.into_iter().rev()) {
            let other = inverse * dot(change, &direction);
            add_scaled(share - other, step, &mut direction);
        }
        direction
    }

    fn has_converged(&self) -> bool {
        let OptimizerSettings { patience, tolerance, .. } = self.settings;
        let Some(before) = self.path.len().checked_sub(patience + 1) else { return false };
        self.value - self.path[before] < tolerance
    }

    /// The best point so far.
    pub(super) fn point(&self) -> &[f64] {
        &self.point
    }

    /// The value there.
    pub(super) fn value(&self) -> f64 {
        self.value
    }

    /// The value at the start and after every iteration.
    pub(super) fn path(&self) -> &[f64] {
        &self.path
    }

    /// Iterations so far.
    pub(super) fn n_iterations(&self) -> usize {
        self.path.len().saturating_sub(1)
    }

    /// Evaluations of the objective so far.
    pub(super) fn n_evaluations(&self) -> usize {
        self.evaluations
    }

    /// Why the optimization has ended; `None` while it can continue.
    pub(super) fn stop(&self) -> Option<StopReason> {
        self.stop
    }
}

fn metric_at(scales_at: Scales<'_>, point: &[f64]) -> Vec<f64> {
    let mut scales = vec![1.0; point.len()];
    scales_at(point, &mut scales);
    scales.iter().map(|scale| scale * scale).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(vector: &[f64]) -> f64 {
    dot(vector, vector).sqrt()
}

fn add_scaled(factor: f64, vector: &[f64], onto: &mut [f64]) {
    onto.iter_mut().zip(vector).for_each(|(sum, entry)| *sum += factor * entry);
}

#[cfg(test)]
#[path = "lbfgs_tests.rs"]
mod tests;
