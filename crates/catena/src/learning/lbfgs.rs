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
mod tests {
    use super::*;

    fn optimize(
        objective: impl FnMut(&[f64], &mut [f64]) -> f64,
        start: &[f64],
        settings: OptimizerSettings,
    ) -> Lbfgs {
        let mut objective = objective;
        let mut optimizer = Lbfgs::new(&mut objective, start.to_vec(), settings);
        optimizer.run(&mut objective, usize::MAX, &mut |_| ControlFlow::Continue(()));
        optimizer
    }

    fn to_the_end() -> OptimizerSettings {
        OptimizerSettings { max_iterations: 500, tolerance: 0.0, ..OptimizerSettings::default() }
    }

    /// The negative Rosenbrock function in many dimensions.
    fn valley(point: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        let mut value = 0.0;
        for i in 0..point.len() - 1 {
            let (bend, rest) = (point[i + 1] - point[i] * point[i], 1.0 - point[i]);
            value -= 100.0 * bend * bend + rest * rest;
            gradient[i] += 400.0 * point[i] * bend + 2.0 * rest;
            gradient[i + 1] -= 200.0 * bend;
        }
        value
    }

    #[test]
    fn a_curved_valley_is_followed_to_its_end() {
        let optimizer = optimize(valley, &[-1.2; 12], to_the_end());
        assert_eq!(optimizer.stop(), Some(StopReason::Converged));
        assert!(optimizer.point().iter().all(|entry| (entry - 1.0).abs() < 1e-6), "{:?}", optimizer.point());
        assert!(
            optimizer.n_evaluations() < 2 * optimizer.n_iterations(),
            "{} evaluations",
            optimizer.n_evaluations()
        );
        assert!(optimizer.path().is_sorted());
    }

    /// A function whose axes differ a thousandfold, with or without scales.
    struct Bowl {
        has_scales: bool,
    }

    impl Objective for Bowl {
        fn evaluate(&mut self, point: &[f64], gradient: &mut [f64]) -> f64 {
            let mut value = 0.0;
            for (i, (entry, slope)) in point.iter().zip(gradient).enumerate() {
                let bend = 1e6_f64.powf(i as f64 / 29.0);
                // Quartic as well, so that the curvature has to be followed.
                value -= bend * entry * entry + (bend * entry * entry).powi(2);
                *slope = -2.0 * bend * entry - 4.0 * bend * bend * entry.powi(3);
            }
            value
        }

        fn scales(&self, _point: &[f64], scales: &mut [f64]) {
            for (i, scale) in scales.iter_mut().enumerate() {
                *scale = if self.has_scales { 1e-3_f64.powf(i as f64 / 29.0) } else { 1.0 };
            }
        }
    }

    #[test]
    fn known_scales_save_iterations() {
        // Iterations until nothing is left to gain; 500 if that is not enough.
        let iterations = |has_scales: bool| {
            let mut bowl = Bowl { has_scales };
            let mut optimizer = Lbfgs::new(&mut bowl, vec![1.0; 30], to_the_end());
            optimizer.run(&mut bowl, usize::MAX, &mut |_| ControlFlow::Continue(()));
            optimizer.path().iter().position(|value| *value > -1e-6).unwrap_or(500)
        };
        let (with, without) = (iterations(true), iterations(false));
        assert!(3 * with < without, "{with} with scales, {without} without");
    }

    #[test]
    fn regions_without_a_value_are_backed_out_of() {
        // log x − x, without a value left of zero; the first step from 1e-3 lands there unless it is shortened.
        let logarithm = |point: &[f64], gradient: &mut [f64]| {
            gradient[0] = 1.0 / point[0] - 1.0;
            if point[0] > 0.0 && point[0] < 1.5 { point[0].ln() - point[0] } else { f64::NAN }
        };
        let optimizer = optimize(logarithm, &[1e-3], to_the_end());
        assert_eq!(optimizer.stop(), Some(StopReason::Converged));
        assert!((optimizer.point()[0] - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_start_without_a_value_is_reported() {
        let optimizer =
            optimize(|_: &[f64], _: &mut [f64]| f64::INFINITY, &[0.0], OptimizerSettings::default());
        assert_eq!((optimizer.stop(), optimizer.n_iterations()), (Some(StopReason::NoValue), 0));
    }

    #[test]
    fn memory_is_bounded_by_the_settings() {
        for memory in [0, 1, 3] {
            let settings = OptimizerSettings { max_iterations: 20, memory, ..to_the_end() };
            let optimizer = optimize(valley, &[-1.2; 12], settings);
            assert!(optimizer.curvature.len() <= memory, "{} of {memory}", optimizer.curvature.len());
            assert!(optimizer.value() > optimizer.path()[0]);
        }
    }

    #[test]
    fn a_wrong_gradient_stalls_at_the_best_point() {
        let wrong = |point: &[f64], gradient: &mut [f64]| {
            gradient[0] = 1.0;
            -point[0] * point[0]
        };
        let optimizer = optimize(wrong, &[0.0], to_the_end());
        assert_eq!((optimizer.stop(), optimizer.point()[0]), (Some(StopReason::Stalled), 0.0));
    }

    #[test]
    fn no_trials_are_spent_on_gains_that_rounding_hides() {
        // A parabola whose values are known to seven digits: near the top no step is seen to gain.
        let rounded = |point: &[f64], gradient: &mut [f64]| {
            let mut value = 0.0;
            for (at, (entry, slope)) in point.iter().zip(gradient.iter_mut()).enumerate() {
                let weight = 1.0 + at as f64;
                *slope = -2.0 * weight * (entry - 0.3);
                value -= weight * (entry - 0.3) * (entry - 0.3);
            }
            (value * 1e7).round() * 1e-7
        };
        let optimizer = optimize(rounded, &[2.0; 4], OptimizerSettings::default());
        assert_eq!(optimizer.stop(), Some(StopReason::Converged));
        assert!(optimizer.n_evaluations() < 20, "{} evaluations", optimizer.n_evaluations());
        // A hundredth of the tolerance below the top, at most.
        assert!(optimizer.value() > -1e-4);
    }

    #[test]
    fn pausing_does_not_change_a_bit() {
        let whole = optimize(valley, &[-1.2; 5], to_the_end());
        let mut halted = Lbfgs::new(&mut valley, vec![-1.2; 5], to_the_end());
        while halted.stop().is_none() {
            halted.run(&mut valley, 3, &mut |_| ControlFlow::Continue(()));
        }
        assert_eq!((halted.point(), halted.path()), (whole.point(), whole.path()));
    }

    #[test]
    fn an_interruption_keeps_the_best_so_far() {
        let mut optimizer = Lbfgs::new(&mut valley, vec![-1.2; 5], to_the_end());
        optimizer.run(&mut valley, 100, &mut |iteration| {
            if iteration.iteration == 7 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!((optimizer.stop(), optimizer.n_iterations()), (Some(StopReason::Interrupted), 7));
        assert_eq!(optimizer.value(), valley(optimizer.point(), &mut [0.0; 5]));
        assert_eq!(optimizer.path().iter().copied().fold(f64::MIN, f64::max), optimizer.value());
    }
}
