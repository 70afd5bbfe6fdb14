//! The members of a stacked fit and how they are combined.

use catena::model::Lmc;

use super::columns::PlaceColumns;
use super::rows::RowRegression;
use super::rule_ahead::RuleAhead;
use crate::prepare::Preparation;

/// Members and the mixture of pools that answers.
#[derive(Clone, Debug)]
pub struct Combination {
    /// Whether it was chosen for forecasts: then `elsewhere` is after the last row of the table, and `at_rows` everywhere before.
    pub is_ahead: bool,
    /// The members, by weight.
    pub members: Vec<Member>,
    /// The components of the mixture.
    pub components: Vec<PoolComponent>,
}

impl Combination {
    /// The model of a fit alone, with its standard deviations multiplied by a factor.
    pub(crate) fn widened(name: String, factor: f64) -> Self {
        let exponents = vec![factor.powi(-2)];
        let component = PoolComponent { weight: 1.0, at_rows: exponents.clone(), elsewhere: exponents };
        let member = Member { name, weight: 1.0, kind: MemberKind::Best };
        Self { is_ahead: false, members: vec![member], components: vec![component] }
    }
}

/// One component of the answer: the product of the members' densities, each to the power of its exponent.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolComponent {
    /// The weight of the component; the weights of all components sum to 1.
    pub weight: f64,
    /// The exponent of each member at the rows of the table; of space and time at the places of the table, at any time.
    pub at_rows: Vec<f64>,
    /// The exponent of each member at other inputs, where regressions on other outputs have none.
    pub elsewhere: Vec<f64>,
}

/// One member.
#[derive(Clone, Debug)]
pub struct Member {
    /// A description.
    pub name: String,
    /// Its mean share in the precision of a held-out cell; the weights of all members sum to 1.
    pub weight: f64,
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
    /// A model with a column for every place and output. It predicts at its places only.
    Columns(PlaceColumns),
    /// A regression on other outputs. It predicts at rows of the table only.
    Rows(RowRegression),
    /// A simple rule. It predicts after the last row of the table only.
    Ahead(RuleAhead),
}
