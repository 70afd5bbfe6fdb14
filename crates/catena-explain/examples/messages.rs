//! Prints the messages of Fig. 2 of the paper for two rows: one complete, one with a single observed output.

#![allow(clippy::print_stdout, reason = "an example prints its result")]

use catena::data::{InputPoints, Observations};
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::structure::sorted_chain;
use catena::units::{LengthScale, Variance};
use catena_explain::ExplicitGraph;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let latent = Latent::new(Kernel::Matern32, StateKind::Derivative, LengthScale::new(1.0)?)?;
    let mixing = MixingMatrix::shared(3, 1, vec![1.0, 0.5, -0.5])?;
    let model = Lmc::new(vec![latent], mixing, vec![Variance::new(0.1)?; 3])?;
    let tree = sorted_chain(&InputPoints::from_column(vec![0.0, 0.4])?)?;
    let missing = f64::NAN;
    let observations = Observations::from_dense(2, 3, &[0.9, 0.4, -0.6, 1.1, missing, missing])?;
    print!("{}", ExplicitGraph::new(&model, &tree, &observations)?.to_text());
    Ok(())
}
