//! A store of requests in memory, which fails where a test wants it to.

use std::{
    collections::BTreeSet,
    io,
    sync::{Mutex, MutexGuard},
    time::Duration,
};

use toolbay_core::{
    ApprovalId, ApprovalStore, Claim, ClaimError, Digest, PendingRequest, RequestState, Settled,
    StoreError, StoredRequest, Suspension,
};

/// What a store can fail at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Answer,
    Suspend,
    Get,
    Claim,
    Restate,
    Run,
    Settle,
}

#[derive(Default)]
pub(crate) struct Memory(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    requests: Vec<StoredRequest>,
    /// The requests that somebody is deciding about.
    taken: BTreeSet<ApprovalId>,
    broken: Option<Step>,
}

impl Memory {
    /// Fails at this step from now on.
    pub(crate) fn break_at(&self, step: impl Into<Option<Step>>) {
        self.kept().broken = step.into();
    }

    /// What a store does that finds requests which a process left running.
    pub(crate) fn recover(&self, now: Duration) {
        self.kept().requests.iter_mut().for_each(|stored| {
            stored.recover(now);
        });
    }

    /// Every request, the oldest first.
    pub(crate) fn requests(&self) -> Vec<StoredRequest> {
        self.kept().requests.clone()
    }

    /// The newest request.
    pub(crate) fn newest(&self) -> StoredRequest {
        self.kept().requests.last().unwrap().clone()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap()
    }
}

impl Kept {
    fn check(&self, step: Step) -> Result<(), StoreError> {
        match self.broken == Some(step) {
            true => {
                Err(StoreError::Io { path: format!("{step:?}"), source: io::Error::other("x") })
            }
            false => Ok(()),
        }
    }

    fn find(&mut self, id: &ApprovalId, now: Duration) -> Option<&mut StoredRequest> {
        let stored = self.requests.iter_mut().find(|stored| stored.id == *id)?;
        stored.expire(now);
        Some(stored)
    }

    fn answer(&mut self, key: &Digest, now: Duration) -> Option<Suspension> {
        self.requests.iter_mut().filter(|stored| stored.request.key() == *key).find_map(|stored| {
            stored.expire(now);
            stored.answer()
        })
    }
}

impl ApprovalStore for Memory {
    fn answer(&self, key: &Digest, now: Duration) -> Result<Option<Suspension>, StoreError> {
        let mut kept = self.kept();
        kept.check(Step::Answer)?;
        Ok(kept.answer(key, now))
    }

    fn suspend(&self, request: PendingRequest, now: Duration) -> Result<Suspension, StoreError> {
        let mut kept = self.kept();
        kept.check(Step::Suspend)?;
        if let Some(answer) = kept.answer(&request.key(), now) {
            return Ok(answer);
        }
        let id: ApprovalId = format!("r{}", kept.requests.len() + 1).parse().unwrap();
        kept.requests.push(StoredRequest::new(id.clone(), request));
        Ok(Suspension::Waiting { id, new: true })
    }

    fn get(&self, id: &ApprovalId, now: Duration) -> Result<Option<StoredRequest>, StoreError> {
        let mut kept = self.kept();
        kept.check(Step::Get)?;
        Ok(kept.find(id, now).cloned())
    }

    fn claim(&self, id: &ApprovalId, now: Duration) -> Result<Box<dyn Claim + '_>, ClaimError> {
        let mut kept = self.kept();
        kept.check(Step::Claim)?;
        let stored = kept.find(id, now).filter(|stored| stored.is_waiting(now)).cloned();
        let stored = stored.ok_or(ClaimError::NotWaiting)?;
        match kept.taken.insert(id.clone()) {
            true => Ok(Box::new(Held { memory: self, stored })),
            false => Err(ClaimError::Taken),
        }
    }
}

/// A request that one holds alone until it is dropped.
struct Held<'m> {
    memory: &'m Memory,
    stored: StoredRequest,
}

impl Held<'_> {
    fn keep(
        &mut self,
        step: Step,
        change: impl FnOnce(&mut StoredRequest),
    ) -> Result<(), StoreError> {
        let mut kept = self.memory.kept();
        kept.check(step)?;
        change(&mut self.stored);
        let place = kept.requests.iter_mut().find(|stored| stored.id == self.stored.id).unwrap();
        *place = self.stored.clone();
        Ok(())
    }
}

impl Claim for Held<'_> {
    fn request(&self) -> &StoredRequest {
        &self.stored
    }

    fn restate(
        mut self: Box<Self>,
        request: PendingRequest,
        stale: Vec<usize>,
    ) -> Result<(), StoreError> {
        self.keep(Step::Restate, |stored| {
            stored.request = request;
            stored.state = RequestState::Waiting { stale };
        })
    }

    fn run(&mut self, by: &str, at: Duration) -> Result<(), StoreError> {
        self.keep(Step::Run, |stored| {
            stored.state = RequestState::Claimed { by: by.to_owned(), at };
        })
    }

    fn settle(
        mut self: Box<Self>,
        by: &str,
        at: Duration,
        settled: Settled,
    ) -> Result<(), StoreError> {
        self.keep(Step::Settle, |stored| stored.settle(by.to_owned(), at, settled))
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.memory.kept().taken.remove(&self.stored.id);
    }
}
