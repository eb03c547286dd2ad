//! What the first call starts, and what the next one starts again once it has ended.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{
    breaker::Breaker,
    entries::Crash,
    sync::{
        ArcSwapOption, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

/// Something that runs until it ends by itself.
pub(crate) trait Runs {
    /// Why it has ended; `None` while it runs.
    fn ended(&self) -> Option<Crash>;
}

/// Keeps at most one running, and counts how often it has ended in a row.
#[derive(Debug)]
pub(crate) struct Supervised<R> {
    running: ArcSwapOption<R>,
    /// Held by whoever starts one.
    starting: Mutex<Breaker>,
    /// Whether one has ended since a call succeeded last.
    has_ended: AtomicBool,
}

/// Why none runs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotRunning<E> {
    /// The one that has ended may not be replaced.
    Fenced(Crash),
    /// So many have ended in a row that there is a wait before the next is started.
    Restarting { ends: u32, left: Duration },
    /// It can't be started.
    Failed(E),
}

impl<R: Runs> Supervised<R> {
    /// With one that runs already, or none.
    pub(crate) fn new(running: Option<R>) -> Self {
        Self {
            running: ArcSwapOption::new(running.map(Arc::new)),
            starting: Mutex::default(),
            has_ended: AtomicBool::new(false),
        }
    }

    /// Whether one runs.
    pub(crate) fn is_running(&self) -> bool {
        self.running.load().as_ref().is_some_and(|running| running.ended().is_none())
    }

    /// Takes out what runs, or has ended.
    pub(crate) fn take(&self) -> Option<Arc<R>> {
        self.running.swap(None)
    }

    /// Does something with the one that runs, or with the one that `ensure` gives. Where it succeeds, those that have ended before no longer
    /// count.
    pub(crate) fn with<T, E>(
        &self,
        ensure: impl FnOnce() -> Result<Arc<R>, E>,
        work: impl FnOnce(&R) -> Result<T, E>,
    ) -> Result<T, E> {
        let there = self.running.load();
        let ensured;
        let running = match &*there {
            Some(running) if running.ended().is_none() => running,
            _ => {
                ensured = ensure()?;
                &ensured
            }
        };
        let done = work(running)?;
        self.worked(running);
        Ok(done)
    }

    /// The one that runs, started where there is none: by one caller, while the others wait for it. One that has ended is told to `tell` once,
    /// with how many have in a row, unless it may not be replaced.
    pub(crate) fn ensure<E>(
        &self,
        may_be_replaced: impl FnOnce(&R) -> bool,
        tell: impl FnOnce(&Crash, u32),
        start: impl FnOnce() -> Result<R, E>,
    ) -> Result<Arc<R>, NotRunning<E>> {
        let mut breaker = self.starting.lock();
        if let Some(running) = self.running.load_full() {
            let Some(crash) = running.ended() else { return Ok(running) };
            if !may_be_replaced(&running) {
                return Err(NotRunning::Fenced(crash));
            }
            self.running.store(None);
            let ends = breaker.ended(Instant::now());
            self.has_ended.store(true, Ordering::Relaxed);
            tell(&crash, ends);
        }
        if let Some(left) = breaker.wait(Instant::now()) {
            return Err(NotRunning::Restarting { ends: breaker.ends(), left });
        }
        let running = Arc::new(start().map_err(NotRunning::Failed)?);
        self.running.store(Some(Arc::clone(&running)));
        Ok(running)
    }

    fn worked(&self, running: &Arc<R>) {
        if !self.has_ended.load(Ordering::Relaxed) {
            return;
        }
        // Where somebody starts one just now, this success is of one that has ended; nobody waits for that with an answer in hand.
        let Some(mut breaker) = self.starting.try_lock() else { return };
        // Of one that has ended meanwhile, it says nothing about the one after it.
        if self.running.load().as_ref().is_some_and(|there| Arc::ptr_eq(there, running)) {
            breaker.worked();
            self.has_ended.store(false, Ordering::Relaxed);
        }
    }
}

#[cfg(all(test, shuttle))]
mod model;

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Ends when it is told to.
    #[derive(Debug, Default)]
    struct Process(std::sync::atomic::AtomicBool);

    impl Process {
        fn end(&self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    impl Runs for Process {
        fn ended(&self) -> Option<Crash> {
            let has_ended = self.0.load(Ordering::Relaxed);
            has_ended.then(|| Crash { how: "ended".to_owned(), hung: false })
        }
    }

    /// Ends what runs, starts the next, and says how many have ended in a row.
    fn again(supervised: &Supervised<Process>) -> u32 {
        supervised.running.load().as_ref().unwrap().end();
        let told = Cell::new(0);
        let ensured = supervised.ensure(
            |_| true,
            |_, ends| told.set(ends),
            || Ok::<_, ()>(Process::default()),
        );
        assert!(ensured.is_ok() || matches!(ensured, Err(NotRunning::Restarting { .. })));
        told.get()
    }

    #[test]
    fn a_success_counts_for_the_one_that_had_it_alone() {
        let cases: [(bool, u32); 2] = [(false, 1), (true, 2)];
        for (ends_meanwhile, expected) in cases {
            let supervised = Supervised::new(Some(Process::default()));
            let before = if ends_meanwhile { 0 } else { again(&supervised) };
            let succeeded = supervised.with(
                || Err(()),
                |_| {
                    if ends_meanwhile {
                        assert_eq!(again(&supervised), 1);
                    }
                    Ok(())
                },
            );
            assert_eq!(succeeded, Ok(()));
            assert_eq!(again(&supervised), expected, "after {before} before the call");
        }
    }

    #[test]
    fn what_may_not_be_replaced_stays_and_a_failure_is_tried_again() {
        let supervised = Supervised::new(Some(Process::default()));
        supervised.running.load().as_ref().unwrap().end();
        let crash = Crash { how: "ended".to_owned(), hung: false };
        let never = |_: &Crash, _| panic!("nothing is told");
        let refused = supervised.ensure(|_| false, never, || Err::<Process, _>("started"));
        assert_eq!(refused.unwrap_err(), NotRunning::Fenced(crash));
        let failed = supervised.ensure(|_| true, |_, _| (), || Err("not there"));
        assert_eq!(failed.unwrap_err(), NotRunning::Failed("not there"));
        assert!(!supervised.is_running());
        let started = supervised.ensure(|_| true, never, || Ok::<_, ()>(Process::default()));
        assert!(started.is_ok() && supervised.is_running());
        assert!(supervised.take().is_some() && !supervised.is_running());
    }
}
