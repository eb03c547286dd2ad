//! The audit log: one JSON line per call and per decision, in files that rotate.
//!
//! A call leaves its record in memory, which costs it some tens of nanoseconds; a thread of the log's own makes lines of the records
//! and writes them at the latest [`DELAY`] later. The record of a call that was not read-only is written before the call returns, and
//! that of a decision is on the disk before anything is done. Several processes may append to one log: each writes whole lines under a
//! lock, and takes back what the disk has taken of half a line.

mod content;
mod file;
pub(crate) mod folder;
mod line;
pub(crate) mod lock;
mod pending;
mod retention;
#[cfg(test)]
mod tests;

use std::{io, mem, path::Path, sync::Arc, thread::JoinHandle, time::Duration};

use parking_lot::{Condvar, Mutex};
use toolbay_core::{AuditError, AuditRecord, AuditSink, DecisionRecord, Effect, Privacy};

use self::{content::Content, file::LogFile, line::Encoder, pending::Pending};
use crate::{config::AuditConfig, error::OpenError, store::private_dir};

/// How long the record of a read-only call may stay in memory.
pub const DELAY: Duration = Duration::from_millis(100);

/// The records at which the writing thread is woken before the delay is over.
const MANY: usize = 2_048;

/// The records at which a call writes them itself, so that memory stays bounded where the disk is slow.
const TOO_MANY: usize = 65_536;

/// The bytes of arguments and replies at which a call writes them itself, where the log keeps them.
const TOO_MANY_BYTES: usize = 16 * 1024 * 1024;

/// The bytes of lines that wait in memory while the file is not writable; above it they are lost, and the host's log says so.
const MAX_UNWRITTEN: usize = 16 * 1024 * 1024;

/// The log of one process.
pub(crate) struct AuditLog {
    privacy: Privacy,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    /// Never held while a file is written, so that a slow disk does not hold up calls.
    queue: Mutex<Queue>,
    wake: Condvar,
    writer: Mutex<Writer>,
}

#[derive(Default)]
struct Queue {
    pending: Pending,
    closing: bool,
}

struct Writer {
    file: LogFile,
    encoder: Encoder,
    /// What was written last, emptied: its memory is used for what comes next.
    spare: Pending,
    /// The lines of calls that are not in the file yet.
    lines: Vec<u8>,
}

impl AuditLog {
    /// Opens the log in a folder, which is made where it is missing.
    pub(crate) fn open(folder: &Path, config: AuditConfig) -> Result<Self, OpenError> {
        let failed = |source| OpenError::Audit { path: folder.join(folder::CURRENT), source };
        private_dir(folder).map_err(failed)?;
        let privacy = config.privacy;
        let file = LogFile::open(folder, config).map_err(failed)?;
        let writer = Writer {
            file,
            encoder: Encoder::new(privacy),
            spare: Pending::default(),
            lines: Vec::new(),
        };
        let shared = Arc::new(Shared {
            queue: Mutex::default(),
            wake: Condvar::new(),
            writer: Mutex::new(writer),
        });
        let thread = std::thread::Builder::new()
            .name("toolbay-audit".to_owned())
            .spawn({
                let shared = Arc::clone(&shared);
                move || shared.write_until_closed()
            })
            .map_err(failed)?;
        Ok(Self { privacy, shared, thread: Some(thread) })
    }
}

impl AuditSink for AuditLog {
    fn record(&self, record: &AuditRecord<'_>) {
        let content = Content::of(record, self.privacy);
        let mut queue = self.shared.queue.lock();
        queue.pending.push(record, content);
        let (count, bytes) = (queue.pending.len(), queue.pending.content_bytes());
        drop(queue);
        let too_many = count >= TOO_MANY || bytes >= TOO_MANY_BYTES;
        if too_many || record.effect.is_some_and(Effect::is_write) {
            self.shared.write();
        } else if count == 1 || count == MANY {
            self.shared.wake.notify_one();
        }
    }

    fn decide(&self, decision: &DecisionRecord<'_>) -> Result<(), AuditError> {
        Ok(self.shared.decide(decision)?)
    }
}

impl Drop for AuditLog {
    fn drop(&mut self) {
        self.shared.queue.lock().closing = true;
        self.shared.wake.notify_one();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::error!("the thread that writes the audit log panicked");
        }
    }
}

impl Shared {
    fn write_until_closed(&self) {
        let mut queue = self.queue.lock();
        loop {
            let idle = |queue: &mut Queue| queue.pending.is_empty() && !queue.closing;
            self.wake.wait_while(&mut queue, idle);
            let early = |queue: &mut Queue| queue.pending.len() < MANY && !queue.closing;
            self.wake.wait_while_for(&mut queue, early, DELAY);
            let closing = queue.closing;
            drop(queue);
            self.write();
            if closing {
                return;
            }
            queue = self.queue.lock();
        }
    }

    /// Writes what is pending. What can't be written waits, and is written with what comes next.
    fn write(&self) {
        // It has told the log what stood against it.
        let _ = self.write_pending(&mut self.writer.lock());
    }

    /// Writes what is pending, and then the decision, durably. What is decided is not done where that fails, so its record does not wait.
    fn decide(&self, decision: &DecisionRecord<'_>) -> io::Result<()> {
        let writer = &mut *self.writer.lock();
        let mut line = Vec::new();
        writer.encoder.decision(decision, &mut line);
        self.write_pending(writer).and_then(|()| writer.file.append_durably(&line)).map_err(
            |error| {
                let path = writer.file.path().display();
                io::Error::new(error.kind(), format!("{path} is not writable: {error}"))
            },
        )
    }

    /// Whoever has the writer takes the queue, so that records are written in their order.
    fn write_pending(&self, writer: &mut Writer) -> io::Result<()> {
        let Writer { file, encoder, spare, lines } = writer;
        mem::swap(&mut self.queue.lock().pending, spare);
        for record in spare.iter() {
            encoder.call(&record, lines);
        }
        spare.clear();
        if lines.is_empty() {
            return Ok(());
        }
        file.append(lines).inspect_err(|error| {
            let path = file.path().display();
            if lines.len() <= MAX_UNWRITTEN {
                log::error!("audit records wait in memory, {path} is not writable: {error}");
            } else {
                let count = lines.iter().filter(|byte| **byte == b'\n').count();
                lines.clear();
                log::error!("{count} audit records lost, {path} is not writable: {error}");
            }
        })
    }
}
