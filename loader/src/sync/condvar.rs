//! A condition variable for the models with the interface of `parking_lot`'s: its waits end when they are notified or, where they have a limit,
//! at any moment. Shuttle's own never run out of time.

use std::{
    sync::{Arc, Mutex as Plain, PoisonError},
    time::{Duration, Instant},
};

use shuttle::{
    rand::{self, Rng},
    sync, thread,
};

use super::mutex::MutexGuard;

/// Lets threads wait for each other.
#[derive(Debug, Default)]
pub(crate) struct Condvar {
    // Never held across a step of the model.
    waiting: Plain<Vec<Arc<Waiter>>>,
}

/// A thread that waits.
#[derive(Debug, Default)]
struct Waiter {
    woken: sync::Mutex<Option<Woken>>,
    changed: sync::Condvar,
}

/// What ended a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Woken {
    Notified,
    TimedOut,
}

/// Whether a wait has run out of time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    pub(crate) fn timed_out(self) -> bool {
        self.0
    }
}

impl Condvar {
    pub(crate) const fn new() -> Self {
        Self { waiting: Plain::new(Vec::new()) }
    }

    pub(crate) fn notify_one(&self) {
        super::step();
        // One whose time was just over is not there any more, and another one is woken.
        while let Some(waiter) = self.any() {
            if waiter.wake(Woken::Notified) {
                return;
            }
        }
    }

    pub(crate) fn notify_all(&self) {
        super::step();
        while let Some(waiter) = self.any() {
            waiter.wake(Woken::Notified);
        }
    }

    pub(crate) fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        self.wait_as(guard, &Arc::default());
    }

    pub(crate) fn wait_for<T>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        _: Duration,
    ) -> WaitTimeoutResult {
        let waiter = Arc::<Waiter>::default();
        let timer = Arc::clone(&waiter);
        thread::spawn(move || timer.wake(Woken::TimedOut));
        WaitTimeoutResult(self.wait_as(guard, &waiter) == Woken::TimedOut)
    }

    pub(crate) fn wait_until<T>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        _: Instant,
    ) -> WaitTimeoutResult {
        self.wait_for(guard, Duration::ZERO)
    }

    fn wait_as<T>(&self, guard: &mut MutexGuard<'_, T>, waiter: &Arc<Waiter>) -> Woken {
        super::step();
        self.waiting().push(Arc::clone(waiter));
        let woken = guard.unlocked(|| waiter.wait());
        self.waiting().retain(|other| !Arc::ptr_eq(other, waiter));
        woken
    }

    /// Takes one out, whichever it is.
    fn any(&self) -> Option<Arc<Waiter>> {
        let mut waiting = self.waiting();
        let count = waiting.len();
        (count > 0).then(|| waiting.swap_remove(rand::thread_rng().gen_range(0..count)))
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Waiter>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiter {
    /// Ends the wait, unless it has ended. Tells whether this has.
    fn wake(&self, how: Woken) -> bool {
        let mut woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = woken.is_none();
        if is_first {
            *woken = Some(how);
            self.changed.notify_one();
        }
        is_first
    }

    fn wait(&self) -> Woken {
        let mut woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match *woken {
                Some(how) => return how,
                None => woken = self.changed.wait(woken).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}
