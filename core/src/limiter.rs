//! Lets calls run as far as the limits of their provider and their tool allow.

mod bucket;
mod permit;
mod state;

use std::{
    iter,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

pub(crate) use self::permit::Permit;
use self::state::{Admission, Claim, Place, State};
use crate::{
    audit::Clock,
    limits::{CallLimits, LimitError, LimitScope, Limits},
    registry::Entry,
    request::CancelToken,
};

/// The limits of a pipeline, with what is counted for them.
///
/// It belongs to the pipeline and not to a registry: one that is replaced neither loses nor doubles a count.
pub(crate) struct Limiter {
    limits: Limits,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

/// How long whoever asks for calls would wait for them.
#[derive(Clone, Copy, Default)]
pub(crate) struct Patience<'a> {
    pub(crate) deadline: Option<Duration>,
    pub(crate) cancel: Option<&'a CancelToken>,
}

/// The limits that hold for a tool because of its provider or of itself, and what is counted for them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitUse {
    /// Whose limits they are.
    pub scope: LimitScope,
    /// The limits.
    pub limits: CallLimits,
    /// The calls that run.
    pub running: u32,
    /// The calls that wait because as many run as may.
    pub waiting: u32,
    /// The calls that were refused because too many came, ran or waited, for as long as the pipeline is there.
    pub refused: u64,
}

impl Limiter {
    /// What keeps to these limits; `None` where they limit nothing of what it keeps to.
    pub(crate) fn new(limits: &Limits, clock: &Arc<dyn Clock>) -> Option<Self> {
        let Limits { calls, providers, tools, .. } = limits;
        let mut all = iter::once(calls).chain(providers.values()).chain(tools.values());
        let limited = all.any(|limits| *limits != CallLimits::default());
        limited.then(|| Self {
            limits: limits.clone(),
            clock: Arc::clone(clock),
            state: Mutex::default(),
        })
    }

    /// The limits of a tool's provider, and its own where it has some.
    fn of(&self, entry: &Entry) -> impl Iterator<Item = (LimitScope, CallLimits)> {
        let Limits { calls, providers, tools, .. } = &self.limits;
        let provider = entry.provider();
        let of_provider = providers.get(provider).map_or(*calls, |own| own.or(calls));
        let of_tool = entry.names().find_map(|name| tools.get_key_value(name));
        let of_tool = of_tool.map(|(name, limits)| (LimitScope::Tool(name.clone()), *limits));
        iter::once((LimitScope::Provider(provider.clone()), of_provider)).chain(of_tool)
    }

    /// The bytes that the arguments of a tool may have, and whose limit that is where the host's own does not hold.
    pub(crate) fn argument_bytes(&self, entry: &Entry) -> (usize, Option<LimitScope>) {
        let (mut bytes, mut of) = (self.limits.argument_bytes, None);
        for (scope, limits) in self.of(entry) {
            // A provider's limit stands in the place of the host's, and a tool's narrows either.
            let narrows = matches!(scope, LimitScope::Tool(_));
            if let Some(limit) = limits.argument_bytes
                && !(narrows && limit >= bytes)
            {
                (bytes, of) = (limit, Some(scope));
            }
        }
        (bytes, of)
    }

    /// The bytes that a tool may return, and whose limit that is, where there is one.
    pub(crate) fn result_bytes(&self, entry: &Entry) -> Option<(usize, LimitScope)> {
        let limits = self.of(entry).filter_map(|(scope, limits)| {
            let bytes = limits.result_bytes?.min(CallLimits::MAX_RESULT_BYTES);
            Some((bytes, scope))
        });
        limits.min_by_key(|(bytes, _)| *bytes)
    }

    /// What is counted for the limits of a tool, of those scopes that have some.
    pub(crate) fn uses(&self, entry: &Entry) -> Vec<LimitUse> {
        let state = self.state();
        let used = |(scope, limits)| {
            let counts = state.counts(&scope);
            let state::Counts { running, waiting, refused } = counts;
            LimitUse { scope, limits, running, waiting, refused }
        };
        self.of(entry).filter(|(_, limits)| *limits != CallLimits::default()).map(used).collect()
    }

    /// Lets calls of these tools run one after the other, when it is their turn; `None` where nothing is counted of them.
    ///
    /// They are let in together or not at all, by all of their limits.
    pub(crate) fn admit<'e>(
        &self,
        entries: impl IntoIterator<Item = &'e Entry>,
        patience: Patience<'_>,
    ) -> Result<Option<Permit<'_>>, LimitError> {
        let counted = |entry| self.of(entry).filter(|(_, limits)| limits.counts());
        let mut scopes = entries.into_iter().flat_map(counted).peekable();
        if scopes.peek().is_none() {
            return Ok(None);
        }
        let mut claims: Vec<Claim> = Vec::new();
        let mut state = self.state();
        // Read under the lock, so that no thread comes with a time before that of another.
        let now = self.clock.steady();
        for (scope, limits) in scopes {
            state.count(&scope, &limits, now);
            match claims.iter_mut().find(|claim| claim.scope == scope) {
                Some(claim) => claim.calls = claim.calls.saturating_add(1),
                None => claims.push(Claim::of_one(scope)),
            }
        }
        let admission = state.admit(claims, now)?;
        drop(state);
        match admission {
            Admission::Runs(claims) => Ok(Some(Permit::running(self, claims))),
            Admission::Waits(claims, place) => {
                let permit = Permit::waiting(self, claims, place.ticket);
                self.wait(permit, place, now, patience).map(Some)
            }
        }
    }

    /// Waits until it is the turn of calls. Whichever way it ends, the permit knows what to give back.
    #[cold]
    fn wait<'a>(
        &'a self,
        mut permit: Permit<'a>,
        place: Place,
        since: Duration,
        Patience { deadline, cancel }: Patience<'_>,
    ) -> Result<Permit<'a>, LimitError> {
        let Place { ticket, signal, at_most, behind: (scope, concurrency) } = place;
        if let Some(cancel) = cancel {
            cancel.wake(&signal);
        }
        loop {
            let waited = self.clock.steady().saturating_sub(since);
            if deadline.is_some_and(|deadline| waited >= deadline) {
                return Err(self.state().refuse(LimitError::Deadline {
                    scope,
                    concurrency,
                    waited,
                }));
            }
            if !self.state().waits(ticket) {
                permit.begins(waited);
                return Ok(permit);
            }
            if cancel.is_some_and(CancelToken::is_cancelled) {
                return Err(LimitError::Cancelled { scope });
            }
            if waited >= at_most {
                return Err(self.state().refuse(LimitError::QueueTime {
                    scope,
                    concurrency,
                    waited,
                }));
            }
            let left = deadline.map_or(at_most, |deadline| deadline.min(at_most));
            signal.wait(left.saturating_sub(waited));
        }
    }

    /// Nothing under the lock leaves the counts half changed, so that a panic of another thread does not matter.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
