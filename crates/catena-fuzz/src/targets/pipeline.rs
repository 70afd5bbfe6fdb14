//! From any small table to a fit, predictions, joint draws, edits and a model file: finite numbers or an error.

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints};
use catena::index::OutputIndex;
use catena_fit::{
    Budget, Fit, FitOptions, LiveFit, MeanChoice, MethodChoice, Predictive, Quantity, StructureOption,
    TimeOptions, TimeSpec, fit,
};
use catena_io::select::Input;
use catena_io::table::NumberStyle;
use catena_store::About;

use super::small::table;
use crate::Supply;

/// A fit is stopped after this many progress events: a target must be quick.
const MOST_EVENTS: usize = 40;

/// Options first, then a table.
pub(super) fn run(bytes: &[u8]) {
    let mut supply = Supply::new(bytes);
    let options = options(&mut supply);
    let Some(table) = table(&mut supply, 8, 2) else { return };
    let n_events = std::sync::atomic::AtomicUsize::new(0);
    let monitor = |_| match n_events.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
        ..MOST_EVENTS => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    };
    let fitted = match fit(&table, &options, &monitor) {
        Ok(fitted) => fitted,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let _ = fitted.summary().to_text(&|length| length.to_string());
    let at = elsewhere(table.inputs(), &mut supply);
    let quantity = if supply.flag() { Quantity::Observation } else { Quantity::Function };
    let rows = fitted.predict_rows(quantity);
    rows.iter().for_each(|predictive| check("rows", predictive));
    if let Ok(predictive) = fitted.predict(&at, quantity) {
        check("new points", &predictive);
    }
    if let Ok(covariances) = fitted.covariances(&at, quantity) {
        assert!(covariances.iter().all(|entry| entry.is_finite()), "covariances {covariances:?}");
    }
    if let Ok(draws) = fitted.draws(&at, quantity, 2, 1) {
        assert!(draws.iter().all(|value| value.is_finite()), "draws {draws:?}");
    }
    keep(&fitted, &table, rows.ok().as_ref(), quantity);
    edit(&fitted, &at, quantity, &mut supply);
}

fn options(supply: &mut Supply<'_>) -> FitOptions {
    let methods = [
        MethodChoice::Auto,
        MethodChoice::Catena,
        MethodChoice::Catena,
        MethodChoice::Exact,
        MethodChoice::Svgp { n_inducing: 3 },
        MethodChoice::Nngp { n_neighbors: 2 },
        MethodChoice::FullScale { size: None },
    ];
    let structures = [
        StructureOption::Auto,
        StructureOption::Chain,
        StructureOption::Tree,
        StructureOption::Ensemble { n_chains: 2 },
    ];
    let sums = ["sho+rw", "rw+qp(3,2)", "llt", "matern12+shared(4,1)"];
    let spec = |text: &str| TimeSpec::parse(text, &|number| number.parse().map_err(|_| String::new())).ok();
    let time = match supply.below(8) {
        0 => Some(TimeOptions { spec: spec(supply.choice(&sums)), ..TimeOptions::default() }),
        1 => Some(TimeOptions { periods: vec![supply.positive()], ..TimeOptions::default() }),
        _ => None,
    };
    FitOptions {
        method: supply.choice(&methods),
        structure: supply.choice(&structures),
        latents: supply.choice(&[None, Some(1), Some(2)]),
        private: supply.choice(&[None, Some(true), Some(false)]),
        mean: supply.choice(&[MeanChoice::Auto, MeanChoice::Constant, MeanChoice::Linear]),
        standardize: !supply.byte().is_multiple_of(8),
        budget: Budget::Quick,
        seed: u64::from(supply.byte()),
        time,
        ..FitOptions::default()
    }
}

/// Points near, at and far from the rows.
fn elsewhere(inputs: &InputPoints, supply: &mut Supply<'_>) -> InputPoints {
    let moved: Vec<f64> = inputs.values().iter().map(|value| value + supply.finite()).collect();
    InputPoints::new(inputs.n_rows(), inputs.dim(), moved).unwrap_or_else(|_| inputs.clone())
}

fn check(what: &str, predictive: &Predictive) {
    assert!(predictive.means().iter().all(|mean| mean.is_finite()), "{what}: means {:?}", predictive.means());
    let deviations = predictive.deviations();
    assert!(deviations.iter().all(|one| one.is_finite() && *one >= 0.0), "{what}: deviations {deviations:?}");
}

/// A model written and opened again gives the same predictions, to the bit.
fn keep(fitted: &Fit, table: &Dataset, rows: Option<&Predictive>, quantity: Quantity) {
    let name = |kind: &str, at: usize| format!("{kind}{at}");
    let input = |at| Input { name: name("x", at), values: vec![], time: None, style: NumberStyle::Double };
    let about = About {
        data: "a table".to_owned(),
        inputs: (0..table.inputs().dim()).map(input).collect(),
        outputs: (0..table.observations().n_outputs()).map(|at| name("y", at)).collect(),
        long: None,
        wide: None,
        groups: None,
        noise_columns: vec![],
        cells: Default::default(),
        caller: None,
    };
    let Ok(bytes) = catena_store::to_bytes(fitted, &about) else { return };
    let opened = catena_store::from_bytes(&bytes);
    assert!(opened.is_ok(), "a model that was kept cannot be opened: {:?}", opened.err());
    let (Ok(opened), Some(rows)) = (opened, rows) else { return };
    let again = opened.fit.predict_rows(quantity);
    let bits =
        |predictive: &Predictive| predictive.means().iter().map(|mean| mean.to_bits()).collect::<Vec<_>>();
    assert!(
        again.is_ok_and(|again| bits(&again) == bits(rows)),
        "opened again, the model predicts something else"
    );
    let _ = catena_store::page("a page", &opened.fit, &opened.about, &[]);
}

/// Streaming observations.
fn edit(fitted: &Fit, at: &InputPoints, quantity: Quantity, supply: &mut Supply<'_>) {
    let Ok(mut live) = LiveFit::new(fitted) else { return };
    for row in at.rows().take(3) {
        let _ = live.observe(at.point(row), OutputIndex::new(supply.below(3)), supply.number());
        if let Ok(predictive) = live.marginals_at(at.point(row), quantity) {
            check("a live model", &predictive);
        }
    }
    if let Ok(log_evidence) = live.log_evidence() {
        assert!(log_evidence.is_finite(), "log evidence {log_evidence}");
    }
}
