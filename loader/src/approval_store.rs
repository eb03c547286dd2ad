//! Requests for approval as files: one for each, shared by any number of processes.
//!
//! ```text
//! approvals/.lock                       held for each look and each change
//! approvals/open-KEY-ID.json            a request that waits or runs
//! approvals/settled-DAY-KEY-ID.json     one that is over, and nobody has got its outcome
//! approvals/delivered-DAY-KEY-ID.json   one that is over and done with
//! approvals/ID.lock                     held by whoever decides about the request and runs it
//! ```
//!
//! Each file is replaced as a whole, and what is inside it counts; its name only follows, so that requests are found by their key without
//! reading any other. No lock is a number in a file: the system knows who holds it, and gives it up with the process. A request that is
//! marked as running while nobody holds it was left by a process that is no more.

mod claim;
mod folder;
mod format;
mod id;
mod lost;
mod name;

use std::{path::PathBuf, time::Duration};

use toolbay_core::{
    ApprovalId, ApprovalStore, Claim, ClaimError, Digest, Owner, PendingRequest, StoreError,
    StoredRequest, Suspension,
};

use self::{
    claim::FileClaim,
    folder::{Folder, Kept, Locked},
    name::{FileName, Stage},
};

/// How many requests may wait at a time.
const MAX_WAITING: usize = 1_000;

/// How many of them may be of one owner, so that a model that asks and asks leaves room for others.
const MAX_WAITING_OF_ONE: usize = 100;

/// How long a request is kept after it is over.
const RETENTION: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The most requests that one call removes.
const MAX_REMOVED: usize = 32;

/// Keeps requests for approval in a folder, durably, for any number of threads and processes at once.
///
/// At most 1,000 requests wait at a time, and 100 of one actor with one agent. A request is kept for 30 days after it was over, whether its outcome was delivered or not, and then
/// removed as new ones come.
///
/// A file that is damaged stays as it is. It stops its own request, and the same call, which can't be known not to have run; it stops no other.
///
/// ```
/// use std::time::Duration;
/// use toolbay_loader::{ApprovalFiles, ApprovalStore};
///
/// # let home = tempfile::tempdir()?;
/// let store = ApprovalFiles::new(home.path().join("approvals"));
/// let (requests, problems) = store.list(Duration::ZERO);
/// assert!(requests.is_empty() && problems.is_empty());
/// assert!(store.get(&"7k3f".parse()?, Duration::ZERO)?.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ApprovalFiles {
    folder: Folder,
    max_waiting: usize,
    max_waiting_of_one: usize,
}

impl ApprovalFiles {
    /// The requests in this folder, which is made when the first of them is. The path should be absolute.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: Folder::new(folder.into()),
            max_waiting: MAX_WAITING,
            max_waiting_of_one: MAX_WAITING_OF_ONE,
        }
    }

    /// Every request that is kept, the earliest asked for first, expired or recovered where its time or its process is over; and what could
    /// not be read. Where the whole folder can't be read, that is one error.
    pub fn list(&self, now: Duration) -> (Vec<StoredRequest>, Vec<StoreError>) {
        self.collect(now, |_| true)
    }

    /// As [`list`](Self::list), of those alone that wait for a decision: whatever is over is not read.
    pub fn waiting(&self, now: Duration) -> (Vec<StoredRequest>, Vec<StoreError>) {
        let (mut requests, problems) = self.collect(now, FileName::is_open);
        requests.retain(|stored| stored.is_waiting(now));
        (requests, problems)
    }

    fn collect(
        &self,
        now: Duration,
        wanted: impl Fn(&FileName) -> bool,
    ) -> (Vec<StoredRequest>, Vec<StoreError>) {
        let names = match self.folder.lock().and_then(|locked| names(locked.as_ref())) {
            Ok(names) => names,
            Err(error) => return (Vec::new(), vec![error]),
        };
        let mut requests = Vec::new();
        let mut problems = Vec::new();
        for name in names.iter().filter(|name| wanted(name)) {
            // The lock is taken anew for each: a long list holds up no call.
            match self.load(name, now) {
                Ok(stored) => requests.extend(stored),
                Err(error) => problems.push(error),
            }
        }
        requests.sort_by(|one, other| {
            (one.request.requested, &one.id).cmp(&(other.request.requested, &other.id))
        });
        (requests, problems)
    }

    /// The request that had this name a moment ago.
    fn load(&self, name: &FileName, now: Duration) -> Result<Option<StoredRequest>, StoreError> {
        let Some(locked) = self.folder.lock()? else { return Ok(None) };
        if let Some(kept) = locked.load(name, now)? {
            return Ok(Some(kept.stored));
        }
        drop(locked);
        self.get(&name.id, now)
    }

    /// Checks that one more may wait.
    fn check_room(
        &self,
        locked: &Locked<'_>,
        names: &[FileName],
        owner: &Owner,
        now: Duration,
    ) -> Result<(), StoreError> {
        let waiting = |limit: usize, wanted: &dyn Fn(&FileName) -> bool| {
            let open = || names.iter().filter(|name| name.is_open() && wanted(name));
            // Only where the names alone are too many it is worth while to look which of them wait indeed.
            let waits = |name: &&FileName| {
                let kept = locked.load(name, now);
                kept.is_ok_and(|kept| kept.is_some_and(|kept| kept.stored.is_waiting(now)))
            };
            open().count() >= limit && open().filter(waits).count() >= limit
        };
        if waiting(self.max_waiting_of_one, &|name| name.is_owned_by(owner)) {
            let (owner, limit) = (owner.to_string(), self.max_waiting_of_one);
            return Err(StoreError::OwnerFull { owner, limit });
        }
        match waiting(self.max_waiting, &|_| true) {
            true => Err(StoreError::Full { limit: self.max_waiting }),
            false => Ok(()),
        }
    }
}

impl ApprovalStore for ApprovalFiles {
    fn answer(&self, key: &Digest, now: Duration) -> Result<Option<Suspension>, StoreError> {
        let Some(locked) = self.folder.lock()? else { return Ok(None) };
        answer(&locked, &locked.names()?, key, now)
    }

    fn suspend(&self, request: PendingRequest, now: Duration) -> Result<Suspension, StoreError> {
        let locked = self.folder.make_and_lock()?;
        let names = locked.names()?;
        let key = request.key();
        if let Some(answer) = answer(&locked, &names, &key, now)? {
            return Ok(answer);
        }
        remove_old(&locked, &names, now);
        self.check_room(&locked, &names, &request.owner, now)?;
        let id = id::random()?;
        let name = FileName { stage: Stage::Open, key: FileName::key_of(&request), id: id.clone() };
        let stored = StoredRequest::new(id.clone(), request);
        locked.write(&mut Kept { name, stored, lost: Default::default() })?;
        Ok(Suspension::Waiting { id, new: true })
    }

    fn get(&self, id: &ApprovalId, now: Duration) -> Result<Option<StoredRequest>, StoreError> {
        let Some(locked) = self.folder.lock()? else { return Ok(None) };
        let Some(name) = locked.names()?.into_iter().find(|name| name.id == *id) else {
            return Ok(None);
        };
        Ok(locked.load(&name, now)?.map(|kept| kept.stored))
    }

    fn claim(&self, id: &ApprovalId, now: Duration) -> Result<Box<dyn Claim + '_>, ClaimError> {
        let locked = self.folder.lock()?.ok_or(ClaimError::NotWaiting)?;
        let open = |name: &FileName| name.id == *id && name.is_open();
        let name = locked.names()?.into_iter().find(open).ok_or(ClaimError::NotWaiting)?;
        let hold = locked.hold(id)?.ok_or(ClaimError::Taken)?;
        let mut kept = locked.read(&name)?.ok_or(ClaimError::NotWaiting)?;
        locked.end(&mut kept, now)?;
        if !kept.stored.is_waiting(now) {
            locked.release(hold);
            return Err(ClaimError::NotWaiting);
        }
        Ok(Box::new(FileClaim::new(&self.folder, kept, hold)))
    }
}

fn names(locked: Option<&Locked<'_>>) -> Result<Vec<FileName>, StoreError> {
    locked.map_or_else(|| Ok(Vec::new()), Locked::names)
}

/// What has become of the request of this key. There can be several, where the code behind one has changed to that of another: an outcome
/// goes before what still waits.
fn answer(
    locked: &Locked<'_>,
    names: &[FileName],
    key: &Digest,
    now: Duration,
) -> Result<Option<Suspension>, StoreError> {
    for name in names.iter().rev().filter(|name| name.is_of(key) && !name.is_delivered()) {
        let Some(mut kept) = locked.load(name, now)? else { continue };
        match kept.answer() {
            Some(settled @ Suspension::Settled { .. }) => {
                locked.write(&mut kept)?;
                return Ok(Some(settled));
            }
            Some(waiting) => return Ok(Some(waiting)),
            None => {}
        }
    }
    Ok(None)
}

/// Removes some of the requests that were over long ago. Whether that succeeds is no matter of whoever comes next.
fn remove_old(locked: &Locked<'_>, names: &[FileName], now: Duration) {
    let old = names.iter().filter(|name| name.stage.is_over_since(RETENTION, now));
    for name in old.take(MAX_REMOVED) {
        if let Err(error) = locked.remove(name) {
            log::warn!("{error}");
        }
    }
}

#[cfg(test)]
mod tests;
