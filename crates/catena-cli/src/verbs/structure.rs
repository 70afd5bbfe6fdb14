//! `structure`: builds the chain or tree over the rows of a table and reports its quality.

use std::path::PathBuf;

use catena::data::{InputPoints, InputScaling};
use catena::diagnostics::{Distortion, GapStatistics, PairSampling, StructureQuality};
use catena::index::Position;
use catena::structure::{StructureError, Tree};
use catena_fit::{FitError, StructureOption};
use catena_io::select::Selection;
use catena_io::table::{Column, ColumnData, NumberColumn, NumberStyle, Table};
use catena_io::write::write_table;
use clap::Args;
use serde_json::{Value, json};

use crate::arguments::{Columns, Printing, TableTarget, is_standard_stream, one_structure};
use crate::error::CliError;
use crate::learning::use_threads;
use crate::model_table::points;
use crate::scoreboard::{print_json, print_text};
use crate::source::{choose, read_table};

const EXAMPLES: &str = "\
Examples:
  catena structure stations.csv --inputs x,y
  catena structure stations.csv --inputs x,y --structure chain -o order.csv

The table has one row per position in the structure: the data row (counted from 1), its parent row, and the distance \
between them. Two or more inputs are standardized first.";

/// Options of `structure`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Table with the inputs.
    data: PathBuf,
    /// Write the structure as a table.
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Structure over the rows: auto, chain or tree.
    #[arg(long, default_value = "auto", value_parser = one_structure)]
    structure: StructureOption,
    /// Number of threads [default: all cores].
    #[arg(long)]
    threads: Option<usize>,
    #[command(flatten)]
    columns: Columns,
    #[command(flatten)]
    printing: Printing,
}

/// Builds and reports the structure over the rows of a table.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { data, output, columns, printing, .. } = arguments;
    let console = printing.console();
    use_threads(arguments.threads)?;
    let target = match output {
        None => None,
        Some(path) => {
            let target = TableTarget { output: path.clone(), safe_headers: false };
            Some(target.checked(columns.format, *printing, &[data])?)
        }
    };
    if columns.wide.is_some() {
        return Err(CliError::WideStructure);
    }
    let table = read_table(data, &columns.read_options(data), console)?;
    // A structure needs no outputs.
    let source = choose(table, &Selection { inputs_only: true, ..columns.selection() }, console)?;
    if source.frame.groups.is_some() {
        return Err(CliError::NoGroups { file: source.frame.file.clone(), what: "structure" });
    }
    let failed = |error: StructureError| source.in_user_terms(FitError::Structure(error));
    let scaled =
        scaled(&points(&source.frame)?).map_err(|error| source.in_user_terms(FitError::Data(error)))?;
    let name = arguments.structure.name(scaled.dim());
    let tree = arguments.structure.build(&scaled).map_err(failed)?;
    if let Some(target) = &target {
        write_table(&structure_table(&tree), target)?;
    }
    let quality = StructureQuality::new(&scaled, &tree, None, PairSampling::default());
    if printing.json {
        return print_json(&json!({"structure": name, "quality": quality_json(&quality)}));
    }
    if !output.as_deref().is_some_and(is_standard_stream) {
        print_text(&format!("{name}\n{quality}\n"))?;
    }
    Ok(())
}

fn scaled(points: &InputPoints) -> Result<InputPoints, catena::data::DataError> {
    if points.dim() == 1 { Ok(points.clone()) } else { InputScaling::standardizing(points).apply(points) }
}

/// The quality of a structure. A number that is not finite becomes `null`.
fn quality_json(quality: &StructureQuality) -> Value {
    let GapStatistics { total, mean, median, largest, n_zero } = quality.gaps;
    let distortion = match quality.distortion {
        Distortion::Exact { largest, mean } => json!({"exact": true, "largest": largest, "mean": mean}),
        Distortion::Sampled { at_least, at_most, share_beyond, mean, mean_standard_error, n_sampled } => {
            json!({
                "exact": false, "at_least": at_least, "at_most": at_most, "share_beyond": share_beyond,
                "mean": mean, "mean_standard_error": mean_standard_error, "n_sampled": n_sampled,
            })
        }
    };
    json!({
        "n_points": quality.n_points, "n_inputs": quality.dim, "is_chain": quality.is_chain,
        "distance_scale": quality.distance_scale, "distortion": distortion,
        "gaps": {"total": total, "mean": mean, "median": median, "largest": largest, "n_zero": n_zero},
        "covariance_gap_bound": quality.covariance_gap_bound, "chain_start_factor": quality.chain_start_factor,
    })
}

fn structure_table(tree: &Tree) -> Table {
    let row = |position: Position| (tree.row_at(position).get() + 1) as f64;
    let whole = |name: &str, values: Vec<f64>| {
        Column::new(name, ColumnData::Number(NumberColumn { values, style: NumberStyle::Integer }))
    };
    let rows = tree.positions().map(row).collect();
    let parents = tree.positions().map(|position| tree.parent(position).map_or(f64::NAN, row)).collect();
    let steps = tree.positions().map(|position| match tree.parent(position) {
        Some(_) => tree.step_into(position),
        None => f64::NAN,
    });
    Table::new(vec![
        whole("row", rows),
        whole("parent", parents),
        Column::numbers("distance", steps.collect()),
    ])
}
