//! Ten simulated tables from known models, for tests of learning and of model selection.
//!
//! | name | C | M | D | shared L | private | kernel shared/private | noise | missing | held out | gap shape |
//! |---|---|---|---|---|---|---|---|---|---|---|
//! | `short-few` | 150 | 1 | 2 | 1 | 40 % | 3/2, 1/2 | 0.05 | 10 % | 20 % | blocks of 8 |
//! | `short-many` | 250 | 1 | 12 | 3 | 40 % | 3/2, 1/2 | 0.10 | 10 % | 20 % | cells |
//! | `long-rough` | 4000 | 1 | 3 | 2 | 40 % | 1/2, 1/2 | 0.05 | 5 % | 20 % | blocks of 12 |
//! | `long-many` | 3000 | 1 | 10 | 4 | 30 % | 3/2, 1/2 | 0.02 | 20 % | 20 % | cells |
//! | `smooth` | 1000 | 1 | 4 | 2 | 20 % | 5/2, 5/2 | 0.01 | 10 % | 20 % | blocks of 25 |
//! | `coupled` | 800 | 1 | 6 | 1 | none | 3/2 | 0.02 | 20 % | 30 % | cells |
//! | `apart` | 1000 | 1 | 4 | 0 | all | 3/2 | 0.05 | 10 % | 20 % | blocks of 10 |
//! | `mostly-missing` | 1500 | 1 | 4 | 2 | 30 % | 3/2, 1/2 | 0.05 | 10 %, output 3: 90 % | 20 % | cells |
//! | `plane` | 1200 | 2 | 3 | 2 | 30 % | 3/2, 1/2 | 0.02 | 10 % | 20 % | cells |
//! | `space` | 900 | 3 | 4 | 2 | 30 % | 1/2, 1/2 | 0.05 | 10 % | 20 % | cells |
//!
//! "Private" is the fraction of an output's signal variance that is due to its private latent, "noise" the noise variance
//! relative to the signal variance. Each output has its own level and scale. Along a line, spacing is 1 (even) or has mean 1
//! (exponential gaps: `long-rough`, `smooth`, `apart`); in the plane and in space, points are uniform in the unit cube. Missing cells
//! have no value; held-out cells have one, which is to be predicted.

use catena::data::InputPoints;
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::units::{LengthScale, Variance};

use crate::process_draws::{draw_in_space, draw_on_line};
use crate::random::SeededDraws;
use catena_studies::gap_table::GapTable;

/// The shape of the held-out gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapShape {
    /// Single cells at random.
    Cells,
    /// This many consecutive rows of one output; along a line only.
    Blocks(usize),
}

/// The inputs of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Places {
    /// Along a line, one unit apart.
    Even,
    /// Along a line, exponential gaps with mean 1.
    Uneven,
    /// Uniform in the unit cube of this dimension.
    Cube(usize),
}

/// The parameters of a table: one line of the list above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TableRecipe {
    /// Its name.
    pub name: &'static str,
    /// Rows, C.
    pub n_rows: usize,
    /// Their inputs, which determine M.
    pub places: Places,
    /// Outputs, D.
    pub n_outputs: usize,
    /// Shared latents, L.
    pub n_shared: usize,
    /// Their kernel.
    pub shared_kernel: Kernel,
    /// Their shortest and longest length-scale; the others are spaced in equal ratios.
    pub shared_lengths: (f64, f64),
    /// The fraction of every output's signal variance that is private; 0 for no private latents.
    pub private_share: f64,
    /// Kernel and length-scale of private latents.
    pub private: (Kernel, f64),
    /// Noise variance relative to the signal variance.
    pub noise: f64,
    /// The fraction of missing cells.
    pub missing: f64,
    /// An output with 90 % missing cells.
    pub mostly_missing: Option<usize>,
    /// The fraction of the remaining cells (or of the rows, for blocks) that is held out.
    pub hidden: f64,
    /// The shape of the held-out gaps.
    pub gaps: GapShape,
    /// The seed of everything drawn.
    pub seed: u64,
}

/// A drawn table with the model it was drawn from.
#[derive(Clone, Debug)]
pub struct SimulatedTable {
    /// The table, in its own units.
    pub table: GapTable,
    /// The true model, in the units of the table, around the levels.
    pub model: Lmc,
    /// The mean of every output.
    pub levels: Vec<f64>,
}

const ORDINARY: TableRecipe = TableRecipe {
    name: "",
    n_rows: 0,
    places: Places::Even,
    n_outputs: 0,
    n_shared: 0,
    shared_kernel: Kernel::Matern32,
    shared_lengths: (8.0, 40.0),
    private_share: 0.3,
    private: (Kernel::Matern12, 6.0),
    noise: 0.05,
    missing: 0.1,
    mostly_missing: None,
    hidden: 0.2,
    gaps: GapShape::Cells,
    seed: 0,
};

/// The ten tables.
pub const RECIPES: [TableRecipe; 10] = [
    TableRecipe {
        name: "short-few",
        n_rows: 150,
        n_outputs: 2,
        n_shared: 1,
        shared_lengths: (15.0, 15.0),
        private_share: 0.4,
        gaps: GapShape::Blocks(8),
        seed: 101,
        ..ORDINARY
    },
    TableRecipe {
        name: "short-many",
        n_rows: 250,
        n_outputs: 12,
        n_shared: 3,
        private_share: 0.4,
        noise: 0.1,
        seed: 102,
        ..ORDINARY
    },
    TableRecipe {
        name: "long-rough",
        n_rows: 4000,
        places: Places::Uneven,
        n_outputs: 3,
        n_shared: 2,
        shared_kernel: Kernel::Matern12,
        shared_lengths: (5.0, 60.0),
        private_share: 0.4,
        missing: 0.05,
        gaps: GapShape::Blocks(12),
        seed: 103,
        ..ORDINARY
    },
    TableRecipe {
        name: "long-many",
        n_rows: 3000,
        n_outputs: 10,
        n_shared: 4,
        shared_lengths: (4.0, 100.0),
        noise: 0.02,
        missing: 0.2,
        seed: 104,
        ..ORDINARY
    },
    TableRecipe {
        name: "smooth",
        n_rows: 1000,
        places: Places::Uneven,
        n_outputs: 4,
        n_shared: 2,
        shared_kernel: Kernel::Matern52,
        shared_lengths: (15.0, 50.0),
        private_share: 0.2,
        private: (Kernel::Matern52, 10.0),
        noise: 0.01,
        gaps: GapShape::Blocks(25),
        seed: 105,
        ..ORDINARY
    },
    TableRecipe {
        name: "coupled",
        n_rows: 800,
        n_outputs: 6,
        n_shared: 1,
        shared_lengths: (10.0, 10.0),
        private_share: 0.0,
        noise: 0.02,
        missing: 0.2,
        hidden: 0.3,
        seed: 106,
        ..ORDINARY
    },
    TableRecipe {
        name: "apart",
        n_rows: 1000,
        places: Places::Uneven,
        n_outputs: 4,
        n_shared: 0,
        private_share: 1.0,
        private: (Kernel::Matern32, 12.0),
        gaps: GapShape::Blocks(10),
        seed: 107,
        ..ORDINARY
    },
    TableRecipe {
        name: "mostly-missing",
        n_rows: 1500,
        n_outputs: 4,
        n_shared: 2,
        mostly_missing: Some(3),
        seed: 108,
        ..ORDINARY
    },
    TableRecipe {
        name: "plane",
        n_rows: 1200,
        places: Places::Cube(2),
        n_outputs: 3,
        n_shared: 2,
        shared_lengths: (0.2, 0.6),
        private: (Kernel::Matern12, 0.3),
        noise: 0.02,
        seed: 109,
        ..ORDINARY
    },
    TableRecipe {
        name: "space",
        n_rows: 900,
        places: Places::Cube(3),
        n_outputs: 4,
        n_shared: 2,
        shared_kernel: Kernel::Matern12,
        shared_lengths: (0.4, 1.2),
        private: (Kernel::Matern12, 0.4),
        seed: 110,
        ..ORDINARY
    },
];

/// The recipe of this name.
///
/// # Panics
/// If no recipe has this name.
pub fn recipe(name: &str) -> TableRecipe {
    *RECIPES.iter().find(|recipe| recipe.name == name).unwrap()
}

impl TableRecipe {
    /// The same recipe with another number of rows.
    pub fn with_rows(self, n_rows: usize) -> Self {
        Self { n_rows, ..self }
    }

    /// The number of input columns, M.
    pub fn dim(&self) -> usize {
        match self.places {
            Places::Cube(dim) => dim,
            Places::Even | Places::Uneven => 1,
        }
    }

    /// Draws the table: the same bits every time.
    ///
    /// # Panics
    /// If the parameters are invalid.
    pub fn draw(&self) -> SimulatedTable {
        let mut draws = SeededDraws::new(self.seed);
        let inputs = self.draw_inputs(&mut draws);
        let model = self.draw_model(&mut draws);
        let latents = self.draw_latents(&inputs, &model, &mut draws);
        let weights = model.mixing().to_dense();
        let levels: Vec<f64> =
            (0..self.n_outputs).map(|output| 3.0 * draws.normal() * scale_of(output)).collect();
        let mut values = Vec::with_capacity(self.n_rows * self.n_outputs);
        for row in 0..self.n_rows {
            for (output, level) in levels.iter().enumerate() {
                let row_of_mixing = &weights[output * latents.len()..][..latents.len()];
                let signal: f64 =
                    row_of_mixing.iter().zip(&latents).map(|(weight, latent)| weight * latent[row]).sum();
                let noise = model.noise()[output].get().sqrt() * draws.normal();
                let lost = if self.mostly_missing == Some(output) { 0.9 } else { self.missing };
                values.push(if draws.chance(lost) { f64::NAN } else { level + signal + noise });
            }
        }
        let hide = self.draw_held_out(&mut draws);
        let table = GapTable::new(self.name, inputs, self.n_outputs, values, hide).unwrap();
        SimulatedTable { table, model, levels }
    }

    fn draw_inputs(&self, draws: &mut SeededDraws) -> InputPoints {
        let mut place = 0.0;
        let mut next = |gap: f64| {
            place += gap;
            place
        };
        match self.places {
            Places::Even => InputPoints::from_column((0..self.n_rows).map(|row| row as f64).collect()),
            Places::Uneven => InputPoints::from_column(
                (0..self.n_rows).map(|_| next(-(1.0 - draws.uniform(0.0, 1.0)).ln())).collect(),
            ),
            Places::Cube(dim) => {
                let values = (0..self.n_rows * dim).map(|_| draws.uniform(0.0, 1.0)).collect();
                InputPoints::new(self.n_rows, dim, values)
            }
        }
        .unwrap()
    }

    fn draw_model(&self, draws: &mut SeededDraws) -> Lmc {
        let has_private = self.private_share > 0.0;
        let (mut shared, mut private, mut noise) = (vec![], vec![], vec![]);
        for output in 0..self.n_outputs {
            let scale = scale_of(output);
            let row: Vec<f64> = (0..self.n_shared).map(|_| draws.normal()).collect();
            let norm = row.iter().map(|weight| weight * weight).sum::<f64>().sqrt();
            let size = scale * (1.0 - self.private_share).sqrt() / norm;
            shared.extend(row.iter().map(|weight| size * weight));
            if has_private {
                private.push(scale * self.private_share.sqrt());
            }
            noise.push(Variance::new(self.noise * scale * scale).unwrap());
        }
        let state = if self.dim() == 1 { StateKind::Derivative } else { StateKind::Value };
        let latent = |kernel, length| Latent::new(kernel, state, LengthScale::new(length).unwrap()).unwrap();
        let (shortest, longest) = self.shared_lengths;
        let ratio = |at: usize| at as f64 / (self.n_shared.max(2) - 1) as f64;
        let mut latents: Vec<Latent> = (0..self.n_shared)
            .map(|at| latent(self.shared_kernel, longest * (shortest / longest).powf(ratio(at))))
            .collect();
        latents.extend(private.iter().map(|_| latent(self.private.0, self.private.1)));
        let mixing = MixingMatrix::with_private(self.n_outputs, self.n_shared, shared, private).unwrap();
        Lmc::new(latents, mixing, noise).unwrap()
    }

    fn draw_latents(&self, inputs: &InputPoints, model: &Lmc, draws: &mut SeededDraws) -> Vec<Vec<f64>> {
        let (shared, private) = model.latents().split_at(self.n_shared);
        let mut one = |latent: &Latent, count: usize| match self.places {
            Places::Cube(_) => {
                draw_in_space(latent.kernel().unwrap(), latent.length_scale(), inputs, count, draws)
            }
            Places::Even | Places::Uneven => (0..count)
                .map(|_| {
                    draw_on_line(latent.kernel().unwrap(), latent.length_scale(), inputs.values(), draws)
                })
                .collect(),
        };
        let mut latents: Vec<Vec<f64>> = shared.iter().flat_map(|latent| one(latent, 1)).collect();
        // Private latents are alike: one factorization serves all.
        latents.extend(private.first().map(|latent| one(latent, private.len())).unwrap_or_default());
        latents
    }

    /// Indices of the held-out cells, row-major.
    fn draw_held_out(&self, draws: &mut SeededDraws) -> Vec<usize> {
        match self.gaps {
            GapShape::Cells => {
                (0..self.n_rows * self.n_outputs).filter(|_| draws.chance(self.hidden)).collect()
            }
            GapShape::Blocks(length) => {
                let mut cells = vec![];
                for output in 0..self.n_outputs {
                    let mut is_hidden = vec![false; self.n_rows];
                    let wanted = (self.hidden * self.n_rows as f64) as usize;
                    while is_hidden.iter().filter(|hidden| **hidden).count() < wanted {
                        let first = draws.below(self.n_rows - length + 1);
                        is_hidden[first..first + length].fill(true);
                    }
                    let rows = (0..self.n_rows).filter(|&row| is_hidden[row]);
                    cells.extend(rows.map(|row| row * self.n_outputs + output));
                }
                cells.sort_unstable();
                cells
            }
        }
    }
}

/// Scales from a tenth to a hundred.
fn scale_of(output: usize) -> f64 {
    10.0_f64.powi((output % 4) as i32 - 1)
}

#[cfg(test)]
mod tests;
