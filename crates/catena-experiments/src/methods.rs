//! The paper's four methods and the training mean on a cell of its studies: scores and seconds.

use catena::data::InputPoints;
use catena::graph::FactorGraph;
use catena::inference;
use catena::prediction::Prediction;
use catena::structure::Tree;
use catena_methods::exact::{Exact, ExactOptions};
use catena_methods::kmeans::{PAPER_ROUNDS, Start, k_means};
use catena_methods::nngp::{Nngp, NngpOptions};
use catena_methods::svgp::{Svgp, SvgpOptions};
use catena_methods::{Jitter, Problem};
use catena_studies::study::{Scores, Study};

use crate::error::ExperimentError;
use crate::ledger::Record;
use crate::stopwatch::timed;

/// A method of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rival {
    /// Message passing on the chain.
    Ss,
    /// The dense process.
    Km,
    /// 64 inducing points.
    Svgp,
    /// 20 neighboring locations.
    Nngp,
    /// The training mean and variance.
    Trivial,
}

impl Rival {
    pub(crate) const OF_PAPER: [Self; 4] = [Self::Ss, Self::Km, Self::Svgp, Self::Nngp];
    pub(crate) const ALL: [Self; 5] = [Self::Ss, Self::Km, Self::Svgp, Self::Nngp, Self::Trivial];

    /// The name in records and references.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Ss => "ss",
            Self::Km => "km",
            Self::Svgp => "svgp",
            Self::Nngp => "nngp",
            Self::Trivial => "trivial",
        }
    }

    /// The name in tables and figures.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Ss => "SS (catena)",
            Self::Km => "KM (exact)",
            Self::Svgp => "SVGP 64",
            Self::Nngp => "NNGP 20",
            Self::Trivial => "training mean",
        }
    }
}

const N_INDUCING: usize = 64;

fn problem(study: &Study) -> Result<Problem<'_>, ExperimentError> {
    Ok(Problem::new(&study.model, &study.dataset, study.distance_scale)?)
}

/// From model, chain and cells to means and variances at all rows, nothing kept from run to run.
pub(crate) fn sweep(study: &Study, scaled_chain: &Tree) -> Result<Prediction, ExperimentError> {
    let graph = FactorGraph::new(&study.model, scaled_chain, study.dataset.observations())?;
    Ok(inference::marginals(&graph)?.prediction)
}

/// The dense process with the paper's jitter, or without any.
pub(crate) fn exact(study: &Study, options: ExactOptions) -> Result<Prediction, ExperimentError> {
    Ok(Exact::fit(problem(study)?, options)?.predict(&study.test_inputs()?)?)
}

fn sparse(study: &Study, pool: &InputPoints) -> Result<Prediction, ExperimentError> {
    let start = study.initial_centers(N_INDUCING);
    let centers = k_means(pool, Start::Rows(&start), PAPER_ROUNDS)?;
    // The authors repair covariances of inducing values, variances included.
    let repair = |variance: &f64| Jitter::PAPER_INDUCING.of_correlation(*variance);
    let repairs: Vec<Jitter> = study.latent_variances.iter().map(repair).collect();
    let inducing = centers;
    let svgp = Svgp::fit_with_jitters(problem(study)?, &inducing, SvgpOptions::paper(), &repairs)?;
    Ok(svgp.predict(&study.test_inputs()?)?)
}

fn nearest_neighbor(study: &Study) -> Result<Prediction, ExperimentError> {
    Ok(Nngp::fit(problem(study)?, NngpOptions::paper())?.predict(&study.test_inputs()?)?)
}

/// Runs a method and records its scores and seconds. As in the paper, the time of message passing excludes the construction of
/// the chain; that of the sparse method includes k-means, that of the nearest-neighbor method its search.
pub(crate) fn note(
    record: &mut Record,
    rival: Rival,
    study: &Study,
    scaled_chain: &Tree,
) -> Result<(), ExperimentError> {
    let (prediction, seconds) = match rival {
        Rival::Ss => {
            let (all_rows, seconds) = timed(|| sweep(study, scaled_chain))?;
            (study.at_test_rows(&all_rows)?, seconds)
        }
        Rival::Km => timed(|| exact(study, ExactOptions::paper()))?,
        Rival::Svgp => {
            let pool = study.pool_inputs()?;
            timed(|| sparse(study, &pool))?
        }
        Rival::Nngp => timed(|| nearest_neighbor(study))?,
        Rival::Trivial => timed(|| Ok(study.trivial_prediction()?))?,
    };
    let mut scores = study.score(&prediction);
    if rival == Rival::Trivial {
        // The training variance is that of observations: there is no noise to add.
        scores.mnll_with_noise = scores.mnll_latent;
    }
    note_scores(record, rival.key(), scores);
    seconds.note(record, rival.key());
    Ok(())
}

/// Adds the three scores to a record under a method's name.
pub(crate) fn note_scores(record: &mut Record, key: &str, scores: Scores) {
    record.put(format!("{key}.rmse"), scores.rmse);
    record.put(format!("{key}.mnll_latent"), scores.mnll_latent);
    record.put(format!("{key}.mnll_with_noise"), scores.mnll_with_noise);
}

/// The names of the three scores, in the order of references.
pub(crate) const SCORES: [&str; 3] = ["rmse", "mnll_latent", "mnll_with_noise"];

/// The three scores of a method in a record.
pub(crate) fn scores_of(record: &Record, key: &str) -> Option<[f64; 3]> {
    let [rmse, latent, with_noise] = SCORES.map(|name| record.get(&format!("{key}.{name}")));
    Some([rmse?, latent?, with_noise?])
}
