//! The system's clock, for core, which has none.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use toolbay_core::Clock;

/// The system's clock. It is read twice in every call, and this is a short way to it: the standard library's adds a tenth to a small call,
/// and crates that read the vDSO themselves crash where a debugger such as valgrind hides it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        clock_gettime(ClockId::CLOCK_REALTIME).map(Duration::from).unwrap_or_default()
    }
}
