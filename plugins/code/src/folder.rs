//! A folder below a root, opened so that no link leads out of it and nothing in it can block.
//!
//! The `ignore` crate's own walk opens `.gitignore` files by path, whatever they are: a pipe of that name would block it for ever.
//! So its matchers are used here with what this module has opened.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read, Take},
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::{Path, PathBuf},
    rc::Rc,
};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};

/// Why a file was not opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum OpenError {
    #[error("expected a regular file, found something else")]
    NotRegular,
    #[error("expected at most {limit} bytes, found {found}")]
    TooLarge { limit: u64, found: u64 },
    #[error("the file can't be opened")]
    Unreadable(#[from] io::Error),
}

/// What stands under a name in a folder, as far as this provider looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
}

/// A folder, with the ignore rules that stand in it. Hidden and ignored entries count as absent.
#[derive(Debug)]
pub(crate) struct Folder {
    descriptor: OwnedFd,
    /// Relative to the root.
    path: PathBuf,
    rules: Gitignore,
    parent: Option<Rc<Folder>>,
}

impl Folder {
    /// Opens a root. Its own path is the operator's word, so links in it are followed.
    pub(crate) fn root(path: &Path) -> io::Result<Rc<Self>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Self::with_rules(rustix::fs::open(path, flags, Mode::empty())?, PathBuf::new(), None)
    }

    /// Opens a folder in this one.
    pub(crate) fn enter(self: &Rc<Self>, name: &OsStr) -> io::Result<Rc<Self>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let descriptor = rustix::fs::openat(&self.descriptor, name, flags, Mode::empty())?;
        Self::with_rules(descriptor, self.path.join(name), Some(Rc::clone(self)))
    }

    fn with_rules(
        descriptor: OwnedFd,
        path: PathBuf,
        parent: Option<Rc<Self>>,
    ) -> io::Result<Rc<Self>> {
        let rules = read_rules(&descriptor, &path)?;
        Ok(Rc::new(Self { descriptor, path, rules, parent }))
    }

    /// Its path, relative to the root.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a regular file of at most `limit` bytes in this folder.
    pub(crate) fn open(&self, name: &OsStr, limit: u64) -> Result<Take<File>, OpenError> {
        open_regular(&self.descriptor, name, limit)
    }

    /// What stands under the name, if it is a regular file or a folder and is neither hidden nor ignored.
    pub(crate) fn look_up(&self, name: &OsStr) -> Option<Kind> {
        self.visible(name, FileType::Unknown)
    }

    /// What stands in it, sorted by name.
    pub(crate) fn entries(&self) -> io::Result<Vec<(OsString, Kind)>> {
        let mut entries = Vec::new();
        for entry in Dir::read_from(&self.descriptor)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if let Some(kind) = self.visible(name, entry.file_type()) {
                entries.push((name.to_owned(), kind));
            }
        }
        entries.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        Ok(entries)
    }

    fn visible(&self, name: &OsStr, file_type: FileType) -> Option<Kind> {
        if name.as_bytes().starts_with(b".") {
            return None;
        }
        let file_type = match file_type {
            // Some file systems don't say it in the listing.
            FileType::Unknown => {
                let status =
                    rustix::fs::statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
                FileType::from_raw_mode(status.st_mode)
            }
            known => known,
        };
        let kind = match file_type {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            _ => return None,
        };
        (!self.ignores(&self.path.join(name), kind == Kind::Folder)).then_some(kind)
    }

    /// Asks this folder's rules, then its parents': as in git, the nearest rule decides.
    fn ignores(&self, path: &Path, is_folder: bool) -> bool {
        let mut next = Some(self);
        while let Some(folder) = next {
            match folder.rules.matched(path, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => next = folder.parent.as_deref(),
            }
        }
        false
    }
}

/// The most that a file of ignore rules may have, in bytes.
const MAX_RULES: u64 = 256 << 10;

/// The rules of a folder's `.gitignore`, then those of its `.ignore`, which win.
///
/// What is not a regular file counts as absent, as in git. Rules that can't be read close the folder: they may be what keeps a secret.
fn read_rules(folder: &OwnedFd, path: &Path) -> io::Result<Gitignore> {
    let mut builder = None;
    for name in [".gitignore", ".ignore"] {
        let mut file = match open_regular(folder, OsStr::new(name), MAX_RULES) {
            Ok(file) => file,
            Err(OpenError::NotRegular) => continue,
            Err(OpenError::Unreadable(error)) if error.kind() == io::ErrorKind::NotFound => {
                continue;
            }
            Err(error) => return Err(io::Error::other(error)),
        };
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        let text = String::from_utf8_lossy(&text);
        let builder = builder.get_or_insert_with(|| GitignoreBuilder::new(path));
        for line in text.trim_start_matches('\u{feff}').lines() {
            // A line that is no pattern hides nothing, as in git.
            let _ = builder.add_line(None, line);
        }
    }
    match builder {
        Some(builder) => builder.build().map_err(io::Error::other),
        None => Ok(Gitignore::empty()),
    }
}

fn open_regular(folder: &OwnedFd, name: &OsStr, limit: u64) -> Result<Take<File>, OpenError> {
    // NONBLOCK lets the open of a pipe return at once; the check is made on what was opened, not on its name.
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let descriptor = match rustix::fs::openat(folder, name, flags, Mode::empty()) {
        Ok(descriptor) => descriptor,
        // The errors that a link, a socket and a device without a driver give.
        Err(rustix::io::Errno::LOOP | rustix::io::Errno::NXIO | rustix::io::Errno::NODEV) => {
            return Err(OpenError::NotRegular);
        }
        Err(error) => return Err(OpenError::Unreadable(error.into())),
    };
    let file = File::from(descriptor);
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(OpenError::NotRegular);
    }
    if metadata.len() > limit {
        return Err(OpenError::TooLarge { limit, found: metadata.len() });
    }
    // What grows while it is read is read to the length that was checked.
    Ok(file.take(metadata.len()))
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    /// What the walk has seen as a file or a folder may be a link when it is opened.
    #[test]
    fn a_link_is_neither_entered_nor_opened() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("folder")).unwrap();
        fs::write(root.path().join("file"), "text").unwrap();
        symlink("folder", root.path().join("folder-link")).unwrap();
        symlink("file", root.path().join("file-link")).unwrap();
        let folder = Folder::root(root.path()).unwrap();

        assert!(folder.enter("folder".as_ref()).is_ok());
        assert!(folder.open("file".as_ref(), 4).is_ok());
        let error = folder.enter("folder-link".as_ref()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotADirectory);
        let error = folder.open("file-link".as_ref(), 4).unwrap_err();
        assert!(matches!(error, OpenError::NotRegular), "{error}");
        let error = folder.open("file".as_ref(), 3).unwrap_err();
        assert!(matches!(error, OpenError::TooLarge { limit: 3, found: 4 }), "{error}");
        let error = folder.open("folder".as_ref(), 4).unwrap_err();
        assert!(matches!(error, OpenError::NotRegular), "{error}");
    }
}
