//! The messages of Fig. 2: which there are for each mask, on which edge, and with which numbers.

use catena::data::{InputPoints, Observations};
use catena::index::{OutputIndex, RowIndex};
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::structure::sorted_chain;
use catena::units::{LengthScale, Variance};
use catena_explain::{Edge, ExplicitGraph, Message, MessageName, Node, Upward, figure_number};

const ROW: RowIndex = RowIndex::new(0);

/// One row with noise variance 1/(d + 1) and value 10·(d + 1) at output d, where the mask has bit d.
fn node(n_outputs: usize, mask: usize) -> ExplicitGraph {
    let latent =
        Latent::new(Kernel::Matern32, StateKind::Derivative, LengthScale::new(1.0).unwrap()).unwrap();
    let weights = (0..n_outputs).map(|output| 1.0 + output as f64).collect();
    let noise = (0..n_outputs).map(|output| Variance::new(1.0 / (1.0 + output as f64)).unwrap()).collect();
    let model = Lmc::new(vec![latent], MixingMatrix::shared(n_outputs, 1, weights).unwrap(), noise).unwrap();
    let values: Vec<f64> = (0..n_outputs)
        .map(|output| if mask >> output & 1 == 1 { 10.0 * (1.0 + output as f64) } else { f64::NAN })
        .collect();
    let tree = sorted_chain(&InputPoints::new(1, 1, vec![0.0]).unwrap()).unwrap();
    let observations = Observations::from_dense(1, n_outputs, &values).unwrap();
    ExplicitGraph::new(&model, &tree, &observations).unwrap()
}

fn numbers(graph: &ExplicitGraph) -> Vec<usize> {
    let named = graph.messages_at(ROW);
    assert_eq!(named.len(), graph.n_messages_at(ROW));
    named
        .iter()
        .map(|message| match message.name {
            MessageName::Figure(number) => number,
            other => panic!("{other} is not of the figure"),
        })
        .collect()
}

#[test]
fn which_messages_remain_for_each_mask() {
    // Read off the figure: mask (bit 0 is y₁), then the numbers of the messages that are sent.
    let three: [(usize, &[usize]); 8] = [
        (0b000, &[]),
        (0b001, &[1, 2, 3, 4]),
        (0b010, &[4, 5, 6, 7, 8]),
        (0b011, &[1, 2, 3, 4, 5, 6, 7, 8]),
        (0b100, &[4, 5, 9, 10, 11]),
        (0b101, &[1, 2, 3, 4, 5, 9, 10, 11]),
        (0b110, &[4, 5, 6, 7, 8, 9, 10, 11]),
        (0b111, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
    ];
    for (mask, expected) in three {
        assert_eq!(numbers(&node(3, mask)), expected, "mask {mask:03b}");
    }
    let others: [(usize, usize, &[usize]); 6] = [
        (1, 0b1, &[1, 2, 3, 4]),
        (2, 0b11, &[1, 2, 3, 4, 5, 6, 7]),
        (2, 0b10, &[4, 5, 6, 7]),
        (4, 0b1111, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]),
        (4, 0b1000, &[4, 5, 9, 13, 14, 15]),
        (4, 0b0011, &[1, 2, 3, 4, 5, 6, 7, 8]),
    ];
    for (n_outputs, mask, expected) in others {
        assert_eq!(numbers(&node(n_outputs, mask)), expected, "D = {n_outputs}, mask {mask:04b}");
    }
}

#[test]
fn each_number_sits_on_the_edge_it_has_in_the_figure() {
    let [one, two, three] = [0, 1, 2].map(OutputIndex::new);
    let (join, select) = (|output| Node::Join(ROW, output), |output| Node::Selection(ROW, output));
    let (noise, value) = (|output| Node::Observation(ROW, output), |output| Node::Value(ROW, output));
    let expected = [
        (value(one), noise(one)),
        (noise(one), select(one)),
        (select(one), join(one)),
        (join(one), Node::Mixing(ROW)),
        (join(two), join(one)),
        (select(two), join(two)),
        (noise(two), select(two)),
        (value(two), noise(two)),
        (select(three), join(three)),
        (noise(three), select(three)),
        (value(three), noise(three)),
    ];
    let graph = node(3, 0b111);
    let found: Vec<(Node, Node)> =
        graph.messages_at(ROW).iter().map(|message| (message.from, message.to)).collect();
    assert_eq!(found, expected);
    // The last = has only two edges: it sends message 9 on under no other number.
    assert_eq!(figure_number(Edge::Join(ROW, three), 3), None);
    let passed_on = graph.messages_on(Edge::Join(ROW, three)).unwrap().toward_root;
    assert_eq!(passed_on, graph.messages_on(Edge::Selection(ROW, three)).unwrap().toward_root);
}

#[test]
fn messages_carry_their_numbers() {
    let graph = node(3, 0b101);
    let named = graph.messages_at(ROW);
    let find = |number| {
        let found = named.iter().find(|message| message.name == MessageName::Figure(number)).unwrap();
        found.message.clone()
    };
    assert_eq!(find(1), Message::Upward(Upward::Known(10.0)));
    assert_eq!(find(11), Message::Upward(Upward::Known(30.0)));
    assert_eq!(find(1).to_canonical(), None);
    // 1/r and y/r: 1 and 10 for the first output, 3 and 90 for the third.
    let check = |number, precision: &[f64], information: &[f64]| {
        let found = find(number).to_canonical().unwrap();
        assert!(found.precision.as_slice().iter().zip(precision).all(|(a, b)| (a - b).abs() < 1e-14));
        assert!(found.information.iter().zip(information).all(|(a, b)| (a - b).abs() < 1e-13));
        assert_eq!(found.information.len(), information.len());
    };
    check(2, &[1.0], &[10.0]);
    check(3, &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], &[10.0, 0.0, 0.0]);
    check(10, &[3.0], &[90.0]);
    check(9, &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0], &[0.0, 0.0, 90.0]);
    check(5, &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0], &[0.0, 0.0, 90.0]);
    check(4, &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0], &[10.0, 0.0, 90.0]);
    // Seen from the state, with weights 1 and 3: 1 + 3·9 and 10 + 3·90.
    let state = graph.state_messages_at(ROW);
    let information = state.iter().find(|message| message.name == MessageName::Information).unwrap();
    let found = information.message.to_canonical().unwrap();
    assert!((found.precision[(0, 0)] - 28.0).abs() < 1e-13);
    assert!((found.information[0] - 280.0).abs() < 1e-12);
}

#[test]
fn messages_along_the_structure_have_names() {
    let latent = Latent::new(Kernel::Matern12, StateKind::Value, LengthScale::new(1.0).unwrap()).unwrap();
    let mixing = MixingMatrix::shared(1, 1, vec![1.0]).unwrap();
    let model = Lmc::new(vec![latent], mixing, vec![Variance::new(0.1).unwrap()]).unwrap();
    let tree = sorted_chain(&InputPoints::new(2, 1, vec![0.0, 0.5]).unwrap()).unwrap();
    let observations = Observations::from_dense(2, 1, &[1.0, f64::NAN]).unwrap();
    let graph = ExplicitGraph::new(&model, &tree, &observations).unwrap();
    let names = |row| -> Vec<MessageName> {
        graph.state_messages_at(RowIndex::new(row)).iter().map(|message| message.name).collect()
    };
    assert_eq!(names(0), [MessageName::Prior, MessageName::Prediction, MessageName::Information]);
    assert_eq!(names(1), [MessageName::FromParent, MessageName::ToParent, MessageName::Prediction]);
}
