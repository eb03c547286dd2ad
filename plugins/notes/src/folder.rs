//! The folder of the notes, opened so that nothing in it is reached by a path, no link is followed and nothing blocks.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read},
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::Path,
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags},
    io::Errno,
};
use toolbay_plugin_api::{Context, Failure};

use crate::{name::NoteName, text::Changed};

/// The most that a note has, in bytes.
pub(crate) const MAX_NOTE: usize = 1 << 20;

/// The most notes that there are.
pub(crate) const MAX_NOTES: usize = 10_000;

/// Why a note or the folder is not as a call needs it. The words name no path of the host.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum FolderError {
    /// There is no folder in the configuration.
    ///
    /// Resolution: set `folder`.
    #[error("there are no notes: the operator has not set a `folder` for them")]
    Unconfigured,
    /// The configured folder can't be opened or listed.
    ///
    /// Resolution: look at the cause, and bring the folder back.
    #[error("the folder of the notes can't be read now; try again later, or tell the operator")]
    Unavailable(#[source] io::Error),
    /// There is no file of that name.
    ///
    /// Resolution: take a name that notes_list shows.
    #[error("there is no note {name:?}; notes_list shows which there are")]
    NotThere {
        /// The name that was asked for.
        name: String,
    },
    /// There is a link, a folder, a pipe or a device.
    ///
    /// Resolution: take it out of the folder, or choose another name.
    #[error(
        "{name:?} is no note: expected a regular file, found something else; choose another name, or tell the operator"
    )]
    NotRegular {
        /// The name that was asked for.
        name: String,
    },
    /// The file has more bytes than a note.
    ///
    /// Resolution: split the file.
    #[error(
        "the note {name:?} is too large for these tools: expected at most {MAX_NOTE} bytes, found {found}"
    )]
    TooLarge {
        /// The name that was asked for.
        name: String,
        /// The bytes that the file has.
        found: u64,
    },
    /// The file can't be opened or read to its end.
    ///
    /// Resolution: look at the cause; perhaps the host may not read it.
    #[error("the note {name:?} can't be read now; try again later, or tell the operator")]
    Unreadable {
        /// The name that was asked for.
        name: String,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The call was cancelled.
    ///
    /// Resolution: none is needed.
    #[error("the call was cancelled before it was done")]
    Cancelled,
}

impl From<FolderError> for Failure {
    fn from(error: FolderError) -> Self {
        match &error {
            FolderError::Unavailable(source) | FolderError::Unreadable { source, .. } => {
                Self::with_cause(error.to_string(), source)
            }
            FolderError::Cancelled => Self::cancelled(),
            _ => Self::new(error.to_string()),
        }
    }
}

/// The folder, as it was when it was opened.
#[derive(Debug)]
pub(crate) struct Folder(OwnedFd);

/// A note, read to its end.
#[derive(Debug)]
pub(crate) struct Note {
    pub(crate) bytes: Vec<u8>,
    pub(crate) changed: Changed,
    /// Who may read and write the file.
    pub(crate) mode: Mode,
}

/// A note in a list.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: NoteName,
    pub(crate) bytes: u64,
    pub(crate) changed: Changed,
}

/// What is in the folder.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// The notes, sorted by name.
    pub(crate) notes: Vec<Entry>,
    /// How many files are called like notes and are none.
    pub(crate) left_out: usize,
    /// Whether there are more than [`MAX_NOTES`].
    pub(crate) more: bool,
}

impl Folder {
    /// Opens it. Its own path is the operator's word, so links in that are followed.
    pub(crate) fn open(path: &Path) -> Result<Self, FolderError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::open(path, flags, Mode::empty())
            .map(Self)
            .map_err(|error| FolderError::Unavailable(error.into()))
    }

    /// The descriptor that everything below is reached by.
    pub(crate) const fn descriptor(&self) -> &OwnedFd {
        &self.0
    }

    /// Reads a note.
    pub(crate) fn read(&self, name: &NoteName) -> Result<Note, FolderError> {
        let not_regular = || FolderError::NotRegular { name: name.to_string() };
        let unreadable = |source| FolderError::Unreadable { name: name.to_string(), source };
        // NONBLOCK lets the open of a pipe return at once; the check is made on what was opened, not on its name.
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&self.0, name.file(), flags, Mode::empty()) {
            Ok(descriptor) => File::from(descriptor),
            Err(Errno::NOENT) => return Err(FolderError::NotThere { name: name.to_string() }),
            // The errors that a link, a socket and a device without a driver give.
            Err(Errno::LOOP | Errno::NXIO | Errno::NODEV) => return Err(not_regular()),
            Err(error) => return Err(unreadable(error.into())),
        };
        let status = rustix::fs::fstat(&file).map_err(|error| unreadable(error.into()))?;
        if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
            return Err(not_regular());
        }
        let found = status.st_size.unsigned_abs();
        if found > MAX_NOTE as u64 {
            return Err(FolderError::TooLarge { name: name.to_string(), found });
        }
        let mut bytes = Vec::new();
        // What grows while it is read is read to the length that was checked.
        file.take(found).read_to_end(&mut bytes).map_err(unreadable)?;
        let (changed, mode) =
            (Changed::from_seconds(status.st_mtime), Mode::from_raw_mode(status.st_mode));
        Ok(Note { bytes, changed, mode })
    }

    /// Whether anything has the name of the note, be it one or not.
    pub(crate) fn has(&self, name: &NoteName) -> Result<bool, FolderError> {
        match rustix::fs::statat(&self.0, name.file(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(source) => {
                Err(FolderError::Unreadable { name: name.to_string(), source: source.into() })
            }
        }
    }

    /// What is in it.
    pub(crate) fn list(&self, context: &Context<'_>) -> Result<Listing, FolderError> {
        let mut listing = Listing::default();
        for file in self.files()? {
            let file = file?;
            if context.is_cancelled() {
                return Err(FolderError::Cancelled);
            }
            match self.entry(&file) {
                Some(_) if listing.notes.len() == MAX_NOTES => {
                    listing.more = true;
                    break;
                }
                Some(entry) => listing.notes.push(entry),
                None => listing.left_out += 1,
            }
        }
        listing.notes.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        Ok(listing)
    }

    fn entry(&self, file: &OsStr) -> Option<Entry> {
        let name = NoteName::of_file(file)?;
        let status = rustix::fs::statat(&self.0, file, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let regular = FileType::from_raw_mode(status.st_mode) == FileType::RegularFile;
        let (bytes, changed) =
            (status.st_size.unsigned_abs(), Changed::from_seconds(status.st_mtime));
        regular.then_some(Entry { name, bytes, changed })
    }

    /// The names of all files that are called like notes, in no order.
    pub(crate) fn files(
        &self,
    ) -> Result<impl Iterator<Item = Result<OsString, FolderError>>, FolderError> {
        let unavailable = |error: Errno| FolderError::Unavailable(error.into());
        let entries = Dir::read_from(&self.0).map_err(unavailable)?;
        Ok(entries.filter_map(move |entry| match entry {
            Ok(entry) => {
                let name = entry.file_name().to_bytes();
                let called_like_a_note = name.ends_with(b".md") && !name.starts_with(b".");
                called_like_a_note.then(|| Ok(OsStr::from_bytes(name).to_owned()))
            }
            Err(error) => Some(Err(unavailable(error))),
        }))
    }
}
