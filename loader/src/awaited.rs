//! An answer that somebody waits for, though not for good.

use std::time::{Duration, Instant};

use toolbay_core::CancelToken;

use crate::sync::{Condvar, Mutex};

/// How long a wait goes on before it looks whether somebody has cancelled.
const LOOK: Duration = Duration::from_millis(10);

/// An answer that comes once, from another thread.
#[derive(Debug)]
pub(crate) struct Awaited<T> {
    state: Mutex<State<T>>,
    given: Condvar,
}

#[derive(Debug)]
enum State<T> {
    Open,
    Given(T),
    Taken,
}

/// What a wait came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Waited<T> {
    Answered(T),
    /// The time was over.
    Late,
    /// Nobody wants the answer any more.
    Cancelled,
}

impl<T> Default for Awaited<T> {
    fn default() -> Self {
        Self { state: Mutex::new(State::Open), given: Condvar::new() }
    }
}

impl<T> Awaited<T> {
    /// Gives the answer.
    pub(crate) fn give(&self, answer: T) {
        let before = std::mem::replace(&mut *self.state.lock(), State::Given(answer));
        self.given.notify_all();
        // What was never taken may be a plugin's, whose code then runs without the lock.
        drop(before);
    }

    /// Whether it was given.
    pub(crate) fn is_given(&self) -> bool {
        !matches!(*self.state.lock(), State::Open)
    }

    /// Waits for the answer, until the time is over or somebody has cancelled. Who waits after it was taken waits in vain.
    pub(crate) fn wait(
        &self,
        deadline: Option<Instant>,
        cancel: Option<&CancelToken>,
    ) -> Waited<T> {
        self.wait_until(|| deadline, cancel)
    }

    /// Lets whoever waits ask for the deadline anew.
    pub(crate) fn wake(&self) {
        // Nobody is then between asking for it and falling asleep.
        let _state = self.state.lock();
        self.given.notify_all();
    }

    /// Waits in the same way, where the deadline can change meanwhile: see [`wake`](Self::wake).
    pub(crate) fn wait_until(
        &self,
        deadline: impl Fn() -> Option<Instant>,
        cancel: Option<&CancelToken>,
    ) -> Waited<T> {
        let mut state = self.state.lock();
        loop {
            match std::mem::replace(&mut *state, State::Taken) {
                State::Given(answer) => return Waited::Answered(answer),
                before => *state = before,
            }
            if cancel.is_some_and(CancelToken::is_cancelled) {
                return Waited::Cancelled;
            }
            let (now, deadline) = (Instant::now(), deadline());
            if deadline.is_some_and(|deadline| deadline <= now) {
                return Waited::Late;
            }
            let look = cancel.is_some().then(|| now + LOOK);
            match [deadline, look].into_iter().flatten().min() {
                Some(until) => drop(self.given.wait_until(&mut state, until)),
                None => self.given.wait(&mut state),
            }
        }
    }

    /// Waits in the same way. `stop` is told once nobody wants the answer any more; what was cancelled, and then stops by itself within the
    /// grace, may still say how far it has come.
    pub(crate) fn wait_or_stop(
        &self,
        deadline: Instant,
        cancel: Option<&CancelToken>,
        grace: Duration,
        stop: impl FnOnce(),
    ) -> Waited<T> {
        match self.wait(Some(deadline), cancel) {
            Waited::Answered(answer) => Waited::Answered(answer),
            Waited::Late => {
                stop();
                Waited::Late
            }
            Waited::Cancelled => {
                stop();
                match self.wait(Some(deadline.min(Instant::now() + grace)), None) {
                    Waited::Answered(answer) => Waited::Answered(answer),
                    Waited::Late | Waited::Cancelled => Waited::Cancelled,
                }
            }
        }
    }
}

#[cfg(all(test, shuttle))]
mod model;

#[cfg(test)]
mod tests {
    use std::{cell::Cell, thread};

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn whoever_waits_gets_the_answer_or_hears_of_time_and_cancellation() {
        let awaited = Awaited::default();
        assert!(!awaited.is_given());
        assert_eq!(awaited.wait(Some(Instant::now()), None), Waited::Late);
        let cancel = CancelToken::new();
        cancel.cancel();
        assert_eq!(awaited.wait(Some(soon()), Some(&cancel)), Waited::Cancelled);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| awaited.wait(Some(soon()), None));
            awaited.give(7);
            assert_eq!(waiting.join().unwrap(), Waited::Answered(7));
        });
        assert!(awaited.is_given());
        assert_eq!(awaited.wait(Some(Instant::now()), None), Waited::Late, "it was taken");
    }

    #[test]
    fn a_deadline_that_comes_nearer_is_heard_of() {
        let (awaited, deadline) = (Awaited::<()>::default(), Mutex::new(soon()));
        thread::scope(|scope| {
            let waiting = scope.spawn(|| awaited.wait_until(|| Some(*deadline.lock()), None));
            *deadline.lock() = Instant::now();
            awaited.wake();
            assert_eq!(waiting.join().unwrap(), Waited::Late);
        });
    }

    #[test]
    fn what_is_stopped_may_still_answer_within_the_grace() {
        let (cancel, grace) = (CancelToken::new(), Duration::from_secs(60));
        cancel.cancel();
        let cases = [
            (soon(), None, true, Waited::Answered(1), 0),
            (Instant::now(), None, false, Waited::Late, 1),
            (soon(), Some(&cancel), true, Waited::Answered(1), 1),
            (Instant::now(), Some(&cancel), false, Waited::Cancelled, 1),
        ];
        for (deadline, cancel, answers, expected, stops) in cases {
            let awaited = Awaited::default();
            let stopped = Cell::new(0);
            if answers && cancel.is_none() {
                awaited.give(1);
            }
            let waited = awaited.wait_or_stop(deadline, cancel, grace, || {
                stopped.set(stopped.get() + 1);
                if answers {
                    awaited.give(1);
                }
            });
            assert_eq!((waited, stopped.get()), (expected, stops));
        }
    }
}
