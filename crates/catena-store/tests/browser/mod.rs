//! Pages in a browser: steering it, and reading back what was drawn.

#![allow(dead_code, reason = "each test uses a part")]

pub(crate) mod devtools;
pub(crate) mod readback;
