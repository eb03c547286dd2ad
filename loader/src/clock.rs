//! The system's clock, for core, which has none.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use toolbay_core::Clock;

/// The system's clock. The time of the day is read twice in every call, and this is the shortest way to it: the standard library's adds some six hundredths
/// to a small call. For valgrind, which hides what this reads, CONTRIBUTING.md says how to build.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        read(ClockId::Realtime)
    }

    fn steady(&self) -> Duration {
        read(ClockId::Monotonic)
    }
}

fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}
