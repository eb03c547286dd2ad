//! What is in force of a provider at each moment, so that each answer can be held against it.

use std::collections::{BTreeMap, VecDeque};

use parking_lot::Mutex;

use crate::report::Surprise;

/// What is in force of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct State {
    /// Its major version.
    pub(crate) version: usize,
    /// Whether it is on.
    pub(crate) enabled: bool,
}

/// The states of a provider, one after the other, as far back as a call that runs has begun.
#[derive(Debug)]
pub(crate) struct Ledger {
    history: Mutex<History>,
    /// Held by whoever changes something: each change begins when the one before is over.
    changing: Mutex<()>,
}

#[derive(Debug)]
struct History {
    /// The number of the first state that is kept.
    first: u64,
    states: VecDeque<State>,
    /// The number of the one that is certainly in force; those behind it are about to be.
    settled: u64,
    /// How many calls run that began with a state settled.
    calls: BTreeMap<u64, usize>,
}

/// The state that a call began with.
#[derive(Debug)]
#[must_use]
pub(crate) struct Begun(u64);

impl Ledger {
    pub(crate) fn new(state: State) -> Self {
        let states = [state].into();
        let history = History { first: 0, states, settled: 0, calls: BTreeMap::new() };
        Self { history: Mutex::new(history), changing: Mutex::default() }
    }

    /// A call begins.
    pub(crate) fn begin(&self) -> Begun {
        let mut history = self.history.lock();
        let settled = history.settled;
        *history.calls.entry(settled).or_default() += 1;
        Begun(settled)
    }

    /// The call is over: what may have been in force for it.
    pub(crate) fn end(&self, Begun(began): Begun) -> Vec<State> {
        let mut history = self.history.lock();
        let skipped = usize::try_from(began - history.first).unwrap_or(usize::MAX);
        let states = history.states.iter().skip(skipped).copied().collect();
        if let Some(calls) = history.calls.get_mut(&began) {
            *calls -= 1;
            if *calls == 0 {
                history.calls.remove(&began);
            }
        }
        history.forget();
        states
    }

    /// What is in force while nobody changes it.
    pub(crate) fn now(&self) -> State {
        let _changing = self.changing.lock();
        self.history.lock().last()
    }

    /// Changes something: from the time that the work begins, both states may be in force, and once it has succeeded only the next one.
    pub(crate) fn change(
        &self,
        next: impl FnOnce(State) -> State,
        work: impl FnOnce(State) -> Result<(), Surprise>,
    ) -> Result<(), Surprise> {
        let _changing = self.changing.lock();
        let (before, next) = {
            let mut history = self.history.lock();
            let before = history.last();
            let next = next(before);
            history.states.push_back(next);
            (before, next)
        };
        let worked = work(next);
        let mut history = self.history.lock();
        if worked.is_err() {
            history.states.push_back(before);
        }
        history.settled = history.first + history.states.len() as u64 - 1;
        history.forget();
        worked
    }
}

impl History {
    fn last(&self) -> State {
        self.states.back().copied().unwrap_or(State { version: 0, enabled: false })
    }

    /// Forgets what was over before any call began that runs.
    fn forget(&mut self) {
        let needed = self.calls.keys().next().copied().unwrap_or(self.settled).min(self.settled);
        while self.first < needed {
            self.states.pop_front();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: State = State { version: 1, enabled: true };
    const TWO: State = State { version: 2, enabled: true };

    #[test]
    fn a_call_may_be_answered_by_what_was_in_force_since_it_began_and_by_nothing_else() {
        let ledger = Ledger::new(ONE);
        let before = ledger.begin();
        let mut during = None;
        let changed = ledger.change(
            |_| TWO,
            |next| {
                assert_eq!(next, TWO);
                during = Some(ledger.begin());
                Ok(())
            },
        );
        changed.unwrap();
        let after = ledger.begin();
        assert_eq!(ledger.end(before), [ONE, TWO]);
        assert_eq!(ledger.end(during.unwrap()), [ONE, TWO]);
        assert_eq!(ledger.end(after), [TWO]);
        assert_eq!(ledger.history.lock().states.len(), 1, "the rest is forgotten");
        assert_eq!(ledger.now(), TWO);
    }

    #[test]
    fn a_change_that_failed_leaves_what_was() {
        let ledger = Ledger::new(ONE);
        let before = ledger.begin();
        ledger.change(|_| TWO, |_| Err(Surprise::new("", ""))).unwrap_err();
        assert_eq!(ledger.end(before), [ONE, TWO, ONE]);
        let after = ledger.begin();
        assert_eq!(ledger.end(after), [ONE]);
    }
}
