//! Loads that look at the process before and after take turns: one would otherwise be told what the other has changed.

use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// Until when it is somebody's turn.
static HOLDER: Mutex<Option<Instant>> = Mutex::new(None);
static FREED: Condvar = Condvar::new();

/// The turn of one load, until it is dropped or its time is over.
#[derive(Debug)]
#[must_use = "it is given back when it is dropped"]
pub(super) struct Turn {
    until: Instant,
}

impl Turn {
    /// Waits for a turn of at most `limit`. `None` where the load whose turn it is takes longer than it may: it may never come back, so that
    /// nobody waits for it any more.
    pub(super) fn take(limit: Duration) -> Option<Self> {
        let mut holder = HOLDER.lock();
        while let Some(until) = *holder {
            if until <= Instant::now() {
                return None;
            }
            let _ = FREED.wait_until(&mut holder, until);
        }
        let until = Instant::now() + limit;
        *holder = Some(until);
        Some(Self { until })
    }

    /// When its time is over.
    pub(super) fn until(&self) -> Instant {
        self.until
    }

    /// Whether others may have gone on meanwhile.
    pub(super) fn is_over(&self) -> bool {
        self.until <= Instant::now()
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

    use super::*;
    use crate::{
        hygiene::{Change, Hygiene},
        policy::HygienePolicy,
    };

    // The only test that takes turns: a process has one after the other.
    #[test]
    fn loads_take_turns_and_nobody_waits_for_one_that_is_late() {
        const LONG: Duration = Duration::from_secs(600);
        let provider = "a".parse().unwrap();
        let load = |policy, limit| {
            let hygiene = Hygiene { provider: &provider, policy, owns_output: true, limit };
            let loaded = hygiene.around(|| Ok(7)).map_err(|reason| reason.code)?;
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
        assert!(Turn::take(LONG).is_some(), "given back, however late");
    }
}
