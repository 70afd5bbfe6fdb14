//! The file of a mixture opens to the same predictions, and one with a member out of range is refused.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints, Observations};
use catena_fit::{
    Fit, FitOptions, FitParts, GivenParameters, Member, MemberKind, Quantity, ResidualProcess, RowRegression,
    RowRule, fit,
};
use catena_io::model_file::{Array, Container};
use catena_io::select::Input;
use catena_io::table::NumberStyle;
use catena_store::{About, from_bytes, to_bytes};
use serde_json::json;

/// A mixture of one member of each kind, made by hand.
fn mixture() -> Fit {
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
    let kinds = [
        (0.4, MemberKind::Best),
        (0.3, MemberKind::Model { preparation: preparation.clone(), model }),
        (0.2, regression(gaussian)),
        (0.1, regression(nearest)),
    ];
    let member =
        |(weight, kind)| Member { name: format!("member of {weight}"), weight, widening: 1.0 + weight, kind };
    let members = kinds.into_iter().map(member).collect();
    Fit::from_parts(FitParts { members, ..best.parts().clone() }).unwrap()
}

fn file() -> Vec<u8> {
    let input = Input { name: "t".to_owned(), values: vec![], time: None, style: NumberStyle::Double };
    let about = About {
        data: "t.csv".to_owned(),
        inputs: vec![input],
        outputs: vec!["a".to_owned(), "b".to_owned()],
        long: None,
        noise_columns: vec![],
        caller: None,
    };
    to_bytes(&mixture(), &about).unwrap()
}

#[test]
fn a_mixture_predicts_the_same_bits_after_a_file() {
    let (saved, opened) = (mixture(), from_bytes(&file()).unwrap().fit);
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
        ("/members/0/weight", json!(0.9)),
        ("/members/0/weight", json!(-0.4)),
        ("/members/1/widening", json!(0.0)),
        ("/members/2/kind/rows/rule/Gaussian/shrinkage", json!(1.5)),
        ("/members/3/kind/rows/rule/Nearest/n_neighbors", json!(1_000_000_000)),
    ] {
        let message = refused(&|container| *container.header.pointer_mut(pointer).unwrap() = value.clone());
        assert!(
            message.contains("a member of the mixture is incomplete or out of range"),
            "{pointer}: {message}"
        );
    }
    let scale = "/members/1/kind/model/preparation/outputs/0/scale";
    let message = refused(&|container| *container.header.pointer_mut(scale).unwrap() = json!(-1.0));
    assert!(message.contains("preparation.outputs[0].scale is -1, but must be"), "{message}");
    let message = refused(&|container| {
        container.arrays.insert("member_2_noise".to_owned(), Array::from_f64(vec![0.1, -0.1]));
    });
    assert!(message.contains("a member of the mixture"), "{message}");
}
