//! The right of calls to run, which is given back however they end.

use std::{sync::Arc, time::Duration};

use super::{Limiter, state::Claim};

/// The right of calls to run, or their place in the queue before that. When it goes out of scope, whoever comes next gets their place, also
/// where a panic goes through it; and calls that did not [run](Self::spend) count as none that came.
pub(crate) struct Permit<'a> {
    limiter: &'a Limiter,
    claims: Arc<[Claim]>,
    /// The place in the queue, while it may be there.
    ticket: Option<u64>,
    /// How long the calls had to wait, where their turn did not come at once.
    waited: Option<Duration>,
    spent: bool,
}

impl<'a> Permit<'a> {
    pub(super) fn running(limiter: &'a Limiter, claims: Arc<[Claim]>) -> Self {
        Self::of(limiter, claims, None)
    }

    pub(super) fn waiting(limiter: &'a Limiter, claims: Arc<[Claim]>, ticket: u64) -> Self {
        Self::of(limiter, claims, Some(ticket))
    }

    fn of(limiter: &'a Limiter, claims: Arc<[Claim]>, ticket: Option<u64>) -> Self {
        Self { limiter, claims, ticket, waited: None, spent: false }
    }

    /// The turn of the calls has come, after this time.
    pub(super) fn begins(&mut self, waited: Duration) {
        self.ticket = None;
        self.waited = Some(waited);
    }

    /// How long the calls had to wait; `None` where their turn came at once.
    pub(crate) fn waited(&self) -> Option<Duration> {
        self.waited
    }

    /// The calls run now.
    pub(crate) fn spend(&mut self) {
        self.spent = true;
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let mut state = self.limiter.state();
        let left = self.ticket.is_some_and(|ticket| state.leave(ticket));
        if !left {
            state.end(&self.claims);
        }
        if !self.spent {
            state.give_back(&self.claims);
        }
    }
}
