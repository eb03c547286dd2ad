//! What the threads of a round share.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::Duration,
};

use toolbay_loader::Toolbay;

use crate::{overdue::Overdue, providers::Providers, report::Report};

/// A round: one host that is opened, used from all sides, and closed.
pub(crate) struct Round<'a> {
    /// Counted from 0, which is the one for warming up.
    pub(crate) number: usize,
    pub(crate) toolbay: &'a Toolbay,
    pub(crate) providers: &'a Providers,
    pub(crate) report: &'a Report,
    pub(crate) overdue: &'a Overdue,
    /// How many calls were made.
    pub(crate) calls: AtomicU64,
    /// How often something was changed, or was to be.
    pub(crate) changes: AtomicU64,
    is_over: AtomicBool,
}

impl<'a> Round<'a> {
    pub(crate) fn new(
        number: usize,
        toolbay: &'a Toolbay,
        providers: &'a Providers,
        report: &'a Report,
        overdue: &'a Overdue,
    ) -> Self {
        let [calls, changes] = [0, 0].map(AtomicU64::new);
        let is_over = AtomicBool::new(false);
        Self { number, toolbay, providers, report, overdue, calls, changes, is_over }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Lets others go on for a while.
    pub(crate) fn pause(&self, milliseconds: u64) {
        if !self.is_over() {
            thread::sleep(Duration::from_millis(milliseconds));
        }
    }
}
