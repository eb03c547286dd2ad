//! Something that happens once, and that others wait for.

use std::time::Instant;

use parking_lot::{Condvar, Mutex};

/// Closed until it is opened for good.
#[derive(Debug, Default)]
pub(super) struct Latch {
    is_open: Mutex<bool>,
    opened: Condvar,
}

impl Latch {
    /// Opens it.
    pub(super) fn open(&self) {
        *self.is_open.lock() = true;
        self.opened.notify_all();
    }

    /// Waits until it is open.
    pub(super) fn wait(&self) {
        let mut is_open = self.is_open.lock();
        while !*is_open {
            self.opened.wait(&mut is_open);
        }
    }

    /// Waits until it is open or the time is over; tells whether it is open.
    pub(super) fn wait_until(&self, until: Instant) -> bool {
        let mut is_open = self.is_open.lock();
        while !*is_open {
            if self.opened.wait_until(&mut is_open, until).timed_out() {
                break;
            }
        }
        *is_open
    }
}
