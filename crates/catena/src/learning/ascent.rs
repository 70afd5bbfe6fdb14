//! Climbing a smooth function: L-BFGS with a line search that survives trials without a value. It knows no model.

use super::line_search::{Probe, Search, search};
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// A function to climb.
pub trait Objective {
    /// The value at a point, with its gradient written to `gradient`.
    ///
    /// Anything that is not finite says that there is no value here: the trial is taken back and a shorter one made.
    fn evaluate(&mut self, point: &[f64], gradient: &mut [f64]) -> f64;

    /// The lengths, entry by entry, over which the value changes by about as much, near a point. The climb measures its
    /// steps in them; they cost iterations when they are wrong, never the result.
    fn scales(&self, _point: &[f64], scales: &mut [f64]) {
        scales.fill(1.0);
    }
}

impl<F: FnMut(&[f64], &mut [f64]) -> f64> Objective for F {
    fn evaluate(&mut self, point: &[f64], gradient: &mut [f64]) -> f64 {
        self(point, gradient)
    }
}

/// When to stop, and how much to remember.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// At most this many iterations.
    pub max_iterations: usize,
    /// Steps remembered for the curvature; with none, every step is straight uphill.
    pub memory: usize,
    /// Converged when [`Settings::patience`] iterations together gain less than this, or the next one promises a thousandth
    /// of it; in nats for a log evidence.
    pub tolerance: f64,
    /// See [`Settings::tolerance`].
    pub patience: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { max_iterations: 300, memory: 20, tolerance: 1e-2, patience: 10 }
    }
}

/// A step that promises less than this share of the tolerance is not made.
const NEGLIGIBLE_SHARE: f64 = 1e-3;

/// Why the climb ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stop {
    /// Nothing more to gain: the gradient vanishes, a step promises next to nothing, or several iterations gained less than
    /// the tolerance.
    Converged,
    /// No step along the last direction improves the value although the gradient does not vanish.
    Stalled,
    /// The limit on iterations was reached first.
    IterationLimit,
    /// The caller asked to stop.
    Interrupted,
    /// There is no value at the start.
    NoValue,
}

/// One finished iteration, as told to a monitor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Iteration {
    /// Iterations so far.
    pub iteration: usize,
    /// Evaluations of the objective so far.
    pub evaluations: usize,
    /// The best value so far.
    pub value: f64,
}

/// A climb that can be halted and continued, with the best point so far at hand.
#[derive(Clone, Debug)]
pub struct Ascent {
    settings: Settings,
    point: Vec<f64>,
    gradient: Vec<f64>,
    /// Squares of the objective's scales at the point.
    metric: Vec<f64>,
    value: f64,
    /// Steps and changes of the (downhill) gradient, latest last, with 1/⟨step, change⟩.
    curvature: VecDeque<(Vec<f64>, Vec<f64>, f64)>,
    path: Vec<f64>,
    evaluations: usize,
    stop: Option<Stop>,
}

impl Ascent {
    /// A climb that has seen its start and not yet moved.
    pub fn new(objective: &mut impl Objective, start: Vec<f64>, settings: Settings) -> Self {
        let mut gradient = vec![0.0; start.len()];
        let value = objective.evaluate(&start, &mut gradient);
        let has_value = value.is_finite() && gradient.iter().all(|slope| slope.is_finite());
        Self {
            settings,
            metric: metric_at(objective, &start),
            point: start,
            gradient,
            value,
            curvature: VecDeque::new(),
            path: if has_value { vec![value] } else { vec![] },
            evaluations: 1,
            stop: (!has_value).then_some(Stop::NoValue),
        }
    }

    /// Climbs for at most `n_iterations` more, within the limit of the settings. The monitor can end the climb for good.
    pub fn run(
        &mut self,
        objective: &mut impl Objective,
        n_iterations: usize,
        monitor: &mut impl FnMut(Iteration) -> ControlFlow<()>,
    ) {
        for _ in 0..n_iterations {
            if self.stop.is_some() {
                return;
            }
            if self.n_iterations() >= self.settings.max_iterations {
                self.stop = Some(Stop::IterationLimit);
                return;
            }
            self.stop = self.iterate(objective);
            let (iteration, evaluations, value) = (self.n_iterations(), self.evaluations, self.value);
            if monitor(Iteration { iteration, evaluations, value }).is_break() {
                self.stop = Some(Stop::Interrupted);
            }
        }
    }

    /// One step uphill. Says why there will be no other, if so.
    fn iterate(&mut self, objective: &mut impl Objective) -> Option<Stop> {
        if norm(&self.gradient) <= 1e-8 * self.value.abs().max(1.0) {
            return Some(Stop::Converged);
        }
        loop {
            let direction = self.direction();
            let slope = dot(&direction, &self.gradient);
            // A parabola of the remembered curvature peaks ½ slope above: searching for less would only find rounding.
            let negligible = 0.0..NEGLIGIBLE_SHARE * self.settings.tolerance;
            if !self.curvature.is_empty() && negligible.contains(&(0.5 * slope)) {
                return Some(Stop::Converged);
            }
            // Uphill for the first time: no further than one scale.
            let first = if self.curvature.is_empty() { 1.0 / slope.sqrt().max(1.0) } else { 1.0 };
            let start = Probe { length: 0.0, value: self.value, slope };
            let mut trial = (self.point.clone(), self.gradient.clone());
            let mut evaluations = 0;
            let along = |length: f64| {
                evaluations += 1;
                trial.0.clone_from(&self.point);
                add_scaled(length, &direction, &mut trial.0);
                let value = objective.evaluate(&trial.0, &mut trial.1);
                let slope = dot(&direction, &trial.1);
                let has_value = value.is_finite() && slope.is_finite();
                has_value.then(|| (Probe { length, value, slope }, (trial.0.clone(), trial.1.clone())))
            };
            let outcome = search(start, first, along);
            self.evaluations += evaluations;
            match outcome {
                Search::Found(probe, (point, gradient)) => {
                    self.accept(probe.value, point, gradient);
                    self.metric = metric_at(objective, &self.point);
                    return self.has_converged().then_some(Stop::Converged);
                }
                // The remembered curvature may be to blame: try once more straight uphill.
                Search::NothingBetter if !self.curvature.is_empty() => self.curvature.clear(),
                Search::NothingBetter => return Some(Stop::Stalled),
            }
        }
    }

    fn accept(&mut self, value: f64, point: Vec<f64>, gradient: Vec<f64>) {
        let step: Vec<f64> = point.iter().zip(&self.point).map(|(new, old)| new - old).collect();
        let change: Vec<f64> = self.gradient.iter().zip(&gradient).map(|(old, new)| old - new).collect();
        let product = dot(&step, &change);
        // A pair that does not curve downward would make the next direction point downhill.
        if product > 1e-10 * norm(&step) * norm(&change) {
            self.curvature.push_back((step, change, product.recip()));
            if self.curvature.len() > self.settings.memory {
                self.curvature.pop_front();
            }
        }
        (self.point, self.gradient, self.value) = (point, gradient, value);
        self.path.push(value);
    }

    /// The two-loop recursion: the inverse curvature times the gradient.
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
        let Settings { patience, tolerance, .. } = self.settings;
        let Some(before) = self.path.len().checked_sub(patience + 1) else { return false };
        self.value - self.path[before] < tolerance
    }

    /// The best point so far.
    pub fn point(&self) -> &[f64] {
        &self.point
    }

    /// The value there.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// The gradient there.
    pub fn gradient(&self) -> &[f64] {
        &self.gradient
    }

    /// The value at the start and after every iteration.
    pub fn path(&self) -> &[f64] {
        &self.path
    }

    /// Iterations so far.
    pub fn n_iterations(&self) -> usize {
        self.path.len().saturating_sub(1)
    }

    /// Evaluations of the objective so far.
    pub fn n_evaluations(&self) -> usize {
        self.evaluations
    }

    /// Why the climb has ended; `None` while it can go on.
    pub fn stop(&self) -> Option<Stop> {
        self.stop
    }
}

fn metric_at(objective: &impl Objective, point: &[f64]) -> Vec<f64> {
    let mut scales = vec![1.0; point.len()];
    objective.scales(point, &mut scales);
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

    fn climb(objective: impl FnMut(&[f64], &mut [f64]) -> f64, start: &[f64], settings: Settings) -> Ascent {
        let mut objective = objective;
        let mut ascent = Ascent::new(&mut objective, start.to_vec(), settings);
        ascent.run(&mut objective, usize::MAX, &mut |_| ControlFlow::Continue(()));
        ascent
    }

    fn to_the_end() -> Settings {
        Settings { max_iterations: 500, tolerance: 0.0, ..Settings::default() }
    }

    /// Rosenbrock's valley in many dimensions, upside down.
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
        let ascent = climb(valley, &[-1.2; 12], to_the_end());
        assert_eq!(ascent.stop(), Some(Stop::Converged));
        assert!(ascent.point().iter().all(|entry| (entry - 1.0).abs() < 1e-6), "{:?}", ascent.point());
        assert!(ascent.n_evaluations() < 2 * ascent.n_iterations(), "{} evaluations", ascent.n_evaluations());
        assert!(ascent.path().is_sorted());
    }

    /// A bowl whose axes differ a thousandfold, with or without saying so.
    struct Bowl {
        says_so: bool,
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
                *scale = if self.says_so { 1e-3_f64.powf(i as f64 / 29.0) } else { 1.0 };
            }
        }
    }

    #[test]
    fn known_scales_save_iterations() {
        // Iterations until nothing is left to gain; 500 if that is not enough.
        let iterations = |says_so: bool| {
            let mut bowl = Bowl { says_so };
            let mut ascent = Ascent::new(&mut bowl, vec![1.0; 30], to_the_end());
            ascent.run(&mut bowl, usize::MAX, &mut |_| ControlFlow::Continue(()));
            ascent.path().iter().position(|value| *value > -1e-6).unwrap_or(500)
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
        let ascent = climb(logarithm, &[1e-3], to_the_end());
        assert_eq!(ascent.stop(), Some(Stop::Converged));
        assert!((ascent.point()[0] - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_start_without_a_value_is_said() {
        let ascent = climb(|_: &[f64], _: &mut [f64]| f64::INFINITY, &[0.0], Settings::default());
        assert_eq!((ascent.stop(), ascent.n_iterations()), (Some(Stop::NoValue), 0));
    }

    #[test]
    fn no_more_is_remembered_than_was_asked_for() {
        for memory in [0, 1, 3] {
            let settings = Settings { max_iterations: 20, memory, ..to_the_end() };
            let ascent = climb(valley, &[-1.2; 12], settings);
            assert!(ascent.curvature.len() <= memory, "{} of {memory}", ascent.curvature.len());
            assert!(ascent.value() > ascent.path()[0]);
        }
    }

    #[test]
    fn a_gradient_that_lies_ends_in_a_stall_at_the_best_point() {
        let lying = |point: &[f64], gradient: &mut [f64]| {
            gradient[0] = 1.0;
            -point[0] * point[0]
        };
        let ascent = climb(lying, &[0.0], to_the_end());
        assert_eq!((ascent.stop(), ascent.point()[0]), (Some(Stop::Stalled), 0.0));
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
        let ascent = climb(rounded, &[2.0; 4], Settings::default());
        assert_eq!(ascent.stop(), Some(Stop::Converged));
        assert!(ascent.n_evaluations() < 20, "{} evaluations", ascent.n_evaluations());
        // A hundredth of the tolerance below the top, at most.
        assert!(ascent.value() > -1e-4);
    }

    #[test]
    fn halting_and_going_on_is_the_same_climb_to_the_bit() {
        let whole = climb(valley, &[-1.2; 5], to_the_end());
        let mut halted = Ascent::new(&mut valley, vec![-1.2; 5], to_the_end());
        while halted.stop().is_none() {
            halted.run(&mut valley, 3, &mut |_| ControlFlow::Continue(()));
        }
        assert_eq!((halted.point(), halted.path()), (whole.point(), whole.path()));
    }

    #[test]
    fn an_interruption_keeps_the_best_so_far() {
        let mut ascent = Ascent::new(&mut valley, vec![-1.2; 5], to_the_end());
        ascent.run(&mut valley, 100, &mut |iteration| {
            if iteration.iteration == 7 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!((ascent.stop(), ascent.n_iterations()), (Some(Stop::Interrupted), 7));
        assert_eq!(ascent.value(), valley(ascent.point(), &mut [0.0; 5]));
        assert_eq!(ascent.path().iter().copied().fold(f64::MIN, f64::max), ascent.value());
    }
}
