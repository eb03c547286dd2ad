//! What is counted of calls, and who waits.

use std::{
    collections::{BTreeMap, VecDeque},
    num::NonZeroU32,
    sync::Arc,
    time::Duration,
};

use super::bucket::Bucket;
use crate::{
    limits::{CallLimits, LimitError, LimitScope},
    signal::Signal,
};

/// The counts of every provider and tool that has limits, and the one queue of all calls that wait.
///
/// A scope is counted under its name for as long as the limiter lives, so that a call counts on while its provider is replaced.
#[derive(Default)]
pub(super) struct State {
    counters: BTreeMap<LimitScope, Counter>,
    /// In the order in which they came.
    queue: VecDeque<Waiter>,
    tickets: u64,
}

/// What is counted of one provider or tool.
struct Counter {
    limits: CallLimits,
    bucket: Option<Bucket>,
    counts: Counts,
}

/// Of one provider or tool: the calls that run, that wait because they found it full, and that its limits have refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) running: u32,
    pub(super) waiting: u32,
    pub(super) refused: u64,
}

/// What calls need of one scope in order to run: one place, in which they run one after the other, and so many calls of its rate.
#[derive(Debug)]
pub(super) struct Claim {
    pub(super) scope: LimitScope,
    pub(super) calls: u32,
    /// The number of calls that ran there, where they were as many as may, when these came: it has to wait for one of them.
    full: Option<NonZeroU32>,
}

impl Claim {
    pub(super) fn of_one(scope: LimitScope) -> Self {
        Self { scope, calls: 1, full: None }
    }
}

/// Calls in the queue, with what they need.
struct Waiter {
    ticket: u64,
    claims: Arc<[Claim]>,
    signal: Arc<Signal>,
}

/// How calls are let in.
pub(super) enum Admission {
    /// They run.
    Runs(Arc<[Claim]>),
    /// They wait for their turn.
    Waits(Arc<[Claim]>, Place),
}

/// A place in the queue.
pub(super) struct Place {
    pub(super) ticket: u64,
    pub(super) signal: Arc<Signal>,
    /// How long the calls may wait there.
    pub(super) at_most: Duration,
    /// Whose limit lets them wait so long and no longer, and how many calls it lets run.
    pub(super) behind: (LimitScope, NonZeroU32),
}

impl State {
    /// Makes sure that a scope is counted.
    pub(super) fn count(&mut self, scope: &LimitScope, limits: &CallLimits, now: Duration) {
        if !self.counters.contains_key(scope) {
            let bucket = limits.calls_per_minute.map(|per_minute| Bucket::new(per_minute, now));
            let counter = Counter { limits: *limits, bucket, counts: Counts::default() };
            self.counters.insert(scope.clone(), counter);
        }
    }

    pub(super) fn counts(&self, scope: &LimitScope) -> Counts {
        self.counters.get(scope).map(|counter| counter.counts).unwrap_or_default()
    }

    /// Lets calls in, or into the queue, or says why not. Of what is refused only that is counted.
    pub(super) fn admit(
        &mut self,
        mut claims: Vec<Claim>,
        now: Duration,
    ) -> Result<Admission, LimitError> {
        self.in_time(&claims, now)?;
        let mut longest = Duration::MAX;
        let mut behind = None;
        for claim in &mut claims {
            let Some(counter) = self.counters.get(&claim.scope) else { continue };
            claim.full = counter.full();
            let Some(concurrency) = claim.full else { continue };
            let (scope, queue) = (claim.scope.clone(), counter.limits.queue());
            if counter.counts.waiting >= queue {
                return Err(self.refuse(LimitError::QueueFull { scope, concurrency, queue }));
            }
            if behind.is_none() || counter.limits.queue_time() < longest {
                longest = counter.limits.queue_time();
                behind = Some((scope, concurrency));
            }
        }
        let claims: Arc<[Claim]> = claims.into();
        self.spend(&claims);
        let Some(behind) = behind else {
            self.begin(&claims);
            return Ok(Admission::Runs(claims));
        };
        self.waiting(&claims, |waiting| waiting + 1);
        let (ticket, signal) = (self.tickets, Arc::<Signal>::default());
        self.tickets += 1;
        let waiter = Waiter { ticket, claims: Arc::clone(&claims), signal: Arc::clone(&signal) };
        self.queue.push_back(waiter);
        Ok(Admission::Waits(claims, Place { ticket, signal, at_most: longest, behind }))
    }

    /// Refuses calls that come too soon, by the limit that lets them come last.
    fn in_time(&mut self, claims: &[Claim], now: Duration) -> Result<(), LimitError> {
        let mut latest: Option<(Duration, NonZeroU32, LimitScope)> = None;
        for claim in claims {
            let Some(Counter { limits, bucket: Some(bucket), .. }) =
                self.counters.get_mut(&claim.scope)
            else {
                continue;
            };
            bucket.fill(now);
            if let (Some(per_minute), Some(missing)) =
                (limits.calls_per_minute, bucket.missing(claim.calls))
                && latest.as_ref().is_none_or(|(longest, ..)| missing > *longest)
            {
                latest = Some((missing, per_minute, claim.scope.clone()));
            }
        }
        match latest {
            None => Ok(()),
            Some((retry_after, per_minute, scope)) => {
                Err(self.refuse(LimitError::Rate { scope, per_minute, retry_after }))
            }
        }
    }

    /// Counts a refusal.
    pub(super) fn refuse(&mut self, error: LimitError) -> LimitError {
        if let Some(counter) = self.counters.get_mut(error.scope()) {
            counter.counts.refused += 1;
        }
        error
    }

    /// Whether calls still wait for their turn.
    pub(super) fn waits(&self, ticket: u64) -> bool {
        self.queue.iter().any(|waiter| waiter.ticket == ticket)
    }

    /// Takes calls out of the queue, and tells whether they were in it.
    pub(super) fn leave(&mut self, ticket: u64) -> bool {
        let at = self.queue.iter().position(|waiter| waiter.ticket == ticket);
        let waiter = at.and_then(|at| self.queue.remove(at));
        if let Some(waiter) = &waiter {
            self.waiting(&waiter.claims, |waiting| waiting - 1);
        }
        waiter.is_some()
    }

    /// Ends calls that ran, and lets those in whose turn it is then: of the ones that find a place in every scope that they need, whoever
    /// came first. So a call that waits for its own tool alone keeps no call of another tool from running.
    pub(super) fn end(&mut self, claims: &[Claim]) {
        self.running(claims, |running| running - 1);
        let mut at = 0;
        while let Some(waiter) = self.queue.get(at) {
            if self.is_full(&waiter.claims) {
                at += 1;
            } else if let Some(Waiter { claims, signal, .. }) = self.queue.remove(at) {
                self.waiting(&claims, |waiting| waiting - 1);
                self.begin(&claims);
                signal.raise();
            }
        }
    }

    /// Counts calls as none that came, since they did not run.
    pub(super) fn give_back(&mut self, claims: &[Claim]) {
        self.each(claims, |counter, claim| {
            if let Some(bucket) = &mut counter.bucket {
                bucket.give_back(claim.calls);
            }
        });
    }

    fn spend(&mut self, claims: &[Claim]) {
        self.each(claims, |counter, claim| {
            if let Some(bucket) = &mut counter.bucket {
                bucket.take(claim.calls);
            }
        });
    }

    fn begin(&mut self, claims: &[Claim]) {
        self.running(claims, |running| running + 1);
    }

    fn running(&mut self, claims: &[Claim], change: impl Fn(u32) -> u32) {
        self.each(claims, |Counter { counts, .. }, _| counts.running = change(counts.running));
    }

    fn waiting(&mut self, claims: &[Claim], change: impl Fn(u32) -> u32) {
        self.each(claims, |Counter { counts, .. }, claim| {
            if claim.full.is_some() {
                counts.waiting = change(counts.waiting);
            }
        });
    }

    fn each(&mut self, claims: &[Claim], mut change: impl FnMut(&mut Counter, &Claim)) {
        for claim in claims {
            if let Some(counter) = self.counters.get_mut(&claim.scope) {
                change(counter, claim);
            }
        }
    }

    fn is_full(&self, claims: &[Claim]) -> bool {
        let counters = claims.iter().filter_map(|claim| self.counters.get(&claim.scope));
        counters.into_iter().any(|counter| counter.full().is_some())
    }
}

impl Counter {
    /// The number of calls that may run, where as many do.
    fn full(&self) -> Option<NonZeroU32> {
        self.limits.concurrency.filter(|limit| self.counts.running >= limit.get())
    }
}
