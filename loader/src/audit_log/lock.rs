//! The lock of the log's folder, a file that is never renamed.
//!
//! Whoever has it alone may append to the current file, cut off what it has appended, and rename or remove files. Whoever shares it sees
//! whole lines in files that keep their names.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

/// How often somebody may put another file into the place of the lock between two looks at it. Where a file system has no stable numbers
/// for its files, it looks as if that happened each time.
const TRIES: usize = 16;

fn path(folder: &Path) -> PathBuf {
    folder.join("audit.lock")
}

/// The lock of a writer.
#[derive(Debug)]
pub(crate) struct FolderLock {
    path: PathBuf,
    file: File,
}

impl FolderLock {
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        let path = path(folder);
        let file = create(&path)?;
        Ok(Self { path, file })
    }

    /// Waits until nobody else has it.
    pub(crate) fn take(&mut self) -> io::Result<()> {
        for _ in 0..TRIES {
            waiting(|| self.file.lock())?;
            if is_at(&self.file, &self.path)? {
                return Ok(());
            }
            // Somebody has removed it, and others may use another one by now.
            self.give_back();
            self.file = create(&self.path)?;
        }
        waiting(|| self.file.lock())
    }

    /// Closing the file would not do where a plugin has forked, since its child has the file too.
    pub(crate) fn give_back(&self) {
        let _ = self.file.unlock();
    }
}

/// The lock of a reader, which has it as long as it has this.
#[derive(Debug)]
pub(crate) struct SharedLock(File);

impl SharedLock {
    /// Waits until no writer has it. `None` where there is none, since nobody has written, or where the file system knows no locks.
    pub(crate) fn take(folder: &Path) -> Option<Self> {
        let path = path(folder);
        for _ in 0..TRIES {
            let file = File::open(&path).ok()?;
            waiting(|| file.lock_shared()).ok()?;
            if is_at(&file, &path).unwrap_or(true) {
                return Some(Self(file));
            }
        }
        None
    }
}

impl SharedLock {
    /// Whether there is a lock, because somebody has written.
    pub(crate) fn is_there(folder: &Path) -> bool {
        path(folder).exists()
    }
}

impl Drop for SharedLock {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Whether the path leads to this open file.
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let here = file.metadata()?;
    let there = fs::metadata(path);
    Ok(there.is_ok_and(|there| (there.dev(), there.ino()) == (here.dev(), here.ino())))
}

/// Waits for a lock, through signals.
fn waiting(lock: impl Fn() -> io::Result<()>) -> io::Result<()> {
    loop {
        match lock() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
}
