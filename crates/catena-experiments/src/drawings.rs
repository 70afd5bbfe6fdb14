//! The paper's factor graphs (Fig. 1 and Fig. 2), drawn by the library from real graphs.

use catena::data::{InputPoints, Observations};
use catena::graph::ExplicitGraph;
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::structure::sorted_chain;
use catena::units::{LengthScale, Variance};

use crate::chapter::Chapter;
use crate::error::ExperimentError;
use crate::figure::Figure;

/// A chapter of drawings; it needs no computation.
pub(crate) fn chapter() -> Result<Chapter, ExperimentError> {
    let mut chapter = Chapter::new("drawings", "Factor graphs");
    chapter.words.push(
        "Drawn by the library from graphs it can run. Fig. 1 of the paper is a generic chain of three factors; ours is the \
         smallest graph of the model, two points with one output each. Fig. 2 is the paper's example: three outputs, of which \
         only the first is observed at the second point, so that messages 5 to 11 are absent there."
            .to_owned(),
    );
    let smallest = graph(1, 2, &[0.7, 1.1])?;
    chapter.figures.push(Figure::drawing("ffg_example", "A factor graph: two points, one output", smallest));
    let nan = f64::NAN;
    let partial = graph(3, 2, &[0.9, 0.4, -0.6, 1.1, nan, nan])?;
    let caption =
        "The factor graph of the model, D = 3, with the numbers of its messages; absent ones are dashed";
    chapter.figures.push(Figure::drawing("ffg_model", caption, partial));
    Ok(chapter)
}

fn graph(n_outputs: usize, n_rows: usize, values: &[f64]) -> Result<String, ExperimentError> {
    let length_scale = LengthScale::new(1.0)?;
    let latent = Latent::new(Kernel::Matern32, StateKind::Derivative, length_scale)
        .map_err(catena::model::ModelError::from)?;
    let mixing = MixingMatrix::shared(n_outputs, 1, vec![1.0; n_outputs])?;
    let model = Lmc::new(vec![latent], mixing, vec![Variance::new(0.1)?; n_outputs])?;
    let inputs = InputPoints::from_column((0..n_rows).map(|row| row as f64).collect())?;
    let observations = Observations::from_dense(n_rows, n_outputs, values)?;
    Ok(ExplicitGraph::new(&model, &sorted_chain(&inputs)?, &observations)?.to_svg())
}
