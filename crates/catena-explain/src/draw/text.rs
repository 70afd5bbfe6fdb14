//! The graph as text: row by row, each message with its name, its way and its numbers.

use super::Presence;
use crate::explicit::ExplicitGraph;
use crate::listing::NamedMessage;
use crate::matrix::Matrix;
use crate::message::{Message, Moment, Upward};
use catena::index::RowIndex;

pub(super) fn text(graph: &ExplicitGraph) -> String {
    let mut lines = vec![format!("log evidence {}", short(graph.log_evidence()))];
    for row in graph.rows() {
        lines.push(String::new());
        lines.push(match graph.parent_row(row) {
            None => format!("row {row}, the root"),
            Some(parent) => format!("row {row}, child of row {parent}"),
        });
        let messages = graph.state_messages_at(row).into_iter().chain(graph.messages_at(row));
        lines.extend(messages.map(|message| message_line(&message)));
        lines.extend(absent_line(graph, row));
        lines.push(format!(
            "  {:<12}{:<22}{}",
            "posterior",
            format!("z{row}"),
            moments(&graph.marginal(row))
        ));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn message_line(named: &NamedMessage) -> String {
    let way = format!("{} → {}", named.from, named.to);
    let numbers = match &named.message {
        Message::Upward(Upward::Known(value)) => format!("y = {}", short(*value)),
        Message::Upward(Upward::Canonical(message)) => {
            format!("Λ = {}  η = {}", matrix(&message.precision), vector(&message.information))
        }
        Message::Downward(message) => moments(message),
    };
    format!("  {:<12}{way:<22}{numbers}", named.name.to_string())
}

fn absent_line(graph: &ExplicitGraph, row: RowIndex) -> Option<String> {
    let absent: Vec<String> = graph
        .figure_messages(row)
        .iter()
        .filter(|(_, (_, presence))| *presence == Presence::Absent)
        .map(|(number, _)| number.to_string())
        .collect();
    (!absent.is_empty()).then(|| format!("  {:<12}{}", "absent", absent.join(", ")))
}

fn moments(message: &Moment) -> String {
    format!("m = {}  P = {}", vector(&message.mean), matrix(&message.covariance))
}

fn vector(numbers: &[f64]) -> String {
    let entries: Vec<String> = numbers.iter().map(|&number| short(number)).collect();
    format!("[{}]", entries.join(", "))
}

fn matrix(matrix: &Matrix) -> String {
    let rows: Vec<String> = matrix.as_slice().chunks(matrix.n_columns().max(1)).map(vector).collect();
    format!("[{}]", rows.join(", "))
}

/// Four significant digits, without zeros at the end.
fn short(number: f64) -> String {
    let size = number.abs();
    if number == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e6).contains(&size) {
        return format!("{number:.3e}");
    }
    let decimals = (3 - size.log10().floor() as i32).max(0) as usize;
    let fixed = format!("{number:.decimals$}");
    if fixed.contains('.') { fixed.trim_end_matches('0').trim_end_matches('.').to_owned() } else { fixed }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn numbers_are_short() {
        let table = [
            (0.0, "0"),
            (1.0, "1"),
            (-0.5, "-0.5"),
            (std::f64::consts::PI, "3.142"),
            (1234.56, "1235"),
            (1200.0, "1200"),
            (0.001_234_56, "0.001235"),
            (1.5e-9, "1.500e-9"),
            (-2e7, "-2.000e7"),
        ];
        for (number, expected) in table {
            assert_eq!(short(number), expected);
        }
    }
}
