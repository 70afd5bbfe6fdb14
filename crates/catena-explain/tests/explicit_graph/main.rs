//! The explicit factor graph against dense algebra: message rules, marginals on every edge, evidence, and the listing.

#[cfg(test)]
mod cases;
#[cfg(test)]
mod dense;
#[cfg(test)]
mod drawing;
#[cfg(test)]
mod edges_equal_dense;
#[cfg(test)]
mod fig2_listing;
#[cfg(test)]
mod message_rules;
#[cfg(test)]
mod reference;
