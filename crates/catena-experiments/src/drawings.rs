//! The paper's factor graphs (Fig. 1 and Fig. 2), drawn by the library from real graphs.

use catena::data::{InputPoints, Observations};
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::structure::sorted_chain;
use catena::units::{LengthScale, Variance};
use catena_explain::ExplicitGraph;

use crate::chapter::Chapter;
use crate::error::ExperimentError;
use crate::figure::Figure;

/// A chapter of drawings; it needs no computation.
pub(crate) fn chapter() -> Result<Chapter, ExperimentError> {
    let mut chapter = Chapter::new("drawings", "Factor graphs");
    chapter.words.push(
        "Fig. 1 is the paper's: factors are boxes, variables are edges, and a message sums up everything behind it, here within \
         dashed lines. The others are drawn by the library from graphs it can run: the smallest graph of the model, and the paper's Fig. 2, three outputs \
         of which only the first is observed at the second point, so that messages 5 to 11 are absent there."
            .to_owned(),
    );
    chapter.figures.push(Figure::drawing(
        "ffg_notation",
        "Messages in a factor graph, the paper's Fig. 1",
        notation(),
    ));
    let smallest = graph(1, 2, &[0.7, 1.1])?;
    chapter.figures.push(Figure::drawing("ffg_example", "A factor graph: two points, one output", smallest));
    let nan = f64::NAN;
    let partial = graph(3, 2, &[0.9, 0.4, -0.6, 1.1, nan, nan])?;
    let caption =
        "The factor graph of the model, D = 3, with the numbers of its messages; absent ones are dashed";
    chapter.figures.push(Figure::drawing("ffg_model", caption, partial));
    Ok(chapter)
}

/// Three factors in a row: x₁ ends in the first, x₂ and x₃ lie between them.
fn notation() -> String {
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 520 150\" width=\"520\" height=\"150\" \
         font-family=\"DejaVu Sans, sans-serif\" font-size=\"14\" fill=\"none\" stroke=\"#222222\">\
         <rect width=\"520\" height=\"150\" fill=\"#ffffff\" stroke=\"none\"/>",
    );
    for (x, width, y, height) in [(28.0, 112.0, 40.0, 70.0), (14.0, 282.0, 22.0, 106.0)] {
        svg += &format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" stroke-dasharray=\"5 4\"/>"
        );
    }
    let text = |x: f64, y: f64, words: &str| {
        format!(
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" fill=\"#222222\" stroke=\"none\">{words}</text>"
        )
    };
    // Edges, their variables below, and messages above, each under an arrow of its direction.
    for (from, to, variable) in [(36.0, 90.0, "x₁"), (130.0, 240.0, "x₂"), (280.0, 450.0, "x₃")] {
        svg += &format!("<line x1=\"{from}\" y1=\"75\" x2=\"{to}\" y2=\"75\"/>");
        svg += &text(0.5 * (from + to), 93.0, variable);
    }
    for (x, variable, is_forward) in [(185.0, "x₂", true), (334.0, "x₃", true), (396.0, "x₃", false)] {
        svg += &text(x, 66.0, &format!("ν({variable})"));
        let (tail, head) = if is_forward { (x - 18.0, x + 18.0) } else { (x + 18.0, x - 18.0) };
        let back = if is_forward { head - 5.0 } else { head + 5.0 };
        svg += &format!("<path d=\"M{tail} 51H{head}M{back} 48L{head} 51L{back} 54\"/>");
    }
    for (x, factor) in [(90.0, "A"), (240.0, "B"), (450.0, "C")] {
        svg += &format!("<rect x=\"{x}\" y=\"55\" width=\"40\" height=\"40\" fill=\"#ffffff\"/>");
        svg += &text(x + 20.0, 80.0, &format!("f<tspan font-size=\"10\" dy=\"3\">{factor}</tspan>"));
    }
    svg + "</svg>"
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
