//! The folder while one call writes to it: the only way to change anything there.
//!
//! Every change makes a new file and puts it in its place in one step. Appending to the file itself would be shorter, but a crash or a
//! full disk could leave half of a text there, and a second name of the file, outside of the folder, would be written through. So a reader,
//! or whoever comes after a crash, finds the note as it was before or as it is afterwards.

use std::{
    fs::File,
    io::{self, Write},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    fs::{AtFlags, FlockOperation, Mode, OFlags},
    io::Errno,
};
use toolbay_plugin_api::{Context, Failure};

use crate::{
    folder::{Folder, Note},
    name::NoteName,
};

/// What is written before it is a note. The lock is what makes one name enough; what stands there already is what a crash left.
const DRAFT: &str = ".toolbay-notes.draft";

/// How long a call waits for others to have written.
const PATIENCE: Duration = Duration::from_secs(30);

/// Between two looks at the lock.
const PAUSE: Duration = Duration::from_millis(2);

/// Who may read and write a new note, within what the process lets them.
const NEW: Mode = Mode::from_raw_mode(0o666);

/// The rights that a changed note keeps.
const KEPT: Mode = Mode::from_raw_mode(0o777);

/// Why a change was not made. Nothing has changed then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum WriteError {
    /// Other calls, or other processes, hold the folder's lock.
    ///
    /// Resolution: find out which process holds a lock on the folder.
    #[error("other writes keep the notes busy; nothing was changed; try again later")]
    Busy,
    /// Something of that name is there by now.
    ///
    /// Resolution: choose another name.
    #[error(
        "something else has made {name:?} meanwhile; nothing was changed; look at it with notes_read"
    )]
    Taken {
        /// The name of the note.
        name: String,
    },
    /// The system refused the change.
    ///
    /// Resolution: look at the cause: the right to write in the folder, the room on its disk.
    #[error("the notes can't be changed now; nothing was changed; tell the operator")]
    Refused(#[from] io::Error),
    /// The call was cancelled.
    ///
    /// Resolution: none is needed.
    #[error("the call was cancelled before it was done")]
    Cancelled,
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        match &error {
            WriteError::Refused(source) => Self::with_cause(error.to_string(), source),
            WriteError::Cancelled => Self::cancelled(),
            _ => Self::new(error.to_string()),
        }
    }
}

impl From<Errno> for WriteError {
    fn from(error: Errno) -> Self {
        Self::Refused(error.into())
    }
}

/// A change that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Landed {
    /// Whether the folder has been brought to the disk, so that the change would survive a loss of power.
    pub(crate) is_on_disk: bool,
}

/// The folder, locked against other writers: other threads, and other processes that use this plugin. It ends with the value.
#[derive(Debug)]
pub(crate) struct Locked(Folder);

impl Locked {
    /// Waits until nobody else writes. It asks again and again, since a wait in the system could be neither cancelled nor ended.
    pub(crate) fn new(folder: Folder, context: &Context<'_>) -> Result<Self, WriteError> {
        let begin = Instant::now();
        loop {
            if context.is_cancelled() {
                return Err(WriteError::Cancelled);
            }
            let operation = FlockOperation::NonBlockingLockExclusive;
            match rustix::fs::flock(folder.descriptor(), operation) {
                Ok(()) => return Ok(Self(folder)),
                Err(Errno::WOULDBLOCK) if begin.elapsed() < PATIENCE => thread::sleep(PAUSE),
                Err(Errno::WOULDBLOCK) => return Err(WriteError::Busy),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The folder.
    pub(crate) const fn folder(&self) -> &Folder {
        &self.0
    }

    /// Makes a note, where nothing has its name.
    pub(crate) fn create(&self, name: &NoteName, bytes: &[u8]) -> Result<Landed, WriteError> {
        self.draft(bytes, None)?;
        // A link, unlike a rename, does not replace what is there.
        let folder = self.0.descriptor();
        let linked = rustix::fs::linkat(folder, DRAFT, folder, name.file(), AtFlags::empty());
        let forgotten = self.forget_draft();
        match linked {
            Ok(()) => {
                if let Err(error) = forgotten {
                    toolbay_plugin_api::log::warn!("a second name of a note stays: {error}");
                }
                Ok(self.landed())
            }
            Err(Errno::EXIST) => Err(WriteError::Taken { name: name.to_string() }),
            Err(error) => Err(error.into()),
        }
    }

    /// Puts another text in the place of a note.
    pub(crate) fn replace(
        &self,
        name: &NoteName,
        before: &Note,
        bytes: &[u8],
    ) -> Result<Landed, WriteError> {
        self.draft(bytes, Some(before.mode & KEPT))?;
        let folder = self.0.descriptor();
        if let Err(error) = rustix::fs::renameat(folder, DRAFT, folder, name.file()) {
            let _ = self.forget_draft();
            return Err(error.into());
        }
        Ok(self.landed())
    }

    /// Removes a note.
    pub(crate) fn delete(&self, name: &NoteName) -> Result<Landed, WriteError> {
        rustix::fs::unlinkat(self.0.descriptor(), name.file(), AtFlags::empty())?;
        Ok(self.landed())
    }

    /// Writes a file that is no note yet, and brings it to the disk.
    fn draft(&self, bytes: &[u8], mode: Option<Mode>) -> Result<(), WriteError> {
        self.forget_draft()?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::openat(self.0.descriptor(), DRAFT, flags, NEW)?);
        let mut write = || {
            file.write_all(bytes)?;
            if let Some(mode) = mode {
                rustix::fs::fchmod(&file, mode)?;
            }
            file.sync_all()
        };
        write().map_err(|error| {
            let _ = self.forget_draft();
            error.into()
        })
    }

    fn forget_draft(&self) -> Result<(), Errno> {
        match rustix::fs::unlinkat(self.0.descriptor(), DRAFT, AtFlags::empty()) {
            Err(Errno::NOENT) => Ok(()),
            other => other,
        }
    }

    /// What is done is done: that the folder can't be brought to the disk is told, and is no failure of the call.
    fn landed(&self) -> Landed {
        let synced = rustix::fs::fsync(self.0.descriptor());
        if let Err(error) = synced {
            toolbay_plugin_api::log::warn!("the folder can't be brought to the disk: {error}");
        }
        Landed { is_on_disk: synced.is_ok() }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use tempfile::TempDir;

    use super::*;

    fn locked(folder: &TempDir) -> Locked {
        Locked(Folder::open(folder.path()).unwrap())
    }

    /// A program that knows nothing of the lock may have been quicker.
    #[test]
    fn a_note_is_made_only_where_nothing_has_its_name() {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("file.md"), "old").unwrap();
        fs::create_dir(folder.path().join("folder.md")).unwrap();
        symlink("absent", folder.path().join("link.md")).unwrap();
        for name in ["file", "folder", "link"] {
            let name = NoteName::parse(name).unwrap();
            let error = locked(&folder).create(&name, b"new").unwrap_err();
            assert!(matches!(error, WriteError::Taken { .. }), "{name}: {error}");
        }
        assert_eq!(fs::read(folder.path().join("file.md")).unwrap(), b"old");
        assert!(!folder.path().join("absent").exists() && !folder.path().join(DRAFT).exists());

        let free = NoteName::parse("free").unwrap();
        assert_eq!(locked(&folder).create(&free, b"new").unwrap(), Landed { is_on_disk: true });
        assert_eq!(fs::read(folder.path().join("free.md")).unwrap(), b"new");
    }

    /// What has become a folder or a link since it was looked at is neither entered nor followed.
    #[test]
    fn a_change_goes_to_the_name_and_through_nothing() {
        let folder = TempDir::new().unwrap();
        let path = |file: &str| folder.path().join(file);
        let name = NoteName::parse("list").unwrap();
        fs::write(path("list.md"), "old").unwrap();
        let before = locked(&folder).folder().read(&name).unwrap();

        fs::remove_file(path("list.md")).unwrap();
        fs::create_dir(path("list.md")).unwrap();
        for result in
            [locked(&folder).replace(&name, &before, b"new"), locked(&folder).delete(&name)]
        {
            assert!(matches!(result, Err(WriteError::Refused(_))), "{result:?}");
        }
        assert!(path("list.md").is_dir() && !path(DRAFT).exists());

        fs::remove_dir(path("list.md")).unwrap();
        fs::write(path("outside"), "secret").unwrap();
        for change in 0..2 {
            symlink("outside", path("list.md")).unwrap();
            let landed = match change {
                0 => locked(&folder).replace(&name, &before, b"new"),
                _ => locked(&folder).delete(&name),
            };
            assert_eq!(landed.unwrap(), Landed { is_on_disk: true });
            assert_eq!(fs::read(path("outside")).unwrap(), b"secret");
            let _ = fs::remove_file(path("list.md"));
        }
    }
}
