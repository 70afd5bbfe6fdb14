//! The file of a pool opens to the same predictions, one with a member out of range is refused, and the mixture of an earlier
//! version opens to the predictions of its members.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints, Observations};
use catena_fit::{
    Combination, Fit, FitOptions, FitParts, GivenParameters, Member, MemberKind, PoolComponent, Quantity,
    ResidualProcess, RowRegression, RowRule, fit,
};
use catena_io::model_file::{Array, Container};
use catena_io::select::Input;
use catena_io::table::NumberStyle;
use catena_store::{About, from_bytes, to_bytes};
use serde_json::json;

/// A pool of one member of each kind, made by hand.
fn pool() -> Fit {
    let inputs = InputPoints::from_column((0..40).map(f64::from).collect()).unwrap();
    let value =
        |at: u32| if (30..50).contains(&at) && at % 2 == 1 { f64::NAN } else { (f64::from(at) / 7.0).sin() };
    let values: Vec<f64> = (0..80).map(value).collect();
    let table = Dataset::new(inputs, Observations::from_dense(40, 2, &values).unwrap()).unwrap();
    let options = |length: f64| FitOptions {
        parameters: Some(GivenParameters {
            kernel: "matern32".parse().unwrap(),
            mixing: vec![vec![1.0, 0.5, 0.0], vec![0.3, 0.0, 0.5]],
            has_private: true,
            length_scales: vec![length, 2.0, 2.0],
            noise: vec![0.1, 0.2],
        }),
        ..FitOptions::default()
    };
    let fitted = |length: f64| fit(&table, &options(length), &|_| ControlFlow::Continue(())).unwrap();
    let (best, other) = (fitted(3.0), fitted(9.0));
    let FitParts { preparation, model, .. } = other.parts().clone();
    let residuals = vec![ResidualProcess { deviation: 0.4, length_scale: 3.0, noise: 0.05 }; 2];
    let regression = |rule| {
        MemberKind::Rows(RowRegression {
            preparation: preparation.clone(),
            rule,
            residuals: residuals.clone(),
        })
    };
    let gaussian = RowRule::Gaussian { shrinkage: 0.1, n_factors: None };
    let nearest = RowRule::Nearest { n_neighbors: 3, exclusion: 1.5 };
    let season =
        RowRule::Seasonal { period: 7.0, second: Some(21.0), exclusion: Some(2.0), shrinkage: Some(0.01) };
    let kinds = [
        (0.35, MemberKind::Best),
        (0.25, MemberKind::Model { preparation: preparation.clone(), model }),
        (0.15, regression(gaussian)),
        (0.1, regression(nearest)),
        (0.05, regression(RowRule::Mean)),
        (0.05, regression(RowRule::Lagged { reach: 2 })),
        (0.05, regression(season)),
    ];
    let member = |(weight, kind)| Member { name: format!("member of {weight}"), weight, kind };
    let members = kinds.into_iter().map(member).collect();
    let component = |weight: f64, factor: f64| PoolComponent {
        weight,
        at_rows: [0.5, 0.4, 0.2, 0.1, 0.1, 0.3, 0.2].map(|exponent| exponent * factor).to_vec(),
        elsewhere: [0.6, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0].map(|exponent| exponent * factor).to_vec(),
    };
    let components = vec![component(0.7, 1.0), component(0.3, 0.2)];
    let combination = Some(Combination { is_ahead: false, members, components });
    Fit::from_parts(FitParts { combination, ..best.parts().clone() }).unwrap()
}

fn file() -> Vec<u8> {
    let input = Input { name: "t".to_owned(), values: vec![], time: None, style: NumberStyle::Double };
    let about = About {
        data: "t.csv".to_owned(),
        inputs: vec![input],
        outputs: vec!["a".to_owned(), "b".to_owned()],
        long: None,
        wide: None,
        groups: None,
        noise_columns: vec![],
        cells: Default::default(),
        caller: None,
    };
    to_bytes(&pool(), &about).unwrap()
}

#[test]
fn a_pool_predicts_the_same_bits_after_a_file() {
    let (saved, opened) = (pool(), from_bytes(&file()).unwrap().fit);
    let at = InputPoints::from_column(vec![17.0, 20.5, 60.0]).unwrap();
    for quantity in [Quantity::Function, Quantity::Observation] {
        assert_eq!(saved.predict_rows(quantity).unwrap(), opened.predict_rows(quantity).unwrap());
        assert_eq!(saved.predict(&at, quantity).unwrap(), opened.predict(&at, quantity).unwrap());
        assert_eq!(saved.draws(&at, quantity, 20, 3).unwrap(), opened.draws(&at, quantity, 20, 3).unwrap());
    }
}

#[test]
fn members_out_of_range_are_refused() {
    let refused = |change: &dyn Fn(&mut Container)| {
        let mut container = Container::from_bytes(&file()).unwrap();
        change(&mut container);
        from_bytes(&container.to_bytes().unwrap()).unwrap_err().to_string()
    };
    for (pointer, value) in [
        ("/members/0/weight", json!(-0.4)),
        ("/components/0/weight", json!(0.9)),
        ("/components/0/at_rows", json!([0.5, 0.4])),
        ("/components/0/at_rows/1", json!(-0.1)),
        ("/components/1/at_rows", json!([0.0, 0.0, 0.0, 0.0, 0.0, 0.0])),
        ("/components/1/elsewhere/2", json!(0.5)),
        ("/members/5/kind/rows/rule/Lagged/reach", json!(0)),
        ("/members/2/kind/rows/rule/Gaussian/shrinkage", json!(1.5)),
        ("/members/3/kind/rows/rule/Nearest/n_neighbors", json!(1_000_000_000)),
    ] {
        let message = refused(&|container| *container.header.pointer_mut(pointer).unwrap() = value.clone());
        assert!(
            message.contains("a member of the pool is incomplete or out of range"),
            "{pointer}: {message}"
        );
    }
    let scale = "/members/1/kind/model/preparation/outputs/0/scale";
    let message = refused(&|container| *container.header.pointer_mut(scale).unwrap() = json!(-1.0));
    assert!(message.contains("preparation.outputs[0].scale is -1, but must be"), "{message}");
    let message = refused(&|container| {
        container.arrays.insert("member_2_noise".to_owned(), Array::from_f64(vec![0.1, -0.1]));
    });
    assert!(message.contains("a member of the pool"), "{message}");
}

#[test]
fn the_mixture_of_an_earlier_version_is_that_of_its_members() {
    let mut container = Container::from_bytes(&file()).unwrap();
    let header = &mut container.header;
    header.as_object_mut().unwrap().remove("components");
    let weights = [0.35, 0.25, 0.15, 0.1, 0.05, 0.05, 0.05];
    let widening = |number: usize| 1.0 + 0.1 * number as f64;
    for number in 0..weights.len() {
        header["members"][number]["widening"] = json!(widening(number));
    }
    let opened = from_bytes(&container.to_bytes().unwrap()).unwrap().fit;
    let at = InputPoints::from_column(vec![17.0, 20.5]).unwrap();
    let found = opened.predict(&at, Quantity::Observation).unwrap();
    // Each member alone, by a pool in which the others have no exponent.
    let alone = |number: usize| {
        let mut parts = pool().parts().clone();
        let exponents = |at: usize| {
            let mut exponents = vec![0.0; weights.len()];
            exponents[at] = 1.0;
            exponents
        };
        // Between rows the best single model takes the place of a regression.
        let elsewhere = exponents(if number < 2 { number } else { 0 });
        let component = PoolComponent { weight: 1.0, at_rows: exponents(number), elsewhere };
        parts.combination.as_mut().unwrap().components = vec![component];
        Fit::from_parts(parts).unwrap().predict(&at, Quantity::Observation).unwrap()
    };
    let members: Vec<_> = (0..weights.len()).map(alone).collect();
    for cell in 0..4 {
        let mean: f64 = members.iter().zip(weights).map(|(member, weight)| weight * member.mean(cell)).sum();
        let square: f64 = (0..weights.len())
            .map(|at| {
                let (member, offset) = (&members[at], members[at].mean(cell) - mean);
                weights[at] * ((widening(at) * member.deviation(cell)).powi(2) + offset * offset)
            })
            .sum();
        assert!((found.mean(cell) - mean).abs() < 1e-12, "cell {cell}");
        assert!((found.deviation(cell) / square.sqrt() - 1.0).abs() < 1e-12, "cell {cell}");
    }
}
