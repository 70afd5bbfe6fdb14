//! Results do not depend on the number of threads, to the bit.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot set up its case must fail")]

mod support;

use catena::prediction::Prediction;
use catena_methods::exact::{Exact, ExactOptions};
use catena_methods::fullscale::{Arrangement, FullScale, FullScaleSize};
use catena_methods::kmeans::{Start, k_means};
use catena_methods::nngp::{Nngp, NngpOptions};
use catena_methods::svgp::{Svgp, SvgpOptions};
use catena_methods::{Gradient, MemoryLimit, Problem};
use catena_testkit::random::SeededDraws;
use std::sync::Arc;
use support::{Shape, example, points};

fn everything() -> Vec<(Prediction, Gradient)> {
    // Large enough for the blocked and parallel paths of the dense algebra, several chunks of the sparse one.
    let example = example(Shape { n_rows: 700, ..Shape::default() }, 12);
    let problem = Problem::new(&example.model, &example.dataset, example.scale).unwrap();
    let at = points(&mut SeededDraws::new(3), 300, 2);
    let exact = Exact::fit(problem, ExactOptions::default()).unwrap();
    let nngp = Nngp::fit(problem, NngpOptions::new(8)).unwrap();
    let centers = k_means(example.dataset.inputs(), Start::PlusPlus { n_centers: 30, seed: 2 }, 20).unwrap();
    let svgp = Svgp::fit(problem, &centers, SvgpOptions::default()).unwrap();
    let arrangement = Arrangement::new(&example.dataset, FullScaleSize::new(20, 6), 1).unwrap();
    let full_scale = FullScale::fit(problem, Arc::new(arrangement), MemoryLimit::default()).unwrap();
    vec![
        (exact.predict(&at).unwrap(), exact.gradient().unwrap()),
        (nngp.predict(&at).unwrap(), nngp.gradient().unwrap()),
        (svgp.predict(&at).unwrap(), svgp.gradient()),
        (full_scale.predict(&at).unwrap(), full_scale.gradient().unwrap()),
    ]
}

#[test]
fn same_bits() {
    let with_threads = |count: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(count).build().unwrap().install(everything)
    };
    let alone = with_threads(1);
    for count in [2, 3] {
        for (number, (one, several)) in alone.iter().zip(with_threads(count)).enumerate() {
            assert!(one.0 == several.0, "prediction of method {number} with {count} threads");
            assert!(one.1 == several.1, "gradient of method {number} with {count} threads");
        }
    }
}
