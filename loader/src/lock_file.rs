//! Locks between processes, each a file that the system unlocks when whoever holds it ends, however that happens.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

/// Waits for the lock. It is held until the file is dropped.
pub(crate) fn wait(path: &Path) -> io::Result<File> {
    let file = open(path)?;
    loop {
        match file.lock() {
            Ok(()) => return Ok(file),
            // A signal whose handler does not let the system go on waiting.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Opens a file that nobody else can hold up.
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
}
