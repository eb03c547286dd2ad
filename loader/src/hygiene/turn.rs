//! Loads that look at the process before and after take turns: one would otherwise be told what the other has changed.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};

/// Whose turn it is, by number, and until when.
static HOLDER: Mutex<Option<(u64, Instant)>> = Mutex::new(None);
static FREED: Condvar = Condvar::new();
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The turn of one load, until it is dropped or its time is over.
#[derive(Debug)]
#[must_use = "it is given back when it is dropped"]
pub(crate) struct Turn {
    number: u64,
    until: Instant,
}

/// What ends a turn whose load nobody waits for any more.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TurnNumber(u64);

impl Turn {
    /// Waits for a turn of at most `limit`. `None` where the load whose turn it is takes longer than it may: it may never come back, so that
    /// nobody waits for it any more.
    pub(super) fn take(limit: Duration) -> Option<Self> {
        let mut holder = HOLDER.lock();
        while let Some((_, until)) = *holder {
            if until <= Instant::now() {
                return None;
            }
            let _ = FREED.wait_until(&mut holder, until);
        }
        let (number, until) = (NEXT.fetch_add(1, Ordering::Relaxed), Instant::now() + limit);
        *holder = Some((number, until));
        Some(Self { number, until })
    }

    /// Its number.
    pub(crate) fn number(&self) -> TurnNumber {
        TurnNumber(self.number)
    }

    /// When its time is over.
    pub(super) fn until(&self) -> Instant {
        self.until
    }

    /// Whether others may have gone on meanwhile.
    pub(super) fn is_over(&self) -> bool {
        let until = HOLDER.lock().filter(|(number, _)| *number == self.number);
        until.is_none_or(|(_, until)| until <= Instant::now())
    }
}

impl TurnNumber {
    /// Ends the turn: nobody waits for its load any more.
    pub(crate) fn give_up(self) {
        if let Some((number, until)) = &mut *HOLDER.lock()
            && *number == self.0
        {
            *until = Instant::now();
            FREED.notify_all();
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *HOLDER.lock() = None;
        FREED.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread};

    use rustix::{fs::fstat, stdio::stdout};
    use toolbay_core::ProviderId;

    use super::*;
    use crate::{
        hygiene::{Change, Hygiene},
        policy::HygienePolicy,
    };

    // The only test that takes turns: a process has one after the other.
    #[test]
    fn loads_take_turns_and_nobody_waits_for_one_that_is_late() {
        const LONG: Duration = Duration::from_secs(600);
        let provider: ProviderId = "a".parse().unwrap();
        let load = |policy, limit| {
            let hygiene = Hygiene { provider: provider.clone(), policy, owns_output: true, limit };
            let loaded = hygiene.around(hygiene.turn(), || Ok(7)).map_err(|reason| reason.code)?;
            Ok((loaded.0, loaded.1.into_iter().map(|one| one.change).collect::<Vec<_>>()))
        };
        let unwatched = Ok((7, vec![Change::NotWatched]));
        let file = || fstat(stdout()).map(|stat| (stat.st_dev, stat.st_ino)).unwrap();
        let before = file();
        let first = Turn::take(LONG).unwrap();
        assert!(!first.is_over());
        let (begun, waits) = mpsc::channel();
        thread::scope(|scope| {
            let second = scope.spawn(|| {
                begun.send(()).unwrap();
                Turn::take(Duration::ZERO)
            });
            waits.recv().unwrap();
            drop(first);
            // Its time is over at once, so that a third is sent away although it has not been given back.
            let second = second.join().unwrap().unwrap();
            assert!(second.is_over());
            assert!(Turn::take(LONG).is_none());
            assert_eq!(load(HygienePolicy::Report, LONG), unwatched);
            assert_eq!(load(HygienePolicy::Refuse, LONG), Err("not_watched"));
            drop(second);
        });
        // What is late itself does not undo what others have done meanwhile.
        assert_eq!(load(HygienePolicy::Report, Duration::ZERO), unwatched);
        assert_eq!(load(HygienePolicy::Refuse, Duration::ZERO), Err("not_watched"));
        assert_eq!(file(), before, "the output is where it was");
        let given_up = Turn::take(LONG).unwrap();
        given_up.number().give_up();
        assert!(given_up.is_over() && Turn::take(LONG).is_none());
        drop(given_up);
        let last = Turn::take(LONG).unwrap();
        TurnNumber(last.number + 1).give_up();
        assert!(!last.is_over(), "another's turn was given up");
    }
}
