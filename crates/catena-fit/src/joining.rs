//! New points as part of a structure, each where a prediction at it alone would be.

use std::collections::HashMap;

use catena::data::{DataError, InputPoints};
use catena::index::{Position, RowIndex};
use catena::structure::{AttachedTo, Attachment, StructureError, Tree};

/// The points without repetition, and the place of each given one among them.
pub(crate) fn distinct_points(points: &InputPoints) -> Result<(InputPoints, Vec<usize>), DataError> {
    let mut place_by_point: HashMap<Vec<u64>, usize> = HashMap::new();
    let (mut values, mut place_of) = (vec![], Vec::with_capacity(points.n_rows()));
    for row in points.rows() {
        let point = points.point(row);
        // Adding zero makes the two zeros one.
        let key = point.iter().map(|x| (x + 0.0).to_bits()).collect();
        let next = place_by_point.len();
        let place = *place_by_point.entry(key).or_insert(next);
        if place == next {
            values.extend_from_slice(point);
        }
        place_of.push(place);
    }
    Ok((InputPoints::new(place_by_point.len(), points.dim(), values)?, place_of))
}

/// The structure over all of `inputs`: its own points first, then new ones, which lie between their neighbors on a line and
/// hang on their nearest point elsewhere.
pub(crate) fn with_points(
    inputs: &InputPoints,
    tree: &Tree,
    attachment: &Attachment,
) -> Result<Tree, StructureError> {
    let new: Vec<(RowIndex, AttachedTo)> =
        inputs.rows().skip(tree.len()).map(|row| (row, attachment.attach(inputs.point(row)))).collect();
    let is_line = !new.iter().any(|(_, place)| matches!(place, AttachedTo::Leaf(_)));
    let joined = if is_line { on_line(inputs, tree, &new) } else { as_leaves(inputs, tree, &new) }?;
    joined.with_distance_scale(tree.distance_scale())
}

fn on_line(
    inputs: &InputPoints,
    tree: &Tree,
    new: &[(RowIndex, AttachedTo)],
) -> Result<Tree, StructureError> {
    // New points follow the position they come after, nearest first; those before the first position are farthest first.
    let key = |place: &AttachedTo| match place {
        AttachedTo::BeforeFirst(tie) => (0, -tie.distance),
        AttachedTo::Between { left: tie, .. } | AttachedTo::AfterLast(tie) | AttachedTo::Leaf(tie) => {
            (tie.point.get() + 1, tie.distance)
        }
    };
    let mut keyed: Vec<((usize, f64), RowIndex)> =
        new.iter().map(|(row, place)| (key(place), *row)).collect();
    keyed.sort_by(|((slot, distance), _), ((other, farther), _)| {
        slot.cmp(other).then(distance.total_cmp(farther))
    });
    let mut order = Vec::with_capacity(inputs.n_rows());
    let mut waiting = keyed.into_iter().peekable();
    for slot in 0..=tree.len() {
        if let Some(before) = slot.checked_sub(1) {
            order.push(tree.row_at(Position::new(before)));
        }
        while let Some((_, row)) = waiting.next_if(|((own, _), _)| *own == slot) {
            order.push(row);
        }
    }
    Tree::chain(inputs, order)
}

fn as_leaves(
    inputs: &InputPoints,
    tree: &Tree,
    new: &[(RowIndex, AttachedTo)],
) -> Result<Tree, StructureError> {
    let mut parent = vec![None; inputs.n_rows()];
    for position in tree.positions() {
        parent[tree.row_at(position).get()] = tree.parent(position).map(|above| tree.row_at(above));
    }
    for (row, place) in new {
        let (AttachedTo::Leaf(tie)
        | AttachedTo::BeforeFirst(tie)
        | AttachedTo::AfterLast(tie)
        | AttachedTo::Between { left: tie, .. }) = place;
        parent[row.get()] = Some(tree.row_at(tie.point));
    }
    Tree::from_parents(inputs, &parent)
}
