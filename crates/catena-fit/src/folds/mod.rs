//! Held-out cells, by which models and methods are compared.

mod blocks;
mod cell;
mod fold;
mod gaps;
mod neighborhoods;
mod random;
mod sample;
mod simple_rules;

pub(crate) use fold::Fold;
pub(crate) use random::below;
pub(crate) use sample::{random_rows, representative_rows, topped_up};
pub(crate) use simple_rules::{pooled_simple_rule_scores, simple_rule_scores};
