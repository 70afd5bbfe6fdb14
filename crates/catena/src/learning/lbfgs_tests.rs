//! The optimizer on functions whose maximum is known.

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
    let optimizer = optimize(|_: &[f64], _: &mut [f64]| f64::INFINITY, &[0.0], OptimizerSettings::default());
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
