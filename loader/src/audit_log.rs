//! The audit log: one JSON line per call, in files that rotate.
//!
//! Lines are gathered in memory and written at the latest [`DELAY`] later by a thread of their own; the line of a call that was not
//! read-only is written before the call returns. Several processes may append to one log: each write is whole lines to a file that
//! is open for appending.

mod line;

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::Arc,
    thread::JoinHandle,
    time::Duration,
};

use parking_lot::{Condvar, Mutex, MutexGuard};
use toolbay_core::{AuditRecord, AuditSink};

use crate::{config::AuditConfig, error::OpenError, store::private_dir};

/// How long a line of a read-only call may stay in memory.
pub const DELAY: Duration = Duration::from_millis(100);

/// The bytes in memory at which they are written at once.
const FULL: usize = 256 * 1024;

/// The log of one process.
pub(crate) struct AuditLog {
    shared: Arc<Shared>,
    writer: Option<JoinHandle<()>>,
}

struct Shared {
    /// Never held while a file is written, so that a slow disk does not hold up calls.
    pending: Mutex<Pending>,
    wake: Condvar,
    file: Mutex<LogFile>,
}

#[derive(Default)]
struct Pending {
    lines: Vec<u8>,
    encoder: line::Encoder,
    closing: bool,
}

impl AuditLog {
    /// Opens the log in a folder, which is made where it is missing.
    pub(crate) fn open(folder: &Path, config: AuditConfig) -> Result<Self, OpenError> {
        let path = folder.join("audit.jsonl");
        let file = private_dir(folder)
            .and_then(|()| LogFile::open(path.clone(), config))
            .map_err(|source| OpenError::Audit { path, source })?;
        let shared = Arc::new(Shared {
            pending: Mutex::default(),
            wake: Condvar::new(),
            file: Mutex::new(file),
        });
        let writer = std::thread::Builder::new()
            .name("toolbay-audit".to_owned())
            .spawn({
                let shared = Arc::clone(&shared);
                move || shared.write_until_closed()
            })
            .map_err(|source| OpenError::Audit { path: folder.to_owned(), source })?;
        Ok(Self { shared, writer: Some(writer) })
    }
}

impl AuditSink for AuditLog {
    fn record(&self, record: &AuditRecord<'_>) {
        let mut pending = self.shared.pending.lock();
        let was_empty = pending.lines.is_empty();
        let Pending { lines, encoder, .. } = &mut *pending;
        encoder.encode(record, lines);
        if pending.lines.len() >= FULL || record.effect.is_none_or(|effect| effect.is_write()) {
            self.shared.write(pending);
        } else if was_empty {
            self.shared.wake.notify_one();
        }
    }
}

impl Drop for AuditLog {
    fn drop(&mut self) {
        self.shared.pending.lock().closing = true;
        self.shared.wake.notify_one();
        if let Some(writer) = self.writer.take()
            && writer.join().is_err()
        {
            log::error!("the thread that writes the audit log panicked");
        }
    }
}

impl Shared {
    fn write_until_closed(&self) {
        let mut pending = self.pending.lock();
        loop {
            self.wake
                .wait_while(&mut pending, |pending| pending.lines.is_empty() && !pending.closing);
            let closing = |pending: &mut Pending| !pending.closing;
            self.wake.wait_while_for(&mut pending, closing, DELAY);
            let closing = pending.closing;
            self.write(pending);
            if closing {
                return;
            }
            pending = self.pending.lock();
        }
    }

    /// Writes what is pending, in the order in which it was taken: the file is locked before the lines are let go.
    fn write(&self, mut pending: MutexGuard<'_, Pending>) {
        if pending.lines.is_empty() {
            return;
        }
        let mut file = self.file.lock();
        let lines = std::mem::take(&mut pending.lines);
        drop(pending);
        if let Err(error) = file.append(&lines) {
            let count = lines.iter().filter(|&&byte| byte == b'\n').count();
            log::error!(
                "{count} audit records lost, {} is not writable: {error}",
                file.path.display()
            );
        }
    }
}

/// The current file.
struct LogFile {
    path: PathBuf,
    config: AuditConfig,
    file: File,
}

impl LogFile {
    fn open(path: PathBuf, config: AuditConfig) -> io::Result<Self> {
        let file = open_for_appending(&path)?;
        Ok(Self { path, config, file })
    }

    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        self.follow()?;
        if self.file.metadata()?.len() >= self.config.max_file_len {
            self.rotate()?;
        }
        self.file.write_all(lines)
    }

    /// Another process may have rotated the log: then the path is another file by now.
    fn follow(&mut self) -> io::Result<()> {
        let here = self.file.metadata()?;
        let there = fs::metadata(&self.path);
        if !there.is_ok_and(|there| (there.dev(), there.ino()) == (here.dev(), here.ino())) {
            self.file = open_for_appending(&self.path)?;
        }
        Ok(())
    }

    /// Renames `audit.jsonl` to `audit.1.jsonl` and so on, under a lock that other processes wait for.
    fn rotate(&mut self) -> io::Result<()> {
        let lock = File::create(self.path.with_extension("lock"))?;
        lock.lock()?;
        self.follow()?;
        if self.file.metadata()?.len() < self.config.max_file_len {
            return Ok(());
        }
        let numbered = |number: usize| self.path.with_extension(format!("{number}.jsonl"));
        for number in (1..self.config.keep).rev() {
            let from = numbered(number);
            if from.exists() {
                fs::rename(from, numbered(number + 1))?;
            }
        }
        match self.config.keep {
            0 => fs::remove_file(&self.path)?,
            _ => fs::rename(&self.path, numbered(1))?,
        }
        self.file = open_for_appending(&self.path)?;
        Ok(())
    }
}

fn open_for_appending(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}
