//! The folder of requests, and what may be done in it while nobody else changes anything.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use toolbay_core::{ApprovalId, RequestState, Settled, StoreError, StoredRequest, Suspension};

use super::{
    format,
    lost::Lost,
    name::{FileName, Stage},
};
use crate::{
    lock_file::Lock,
    sealed_file::{Form, Keep, SealedError, SealedFile, remove_if_there},
    store::{private_dir, sync_dir},
};

const FORM: Form = Form { member: "request", format: 1 };

#[derive(Debug, Clone)]
pub(super) struct Folder(PathBuf);

/// The folder while it is locked: only so is anything changed in it, by any process.
pub(super) struct Locked<'f> {
    folder: &'f Path,
    _lock: Lock,
}

/// A request with its file.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    pub(super) name: FileName,
    pub(super) stored: StoredRequest,
    pub(super) lost: Lost,
}

/// A request's own lock, held by whoever decides about it and runs it. The system gives it up with the process.
#[derive(Debug)]
pub(super) struct Hold {
    path: PathBuf,
    _lock: Lock,
}

impl Folder {
    pub(super) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Waits until nobody else changes anything; `None` where there is no folder, and so no request.
    pub(super) fn lock(&self) -> Result<Option<Locked<'_>>, StoreError> {
        let path = self.0.join(".lock");
        match Lock::wait(&path) {
            Ok(lock) => Ok(Some(Locked { folder: &self.0, _lock: lock })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&path, error)),
        }
    }

    /// The same, with a folder that is made where it is missing.
    pub(super) fn make_and_lock(&self) -> Result<Locked<'_>, StoreError> {
        if let Some(locked) = self.lock()? {
            return Ok(locked);
        }
        private_dir(&self.0).map_err(|error| failed(&self.0, error))?;
        if let Some(parent) = self.0.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            // What is durable in a folder that is not is lost with it.
            sync_dir(parent).map_err(|error| failed(parent, error))?;
        }
        let gone = || failed(&self.0, io::Error::from(io::ErrorKind::NotFound));
        self.lock()?.ok_or_else(gone)
    }
}

impl Locked<'_> {
    /// The names of all requests, sorted.
    pub(super) fn names(&self) -> Result<Vec<FileName>, StoreError> {
        let io = |error| failed(self.folder, error);
        let mut names = Vec::new();
        for entry in fs::read_dir(self.folder).map_err(io)? {
            let file = entry.map_err(io)?.file_name();
            names.extend(file.to_str().and_then(FileName::of_file));
        }
        names.sort();
        Ok(names)
    }

    /// The request of this name, if it is there, exactly as it is.
    pub(super) fn read(&self, name: &FileName) -> Result<Option<Kept>, StoreError> {
        let file = self.file(name);
        let Some((stored, lost)) = file.read(format::decode)? else { return Ok(None) };
        if stored.id != name.id {
            let found = format!("request {}, which belongs to another file", stored.id);
            return Err(StoreError::Damaged { path: file.path().display().to_string(), found });
        }
        Ok(Some(Kept { name: name.clone(), stored, lost }))
    }

    /// The request of this name, if it is there. It is expired or recovered first, where its time or its process is over.
    pub(super) fn load(&self, name: &FileName, now: Duration) -> Result<Option<Kept>, StoreError> {
        let Some(mut kept) = self.read(name)? else { return Ok(None) };
        if kept.is_over(now) {
            // Whoever holds it is deciding or running: then it is not over.
            if let Some(hold) = self.hold(&name.id)? {
                self.end(&mut kept, now)?;
                self.release(hold);
            }
        } else {
            self.rename(&mut kept);
        }
        Ok(Some(kept))
    }

    /// Expires or recovers a request that is held here.
    pub(super) fn end(&self, kept: &mut Kept, now: Duration) -> Result<(), StoreError> {
        if !kept.is_over(now) {
            return Ok(());
        }
        kept.end(now);
        self.write(kept)
    }

    /// Writes the request, durably, then lets its name follow.
    pub(super) fn write(&self, kept: &mut Kept) -> Result<(), StoreError> {
        let Kept { name, stored, lost } = &*kept;
        let text = format::encode(stored, lost).map_err(|error| StoreError::Other(error.into()))?;
        self.file(name).write(&text, Keep::Nothing)?;
        self.rename(kept);
        Ok(())
    }

    /// Lets the name of a request follow its state. It need not be durable: what is inside the file counts, and whoever reads it next
    /// does this again.
    fn rename(&self, kept: &mut Kept) {
        let stage = Stage::of(&kept.stored.state);
        if stage != kept.name.stage {
            let name = FileName { stage, ..kept.name.clone() };
            match self.rename_to(&kept.name, &name) {
                Ok(()) => kept.name = name,
                Err(error) => log::warn!("{error}"),
            }
        }
    }

    pub(super) fn rename_to(&self, from: &FileName, to: &FileName) -> Result<(), StoreError> {
        let (from, to) = (self.file(from).path(), self.file(to).path());
        fs::rename(&from, &to).map_err(|error| failed(&from, error))
    }

    /// Removes a request that nobody has anything to do with any more.
    pub(super) fn remove(&self, name: &FileName) -> Result<(), StoreError> {
        for path in [self.file(name).path(), self.hold_path(&name.id)] {
            remove_if_there(&path).map_err(|error| failed(&path, error))?;
        }
        Ok(())
    }

    /// The request's own lock, unless somebody else has it.
    pub(super) fn hold(&self, id: &ApprovalId) -> Result<Option<Hold>, StoreError> {
        let path = self.hold_path(id);
        let lock = Lock::try_take(&path).map_err(|error| failed(&path, error))?;
        Ok(lock.map(|lock| Hold { path, _lock: lock }))
    }

    /// Gives a request's lock up. Its file is removed by whoever holds it and under the folder's lock, so that no two ever hold two files of
    /// one name; where it stays, it does no harm.
    pub(super) fn release(&self, hold: Hold) {
        let _ = remove_if_there(&hold.path);
    }

    pub(super) fn file(&self, name: &FileName) -> SealedFile {
        SealedFile::new(self.folder.to_owned(), name.to_string(), FORM)
    }

    fn hold_path(&self, id: &ApprovalId) -> PathBuf {
        self.folder.join(format!("{id}.lock"))
    }
}

impl Kept {
    /// Whether it must be expired or recovered, unless somebody holds it.
    fn is_over(&self, now: Duration) -> bool {
        match self.stored.state {
            RequestState::Waiting { .. } => self.stored.request.is_expired(now),
            RequestState::Claimed { .. } => true,
            RequestState::Settled { .. } => false,
        }
    }

    fn end(&mut self, now: Duration) {
        let Self { stored, lost, .. } = self;
        match &stored.state {
            // Nobody knows what it did, and it can't be run again: its time is over, or a call that it had can't be read.
            RequestState::Claimed { by, .. }
                if stored.request.is_expired(now) || !lost.is_empty() =>
            {
                stored.settle(by.clone(), now, Settled::Interrupted);
            }
            RequestState::Claimed { .. } => {
                stored.recover(now);
            }
            RequestState::Waiting { .. } | RequestState::Settled { .. } => {
                stored.expire(now);
            }
        }
    }

    /// What whoever makes the same call again gets. An outcome is marked as delivered, which must be written before it is handed out.
    pub(super) fn answer(&mut self) -> Option<Suspension> {
        Some(match self.stored.answer()? {
            Suspension::Settled { id, settled: Settled::Done { results } } => {
                let results = self.lost.results(results);
                Suspension::Settled { id, settled: Settled::Done { results } }
            }
            other => other,
        })
    }
}

pub(super) fn failed(path: &Path, source: io::Error) -> StoreError {
    StoreError::Io { path: path.display().to_string(), source }
}

impl From<SealedError> for StoreError {
    fn from(error: SealedError) -> Self {
        match error {
            SealedError::Io { path, source } => failed(&path, source),
            SealedError::Damaged { path, found } => {
                Self::Damaged { path: path.display().to_string(), found }
            }
            SealedError::OtherFormat { path, found } => {
                let found = format!("format {found}, expected {}", FORM.format);
                Self::Damaged { path: path.display().to_string(), found }
            }
        }
    }
}
