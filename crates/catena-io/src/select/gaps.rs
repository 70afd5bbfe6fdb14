//! The lengths of gaps along one input.

use super::Frame;

/// Whether each cell of a frame (rows × outputs, row by row) is missing in a gap longer than `longest`. The length of a gap is the
/// distance between the observed values before and after it; at an end of the table, from the only neighbor to the last missing
/// cell. An output without values is one gap. A gap ends with its group.
///
/// Several inputs have no gaps: then all are `false`.
pub fn cells_in_long_gaps(frame: &Frame, longest: f64) -> Vec<bool> {
    let (n_rows, n_outputs) = (frame.n_rows(), frame.n_outputs());
    let mut is_long = vec![false; n_rows * n_outputs];
    let [input] = frame.inputs.as_slice() else { return is_long };
    let mut order: Vec<usize> = (0..n_rows).collect();
    let group = |row: usize| frame.groups.as_ref().map_or(0, |groups| groups.of_row[row]);
    order.sort_by(|left, right| {
        group(*left).cmp(&group(*right)).then(input.values[*left].total_cmp(&input.values[*right]))
    });
    // A gap ends with its group.
    let groups = order.chunk_by(|left, right| group(*left) == group(*right));
    for (order, output) in groups.flat_map(|order| (0..n_outputs).map(move |output| (order, output))) {
        let cell = |row: usize| row * n_outputs + output;
        let mut mark = |rows: &[usize], from: Option<f64>, to: Option<f64>| {
            let ends = rows.first().zip(rows.last()).map(|(first, last)| {
                (from.unwrap_or(input.values[*first]), to.unwrap_or(input.values[*last]))
            });
            let has_neighbor = from.is_some() || to.is_some();
            if ends.is_some_and(|(from, to)| !has_neighbor || to - from > longest) {
                rows.iter().for_each(|row| is_long[cell(*row)] = true);
            }
        };
        let (mut start, mut before) = (0, None);
        for (at, row) in order.iter().enumerate() {
            if !frame.values[cell(*row)].is_nan() {
                let here = Some(input.values[*row]);
                mark(&order[start..at], before, here);
                (start, before) = (at + 1, here);
            }
        }
        mark(&order[start..], before, None);
    }
    is_long
}
