//! A request while somebody decides about it and runs it.

use std::time::Duration;

use toolbay_core::{Claim, PendingRequest, RequestState, Settled, StoreError, StoredRequest};

use super::{
    folder::{Folder, Hold, Kept, Locked},
    format,
    name::FileName,
};

/// A claim. Where it is dropped, the request is given up: it waits, or stays claimed where it has begun to run.
pub(super) struct FileClaim<'f> {
    folder: &'f Folder,
    kept: Kept,
    hold: Option<Hold>,
}

impl<'f> FileClaim<'f> {
    pub(super) fn new(folder: &'f Folder, kept: Kept, hold: Hold) -> Self {
        Self { folder, kept, hold: Some(hold) }
    }

    /// Locks the folder, in which the request must still be what this claim knows: somebody may have laid hands on the file.
    fn lock(&self) -> Result<Locked<'f>, StoreError> {
        let locked = self.folder.make_and_lock()?;
        let Kept { name, stored, lost } = &self.kept;
        let encode = |stored, lost| {
            format::encode(stored, lost).map_err(|error| StoreError::Other(error.into()))
        };
        let found = match locked.read(name)? {
            Some(there)
                if encode(&there.stored, &there.lost)?.get() == encode(stored, lost)?.get() =>
            {
                return Ok(locked);
            }
            Some(_) => "another state than the one that was claimed",
            None => "no file where the claimed request was",
        };
        let path = locked.file(name).path().display().to_string();
        Err(StoreError::Damaged { path, found: found.to_owned() })
    }

    /// Writes the request in this state, or leaves it as it was.
    fn write(&mut self, locked: &Locked<'_>, state: RequestState) -> Result<(), StoreError> {
        let before = std::mem::replace(&mut self.kept.stored.state, state);
        let written = locked.write(&mut self.kept);
        if written.is_err() {
            self.kept.stored.state = before;
        }
        written
    }

    fn give_up(&mut self, locked: &Locked<'_>) {
        if let Some(hold) = self.hold.take() {
            locked.release(hold);
        }
    }
}

impl Claim for FileClaim<'_> {
    fn request(&self) -> &StoredRequest {
        &self.kept.stored
    }

    fn restate(
        mut self: Box<Self>,
        request: PendingRequest,
        stale: Vec<usize>,
    ) -> Result<(), StoreError> {
        let locked = self.lock()?;
        // Of a request with a call that can't be read, nobody knows another key.
        let key = match self.kept.lost.is_empty() {
            true => FileName::key_of(&request),
            false => self.kept.name.key.clone(),
        };
        let name = FileName { key, ..self.kept.name.clone() };
        // The name goes first. Where the process is killed here, the same call finds the request as it was, which does not hold for the code
        // of now and will be restated again; the other way round it would not find it, and make another one.
        locked.rename_to(&self.kept.name, &name)?;
        let old = std::mem::replace(&mut self.kept.name, name);
        self.kept.stored.request = request;
        let written = self.write(&locked, RequestState::Waiting { stale });
        if written.is_err() {
            let _ = locked.rename_to(&self.kept.name, &old);
        }
        self.give_up(&locked);
        written
    }

    fn run(&mut self, by: &str, at: Duration) -> Result<(), StoreError> {
        let locked = self.lock()?;
        self.write(&locked, RequestState::Claimed { by: by.to_owned(), at })
    }

    fn settle(
        mut self: Box<Self>,
        by: &str,
        at: Duration,
        settled: Settled,
    ) -> Result<(), StoreError> {
        let locked = self.lock()?;
        self.kept.stored.settle(by.to_owned(), at, settled);
        locked.write(&mut self.kept)?;
        self.give_up(&locked);
        Ok(())
    }
}

impl Drop for FileClaim<'_> {
    fn drop(&mut self) {
        if self.hold.is_some()
            && let Ok(Some(locked)) = self.folder.lock()
        {
            self.give_up(&locked);
        }
    }
}
