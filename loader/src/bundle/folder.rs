//! A bundle that is a folder: opened once, and from then on walked from its descriptor, so that no link that somebody puts in the way leads
//! out of it.

use std::{
    collections::BTreeMap,
    ffi::CString,
    fs::File,
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, open as open_path, openat, statat},
    io::Errno,
};

use super::{
    BundlePath, MAX_BUNDLE_ENTRIES, PathError, missing,
    path::PathSet,
    refused,
    sizes::{self, Sizes},
    unreadable,
};
use crate::{inspect, plugin_text::one_line, rejection::Reason};

/// The folder of a bundle, open.
#[derive(Debug)]
pub(super) struct Folder {
    root: OwnedFd,
}

/// What is at the path of a bundle.
pub(super) enum Opened {
    Folder(Folder),
    File(File),
}

/// Never waits for a pipe, never follows a link.
const FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// Opens what is at this path, if it is a folder or a regular file.
pub(super) fn open(path: &Path) -> Result<Opened, Reason> {
    let shown = path.display().to_string();
    let descriptor = open_path(path, FLAGS, Mode::empty()).map_err(|error| match error {
        Errno::NOENT => unreadable(&shown, &error.into()),
        error => not_opened(&shown, error),
    })?;
    let file = File::from(descriptor);
    let metadata = file.metadata().map_err(|error| unreadable(&shown, &error))?;
    if metadata.is_dir() {
        return Ok(Opened::Folder(Folder { root: file.into() }));
    }
    if metadata.is_file() {
        return Ok(Opened::File(file));
    }
    Err(not_regular(&shown, inspect::kind_of(&metadata)))
}

impl Folder {
    /// Every file with its size. All of them are regular, and so many that they can be counted.
    pub(super) fn files(&self) -> Result<BTreeMap<BundlePath, u64>, Reason> {
        let mut walk = Walk::default();
        walk.folder(self.root.as_fd(), "")?;
        Ok(walk.files)
    }

    /// Opens a regular file of the folder.
    pub(super) fn file(&self, path: &str) -> Result<File, Reason> {
        let mut folder = None;
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        for part in folders.split('/').filter(|part| !part.is_empty()) {
            let above = folder.as_ref().unwrap_or(&self.root);
            let opened = openat(above, part, FLAGS | OFlags::DIRECTORY, Mode::empty());
            folder = Some(opened.map_err(|error| not_opened(path, error))?);
        }
        let opened = openat(folder.as_ref().unwrap_or(&self.root), name, FLAGS, Mode::empty());
        let file = opened.map_err(|error| not_opened(path, error))?;
        let status = fstat(&file).map_err(|error| unreadable(path, &error.into()))?;
        match FileType::from_raw_mode(status.st_mode) {
            FileType::RegularFile => Ok(File::from(file)),
            other => Err(not_regular(path, kind_of(other))),
        }
    }
}

#[derive(Default)]
struct Walk {
    files: BTreeMap<BundlePath, u64>,
    paths: PathSet,
    sizes: Sizes,
}

impl Walk {
    /// Goes no deeper than a [`BundlePath`] has parts.
    fn folder(&mut self, folder: BorrowedFd<'_>, prefix: &str) -> Result<(), Reason> {
        for name in names(folder, prefix)? {
            let path = BundlePath::from_bytes(&[prefix.as_bytes(), name.as_bytes()].concat())
                .map_err(PathError::refused)?;
            let shown = path.as_str();
            let status = statat(folder, &name, AtFlags::SYMLINK_NOFOLLOW)
                .map_err(|error| not_opened(shown, error))?;
            match FileType::from_raw_mode(status.st_mode) {
                FileType::RegularFile => {
                    let size = u64::try_from(status.st_size).unwrap_or(u64::MAX);
                    self.sizes.add(shown, size)?;
                    self.paths.add_file(&path)?;
                    self.files.insert(path, size);
                }
                FileType::Directory => {
                    self.sizes.add_folder()?;
                    self.paths.add_folder(&path)?;
                    let inner = openat(folder, &name, FLAGS | OFlags::DIRECTORY, Mode::empty());
                    let inner = inner.map_err(|error| not_opened(shown, error))?;
                    self.folder(inner.as_fd(), &format!("{path}/"))?;
                }
                FileType::Symlink => return Err(link(shown)),
                other => return Err(not_regular(shown, kind_of(other))),
            }
        }
        Ok(())
    }
}

/// The names in a folder, sorted, so that the same folder is refused for the same reason everywhere.
fn names(folder: BorrowedFd<'_>, prefix: &str) -> Result<Vec<CString>, Reason> {
    let failed = |error: Errno| unreadable(prefix, &error.into());
    let mut names = Vec::new();
    for entry in Dir::read_from(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        names.push(name.to_owned());
        if names.len() > MAX_BUNDLE_ENTRIES {
            sizes::check_entries(names.len())?;
        }
    }
    names.sort_unstable();
    Ok(names)
}

fn not_opened(path: &str, error: Errno) -> Reason {
    match error {
        // A link, or what took the place of a folder.
        Errno::LOOP | Errno::NOTDIR => link(path),
        // What opening a socket gives.
        Errno::NXIO => not_regular(path, "a socket or a device without a driver"),
        Errno::NOENT => missing(path),
        error => unreadable(path, &io::Error::from(error)),
    }
}

fn link(path: &str) -> Reason {
    refused(
        "symbolic_link",
        "folders and regular files",
        format!("{}: a symbolic link", one_line(path, 300)),
        "put the file itself in the place of the link, and name the bundle by its own path",
    )
}

fn not_regular(path: &str, what: &str) -> Reason {
    refused(
        "not_a_regular_file",
        "folders and regular files",
        format!("{}: {what}", one_line(path, 300)),
        "take it out of the bundle",
    )
}

fn kind_of(kind: FileType) -> &'static str {
    match kind {
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Directory => "a folder",
        _ => "a file of another kind",
    }
}
