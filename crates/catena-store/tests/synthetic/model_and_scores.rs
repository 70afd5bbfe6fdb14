//! Synthetic model, calibration, log evidence and search.

use catena_store::report::{
    Calibration, Candidate, CoveragePoint, EvidencePath, Latent, LengthScale, MethodScore, Model,
    OutputScore, Search, Shares,
};

use super::{noise, scatter};

/// Three shared latents and a private one per output.
pub(crate) fn model(names: &[String]) -> Model {
    let mixing: Vec<Vec<f64>> = (0..names.len())
        .map(|output| (0..3).map(|latent| 0.95 * scatter(5 + latent, output as u64)).collect())
        .collect();
    let shares: Vec<Shares> = (0..names.len())
        .map(|output| {
            let noise = 0.02 + 0.03 * scatter(31, output as u64).abs();
            let private = 0.1 + 0.25 * scatter(32, output as u64).abs();
            Shares { shared: 1.0 - noise - private, private, noise }
        })
        .collect();
    let covariance = |a: usize, b: usize| -> f64 {
        let shared: f64 = (0..3).map(|latent| mixing[a][latent] * mixing[b][latent]).sum();
        shared + if a == b { 0.3 } else { 0.0 }
    };
    let correlation = (0..names.len())
        .map(|a| {
            (0..names.len())
                .map(|b| covariance(a, b) / (covariance(a, a) * covariance(b, b)).sqrt())
                .collect()
        })
        .collect();
    let scale = |value: f64, text: &str| vec![LengthScale { value, text: text.to_owned() }];
    let mut latents = vec![
        Latent {
            name: "shared 1".into(),
            private_to: None,
            kernel: "Matérn-3/2".into(),
            length_scales: scale(9.5, "9.5h"),
        },
        Latent {
            name: "shared 2".into(),
            private_to: None,
            kernel: "Matérn-3/2".into(),
            length_scales: scale(62.0, "2.6d"),
        },
        Latent {
            name: "shared 3".into(),
            private_to: None,
            kernel: "Matérn-3/2".into(),
            length_scales: scale(980.0, "41d"),
        },
    ];
    for output in 0..names.len() {
        let hours = 3.0 + 20.0 * scatter(8, output as u64).abs();
        latents.push(Latent {
            name: "private".into(),
            private_to: Some(output),
            kernel: "Matérn-1/2".into(),
            length_scales: scale(hours, &format!("{hours:.1}h")),
        });
    }
    Model {
        summary: Some(
            "3 shared latents and a private one per output; Matérn-3/2 shared, Matérn-1/2 private.".into(),
        ),
        outputs: names.to_vec(),
        latents,
        mixing,
        mixing_unit: Some("standard deviations of the output".into()),
        correlation,
        shares,
    }
}

/// Two runs that rise and level off.
pub(crate) fn evidence() -> Vec<EvidencePath> {
    let path = |label: &str, is_chosen: bool, end: f64, rate: f64, n: usize| EvidencePath {
        label: label.to_owned(),
        is_chosen,
        values: (0..n)
            .map(|at| end - 42_000.0 * (-(at as f64) * rate).exp() - 900.0 / (1.0 + at as f64))
            .collect(),
    };
    vec![
        path("length-scales × 0.3", false, 18_240.0, 0.16, 90),
        path("length-scales × 1", true, 18_655.0, 0.2, 118),
        path("length-scales × 3", false, 18_410.0, 0.11, 140),
    ]
}

/// Nearly right, a little overconfident.
pub(crate) fn calibration(names: &[String]) -> Calibration {
    let levels = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];
    let method = |name: &str, rmse: f64, log_score: Option<f64>, coverage95: Option<f64>| MethodScore {
        name: name.to_owned(),
        is_this_fit: name == "catena",
        rmse: Some(rmse),
        log_score,
        coverage95,
    };
    Calibration {
        description: "a gap of 15 % of every output, twice.".to_owned(),
        n_cells: 1480,
        coverage: levels
            .iter()
            .map(|&nominal| CoveragePoint { nominal, observed: nominal - 0.12 * nominal * (1.0 - nominal) })
            .collect(),
        pit_counts: (0..20)
            .map(|bin| (74.0 + 9.0 * noise(61, bin) + if bin % 19 == 0 { 18.0 } else { 0.0 }) as u64)
            .collect(),
        methods: vec![
            method("catena", 0.213, Some(0.312), Some(0.938)),
            method("ridge on the other outputs", 0.284, Some(-0.201), Some(0.951)),
            method("interpolation", 0.487, None, None),
            method("training mean", 1.004, Some(-1.423), Some(0.962)),
        ],
        by_output: names
            .iter()
            .enumerate()
            .map(|(output, name)| OutputScore {
                output: name.clone(),
                n_cells: 296,
                rmse: 0.3 + scatter(90, output as u64).abs() * 4.0,
                log_score: Some(-0.4 + scatter(91, output as u64)),
                coverage95: Some(0.93 + 0.03 * scatter(92, output as u64)),
            })
            .collect(),
    }
}

/// A ladder of latents.
pub(crate) fn search() -> Search {
    let candidate = |description: &str, score: f64, log_evidence: f64, seconds: f64| Candidate {
        description: description.to_owned(),
        is_chosen: description.starts_with("3 latents, M"),
        held_out_log_score: Some(score),
        log_evidence: Some(log_evidence),
        seconds: Some(seconds),
        note: description.contains('6').then(|| "bands too narrow".to_owned()),
    };
    Search {
        criterion: "Chosen by the log score of held-out cells; smoothness by evidence.".to_owned(),
        candidates: vec![
            candidate("1 latent, Matérn-3/2 / Matérn-1/2", -0.402, 15_210.4, 0.31),
            candidate("2 latents, Matérn-3/2 / Matérn-1/2", 0.118, 17_833.0, 0.52),
            candidate("3 latents, Matérn-3/2 / Matérn-1/2", 0.312, 18_655.2, 0.78),
            candidate("3 latents, one length-scale", 0.287, 18_402.9, 0.66),
            candidate("6 latents, Matérn-3/2 / Matérn-1/2", 0.254, 19_120.7, 1.9),
        ],
    }
}
