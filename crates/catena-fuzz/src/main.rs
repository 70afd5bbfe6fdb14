//! The targets under libFuzzer. `CATENA_FUZZ_TARGET` names the one to run; `cargo xtask fuzz` builds this and starts it.

#![no_main]

use std::sync::LazyLock;

/// The target, looked up once.
static TARGET: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = std::env::var("CATENA_FUZZ_TARGET").unwrap_or_default();
    let found = catena_fuzz::find(&name);
    assert!(found.is_some(), "CATENA_FUZZ_TARGET={name} is not a target");
    found.map_or(|_: &[u8]| {}, |target| target.run)
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (*TARGET)(bytes));
