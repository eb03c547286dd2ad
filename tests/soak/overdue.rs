//! What every thread is about, so that one that never comes back is found.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// How much longer than it may take something is waited for before it counts as lost.
const LOST: Duration = Duration::from_secs(60);

#[derive(Debug)]
struct Task {
    about: String,
    since: Instant,
    allowed: Duration,
}

/// A place for each thread.
#[derive(Debug)]
pub(crate) struct Overdue(Vec<Mutex<Option<Task>>>);

impl Overdue {
    pub(crate) fn new(threads: usize) -> Self {
        Self((0..threads).map(|_| Mutex::default()).collect())
    }

    /// Does something that a thread must come back from within this time. Returns how long it took, too.
    pub(crate) fn watch<T>(
        &self,
        thread: usize,
        about: String,
        allowed: Duration,
        work: impl FnOnce() -> T,
    ) -> (T, Duration) {
        let since = Instant::now();
        *self.0[thread].lock() = Some(Task { about, since, allowed });
        let done = work();
        *self.0[thread].lock() = None;
        (done, since.elapsed())
    }

    /// What a thread has not come back from for so long that it never will.
    pub(crate) fn lost(&self) -> Option<(String, Duration)> {
        self.0.iter().find_map(|place| {
            let task = place.lock();
            let Task { about, since, allowed } = task.as_ref()?;
            let took = since.elapsed();
            (took > *allowed + LOST).then(|| (about.clone(), took))
        })
    }

    /// Whether no thread is about anything.
    pub(crate) fn is_idle(&self) -> bool {
        self.0.iter().all(|place| place.lock().is_none())
    }
}
