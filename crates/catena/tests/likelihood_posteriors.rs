//! Posteriors under likelihoods that are not Gaussian: against integration and long Markov chains, with bounds below the
//! evidence and exact gradients, in a number of sweeps that is known.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::data::{InputPoints, Observations};
use catena::inference::Workspace;
use catena::kernel::{Kernel, StateKind};
use catena::learning::Parameters;
use catena::likelihood::{
    Approximation, ApproximationSettings, ApproximationStop, Bernoulli, Beta, Binomial, Censored, Gamma,
    Gaussian, Likelihood, LogNormal, NegativeBinomial, ObservationScale, OutputLikelihoods, OutputNoise,
    Poisson, StudentT, ZeroInflated, approximate,
};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::structure::{Tree, sorted_chain, spanning_tree};
use catena::units::{LengthScale, Variance};
use catena_testkit::likelihoods::{Law, SlowPosterior, SmallTable};
use catena_testkit::random::SeededDraws;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// A likelihood with its textbook law, offset, noise and exposure.
#[derive(Clone, Copy, Debug)]
struct Kind {
    likelihood: Likelihood,
    law: Law,
    offset: f64,
    noise: f64,
}

const EXPOSURE: f64 = 8.0;

fn kinds() -> Vec<Kind> {
    let kind = |likelihood: Likelihood, law, offset, noise| Kind { likelihood, law, offset, noise };
    vec![
        kind(Gaussian.into(), Law::Gaussian, 0.0, 0.2),
        kind(StudentT::new(4.0).unwrap().into(), Law::StudentT(4.0), 0.0, 0.2),
        kind(Poisson.into(), Law::Poisson, -0.5, 1.0),
        kind(NegativeBinomial.into(), Law::NegativeBinomial, 0.0, 0.3),
        kind(Binomial.into(), Law::Binomial, 0.3, 1.0),
        kind(Gamma.into(), Law::Gamma, 0.5, 0.3),
        kind(LogNormal.into(), Law::LogNormal, 0.5, 0.3),
        kind(Beta.into(), Law::Beta, 0.2, 0.1),
        kind(Censored::new(0.0, 2.0).unwrap().into(), Law::Censored(0.0, 2.0), 0.6, 0.2),
        kind(ZeroInflated::new(0.5, 1.5).unwrap().into(), Law::ZeroInflated(0.5, 1.5), 0.0, 0.2),
    ]
}

/// A model of two outputs with shared and private latents; noises as given.
fn model(noises: [f64; 2], line: bool) -> Lmc {
    let latent = |length: f64| {
        let state = if line { StateKind::Derivative } else { StateKind::Value };
        Latent::new(Kernel::Matern32, state, LengthScale::new(length).unwrap()).unwrap()
    };
    let mixing = MixingMatrix::with_private(2, 1, vec![0.8, -0.6], vec![0.4, 0.5]).unwrap();
    let noise = noises.map(|noise| Variance::new(noise).unwrap()).to_vec();
    Lmc::new(vec![latent(4.0), latent(2.0), latent(3.0)], mixing, noise).unwrap()
}

struct Table {
    model: Lmc,
    tree: Tree,
    observations: Observations,
    likelihoods: OutputLikelihoods,
    kinds: [Kind; 2],
}

impl Table {
    /// A table drawn from its own model: a smooth function, then the likelihoods.
    fn drawn(kinds: [Kind; 2], n_rows: usize, n_inputs: usize, missing: f64, seed: u64) -> Self {
        let mut draws = SeededDraws::new(seed);
        let places: Vec<f64> =
            (0..n_rows * n_inputs).map(|_| draws.uniform(0.0, 0.5 * n_rows as f64)).collect();
        let inputs = InputPoints::new(n_rows, n_inputs, places).unwrap();
        let tree = if n_inputs == 1 { sorted_chain(&inputs) } else { spanning_tree(&inputs) };
        let tree = tree.unwrap();
        let model = model(kinds.map(|kind| kind.noise), n_inputs == 1);
        let empty = Observations::from_dense(n_rows, 2, &vec![f64::NAN; 2 * n_rows]).unwrap();
        let graph = catena::graph::FactorGraph::new(&model, &tree, &empty).unwrap();
        let posterior = catena::posterior::Posterior::new(&graph).unwrap();
        let functions = posterior.draws(seed).next().unwrap();
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let values: Vec<f64> = functions
            .iter()
            .enumerate()
            .map(|(at, function)| {
                let kind = kinds[at % 2];
                let scale = ObservationScale { noise: kind.noise, exposure: EXPOSURE };
                let value = kind.likelihood.draw(function + kind.offset, scale, &mut generator);
                // A proportion may round to 1, a positive value to 0.
                let is_allowed = kind.likelihood.refusal(value, EXPOSURE).is_none();
                if draws.chance(missing) || !is_allowed { f64::NAN } else { value }
            })
            .collect();
        Self::of(kinds, model, tree, values)
    }

    fn of(kinds: [Kind; 2], model: Lmc, tree: Tree, values: Vec<f64>) -> Self {
        let n_rows = values.len() / 2;
        let observations = Observations::from_dense(n_rows, 2, &values).unwrap();
        let noise = |kind: Kind| OutputNoise { likelihood: kind.likelihood, offset: kind.offset, scale: 1.0 };
        let likelihoods = OutputLikelihoods::new(kinds.map(noise))
            .with_exposures(n_rows, vec![EXPOSURE; 2 * n_rows])
            .unwrap();
        Self { model, tree, observations, likelihoods, kinds }
    }

    fn approximated(&self, settings: ApproximationSettings) -> Approximation<'_> {
        approximate(&self.model, &self.tree, &self.observations, &self.likelihoods, settings).unwrap()
    }

    fn slow(&self) -> SmallTable {
        let laws = self.kinds.map(|kind| (kind.law, kind.offset));
        SmallTable::new(&self.model, &self.tree, &self.observations, &laws, EXPOSURE)
    }

    fn label(&self) -> String {
        format!("{} and {}", self.kinds[0].likelihood.name(), self.kinds[1].likelihood.name())
    }

    /// Means and deviations at the observed cells.
    fn moments(&self, found: &Approximation<'_>) -> (Vec<f64>, Vec<f64>) {
        let at = |(row, cell): (_, catena::data::Cell)| {
            (found.prediction.mean(row, cell.output), found.prediction.variance(row, cell.output).sqrt())
        };
        self.observations.cells().map(at).unzip()
    }
}

/// The largest error of means, in units of the largest mean and of deviations, each by its own.
fn errors(found: &(Vec<f64>, Vec<f64>), expected: &SlowPosterior) -> (f64, f64) {
    let largest = expected.means.iter().fold(0.0_f64, |most, mean| most.max(mean.abs()));
    let pairs = found.0.iter().zip(&expected.means);
    let of_means = pairs.fold(0.0_f64, |most, (a, b)| most.max((a - b).abs() / largest));
    let pairs = found.1.iter().zip(&expected.deviations);
    (of_means, pairs.fold(0.0_f64, |most, (a, b)| most.max((a / b - 1.0).abs())))
}

/// Three cells of two outputs in two rows.
fn three_cells(kinds: [Kind; 2]) -> Table {
    let model = model(kinds.map(|kind| kind.noise), true);
    let tree = sorted_chain(&InputPoints::from_column(vec![0.0, 0.8]).unwrap()).unwrap();
    let value = |kind: &Kind, high: bool| match kind.likelihood {
        Likelihood::Poisson(_) | Likelihood::NegativeBinomial(_) => {
            if high {
                9.0
            } else {
                4.0
            }
        }
        Likelihood::Binomial(_) => {
            if high {
                6.0
            } else {
                3.0
            }
        }
        Likelihood::Gamma(_) | Likelihood::LogNormal(_) => {
            if high {
                2.5
            } else {
                1.1
            }
        }
        Likelihood::Beta(_) => {
            if high {
                0.7
            } else {
                0.4
            }
        }
        Likelihood::Censored(_) | Likelihood::ZeroInflated(_) => {
            if high {
                0.9
            } else {
                0.0
            }
        }
        _ => {
            if high {
                0.9
            } else {
                -0.3
            }
        }
    };
    let [first, second] = &kinds;
    let values = vec![value(first, true), f64::NAN, value(first, false), value(second, true)];
    Table::of(kinds, model, tree, values)
}

#[test]
fn bounds_lie_below_the_evidence_and_close_to_it() {
    let kinds = kinds();
    let mut worst: f64 = 0.0;
    for (at, &first) in kinds.iter().enumerate() {
        for &second in &[kinds[(at + 3) % kinds.len()], first] {
            let table = three_cells([first, second]);
            let found = table.approximated(ApproximationSettings::default());
            assert_eq!(found.stop, ApproximationStop::Converged, "{}", table.label());
            let exact = table.slow().integrated(0.1);
            let evidence = exact.log_evidence.unwrap();
            let gap = evidence - found.lower_bound;
            println!(
                "{}: evidence {evidence:.6}, gap {gap:.2e}, {:?}",
                table.label(),
                errors(&table.moments(&found), &exact)
            );
            // The rule of the integral is exact to about 1e-9.
            assert!(gap > -1e-7, "{}: {gap:e}", table.label());
            assert!(gap < 0.02 * evidence.abs(), "{}: {gap:e} of {evidence}", table.label());
            worst = worst.max(gap / evidence.abs());
        }
    }
    assert!(worst > 1e-5, "some of these posteriors are not Gaussian");
}

#[test]
fn posteriors_are_those_of_a_long_chain() {
    let kinds = kinds();
    let mut worst = vec![];
    for (at, &first) in kinds.iter().enumerate() {
        for (n_inputs, second) in [(1, kinds[(at + 3) % kinds.len()]), (2, kinds[(at + 1) % kinds.len()])] {
            let table = Table::drawn([first, second], 24, n_inputs, 0.2, 40 + at as u64);
            let found = table.approximated(ApproximationSettings::default());
            assert_eq!(found.stop, ApproximationStop::Converged, "{}", table.label());
            let exact = table.slow().sampled(300_000, 7);
            let (of_means, of_deviations) = errors(&table.moments(&found), &exact);
            println!(
                "{}, {n_inputs} inputs: {of_means:.4} {of_deviations:.4}, {} sweeps",
                table.label(),
                found.n_sweeps
            );
            worst.push((of_means, of_deviations, table.label()));
        }
    }
    for (of_means, of_deviations, label) in worst {
        // Student's t with few cells has a posterior with heavier tails than any Gaussian.
        let most = if label.contains("student-t") { 0.1 } else { 0.05 };
        assert!(of_means < 0.02 && of_deviations < most, "{label}: {of_means} {of_deviations}");
    }
}

#[test]
fn gradients_are_those_of_the_bound() {
    let kinds = kinds();
    let settings = ApproximationSettings { max_rounds: 200, tolerance: 1e-10 };
    for (at, &first) in kinds.iter().enumerate() {
        for n_inputs in [1, 2] {
            let table =
                Table::drawn([first, kinds[(at + 3) % kinds.len()]], 30, n_inputs, 0.3, 80 + at as u64);
            let parameters = Parameters::all(table.model.clone(), 1e-9);
            let point = parameters.vector_of(&table.model);
            let bound = |point: &[f64]| {
                let model = parameters.model_at(point).unwrap();
                approximate(&model, &table.tree, &table.observations, &table.likelihoods, settings)
                    .unwrap()
                    .lower_bound
            };
            let found = table.approximated(settings);
            let of_model = found.gradient(&mut Workspace::new()).unwrap();
            let mut gradient = vec![0.0; point.len()];
            parameters.pull_back(&table.model, &of_model, &mut gradient);
            let scale = gradient.iter().fold(1.0_f64, |most, entry| most.max(entry.abs()));
            for entry in 0..point.len() {
                let h = 1e-3;
                let shifted = |by: f64| {
                    let mut point = point.clone();
                    point[entry] += by;
                    bound(&point)
                };
                let difference =
                    (8.0 * (shifted(h) - shifted(-h)) - (shifted(2.0 * h) - shifted(-2.0 * h))) / (12.0 * h);
                let error = (gradient[entry] - difference).abs();
                assert!(error < 1e-6 * scale, "{} entry {entry}: {error:e} of {scale}", table.label());
            }
        }
    }
}

#[test]
fn twelve_sweeps_suffice_beyond_the_first() {
    let kinds = kinds();
    let settings = ApproximationSettings { tolerance: 1e-4, ..ApproximationSettings::default() };
    let mut most = 0;
    for (at, &first) in kinds.iter().enumerate() {
        for seed in 0..4 {
            let second = kinds[(at + 3) % kinds.len()];
            let table = Table::drawn([first, second], 400, 1, 0.3, 200 + seed);
            let found = table.approximated(settings);
            println!("{}: {} sweeps", table.label(), found.n_sweeps);
            assert_eq!(found.stop, ApproximationStop::Converged, "{}", table.label());
            most = most.max(found.n_sweeps);
        }
    }
    assert!(most <= 13, "{most} sweeps");
}

/// Hard tables: few cells or many, extreme offsets and noises, values that contradict the model.
#[test]
fn hard_tables_converge_or_are_honest_errors() {
    let mut kinds = kinds();
    kinds.push(Kind { likelihood: Bernoulli.into(), law: Law::Binomial, offset: 0.0, noise: 1.0 });
    let mut draws = SeededDraws::new(5);
    let (mut n_converged, mut n_errors, mut most, mut falls) = (0, 0, 0, 0.0_f64);
    let mut stops = vec![];
    for seed in 0..400 {
        let mut own = [draws.pick(&kinds), draws.pick(&kinds)];
        for kind in &mut own {
            kind.offset += draws.uniform(-4.0, 4.0);
            kind.noise *= draws.log_uniform(1e-4, 1e2);
        }
        let n_rows = 1 + draws.below(60);
        let table = Table::drawn(own, n_rows, 1 + draws.below(2), draws.uniform(0.0, 0.8), seed);
        // Fitted with other offsets than it was drawn with.
        for kind in &mut own {
            kind.offset += draws.uniform(-3.0, 3.0);
        }
        let weight = draws.log_uniform(0.1, 10.0);
        let mixing = MixingMatrix::with_private(2, 1, vec![weight, -weight], vec![0.4, 0.5]).unwrap();
        let model = Lmc::new(table.model.latents().to_vec(), mixing, table.model.noise().to_vec()).unwrap();
        let table = Table::of(own, model, table.tree, table.observations.to_dense());
        let settings = ApproximationSettings::default();
        match approximate(&table.model, &table.tree, &table.observations, &table.likelihoods, settings) {
            Ok(found) => {
                let fall = found.bounds.windows(2).map(|pair| pair[0] - pair[1]).fold(0.0, f64::max);
                falls = falls.max(fall / (1.0 + found.lower_bound.abs()));
                assert!(found.lower_bound.is_finite());
                most = most.max(found.n_sweeps);
                if found.stop == ApproximationStop::Converged {
                    n_converged += 1;
                } else {
                    stops.push((seed, found.stop, found.n_sweeps, table.label()));
                }
            }
            Err(error) => {
                n_errors += 1;
                let text = error.to_string();
                assert!(text.contains("row") || text.contains("overflow"), "{text}");
                println!("{seed}: {}: {text}", table.label());
            }
        }
    }
    assert!(falls < 1e-7, "a bound fell by {falls:e} of its size");
    println!("{n_converged} converged in up to {most} sweeps, {n_errors} errors, {stops:?}");
    // The others say that they stopped at the limit of rounds.
    assert!(n_converged >= 360 && n_converged + stops.len() + n_errors == 400, "{n_converged}: {stops:?}");
}
