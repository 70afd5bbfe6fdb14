//! Streaming: `feed` reads lines; `session` applies, journals and answers them.

mod feed;
mod session;

pub(crate) use feed::{Feed, LONGEST_LINE, Next, Resumed, Switch};
pub(crate) use session::{Ask, OnError, Session, SessionOptions};
