//! `complexity`: the paper's table of costs, with exponents measured on this machine.

use catena::data::{Dataset, InputPoints, Observations};
use catena::graph::FactorGraph;
use catena::index::{OutputIndex, RowIndex};
use catena::inference::Workspace;
use catena::kernel::{Kernel, StateKind};
use catena::live::LivePosterior;
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::structure::{Start, Tree, greedy_chain};
use catena::units::{LengthScale, Variance};
use catena_methods::Problem;
use catena_methods::exact::{Exact, ExactOptions};
use catena_methods::kmeans::{PAPER_ROUNDS, Start as Centers, k_means};
use catena_methods::nngp::{Nngp, NngpOptions};
use catena_methods::svgp::{Svgp, SvgpOptions};
use catena_studies::brute_force_chain::brute_force_greedy_chain;
use catena_studies::julia_streams::JuliaStream;

use crate::chapter::{Chapter, Table, rounded};
use crate::error::ExperimentError;
use crate::figure::{Axis, Figure, Look, Panel, Point, Scale, Series};
use crate::job::Job;
use crate::ledger::{Ledger, Record};
use crate::settings::{Context, Extent};
use crate::statistics::exponent;
use crate::stopwatch::{Stopwatch, timed};
use crate::verdict::Comparison;

const STUDY: &str = "complexity";

/// A sweep of one size with all others fixed, and what the paper says of it.
struct Sweep {
    name: &'static str,
    title: &'static str,
    symbol: &'static str,
    look: usize,
    of_paper: &'static str,
    sizes: &'static [f64],
    measure: fn(f64) -> Result<f64, ExperimentError>,
}

const SWEEPS: [Sweep; 11] = [
    Sweep {
        name: "posterior-over-C",
        title: "posterior over the points",
        symbol: "C",
        look: 0,
        of_paper: "C",
        sizes: &[1e3, 4e3, 16e3, 64e3],
        measure: |size| posterior(Shape { n_points: size as usize, ..Shape::PAPER }),
    },
    Sweep {
        name: "posterior-over-D",
        title: "posterior over the outputs",
        symbol: "D",
        look: 0,
        of_paper: "D",
        sizes: &[2.0, 4.0, 8.0, 16.0, 32.0],
        measure: |size| posterior(Shape { n_outputs: size as usize, ..Shape::PAPER }),
    },
    Sweep {
        name: "posterior-over-L",
        title: "posterior over the latents",
        symbol: "L",
        look: 5,
        of_paper: "L² to L³",
        sizes: &[1.0, 2.0, 4.0, 8.0, 16.0],
        measure: |size| posterior(Shape { n_latents: size as usize, ..Shape::PAPER }),
    },
    Sweep {
        name: "posterior-over-p",
        title: "posterior over the share of hidden cells",
        symbol: "(1 − p)",
        look: 0,
        of_paper: "constant",
        sizes: &[0.1, 0.3, 0.5, 0.7, 0.9],
        measure: |size| posterior(Shape { observed: size, ..Shape::PAPER }),
    },
    Sweep {
        name: "chain-over-C",
        title: "chain construction over the points, kd-tree",
        symbol: "C",
        look: 5,
        of_paper: "C² (brute force)",
        sizes: &[1e3, 4e3, 16e3, 64e3],
        measure: |size| chain(size as usize, false),
    },
    Sweep {
        name: "brute-chain-over-C",
        title: "chain construction over the points, brute force",
        symbol: "C",
        look: 4,
        of_paper: "C²",
        sizes: &[500.0, 1e3, 2e3, 4e3],
        measure: |size| chain(size as usize, true),
    },
    Sweep {
        name: "steps-over-C",
        title: "total over C/2 steps, a full posterior after each",
        symbol: "C",
        look: 6,
        of_paper: "C²",
        sizes: &[250.0, 500.0, 1e3, 2e3],
        measure: |size| steps(size as usize),
    },
    Sweep {
        name: "edits-over-C",
        title: "total over C/2 steps by local edits, the new point and the evidence asked after each",
        symbol: "C",
        look: 7,
        of_paper: "C² (full sweeps)",
        sizes: &[250.0, 500.0, 1e3, 2e3, 16e3],
        measure: |size| edits(size as usize),
    },
    Sweep {
        name: "exact-over-N",
        title: "exact, posterior over the rows",
        symbol: "N",
        look: 1,
        of_paper: "N³",
        sizes: &[200.0, 400.0, 800.0],
        measure: |size| rival(size as usize, exact),
    },
    Sweep {
        name: "svgp-over-N",
        title: "SVGP 64, posterior over the rows",
        symbol: "N",
        look: 2,
        of_paper: "N",
        sizes: &[500.0, 1e3, 2e3, 4e3],
        measure: |size| rival(size as usize, sparse),
    },
    Sweep {
        name: "nngp-over-N",
        title: "NNGP 20, posterior over the rows",
        symbol: "N",
        look: 3,
        of_paper: "N",
        sizes: &[500.0, 1e3, 2e3, 4e3],
        measure: |size| rival(size as usize, neighbors),
    },
];

fn sizes(sweep: &Sweep, extent: Extent) -> &'static [f64] {
    match extent {
        Extent::Full => sweep.sizes,
        Extent::Quick => &sweep.sizes[..3],
    }
}

fn cell(sweep: &Sweep, extent: Extent) -> String {
    format!("{}-{}", sweep.name, sizes(sweep, extent).len())
}

pub(super) fn jobs(context: &Context) -> Vec<Job<'_>> {
    let job = |sweep: &'static Sweep| {
        let sizes = sizes(sweep, context.extent);
        Job::new((STUDY, cell(sweep, context.extent), 0), 3.0, move || {
            let mut record = Record::default();
            for (at, &size) in sizes.iter().enumerate() {
                record.put(format!("{at}.seconds"), (sweep.measure)(size)?);
            }
            Ok(record)
        })
    };
    SWEEPS.iter().map(job).collect()
}

/// The sizes of a made-up table over three inputs.
#[derive(Clone, Copy)]
struct Shape {
    n_points: usize,
    n_outputs: usize,
    n_latents: usize,
    /// The share of cells that are observed.
    observed: f64,
}

impl Shape {
    /// Those of the electricity study at N = 2000, Matérn-3/2 with derivatives throughout.
    const PAPER: Self = Self { n_points: 4000, n_outputs: 4, n_latents: 3, observed: 0.7 };

    fn inputs(self) -> Result<InputPoints, ExperimentError> {
        Ok(InputPoints::new(self.n_points, 3, JuliaStream::new(1).rand_array(3 * self.n_points))?)
    }

    fn model(self) -> Result<Lmc, ExperimentError> {
        let mut latents = vec![];
        for latent in 0..self.n_latents {
            let length_scale = LengthScale::new(0.5 * f64::from(1 << (latent % 4)))?;
            latents.push(
                Latent::new(Kernel::Matern32, StateKind::Derivative, length_scale)
                    .map_err(catena::model::ModelError::from)?,
            );
        }
        let weights = JuliaStream::new(2).randn_array(self.n_outputs * self.n_latents);
        let mixing = MixingMatrix::shared(self.n_outputs, self.n_latents, weights)?;
        Ok(Lmc::new(latents, mixing, vec![Variance::new(0.2)?; self.n_outputs])?)
    }

    fn observations(self) -> Result<Observations, ExperimentError> {
        let mut stream = JuliaStream::new(3);
        let mut cell = || if stream.rand() < self.observed { stream.randn() } else { f64::NAN };
        let values: Vec<f64> = (0..self.n_points * self.n_outputs).map(|_| cell()).collect();
        Ok(Observations::from_dense(self.n_points, self.n_outputs, &values)?)
    }
}

fn scaled_chain(inputs: &InputPoints) -> Result<Tree, ExperimentError> {
    let chain = greedy_chain(inputs, Start::FirstRow)?;
    let scale = chain.median_step().ok_or(catena_studies::study::StudyError::NoDistanceScale)?;
    Ok(chain.with_distance_scale(scale)?)
}

/// Seconds of one posterior, chain given, memory kept from run to run.
fn posterior(shape: Shape) -> Result<f64, ExperimentError> {
    let (model, chain, observations) =
        (shape.model()?, scaled_chain(&shape.inputs()?)?, shape.observations()?);
    let graph = FactorGraph::new(&model, &chain, &observations)?;
    let workspace = std::cell::RefCell::new(Workspace::new());
    let (_, seconds) = timed(|| Ok(workspace.borrow_mut().marginals(&graph)?.log_evidence))?;
    Ok(seconds.processor)
}

fn chain(n_points: usize, is_brute: bool) -> Result<f64, ExperimentError> {
    let inputs = Shape { n_points, ..Shape::PAPER }.inputs()?;
    let (_, seconds) = timed(|| {
        Ok(if is_brute {
            brute_force_greedy_chain(&inputs, RowIndex::new(0))?
        } else {
            greedy_chain(&inputs, Start::FirstRow)?
        })
    })?;
    Ok(seconds.processor)
}

/// The table's last row, "total over N steps": every second point is observed, one after the other, and all points are
/// predicted after each.
fn steps(n_points: usize) -> Result<f64, ExperimentError> {
    let shape = Shape { n_points, observed: 1.0, ..Shape::PAPER };
    let (model, inputs) = (shape.model()?, shape.inputs()?);
    let chain = scaled_chain(&inputs)?;
    let numbers = JuliaStream::new(4).randn_array(n_points * shape.n_outputs);
    let mut values = vec![f64::NAN; numbers.len()];
    let mut workspace = Workspace::new();
    let stopwatch = Stopwatch::start();
    for row in (0..n_points).step_by(2) {
        let cells = row * shape.n_outputs..(row + 1) * shape.n_outputs;
        values[cells.clone()].copy_from_slice(&numbers[cells]);
        let observations = Observations::from_dense(n_points, shape.n_outputs, &values)?;
        let graph = FactorGraph::new(&model, &chain, &observations)?;
        std::hint::black_box(workspace.marginals(&graph)?);
    }
    Ok(stopwatch.read().processor)
}

/// The same steps through a live posterior: each observation is an edit, and only what changes is sent again.
fn edits(n_points: usize) -> Result<f64, ExperimentError> {
    let shape = Shape { n_points, observed: 1.0, ..Shape::PAPER };
    let (model, inputs) = (shape.model()?, shape.inputs()?);
    let chain = scaled_chain(&inputs)?;
    let numbers = JuliaStream::new(4).randn_array(n_points * shape.n_outputs);
    let nothing = vec![f64::NAN; numbers.len()];
    let dataset = Dataset::new(inputs, Observations::from_dense(n_points, shape.n_outputs, &nothing)?)?;
    let graph = FactorGraph::new(&model, &chain, dataset.observations())?;
    let mut live = LivePosterior::new(&graph, dataset.inputs(), dataset.observations())?;
    let stopwatch = Stopwatch::start();
    for row in (0..n_points).step_by(2).map(RowIndex::new) {
        for output in (0..shape.n_outputs).map(OutputIndex::new) {
            live.set(row, output, numbers[row.get() * shape.n_outputs + output.get()])?;
        }
        std::hint::black_box((live.marginals(row)?, live.log_evidence()?));
    }
    Ok(stopwatch.read().processor)
}

type RunRival = fn(Problem<'_>, &InputPoints) -> Result<(), ExperimentError>;

fn rival(n_rows: usize, run: RunRival) -> Result<f64, ExperimentError> {
    let shape = Shape { n_points: n_rows, ..Shape::PAPER };
    let (model, inputs) = (shape.model()?, shape.inputs()?);
    let scale = scaled_chain(&inputs)?.distance_scale();
    let dataset = Dataset::new(inputs.clone(), shape.observations()?)?;
    let problem = Problem::new(&model, &dataset, scale)?;
    let (_, seconds) = timed(|| run(problem, &inputs))?;
    Ok(seconds.processor)
}

fn exact(problem: Problem<'_>, at: &InputPoints) -> Result<(), ExperimentError> {
    std::hint::black_box(Exact::fit(problem, ExactOptions::default())?.predict(at)?);
    Ok(())
}

fn sparse(problem: Problem<'_>, at: &InputPoints) -> Result<(), ExperimentError> {
    let centers = k_means(at, Centers::PlusPlus { n_centers: 64, seed: 0 }, PAPER_ROUNDS)?;
    let svgp = Svgp::fit(problem, &centers, SvgpOptions::paper())?;
    std::hint::black_box(svgp.predict(at)?);
    Ok(())
}

fn neighbors(problem: Problem<'_>, at: &InputPoints) -> Result<(), ExperimentError> {
    std::hint::black_box(Nngp::fit(problem, NngpOptions::new(20))?.predict(at)?);
    Ok(())
}

pub(super) fn chapter(ledger: &Ledger, extent: Extent) -> Result<Option<Chapter>, ExperimentError> {
    let mut chapter = Chapter::new(STUDY, "The table of costs, measured");
    chapter.words.push(
        "Made-up tables over three inputs; unless it is swept, C = 4000, D = 4, L = 3 (Matérn-3/2 with derivatives), 70 % of \
         cells observed. The exponent is the slope of log seconds (of the processor) over log size. Costs that the paper gives for other \
         methods are per posterior."
            .to_owned(),
    );
    let header = ["what", "paper's order", "measured exponent", "sizes", "seconds"];
    let mut table = Table::new(
        "complexity",
        "Measured exponents beside the orders of the paper's table of costs.",
        &header,
    );
    let mut of_catena = vec![];
    for sweep in &SWEEPS {
        let sizes = sizes(sweep, extent);
        let Some(record) = ledger.seeds(STUDY, &cell(sweep, extent))?.into_iter().next() else { continue };
        let seconds = |(at, size): (usize, &f64)| Some((*size, record.get(&format!("{at}.seconds"))?));
        let Some(pairs) = sizes.iter().enumerate().map(seconds).collect::<Option<Vec<_>>>() else { continue };
        let found = exponent(&pairs);
        let join = |texts: Vec<String>| texts.join(", ");
        table.push([
            sweep.title.to_owned(),
            sweep.of_paper.to_owned(),
            format!("{}^{found:.2}", sweep.symbol),
            join(pairs.iter().map(|(size, _)| format!("{size}")).collect()),
            join(pairs.iter().map(|(_, seconds)| rounded(*seconds)).collect()),
        ]);
        let label = format!("exponent, {} (paper: {})", sweep.title, sweep.of_paper);
        chapter.comparisons.push(Comparison::alone(label, found));
        let points = pairs.iter().map(|(size, seconds)| Point::bare(*size, *seconds)).collect();
        of_catena.push((sweep, Series::new(sweep.title, Look::method(sweep.look), points)));
    }
    if of_catena.is_empty() {
        return Ok(None);
    }
    let panel = |title: &str, label: &str, scale, names: &[&str]| {
        let chosen = of_catena.iter().filter(|(sweep, _)| names.contains(&sweep.name));
        Panel {
            title: title.to_owned(),
            x: Axis::new(label, scale),
            y: Axis::new("processor seconds", Scale::Logarithmic),
            series: chosen.map(|(_, series)| series.clone()).collect(),
        }
    };
    let panels = vec![
        panel(
            "points",
            "points C or rows N",
            Scale::Logarithmic,
            &[
                "posterior-over-C",
                "chain-over-C",
                "brute-chain-over-C",
                "steps-over-C",
                "edits-over-C",
                "exact-over-N",
                "svgp-over-N",
                "nngp-over-N",
            ],
        ),
        panel("outputs and latents", "D or L", Scale::Logarithmic, &["posterior-over-D", "posterior-over-L"]),
        panel("observed cells", "share 1 − p of cells observed", Scale::Linear, &["posterior-over-p"]),
    ];
    chapter.tables.push(table);
    chapter.figures.push(Figure::chart("complexity", "Seconds over the sizes of a problem", 3, panels));
    Ok(Some(chapter))
}
