//! The audit log: one JSON line per call, in files that rotate.
//!
//! A call leaves its record in memory, which costs it some tens of nanoseconds; a thread of the log's own makes lines of the records
//! and writes them at the latest [`DELAY`] later. The record of a call that was not read-only is written before the call returns.
//! Several processes may append to one log: each write is whole lines, to a file that is open for appending.

mod file;
mod line;
mod pending;

use std::{path::Path, sync::Arc, thread::JoinHandle, time::Duration};

use parking_lot::{Condvar, Mutex};
use toolbay_core::{AuditError, AuditRecord, AuditSink, DecisionRecord, Effect};

use self::{file::LogFile, line::Encoder, pending::Pending};
use crate::{config::AuditConfig, error::OpenError, store::private_dir};

/// How long the record of a read-only call may stay in memory.
pub const DELAY: Duration = Duration::from_millis(100);

/// The records at which the writing thread is woken before the delay is over.
const MANY: usize = 2_048;

/// The records at which a call writes them itself, so that memory stays bounded where the disk is slow.
const TOO_MANY: usize = 65_536;

/// The bytes of lines that wait in memory while the file is not writable; above it they are lost, and the host's log says so.
const MAX_UNWRITTEN: usize = 16 * 1024 * 1024;

/// The log of one process.
pub(crate) struct AuditLog {
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
    lines: Vec<u8>,
}

impl AuditLog {
    /// Opens the log in a folder, which is made where it is missing.
    pub(crate) fn open(folder: &Path, config: AuditConfig) -> Result<Self, OpenError> {
        let path = folder.join("audit.jsonl");
        let failed = |source| OpenError::Audit { path: path.clone(), source };
        private_dir(folder).map_err(failed)?;
        let file = LogFile::open(path.clone(), config).map_err(failed)?;
        let writer = Writer {
            file,
            encoder: Encoder::default(),
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
        Ok(Self { shared, thread: Some(thread) })
    }
}

impl AuditSink for AuditLog {
    fn record(&self, record: &AuditRecord<'_>) {
        let mut queue = self.shared.queue.lock();
        queue.pending.push(record);
        let count = queue.pending.len();
        drop(queue);
        if count >= TOO_MANY || record.effect.is_some_and(Effect::is_write) {
            self.shared.write();
        } else if count == 1 || count == MANY {
            self.shared.wake.notify_one();
        }
    }

    fn decide(&self, _decision: &DecisionRecord<'_>) -> Result<(), AuditError> {
        Err(AuditError::from(std::io::Error::from(std::io::ErrorKind::Unsupported)))
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

    /// Writes what is pending. Whoever has the writer takes the queue, so that records are written in their order.
    fn write(&self) {
        let mut writer = self.writer.lock();
        let Writer { file, encoder, spare, lines } = &mut *writer;
        std::mem::swap(&mut self.queue.lock().pending, spare);
        if spare.is_empty() && lines.is_empty() {
            return;
        }
        for record in spare.iter() {
            encoder.encode(&record, lines);
        }
        spare.clear();
        let Err(error) = file.append(lines) else { return };
        let path = file.path().display();
        if lines.len() <= MAX_UNWRITTEN {
            log::error!("audit records wait in memory, {path} is not writable: {error}");
            return;
        }
        // The first of them may be the rest of a line that has begun: it stays, so that the file has whole lines again later.
        let keep = lines.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let count = lines[keep..].iter().filter(|byte| **byte == b'\n').count();
        lines.truncate(keep);
        log::error!("{count} audit records lost, {path} is not writable: {error}");
    }
}
