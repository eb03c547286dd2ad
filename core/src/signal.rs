//! How one thread wakes another that waits for something to change.

use std::{
    sync::{Condvar, Mutex, PoisonError},
    time::Duration,
};

/// Wakes the one thread that waits on it. A signal that comes before the wait is not lost, and several at once are one.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    raised: Mutex<bool>,
    changed: Condvar,
}

impl Signal {
    /// Wakes whoever waits, or will wait next.
    pub(crate) fn raise(&self) {
        *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_one();
    }

    /// Returns when the signal is raised, and after this time at the latest.
    pub(crate) fn wait(&self, at_most: Duration) {
        let raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(raised, at_most, |raised| !*raised);
        let (mut raised, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *raised = false;
    }
}
