//! Writes the binary seeds of the corpus: segment summaries, model files, Parquet and Arrow files.
//!
//! `cargo run -p catena-fuzz --example seeds` replaces `corpus/segment/made-*`, `corpus/model_file/made-*` and
//! `corpus/columnar/made-*`.

use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;

use catena::data::{Dataset, InputPoints, Observations};
use catena::graph::FactorGraph;
use catena::inference::{Begins, Summary};
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::structure::sorted_chain;
use catena::units::{LengthScale, Variance};
use catena_fit::{Budget, FitOptions, MethodChoice, StructureOption, TimeOptions, TimeSpec, fit};
use catena_io::read::{Format, ReadOptions, read_pipe};
use catena_io::select::{Input, LongColumns};
use catena_io::table::NumberStyle;
use catena_io::time::{TimeAxis, TimeStyle};
use catena_io::write::{Target, write_table};
use catena_store::About;

fn main() -> Result<(), Box<dyn Error>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for (name, kernels) in [
        ("made-one", vec![Kernel::Matern12]),
        ("made-two", vec![Kernel::Matern32, Kernel::Matern52]),
        ("made-three", vec![Kernel::Matern32; 3]),
    ] {
        let bytes = summary(&kernels)?.to_bytes();
        // The target adds the checksum.
        write(&corpus.join("segment").join(name), &bytes[..bytes.len() - 8])?;
    }
    let time = TimeSpec::parse("sho+rw+qp(4,2)", &|text| text.parse().map_err(|_| text.to_owned()))?;
    let plain = FitOptions { budget: Budget::Quick, ..FitOptions::default() };
    let cases = [
        ("made-chain", FitOptions { latents: Some(1), ..plain.clone() }),
        (
            "made-time",
            FitOptions {
                time: Some(TimeOptions { spec: Some(time), ..TimeOptions::default() }),
                ..plain.clone()
            },
        ),
        ("made-exact", FitOptions { method: MethodChoice::Exact, private: Some(true), ..plain.clone() }),
        (
            "made-ensemble",
            FitOptions { structure: StructureOption::Ensemble { n_chains: 2 }, ..plain.clone() },
        ),
        ("made-neighbors", FitOptions { method: MethodChoice::Nngp { n_neighbors: 2 }, ..plain }),
    ];
    for (name, options) in cases {
        let table = table(if name == "made-time" || name == "made-chain" { 1 } else { 2 })?;
        let fitted = fit(&table, &options, &|_| ControlFlow::Continue(()))?;
        let file = catena_store::to_bytes(&fitted, &about(table.inputs().dim()))?;
        write(&corpus.join("model_file").join(name), &taken_apart(&file).ok_or("no model file")?)?;
    }
    // The target's first byte chooses the format.
    for (choice, ending) in [(0, "parquet"), (1, "arrow")] {
        for (name, text) in [
            ("numbers", "place,a,b\n0.5,1,2\n1.5,,3\n2.5,4,-1e9\n"),
            ("times", "time,a,label,ok\n2013-03-15T00:00:00Z,1.5,x,true\n2013-03-15T01:00:00Z,,x,false\n"),
        ] {
            let table = read_pipe(text.as_bytes(), &ReadOptions::default(), &mut |_, _| {})?;
            let path = corpus.join("columnar").join(format!("made-{name}-{ending}"));
            write(&path, &[])?;
            write_table(&table, &Target::new(&path, Format::of_name(ending))?)?;
            let file = std::fs::read(&path)?;
            write(&path, &[&[choice], file.as_slice()].concat())?;
        }
    }
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(path.parent().ok_or("no folder")?)?;
    Ok(std::fs::write(path, bytes)?)
}

fn table(dim: usize) -> Result<Dataset, Box<dyn Error>> {
    let inputs = (0..10 * dim).map(|at| (at as f64 * 1.7).sin() * 4.0 + at as f64).collect();
    let value = |at: usize| if at.is_multiple_of(5) { f64::NAN } else { (at as f64 * 0.9).cos() };
    let values: Vec<f64> = (0..20).map(value).collect();
    Ok(Dataset::new(InputPoints::new(10, dim, inputs)?, Observations::from_dense(10, 2, &values)?)?)
}

fn summary(kernels: &[Kernel]) -> Result<Summary, Box<dyn Error>> {
    let table = table(1)?;
    let latent = |kernel: &Kernel| -> Result<Latent, Box<dyn Error>> {
        Ok(Latent::new(*kernel, StateKind::Derivative, LengthScale::new(2.0)?)?)
    };
    let latents = kernels.iter().map(latent).collect::<Result<Vec<_>, _>>()?;
    let weights = (0..2 * kernels.len()).map(|at| 1.0 - 0.3 * at as f64).collect();
    let mixing = MixingMatrix::shared(2, kernels.len(), weights)?;
    let model = Lmc::new(latents, mixing, vec![Variance::new(0.1)?; 2])?;
    let chain = sorted_chain(table.inputs())?;
    let graph = FactorGraph::new(&model, &chain, table.observations())?;
    Ok(Summary::of(&graph, Begins::AtRoot)?)
}

/// A single input is a time, so that its axis is in the file.
fn about(dim: usize) -> About {
    let axis = TimeAxis::elapsed(1_700_000_000, TimeStyle::default());
    let input = |at: usize| Input {
        name: format!("x{at}"),
        values: vec![],
        time: (dim == 1).then(|| axis.clone()),
        style: NumberStyle::Double,
    };
    let long = LongColumns { time: "x0".to_owned(), series: "series".to_owned(), value: "value".to_owned() };
    About {
        data: "table.csv".to_owned(),
        inputs: (0..dim).map(input).collect(),
        outputs: vec!["a".to_owned(), "b".to_owned()],
        long: (dim == 1).then_some(long),
        wide: None,
        groups: None,
        noise_columns: vec![],
        cells: Default::default(),
        caller: None,
    }
}

/// The header, a zero, and the arrays without the checksum: the input format of the target.
fn taken_apart(file: &[u8]) -> Option<Vec<u8>> {
    let mut lines = file.splitn(4, |byte| *byte == b'\n');
    let (_, _, header, _) = (lines.next()?, lines.next()?, lines.next()?, lines.next()?);
    let begin = header.as_ptr() as usize - file.as_ptr() as usize;
    let arrays = (begin + header.len() + 1).next_multiple_of(8);
    let end = file.len().checked_sub("sha256 \n".len() + 64)?;
    Some([header, &[0], file.get(arrays..end)?].concat())
}
