//! The past and future of each of several segments, from their summaries.

use super::error::SegmentError;
use super::segment::Summary;
use crate::inference::blocks::{Future, Past};

/// Everything before and after a segment.
#[derive(Clone, Debug, PartialEq)]
pub struct Surroundings {
    /// Everything before it; `None` for the first.
    pub past: Option<Past>,
    /// Everything after it; `None` for the last.
    pub future: Option<Future>,
}

/// The log evidence of a chain that is cut into these segments, and the surroundings of each. Each summary is
/// joined twice, whatever its number of rows.
///
/// # Errors
/// When they are of models with other states, or numbers overflow.
pub fn surroundings(segments: &[Summary]) -> Result<(f64, Vec<Surroundings>), SegmentError> {
    let mut up_to: Vec<Summary> = Vec::with_capacity(segments.len());
    for segment in segments {
        let joined = match up_to.last() {
            Some(before) => before.then(segment)?,
            None => segment.clone(),
        };
        up_to.push(joined);
    }
    let log_evidence = up_to.last().map_or(0.0, Summary::log_evidence);
    let mut after: Option<Summary> = None;
    let mut found = Vec::with_capacity(segments.len());
    for at in (0..segments.len()).rev() {
        let past = at.checked_sub(1).map(|before| up_to[before].past());
        let future = after.as_ref().map(|after| after.future(&up_to[at])).transpose()?;
        found.push(Surroundings { past, future });
        after = Some(match &after {
            Some(after) => segments[at].then(after)?,
            None => segments[at].clone(),
        });
    }
    found.reverse();
    Ok((log_evidence, found))
}
