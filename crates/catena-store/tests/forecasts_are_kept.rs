//! The file of a fit for forecasts opens to the same forecasts and shows how it was checked; members out of range are refused.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints, Observations};
use catena_fit::{
    AheadRule, Budget, Combination, Fit, FitOptions, FitParts, Member, MemberKind, PoolComponent, Quantity,
    RuleAhead, TransformOptions, fit_ahead,
};
use catena_io::model_file::Container;
use catena_io::select::Input;
use catena_io::table::NumberStyle;
use catena_store::{About, from_bytes, page, to_bytes};
use serde_json::json;

/// A checked fit with a member of every kind that forecasts.
fn checked() -> Fit {
    let value = |row: u32| f64::from(row % 6) + 0.05 * f64::from(row) + 0.1 * f64::from(row * 7 % 11);
    let inputs = InputPoints::from_column((0..72).map(f64::from).collect()).unwrap();
    let values: Vec<f64> = (0..72).map(value).collect();
    let table = Dataset::new(inputs, Observations::from_dense(72, 1, &values).unwrap()).unwrap();
    let options = FitOptions {
        budget: Budget::Quick,
        calendar: vec![6.0],
        transforms: TransformOptions::NONE,
        ..FitOptions::default()
    };
    let fitted = fit_ahead(&table, &options, 6.0, &|_| ControlFlow::Continue(())).unwrap();
    let FitParts { preparation, model, .. } = fitted.parts().clone();
    let powers: Vec<_> = preparation.outputs.iter().map(|output| output.power).collect();
    let rule = |rule| MemberKind::Ahead(RuleAhead { rule, powers: powers.clone() });
    let kinds = [
        MemberKind::Best,
        MemberKind::Model { preparation, model },
        rule(AheadRule::LastValue),
        rule(AheadRule::Drift),
        rule(AheadRule::Mean),
        rule(AheadRule::LastSeason { period: 6.0 }),
        rule(AheadRule::Smoothing { period: Some(6.0) }),
        rule(AheadRule::Smoothing { period: None }),
    ];
    let members = kinds.into_iter().enumerate();
    let member = |(at, kind): (usize, MemberKind)| Member {
        name: format!("member {at}"),
        weight: [0.3, 0.1][at.min(1)],
        kind,
    };
    let component = PoolComponent {
        weight: 1.0,
        at_rows: vec![0.7, 0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        elsewhere: vec![0.5, 0.1, 0.1, 0.2, 0.1, 0.3, 0.2, 0.1],
    };
    let members = members.map(member).collect();
    let combination = Some(Combination { is_ahead: true, members, components: vec![component] });
    Fit::from_parts(FitParts { combination, ..fitted.parts().clone() }).unwrap()
}

fn about() -> About {
    let input = Input { name: "t".to_owned(), values: vec![], time: None, style: NumberStyle::Double };
    About {
        data: "t.csv".to_owned(),
        inputs: vec![input],
        outputs: vec!["a".to_owned()],
        long: None,
        wide: None,
        groups: None,
        noise_columns: vec![],
        cells: Default::default(),
        caller: None,
    }
}

#[test]
fn a_forecast_has_the_same_bits_after_a_file() {
    let saved = checked();
    let opened = from_bytes(&to_bytes(&saved, &about()).unwrap()).unwrap().fit;
    assert_eq!(saved.summary().origins, opened.summary().origins);
    // At a row, between rows, and ahead.
    let at = InputPoints::from_column(vec![17.0, 20.5, 72.0, 75.0, 90.5]).unwrap();
    for quantity in [Quantity::Function, Quantity::Observation] {
        assert_eq!(saved.predict(&at, quantity).unwrap(), opened.predict(&at, quantity).unwrap());
        assert_eq!(saved.draws(&at, quantity, 20, 3).unwrap(), opened.draws(&at, quantity, 20, 3).unwrap());
        assert_eq!(saved.covariances(&at, quantity).unwrap(), opened.covariances(&at, quantity).unwrap());
    }
}

#[test]
fn the_page_tells_how_far_ahead_was_checked() {
    let text = page("a forecast", &checked(), &about(), &[]).unwrap();
    assert!(text.contains("forecasts of known rows, up to 6") && text.contains("last season"));
}

#[test]
fn rules_out_of_range_are_refused() {
    let refused = |change: &dyn Fn(&mut Container)| {
        let mut container = Container::from_bytes(&to_bytes(&checked(), &about()).unwrap()).unwrap();
        change(&mut container);
        from_bytes(&container.to_bytes().unwrap()).unwrap_err().to_string()
    };
    for (pointer, value) in [
        ("/members/5/kind/ahead/rule/last-season/period", json!(-6.0)),
        ("/members/4/kind/ahead/powers", json!([])),
        // A rule cannot answer at the rows.
        ("/components/0/at_rows/3", json!(0.2)),
    ] {
        let error = refused(&|container: &mut Container| {
            *container.header.pointer_mut(pointer).unwrap() = value.clone();
        });
        assert!(error.contains("a member of the pool"), "{pointer}: {error}");
    }
}
