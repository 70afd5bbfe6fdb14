//! A structure extended by new points, each attached where a prediction at it would be.

use std::collections::HashMap;

use catena::data::{DataError, InputPoints};
use catena::index::{GroupIndex, Position, RowIndex};
use catena::structure::{AttachedTo, Attachment, StructureError, Tree, sorted_chain};

/// The distinct points, and the place of each given point among them.
pub(crate) fn distinct_points(points: &InputPoints) -> Result<(InputPoints, Vec<usize>), DataError> {
    let mut place_by_point: HashMap<(Option<GroupIndex>, Vec<u64>), usize> = HashMap::new();
    let (mut first, mut place_of) = (vec![], Vec::with_capacity(points.n_rows()));
    for row in points.rows() {
        let point = points.point(row);
        // Adding zero makes the two zeros one.
        let key = (points.group(row), point.iter().map(|x| (x + 0.0).to_bits()).collect());
        let next = place_by_point.len();
        let place = *place_by_point.entry(key).or_insert(next);
        if place == next {
            first.push(row);
        }
        place_of.push(place);
    }
    Ok((points.select_rows(&first)?, place_of))
}

/// The structure over all of `inputs`: its own points first, then new ones. On a line new points lie between their neighbors;
/// elsewhere they are leaves at their nearest point.
pub(crate) fn with_points(
    inputs: &InputPoints,
    tree: &Tree,
    attachment: &Attachment,
) -> Result<Tree, StructureError> {
    if inputs.groups().is_some() {
        // Rows in groups are on sorted chains, on which a new point follows the points at and before its place.
        return sorted_chain(inputs)?.with_distance_scale(tree.distance_scale());
    }
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
