//! The drawings show every message of every row, absent ones dashed.

use catena::data::{InputPoints, Observations};
use catena::index::RowIndex;
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::structure::Tree;
use catena::units::{LengthScale, Variance};
use catena_explain::ExplicitGraph;

/// Three rows with three outputs each: complete, the figure's example, and nothing observed. Parents by row.
fn graph(parents: [Option<usize>; 3]) -> ExplicitGraph {
    let latent = Latent::new(Kernel::Matern12, StateKind::Value, LengthScale::new(1.0).unwrap()).unwrap();
    let mixing = MixingMatrix::shared(3, 1, vec![1.0, 0.5, -0.5]).unwrap();
    let model = Lmc::new(vec![latent], mixing, vec![Variance::new(0.1).unwrap(); 3]).unwrap();
    let inputs = InputPoints::new(3, 2, vec![0.0, 0.0, 0.4, 0.1, 0.3, 0.9]).unwrap();
    let parents: Vec<Option<RowIndex>> = parents.iter().map(|parent| parent.map(RowIndex::new)).collect();
    let tree = Tree::from_parents(&inputs, &parents).unwrap();
    let nan = f64::NAN;
    let values = [0.9, 0.4, -0.6, 1.1, nan, nan, nan, nan, nan];
    let observations = Observations::from_dense(3, 3, &values).unwrap();
    ExplicitGraph::new(&model, &tree, &observations).unwrap()
}

fn count(text: &str, pattern: &str) -> usize {
    text.matches(pattern).count()
}

/// Both shapes of a tree with three nodes.
const SHAPES: [[Option<usize>; 3]; 2] = [[None, Some(0), Some(1)], [None, Some(0), Some(0)]];

#[test]
fn the_svg_has_a_circle_for_every_message_and_dashes_the_absent_ones() {
    for shape in SHAPES {
        let svg = graph(shape).to_svg();
        assert_eq!(count(&svg, "<circle"), 33);
        let absent = svg.lines().filter(|line| line.starts_with("<circle") && line.contains("dasharray"));
        // None at the first row, 5–11 at the second, all 11 at the third.
        assert_eq!(absent.count(), 7 + 11);
        for caption in ["11 of 11 messages", "4 of 11 messages", "0 of 11 messages"] {
            assert_eq!(count(&svg, caption), 1, "{caption}");
        }
        assert_eq!(count(&svg, "<svg"), 1);
        assert!(svg.ends_with("</svg>\n"));
    }
}

#[test]
fn the_svg_copies_a_state_once_more_where_it_has_a_second_child() {
    // Per row: one = on the chain and one per output.
    let equalities = |shape| count(&graph(shape).to_svg(), ">=</text>");
    assert_eq!(equalities(SHAPES[0]), 12);
    assert_eq!(equalities(SHAPES[1]), 13);
}

#[test]
fn the_dot_file_has_every_edge_and_dashes_the_absent_ones() {
    // Where a state has two children, both edges pass through a box or a corner between.
    for (shape, n_corners) in SHAPES.into_iter().zip([0, 2]) {
        let graph = graph(shape);
        let dot = graph.to_dot();
        // The five missing values are drawn too.
        assert_eq!(count(&dot, " -- "), graph.edges().len() + 5 + n_corners);
        let absent = dot.lines().filter(|line| line.contains(" -- ") && line.contains("style=dashed"));
        assert_eq!(absent.count(), 7 + 11);
        assert_eq!(count(&dot, "{"), count(&dot, "}"));
    }
}

#[test]
fn the_text_lists_messages_with_their_numbers() {
    let text = graph(SHAPES[0]).to_text();
    for line in [
        "row 0, the root",
        "row 1, child of row 0",
        "  prior       p(z0) → =(z0)         m = [0]  P = [[1]]",
        "  1           y1 → N(τ1)            y = 0.9",
        "  2           N(τ1) → ×e1           Λ = [[10]]  η = [9]",
        "  5           =(f,2) → =(f,1)       Λ = [[0, 0, 0], [0, 10, 0], [0, 0, 10]]  η = [0, 4, -6]",
        "  information ×H → =(z0)            Λ = [[15]]  η = [14]",
        "  absent      5, 6, 7, 8, 9, 10, 11",
    ] {
        assert_eq!(text.lines().filter(|found| *found == line).count(), 1, "{line}\nin\n{text}");
    }
}
