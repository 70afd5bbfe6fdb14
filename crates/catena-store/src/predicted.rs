//! Means and bands of an output at some points, for a chart.

use catena_fit::{Fit, PowerTransform, Predictive};

use crate::report::{Bands, OutputSeries};

/// Means and bands of an output at `count` points; `place` is the cell of a point among the predictions.
pub(crate) fn predicted(
    fit: &Fit,
    predictive: &Predictive,
    place: &dyn Fn(usize) -> usize,
    output: usize,
    count: usize,
) -> OutputSeries {
    let quantile = |share: f64| (0..count).map(|at| predictive.quantile(place(at), share)).collect();
    let is_normal = fit.parts().combination.is_none()
        && fit.parts().preparation.outputs[output].power == PowerTransform::None;
    let bands = if !is_normal {
        let (lo50, hi50, lo95, hi95) = (quantile(0.25), quantile(0.75), quantile(0.025), quantile(0.975));
        Bands::Quantiles { lo50, hi50, lo95, hi95 }
    } else {
        Bands::Gaussian { std: (0..count).map(|at| predictive.deviation(place(at))).collect() }
    };
    let mean = (0..count).map(|at| predictive.mean(place(at))).collect();
    OutputSeries { mean, bands, ..OutputSeries::default() }
}
