//! The system's clock, for core, which has none.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use toolbay_core::Clock;

/// The system's clock, by way of the standard library: crates that read the vDSO themselves are a little quicker, and crash where a
/// debugger such as valgrind hides it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }
}
