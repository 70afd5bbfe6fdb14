//! The records of one cell of a study, and what several studies do with them.

use crate::chapter::{Table, mean_and_spread, number, rounded, seeds, shown};
use crate::error::ExperimentError;
use crate::figure::{Look, Point, Series};
use crate::ledger::{Ledger, Record, column};
use crate::methods::{Rival, SCORES, scores_of};
use crate::reference::{of_seed, printed};
use crate::statistics::{mean, median};
use crate::verdict::{Comparison, Rule, worst_relative};

/// A cell with everything computed for it.
pub(super) struct Cell {
    pub(super) study: &'static str,
    /// The name in the ledger.
    pub(super) name: String,
    /// The name for readers.
    pub(super) label: String,
    /// Where it stands on an axis.
    pub(super) x: f64,
    fast: Vec<Record>,
    exact: Vec<Record>,
    /// On the port's own bits, where they decide.
    as_port: Vec<Record>,
}

impl Cell {
    pub(super) fn load(
        ledger: &Ledger,
        study: &'static str,
        name: String,
        label: String,
        x: f64,
    ) -> Result<Self, ExperimentError> {
        let fast = ledger.seeds(study, &name)?;
        let exact = ledger.seeds(study, &exact_name(&name))?;
        let as_port = ledger.seeds(study, &port_name(&name))?;
        Ok(Self { study, name, label, x, fast, exact, as_port })
    }

    /// The records that a method is in: the exact one has its own, because it is run on fewer seeds.
    pub(super) fn records(&self, rival: Rival) -> &[Record] {
        if rival == Rival::Km { &self.exact } else { &self.fast }
    }

    pub(super) fn n_seeds(&self, rival: Rival) -> usize {
        self.records(rival).len()
    }

    /// One number of a method, by seed.
    pub(super) fn column(&self, rival: Rival, number: &str) -> Option<Vec<f64>> {
        column(self.records(rival), &format!("{}.{number}", rival.key()))
    }

    /// The mean of a number over seeds.
    pub(super) fn mean(&self, rival: Rival, number: &str) -> Option<f64> {
        self.column(rival, number).map(|values| mean(&values))
    }

    /// The median over seeds, for times: a disturbance does not move it.
    pub(super) fn median_seconds(&self, rival: Rival) -> Option<f64> {
        self.column(rival, "seconds").map(|values| median(&values))
    }

    /// How many times as long `above` takes as `below` (plus `extra` seconds by seed): the median over seeds of the ratio
    /// within a seed, so that a busy minute hurts both.
    pub(super) fn times(&self, above: Rival, below: Rival, extra: Option<&[f64]>) -> Option<f64> {
        let (above, below) = (self.column(above, "seconds")?, self.column(below, "seconds")?);
        let extra = |seed: usize| extra.and_then(|seconds| seconds.get(seed)).copied().unwrap_or(0.0);
        let pairs = above.iter().zip(&below).enumerate();
        Some(median(&pairs.map(|(seed, (above, below))| above / (below + extra(seed))).collect::<Vec<_>>()))
    }

    /// A method's name; with the number of its seeds where it was run on fewer than message passing.
    pub(super) fn title(&self, rival: Rival) -> String {
        let n_seeds = self.n_seeds(rival);
        if n_seeds < self.n_seeds(Rival::Ss) {
            return format!("{}, {}", rival.title(), seeds(n_seeds));
        }
        rival.title().to_owned()
    }

    /// A number of the chain, by seed.
    pub(super) fn chain(&self, number: &str) -> Option<Vec<f64>> {
        column(&self.fast, &format!("chain.{number}"))
    }

    /// How far all scores of a method are from the port's, seed by seed.
    pub(super) fn against_port(&self, rival: Rival, demanded: f64) -> Option<Comparison> {
        let (mut pairs, mut n_seeds) = (vec![], 0);
        let is_apart = rival != Rival::Km && !self.as_port.is_empty();
        let records = if is_apart { &self.as_port } else { self.records(rival) };
        for (seed, record) in records.iter().enumerate() {
            let Some(expected) = of_seed(self.study, &self.name, rival.key(), seed as u32) else { break };
            pairs.extend(scores_of(record, rival.key())?.into_iter().zip(expected));
            n_seeds += 1;
        }
        let label = format!("{}, {}: three scores by seed, {}", self.label, rival.title(), seeds(n_seeds));
        (n_seeds > 0).then(|| by_seed(label, worst_relative(pairs), demanded))
    }

    /// The relative difference of the port's mean of a score from the printed mean, and that of ours if all seeds were run.
    pub(super) fn port_and_ours_from_print(
        &self,
        rival: Rival,
        (number, quantity): (&str, &str),
        of_paper: usize,
    ) -> Option<(f64, Option<f64>)> {
        let at = SCORES.iter().position(|score| *score == number)?;
        let reference = printed(self.study, &self.name, rival.key(), quantity)?.value;
        let port = (0..of_paper as u32)
            .map(|seed| Some(of_seed(self.study, &self.name, rival.key(), seed)?[at]))
            .collect::<Option<Vec<f64>>>()?;
        let ours = self.column(rival, number).filter(|values| values.len() == of_paper);
        let from_print = |values: &[f64]| (mean(values) / reference - 1.0).abs();
        Some((from_print(&port), ours.map(|ours| from_print(&ours))))
    }

    /// The mean that the paper prints of a score or, where it prints none, that of the port over our seeds.
    fn reference(&self, rival: Rival, score: &str) -> String {
        let quantity = match (self.study, score) {
            (_, "rmse") => "rmse",
            ("sensor", "mnll_with_noise") | ("ett" | "ett-time", "mnll_latent") => "mnll",
            _ => "",
        };
        if let Some(printed) = printed(self.study, &self.name, rival.key(), quantity) {
            return number(printed.value);
        }
        let at = SCORES.iter().position(|name| *name == score);
        let of_seed = |seed: usize| Some(of_seed(self.study, &self.name, rival.key(), seed as u32)?[at?]);
        let of_port: Option<Vec<f64>> = (0..self.n_seeds(rival)).map(of_seed).collect();
        of_port.map_or_else(|| shown(None), |values| format!("{} (port)", number(mean(&values))))
    }

    /// A mean over all of the paper's seeds beside what it prints.
    pub(super) fn against_print(
        &self,
        rival: Rival,
        (number, quantity): (&str, &str),
        of_paper: usize,
        rule: Option<Rule>,
    ) -> Option<Comparison> {
        let reference = printed(self.study, &self.name, rival.key(), quantity)?;
        let ours = self.mean(rival, number)?;
        let label = format!("{}, {}: mean {}", self.label, rival.title(), quantity.to_uppercase());
        let row = match rule {
            None => Comparison::by_digits(label, reference, ours),
            Some(rule) => Comparison::new(label, reference.value, ours, rule),
        };
        Some(row.of_seeds(self.n_seeds(rival), of_paper))
    }
}

/// A largest difference over seeds, beside the one that is demanded.
pub(super) fn by_seed(label: String, largest: f64, demanded: f64) -> Comparison {
    Comparison::new(format!("{label}: largest relative difference"), demanded, largest, Rule::AtMost)
}

/// The name of the exact method's records of a cell.
pub(super) fn exact_name(cell: &str) -> String {
    format!("{cell}-km")
}

/// The name of the records of a cell whose columns are summed as the port sums them.
pub(super) fn port_name(cell: &str) -> String {
    format!("{cell}-port")
}

/// A method's mean over the cells, with a bar of one deviation over seeds.
pub(super) fn series(cells: &[Cell], rival: Rival, number: &str) -> Option<Series> {
    let points: Vec<Point> = cells
        .iter()
        .filter_map(|cell| Some(Point::with_spread(cell.x, &cell.column(rival, number)?)))
        .collect();
    let title = cells.iter().find(|cell| cell.n_seeds(rival) > 0)?.title(rival);
    (!points.is_empty()).then(|| Series::new(title, look(rival), points))
}

/// A method's median seconds over the cells.
pub(super) fn seconds_series(cells: &[Cell], rival: Rival) -> Option<Series> {
    let points: Vec<Point> =
        cells.iter().filter_map(|cell| Some(Point::bare(cell.x, cell.median_seconds(rival)?))).collect();
    let title = cells.iter().find(|cell| cell.n_seeds(rival) > 0)?.title(rival);
    (!points.is_empty()).then(|| Series::new(title, look(rival), points))
}

/// What the paper prints for a method over the cells.
pub(super) fn paper_series(cells: &[Cell], rival: Rival, quantity: &str) -> Option<Series> {
    let points: Vec<Point> = cells
        .iter()
        .filter_map(|cell| {
            let value = printed(cell.study, &cell.name, rival.key(), quantity)?.value;
            Some(Point::bare(cell.x, value))
        })
        .collect();
    let name = format!("{}, paper", rival.title());
    (!points.is_empty()).then(|| Series::new(name, Look::paper(place(rival)), points))
}

/// Our series and, behind them, the paper's.
pub(super) fn beside_paper(cells: &[Cell], rivals: &[Rival], number: &str, quantity: &str) -> Vec<Series> {
    let ours = |rival: &Rival| match number {
        "seconds" => seconds_series(cells, *rival),
        _ => series(cells, *rival, number),
    };
    let in_paper = rivals.iter().filter(|rival| Rival::OF_PAPER.contains(rival));
    let of_paper = in_paper.filter_map(|rival| paper_series(cells, *rival, quantity));
    of_paper.chain(rivals.iter().filter_map(ours)).collect()
}

/// A method's place in legends.
fn place(rival: Rival) -> usize {
    match rival {
        Rival::Ss => 0,
        Rival::Km => 1,
        Rival::Svgp => 2,
        Rival::Nngp => 3,
        Rival::Trivial => 4,
    }
}

pub(super) fn look(rival: Rival) -> Look {
    Look::method(place(rival))
}

/// Scores and seconds of every method in every cell.
pub(super) fn score_table(name: &str, caption: &str, cells: &[Cell]) -> Table {
    let header = [
        "cell",
        "method",
        "seeds",
        "RMSE",
        "paper or port",
        "MNLL, function",
        "paper or port",
        "MNLL, with noise",
        "paper or port",
        "processor seconds (median)",
    ];
    let mut table = Table::new(name, caption, &header);
    for cell in cells {
        for rival in Rival::ALL {
            let spread = |number: &str| cell.column(rival, number).map(|values| mean_and_spread(&values));
            let Some(rmse) = spread("rmse") else { continue };
            table.push([
                cell.label.clone(),
                rival.title().to_owned(),
                cell.n_seeds(rival).to_string(),
                rmse,
                cell.reference(rival, "rmse"),
                spread("mnll_latent").unwrap_or_default(),
                cell.reference(rival, "mnll_latent"),
                spread("mnll_with_noise").unwrap_or_default(),
                cell.reference(rival, "mnll_with_noise"),
                cell.median_seconds(rival)
                    .filter(|_| rival != Rival::Trivial)
                    .map_or_else(|| shown(None), rounded),
            ]);
        }
    }
    table
}

/// How many sweeps pay for building the chain once, against each rival: c_π / (t_base − t_SS).
pub(super) fn break_even_table(name: &str, cells: &[Cell]) -> Table {
    let header = [
        "cell",
        "chain construction, s",
        "sweep, s",
        "SVGP / SS",
        "NNGP / SS",
        "KM / SS",
        "with chain: SVGP",
        "with chain: NNGP",
        "with chain: KM",
        "break-even reuses against SVGP",
        "against NNGP",
        "against KM",
    ];
    let caption = "Processor seconds are medians, ratios medians of those within a seed; in the columns “with chain”, SS pays for the construction of \
                   the chain each time. Break-even: the number of reuses of a chain after which SS is ahead.";
    let mut table = Table::new(name, caption, &header);
    for cell in cells {
        let (Some(sweep), Some(chain)) = (cell.median_seconds(Rival::Ss), cell.chain("seconds")) else {
            continue;
        };
        let rivals = [Rival::Svgp, Rival::Nngp, Rival::Km];
        let times = |extra: Option<&[f64]>| {
            rivals.map(|rival| cell.times(rival, Rival::Ss, extra).map_or_else(|| shown(None), rounded))
        };
        let reuses = |rival: Rival| {
            let seconds = cell.median_seconds(rival)?;
            Some(rounded(median(&chain) / (seconds - sweep)))
        };
        let mut row = vec![cell.label.clone(), rounded(median(&chain)), rounded(sweep)];
        row.extend(times(None));
        row.extend(times(Some(&chain)));
        row.extend(rivals.map(|rival| reuses(rival).unwrap_or_else(|| shown(None))));
        table.push(row);
    }
    table
}
