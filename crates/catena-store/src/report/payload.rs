//! The data block of the page: JSON, with long columns as base64.

use serde::{Serialize, Serializer};

use super::direction::isolated_strings;
use super::{Axis, BandMeaning, OutputSeries, Report, Table};

/// The data block: JSON in which no `<` occurs, so that no text can end the block or begin a comment.
pub(super) fn payload(report: &Report) -> String {
    // Plain structs of numbers and text always become JSON; numbers that are not finite become null.
    isolated_strings(&serde_json::to_string(report).unwrap_or_default()).replace('<', "\\u003c")
}

/// A table as the scripts of the page read it, in JSON.
pub fn packed(table: &Table) -> String {
    isolated_strings(&serde_json::to_string(&packed_table(table)).unwrap_or_default())
}

/// Serializes the table packed.
pub(super) fn table<S: Serializer>(table: &Option<Table>, serializer: S) -> Result<S::Ok, S::Error> {
    table.as_ref().map(packed_table).serialize(serializer)
}

/// Serializes the edges of a structure packed.
pub(super) fn edges<S: Serializer>(edges: &[[u32; 2]], serializer: S) -> Result<S::Ok, S::Error> {
    base64(edges.iter().flatten().flat_map(|row| row.to_le_bytes())).serialize(serializer)
}

#[derive(Serialize)]
struct PackedTable<'a> {
    n_rows: usize,
    inputs: Vec<PackedInput<'a>>,
    outputs: Vec<PackedOutput<'a>>,
    band_meaning: BandMeaning,
}

#[derive(Serialize)]
struct PackedInput<'a> {
    axis: &'a Axis,
    values: String,
}

/// Columns are 32-bit differences from `center` (`std` is plain), so that 1013.2 hPa keeps its digits; NaN is missing.
#[derive(Serialize)]
struct PackedOutput<'a> {
    name: &'a str,
    unit: &'a Option<String>,
    center: f64,
    observed: String,
    held_out: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bad: Option<String>,
    mean: String,
    bands: Vec<(&'static str, String)>,
}

fn packed_table(table: &Table) -> PackedTable<'_> {
    let order = drawing_order(table);
    let inputs = table.inputs.iter().map(|input| PackedInput {
        axis: &input.axis,
        values: base64(order.iter().flat_map(|&row| input.values[row].to_le_bytes())),
    });
    PackedTable {
        n_rows: order.len(),
        inputs: inputs.collect(),
        outputs: table.outputs.iter().map(|output| packed_output(output, &order)).collect(),
        band_meaning: table.band_meaning,
    }
}

/// Rows sorted by the input if there is only one, ties in the order given. With more inputs the order stays, since edges name rows.
fn drawing_order(table: &Table) -> Vec<usize> {
    let values = &table.inputs[0].values;
    let mut order: Vec<usize> = (0..values.len()).collect();
    if table.inputs.len() == 1 {
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    }
    order
}

fn packed_output<'a>(output: &'a OutputSeries, order: &[usize]) -> PackedOutput<'a> {
    // In drawing order, so that the page does not depend on the order of the rows given.
    let finite = || order.iter().map(|&row| output.mean[row]).filter(|value| value.is_finite());
    let center = finite().sum::<f64>() / finite().count().max(1) as f64;
    let center = if center.is_finite() { center } else { 0.0 };
    let differences = |value: &dyn Fn(usize) -> f64| floats(order.iter().map(|&row| value(row) - center));
    let present = |values: &[Option<f64>]| differences(&|row| values[row].unwrap_or(f64::NAN));
    let bands = output.bands.columns().into_iter().map(|(name, values)| match name {
        "std" => (name, floats(order.iter().map(|&row| values[row]))),
        _ => (name, differences(&|row| values[row])),
    });
    PackedOutput {
        name: &output.name,
        unit: &output.unit,
        center,
        observed: present(&output.observed),
        held_out: (!output.held_out.is_empty()).then(|| present(&output.held_out)),
        bad: (!output.bad.is_empty()).then(|| present(&output.bad)),
        mean: differences(&|row| output.mean[row]),
        bands: bands.collect(),
    }
}

fn floats(values: impl Iterator<Item = f64>) -> String {
    base64(values.flat_map(|value| (value as f32).to_le_bytes()))
}

/// Base64 with padding, RFC 4648.
fn base64(bytes: impl Iterator<Item = u8>) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.size_hint().0.div_ceil(3) * 4);
    let mut bytes = bytes.peekable();
    while bytes.peek().is_some() {
        let group = [bytes.next(), bytes.next(), bytes.next()];
        let bits = group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(byte.unwrap_or(0)));
        let n_letters = 1 + group.iter().flatten().count();
        for letter in 0..4 {
            let index = (bits >> (18 - 6 * letter)) & 63;
            text.push(if letter < n_letters { char::from(ALPHABET[index as usize]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_equals_the_examples_of_its_standard() {
        let examples = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
        ];
        for (plain, coded) in examples {
            assert_eq!(base64(plain.bytes()), coded);
        }
        assert_eq!(base64([0xfb, 0xff, 0xfe].into_iter()), "+//+");
    }
}
