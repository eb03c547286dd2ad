//! What was checked and what came of it: counts, the first failures, and nothing else, however long it runs.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use parking_lot::Mutex;

/// How many failures are told.
const TOLD: usize = 20;

/// Something else than was expected.
#[derive(Debug)]
pub(crate) struct Surprise {
    pub(crate) expected: String,
    pub(crate) found: String,
}

impl Surprise {
    pub(crate) fn new(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { expected: expected.into(), found: found.into() }
    }
}

impl fmt::Display for Surprise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found {}", self.expected, self.found)
    }
}

/// The checks of all threads.
pub(crate) struct Report {
    seed: u64,
    since: Instant,
    passed: AtomicU64,
    failed: AtomicU64,
    told: Mutex<Vec<String>>,
}

impl Report {
    pub(crate) fn new(seed: u64) -> Self {
        let (passed, failed) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { seed, since: Instant::now(), passed, failed, told: Mutex::default() }
    }

    /// Counts a check; one that failed is told with what it was about.
    pub(crate) fn count(&self, outcome: Result<(), Surprise>, about: impl FnOnce() -> String) {
        let Err(surprise) = outcome else {
            self.passed.fetch_add(1, Ordering::Relaxed);
            return;
        };
        self.failed.fetch_add(1, Ordering::Relaxed);
        let mut told = self.told.lock();
        if told.len() < TOLD {
            let (seed, at) = (self.seed, self.since.elapsed().as_secs_f64());
            told.push(format!("seed {seed}, after {at:.1} s, {}: {surprise}", about()));
        }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.since.elapsed()
    }

    pub(crate) fn passed(&self) -> u64 {
        self.passed.load(Ordering::Relaxed)
    }

    pub(crate) fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// Tells the first failures, and closes with the counts.
    pub(crate) fn close(&self) {
        for told in &*self.told.lock() {
            println!("FAILED: {told}");
        }
        let more = self.failed().saturating_sub(TOLD as u64);
        if more > 0 {
            println!("and {more} more");
        }
        println!("{} passed, {} failed", self.passed(), self.failed());
    }
}
