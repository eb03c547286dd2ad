//! The calls that nobody waits for any more, and that have not come back.

use std::{
    collections::BTreeMap,
    fmt,
    time::{Duration, Instant},
};

use crate::{
    awaited::{Awaited, Waited},
    entries::Crash,
    sync::{
        Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

/// Told of a call that does not come back.
pub(crate) type OnHang = Box<dyn Fn(&Crash) + Send + Sync>;

/// Keeps calls from an instance in which one hangs.
pub(super) struct Fence {
    next: AtomicU64,
    /// By number, since when they are over.
    hung: Mutex<BTreeMap<u64, Instant>>,
    /// How many there are, read before each call.
    count: AtomicUsize,
    on_hang: OnHang,
}

impl fmt::Debug for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fence").field("hung", &self.hung).finish_non_exhaustive()
    }
}

impl Fence {
    pub(super) fn new(on_hang: OnHang) -> Self {
        Self {
            next: AtomicU64::new(0),
            hung: Mutex::default(),
            count: AtomicUsize::new(0),
            on_hang,
        }
    }

    /// The number of a call.
    pub(super) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Waits for what nobody else waits for, and fences the instance where it does not come within the grace.
    pub(super) fn watch<T>(&self, number: u64, answer: &Awaited<T>, grace: Duration) {
        // Where it comes after all, it is dropped without the lock, for it may be a plugin's.
        if let Waited::Answered(late) = answer.wait(Some(Instant::now() + grace), None) {
            drop(late);
            return;
        }
        let crash = {
            let mut hung = self.hung.lock();
            // Whoever comes back gives the answer first, and then looks here.
            if answer.is_given() {
                return;
            }
            hung.insert(number, Instant::now());
            self.count.store(hung.len(), Ordering::Release);
            describe(hung.len())
        };
        (self.on_hang)(&crash);
    }

    /// A call came back.
    pub(super) fn came_back(&self, number: u64) {
        let mut hung = self.hung.lock();
        if let Some(since) = hung.remove(&number) {
            self.count.store(hung.len(), Ordering::Release);
            log::warn!("a call that was abandoned came back after {} s", since.elapsed().as_secs());
        }
    }

    /// What has not come back; `None` where nothing is missing.
    pub(super) fn hung(&self) -> Option<Crash> {
        match self.count.load(Ordering::Acquire) {
            0 => None,
            count => Some(describe(count)),
        }
    }
}

fn describe(count: usize) -> Crash {
    let how = match count {
        1 => "a call that was abandoned has not come back, and goes on in the host".to_owned(),
        count => {
            format!("{count} calls that were abandoned have not come back, and go on in the host")
        }
    };
    Crash { how, hung: true }
}

#[cfg(all(test, shuttle))]
mod model;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn what_does_not_come_back_fences_until_it_does() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let telling = Arc::clone(&told);
        let fence = Fence::new(Box::new(move |crash| telling.lock().push(crash.clone())));
        let [punctual, lost] = [fence.number(), fence.number()];
        assert_ne!(punctual, lost);

        let answer = Awaited::default();
        answer.give(());
        fence.watch(punctual, &answer, Duration::ZERO);
        fence.came_back(punctual);
        assert_eq!((fence.hung(), told.lock().len()), (None, 0));

        let answer = Awaited::default();
        fence.watch(lost, &answer, Duration::ZERO);
        assert_eq!(fence.hung(), Some(describe(1)));
        assert_eq!(*told.lock(), [describe(1)]);
        fence.came_back(punctual);
        assert!(fence.hung().is_some(), "another one came back");
        answer.give(());
        fence.came_back(lost);
        assert_eq!(fence.hung(), None);
    }
}
