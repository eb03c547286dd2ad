//! The current file of the audit log.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use super::{
    folder::{CURRENT, numbered, rotated},
    lock::{FolderLock, is_at},
    retention,
};
use crate::{config::AuditConfig, store::sync_dir};

/// The current file.
pub(super) struct LogFile {
    folder: PathBuf,
    path: PathBuf,
    config: AuditConfig,
    lock: FolderLock,
    file: File,
    /// Whether the file's name outlives a crash.
    name_is_durable: bool,
}

/// The log while nobody else writes to it.
struct Locked<'a>(&'a mut LogFile);

impl LogFile {
    pub(super) fn open(folder: &Path, config: AuditConfig) -> io::Result<Self> {
        let path = folder.join(CURRENT);
        let mut log = Self {
            lock: FolderLock::open(folder)?,
            file: open_for_appending(&path)?,
            folder: folder.to_owned(),
            path,
            config,
            name_is_durable: false,
        };
        if log.config.keep_days > 0 {
            let locked = log.lock()?;
            retention::expire(&locked.0.folder, locked.0.config.keep_days);
        }
        Ok(log)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends lines, and takes from `lines` those that are in the file then: where that is not all of them, the others can follow later
    /// without one being torn or written twice.
    pub(super) fn append(&mut self, lines: &mut Vec<u8>) -> io::Result<()> {
        let (whole, result) = self.begin()?.write(lines);
        lines.drain(..whole);
        result
    }

    /// Appends one line and keeps it durably, or else leaves nothing of it behind.
    pub(super) fn append_durably(&mut self, line: &[u8]) -> io::Result<()> {
        let mut locked = self.begin()?;
        let (whole, result) = locked.write(line);
        let result = result.and_then(|()| locked.make_durable());
        if result.is_err() {
            locked.take_back(whole);
        }
        result
    }

    /// Locks the current file, after it has begun the next one where that is full.
    fn begin(&mut self) -> io::Result<Locked<'_>> {
        // Only a look: what it sees is looked at again under the lock.
        let full = self.file.metadata()?.len() >= self.config.max_file_len;
        if full && let Err(error) = self.lock().and_then(|mut locked| locked.rotate()) {
            log::error!("{} can't be rotated and grows on: {error}", self.path.display());
        }
        self.lock()
    }

    /// Takes the lock, and looks whether another process has rotated the log: then the path is another file by now.
    fn lock(&mut self) -> io::Result<Locked<'_>> {
        self.lock.take()?;
        let locked = Locked(self);
        if !is_at(&locked.0.file, &locked.0.path)? {
            locked.0.file = open_for_appending(&locked.0.path)?;
            locked.0.name_is_durable = false;
        }
        Ok(locked)
    }
}

impl Locked<'_> {
    /// How long the file is; `None` where it is none that has a length, but a device.
    fn len(&self) -> io::Result<Option<u64>> {
        let metadata = self.0.file.metadata()?;
        Ok(metadata.is_file().then_some(metadata.len()))
    }

    /// Appends lines: how many of their bytes are in the file then, always whole lines, and what kept out the others.
    fn write(&mut self, lines: &[u8]) -> (usize, io::Result<()>) {
        let start = match self.end_last_line() {
            Ok(start) => start,
            Err(error) => return (0, Err(error)),
        };
        let (written, result) = write_until_refused(&self.0.file, lines);
        if result.is_ok() {
            return (lines.len(), result);
        }
        let whole = lines[..written].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        if let Some(start) = start.filter(|_| whole < written) {
            self.cut(start + whole as u64);
        }
        (whole, result)
    }

    /// What a process left of a line when it ended while it wrote becomes a line of its own, so that it does not swallow the next
    /// one. Returns how long the file is then.
    fn end_last_line(&mut self) -> io::Result<Option<u64>> {
        let Some(len) = self.len()? else { return Ok(None) };
        let mut last = *b"\n";
        if len > 0 {
            self.0.file.read_exact_at(&mut last, len - 1)?;
        }
        if last == *b"\n" {
            return Ok(Some(len));
        }
        let (written, result) = write_until_refused(&self.0.file, b"\n");
        result.map(|()| Some(len + written as u64))
    }

    /// Takes back the last bytes of the file.
    fn take_back(&mut self, count: usize) {
        if let Ok(Some(len)) = self.len()
            && count > 0
        {
            self.cut(len.saturating_sub(count as u64));
        }
    }

    fn cut(&mut self, len: u64) {
        if let Err(error) = self.0.file.set_len(len) {
            // What is left ends where the next record begins, and whoever reads the log passes over it.
            log::error!("{} can't be cut to whole lines: {error}", self.0.path.display());
        }
    }

    fn make_durable(&mut self) -> io::Result<()> {
        self.0.file.sync_data()?;
        if !self.0.name_is_durable {
            sync_dir(&self.0.folder)?;
            self.0.folder.parent().map_or(Ok(()), sync_dir)?;
            self.0.name_is_durable = true;
        }
        Ok(())
    }

    /// Renames `audit.jsonl` to `audit.1.jsonl` and so on, unless another process has just done so.
    fn rotate(&mut self) -> io::Result<()> {
        if self.len()?.is_none_or(|len| len < self.0.config.max_file_len) {
            return Ok(());
        }
        let LogFile { folder, path, config, .. } = &*self.0;
        retention::expire(folder, config.keep_days);
        let there = rotated(folder)?;
        for number in there.iter().filter(|number| **number > config.keep) {
            fs::remove_file(numbered(folder, *number))?;
        }
        // Up to the first gap: what is beyond it need not move.
        let first_gap = (1..config.keep).find(|number| !there.contains(number));
        for number in (1..first_gap.unwrap_or(config.keep)).rev() {
            fs::rename(numbered(folder, number), numbered(folder, number + 1))?;
        }
        match config.keep {
            0 => fs::remove_file(path),
            _ => fs::rename(path, numbered(folder, 1)),
        }
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        self.0.lock.give_back();
    }
}

/// How much was written, and what ended it.
fn write_until_refused(mut file: &File, bytes: &[u8]) -> (usize, io::Result<()>) {
    let mut written = 0;
    while written < bytes.len() {
        match file.write(&bytes[written..]) {
            Ok(0) => return (written, Err(io::ErrorKind::WriteZero.into())),
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (written, Err(error)),
        }
    }
    (written, Ok(()))
}

fn open_for_appending(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)
}
