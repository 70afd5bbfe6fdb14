//! The members of a stacked fit.

use catena::model::Lmc;

use super::rows::RowRegression;
use crate::prepare::Preparation;

/// One member of a mixture.
#[derive(Clone, Debug)]
pub struct Member {
    /// A description.
    pub name: String,
    /// The weight; the weights of all members sum to 1.
    pub weight: f64,
    /// The factor on its standard deviations.
    pub widening: f64,
    /// What predicts.
    pub kind: MemberKind,
}

/// What predicts.
#[derive(Clone, Debug)]
pub enum MemberKind {
    /// The model of the fit itself: the best single one.
    Best,
    /// Another model by message passing on the structure of the fit.
    Model {
        /// Its units.
        preparation: Preparation,
        /// The model, in its own units.
        model: Lmc,
    },
    /// A regression on the other outputs of a row. It predicts at rows of the table; the best single model takes its place at
    /// other inputs.
    Rows(RowRegression),
}
