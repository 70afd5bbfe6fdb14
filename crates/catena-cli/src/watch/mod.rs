//! Streaming: `feed` reads lines; `groups` has a live posterior for each group; `session` applies, journals and answers lines.

mod feed;
mod groups;
mod session;

pub(crate) use feed::{Feed, LONGEST_LINE, Next, Resumed, Switch};
pub(crate) use groups::LiveModel;
pub(crate) use session::{Ask, OnError, Session, SessionOptions};
