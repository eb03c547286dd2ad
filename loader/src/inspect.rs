//! Reads what a file says about itself, with positioned reads and without running anything of it.

mod elf;
mod note;

use std::{
    fs::{File, Metadata, OpenOptions},
    io,
    os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use toolbay_abi::note::Note;

pub use elf::{Dependencies, Dependency, LibraryFacts, RootFault, RootSymbol, Stack, VersionNeed};

use crate::{
    discover::Candidate,
    rejection::{Reason, Rejection, Stage},
};

/// The largest file that is read, in bytes.
pub const MAX_FILE_LEN: u64 = 512 * 1024 * 1024;

/// A file with a note: it says that it is a plugin, and which. Nothing of that is trusted yet.
#[derive(Debug)]
pub struct Inspected {
    path: PathBuf,
    file: File,
    identity: FileIdentity,
    note: Note,
    facts: LibraryFacts,
}

/// What a file turned out to be.
#[derive(Debug)]
pub enum Inspection {
    /// It has a note.
    Plugin(Box<Inspected>),
    /// It is something else, which is no mistake: a plugin directory may hold other files. The text says what it is.
    NotAPlugin(&'static str),
}

/// What the content of a file says about it.
#[derive(Debug)]
pub enum Content {
    /// It has a note.
    Plugin {
        /// The note.
        note: Box<Note>,
        /// What its tables say.
        facts: Box<LibraryFacts>,
    },
    /// It is something else, which the text names.
    NotAPlugin(&'static str),
}

/// Which file it was, and in which state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileIdentity {
    /// The device.
    pub device: u64,
    /// The inode.
    pub inode: u64,
    /// Bytes.
    pub len: u64,
    /// Last change of the content, in nanoseconds since the epoch.
    pub modified_ns: i128,
    /// Last change of the inode, in nanoseconds since the epoch.
    pub changed_ns: i128,
}

impl FileIdentity {
    /// The identity in a file's metadata.
    pub fn of(metadata: &Metadata) -> Self {
        let ns = |seconds: i64, ns: i64| i128::from(seconds) * 1_000_000_000 + i128::from(ns);
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            len: metadata.len(),
            modified_ns: ns(metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: ns(metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

impl Inspected {
    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open file, whose content was read.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Which file it was.
    pub fn identity(&self) -> FileIdentity {
        self.identity
    }

    /// What the plugin says about itself.
    pub fn note(&self) -> &Note {
        &self.note
    }

    /// What the library's tables say.
    pub fn facts(&self) -> &LibraryFacts {
        &self.facts
    }
}

/// Opens a candidate and reads its note and its tables.
///
/// The file must be a regular one, of at most [`MAX_FILE_LEN`] bytes; a symbolic link is refused, and so is a pipe, which would
/// never answer.
///
/// # Errors
///
/// [`Rejection`] for a file that can't be read, or that is a damaged library or note.
pub fn inspect(candidate: &Candidate) -> Result<Inspection, Rejection> {
    let path = candidate.path();
    let (file, identity) = open(path).map_err(|reason| reason.of(path, None))?;
    let content =
        elf::read_file(&file).and_then(content).map_err(|reason| reason.of(path, None))?;
    let (note, facts) = match content {
        Content::Plugin { note, facts } => (*note, *facts),
        Content::NotAPlugin(what) => return Ok(Inspection::NotAPlugin(what)),
    };
    let path = path.to_owned();
    Ok(Inspection::Plugin(Box::new(Inspected { path, file, identity, note, facts })))
}

/// Reads the note and the tables of a file whose whole content is in memory, as [`inspect`] reads those of a file.
///
/// # Errors
///
/// [`Reason`] for a damaged library or note.
pub fn read_content(bytes: &[u8]) -> Result<Content, Reason> {
    elf::read(bytes).and_then(content)
}

/// Reads the content of the section that holds a note.
///
/// # Errors
///
/// [`Reason`] where it is not one whole record with a note in JSON.
pub fn parse_note(section: &[u8]) -> Result<Note, Reason> {
    note::parse(section)
}

fn content(found: elf::Found) -> Result<Content, Reason> {
    Ok(match found {
        elf::Found::Library(tables) => {
            let elf::Tables { note, facts } = *tables;
            let (note, facts) = (Box::new(note::parse(&note)?), Box::new(facts));
            Content::Plugin { note, facts }
        }
        elf::Found::Other(what) => Content::NotAPlugin(what),
    })
}

/// Opens a regular file, and nothing that is another kind of file.
pub(crate) fn open(path: &Path) -> Result<(File, FileIdentity), Reason> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)
        .map_err(|error| cannot_open(&error))?;
    let metadata = file.metadata().map_err(|error| cannot_open(&error))?;
    if !metadata.is_file() {
        return Err(Reason::plugin(
            Stage::Inspect,
            "not_a_regular_file",
            "a regular file",
            kind_of(&metadata),
            "put the library itself into the plugin directory",
        ));
    }
    if metadata.len() > MAX_FILE_LEN {
        return Err(Reason::plugin(
            Stage::Inspect,
            "file_too_large",
            format!("at most {MAX_FILE_LEN} bytes"),
            format!("{} bytes", metadata.len()),
            "build the plugin in release mode and strip it",
        ));
    }
    let identity = FileIdentity::of(&metadata);
    Ok((file, identity))
}

fn cannot_open(error: &io::Error) -> Reason {
    match error.raw_os_error() {
        Some(libc::ELOOP) => Reason::plugin(
            Stage::Inspect,
            "symbolic_link",
            "a regular file",
            "a symbolic link",
            "copy the library into the plugin directory, or configure the directory that holds it",
        ),
        // What opening a socket gives.
        Some(libc::ENXIO) => Reason::plugin(
            Stage::Inspect,
            "not_a_regular_file",
            "a regular file",
            "a socket or a device without a driver",
            "put the library itself into the plugin directory",
        ),
        _ => Reason::plugin(
            Stage::Inspect,
            "unreadable_file",
            "a file that can be read",
            error.to_string(),
            "correct the file's permissions, or take it out of the plugin directory",
        )
        .by_environment(),
    }
}

/// What a file that is no regular one is, with its article.
pub(crate) fn kind_of(metadata: &Metadata) -> &'static str {
    let kind = metadata.file_type();
    if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_dir() {
        "a directory"
    } else if kind.is_char_device() || kind.is_block_device() {
        "a device"
    } else {
        "a file of another kind"
    }
}
