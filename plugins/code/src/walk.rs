//! The walk through the files below a folder, in the order of their names.

use std::{ffi::OsString, fs::File, io::Take, path::PathBuf, rc::Rc, vec};

use crate::folder::{Folder, Kind, OpenError};

/// How deep below a root the walk goes. Each level holds a descriptor.
const MAX_DEPTH: usize = 64;

/// A file that has been seen and not opened.
#[derive(Debug)]
pub(crate) struct FileEntry {
    folder: Rc<Folder>,
    name: OsString,
}

impl FileEntry {
    /// The file of this name in the folder.
    pub(crate) fn new(folder: Rc<Folder>, name: OsString) -> Self {
        Self { folder, name }
    }

    /// Its path, relative to the root.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }

    /// Opens it, if it is a regular file of at most `limit` bytes.
    pub(crate) fn open(&self, limit: u64) -> Result<Take<File>, OpenError> {
        self.folder.open(&self.name, limit)
    }
}

/// Where a walk starts.
#[derive(Debug)]
pub(crate) enum Place {
    File(FileEntry),
    Folder(Rc<Folder>),
}

/// One step of a walk. Steps without a file let the caller look at the clock in a tree of many folders.
#[derive(Debug)]
pub(crate) enum Step {
    File(FileEntry),
    Entered,
    /// A folder that could not be listed, or whose ignore rules could not be read.
    Unreadable,
    /// A folder deeper than 64 levels.
    TooDeep,
}

/// A walk. It follows no links.
#[derive(Debug)]
pub(crate) struct Walk {
    first: Option<Step>,
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    folder: Rc<Folder>,
    entries: vec::IntoIter<(OsString, Kind)>,
}

impl Walk {
    /// A walk through what is at the place.
    pub(crate) fn new(place: Place) -> Self {
        let mut walk = Self { first: None, levels: Vec::new() };
        walk.first = Some(match place {
            Place::File(file) => Step::File(file),
            Place::Folder(folder) => walk.list(folder),
        });
        walk
    }

    fn list(&mut self, folder: Rc<Folder>) -> Step {
        match folder.entries() {
            Ok(entries) => {
                self.levels.push(Level { folder, entries: entries.into_iter() });
                Step::Entered
            }
            Err(_) => Step::Unreadable,
        }
    }
}

impl Iterator for Walk {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        loop {
            let level = self.levels.last_mut()?;
            let Some((name, kind)) = level.entries.next() else {
                self.levels.pop();
                continue;
            };
            let folder = Rc::clone(&level.folder);
            return Some(match kind {
                Kind::File => Step::File(FileEntry::new(folder, name)),
                Kind::Folder if self.levels.len() >= MAX_DEPTH => Step::TooDeep,
                Kind::Folder => match folder.enter(&name) {
                    Ok(folder) => self.list(folder),
                    Err(_) => Step::Unreadable,
                },
            });
        }
    }
}
