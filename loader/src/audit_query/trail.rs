//! The files of the audit log, read one record after the other.

use std::{
    collections::VecDeque,
    fs::File,
    io::{self, BufRead, BufReader, Read, Take},
    path::{Path, PathBuf},
};

use thiserror::Error;

use super::{entry::AuditEntry, filter::AuditFilter};
use crate::audit_log::{
    folder::{CURRENT, FOLDER, numbered, rotated},
    lock::SharedLock,
};

/// The most bytes of a line, several times what the longest record has. A longer one is damaged, and is never in memory as a whole.
const MAX_LINE: u64 = 1024 * 1024;

/// The audit log as it is at one moment. It can be read while others write: what they add later is not seen, and files that are renamed
/// or removed meanwhile are read all the same.
///
/// ```
/// use toolbay_loader::{AuditFilter, AuditItem, AuditTrail};
///
/// # let folder = tempfile::tempdir()?;
/// # let home = folder.path();
/// let failed = AuditFilter { only_errors: true, ..AuditFilter::default() };
/// for entry in AuditTrail::open(home)?.last(10, &failed)?.entries {
///     println!("{} {}: {}", entry.time, entry.actor, entry.line);
/// }
/// for item in AuditTrail::open(home)?.entries() {
///     match item? {
///         AuditItem::Entry(entry) => println!("{}", entry.line),
///         AuditItem::Damaged(place) => eprintln!("line {} of {}", place.line, place.path.display()),
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AuditTrail {
    folder: PathBuf,
    /// The oldest first.
    files: Vec<LogPart>,
}

/// One of its files.
#[derive(Debug)]
struct LogPart {
    path: PathBuf,
    file: File,
    len: u64,
}

/// What stands in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditItem {
    /// A record.
    Entry(Box<AuditEntry>),
    /// A line that is no record.
    Damaged(DamagedLine),
}

/// A line of the log that can't be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedLine {
    /// The file.
    pub path: PathBuf,
    /// The line, counted from 1.
    pub line: u64,
}

/// The last records of a log.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct AuditTail {
    /// The records, the oldest first.
    pub entries: VecDeque<AuditEntry>,
    /// The damaged lines of the files that were looked through for them.
    pub damaged: Vec<DamagedLine>,
}

/// Why the log can't be read.
///
/// Resolution: correct the permissions of the file.
#[derive(Debug, Error)]
#[error("audit log {}: not readable", .path.display())]
pub struct AuditReadError {
    path: PathBuf,
    source: io::Error,
}

impl AuditTrail {
    /// Opens the log of a home folder; one that was never written to is empty.
    ///
    /// # Errors
    ///
    /// [`AuditReadError`] where its files can't be opened.
    pub fn open(home: &Path) -> Result<Self, AuditReadError> {
        let folder = home.join(FOLDER);
        let lock = SharedLock::take(&folder);
        let files = Self::files(&folder)?;
        if lock.is_none() && SharedLock::is_there(&folder) {
            // Somebody began to write after the look for a lock, and may have renamed files since then.
            let _lock = SharedLock::take(&folder);
            return Ok(Self { files: Self::files(&folder)?, folder });
        }
        Ok(Self { folder, files })
    }

    fn files(folder: &Path) -> Result<Vec<LogPart>, AuditReadError> {
        let numbers = match rotated(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            numbers => numbers.map_err(failed(folder))?,
        };
        let rotated = numbers.into_iter().rev().map(|number| numbered(folder, number));
        let mut files = Vec::new();
        for path in rotated.chain([folder.join(CURRENT)]) {
            match LogPart::open(&path) {
                Ok(part) => files.push(part),
                // There is none yet, or somebody has taken it away.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(failed(&path)(error)),
            }
        }
        Ok(files)
    }

    /// The folder of the log.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether there is no file at all.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Every record and every damaged line, the oldest first. Whatever the size of the log is, one line is in memory at a time.
    pub fn entries(self) -> AuditEntries {
        AuditEntries { files: self.files.into(), reading: None }
    }

    /// The last records that the filter admits, `limit` at most. Files that are older than all of them are not read.
    ///
    /// # Errors
    ///
    /// [`AuditReadError`] where a file can't be read.
    pub fn last(mut self, limit: usize, filter: &AuditFilter) -> Result<AuditTail, AuditReadError> {
        let mut tail = AuditTail::default();
        while tail.entries.len() < limit
            && let Some(file) = self.files.pop()
        {
            let (mut entries, mut damaged) = (VecDeque::new(), Vec::new());
            for item in (AuditEntries { files: [file].into(), reading: None }) {
                match item? {
                    AuditItem::Damaged(line) => damaged.push(line),
                    AuditItem::Entry(entry) if filter.admits(&entry) => {
                        if entries.len() + tail.entries.len() == limit {
                            entries.pop_front();
                        }
                        entries.push_back(*entry);
                    }
                    AuditItem::Entry(_) => {}
                }
            }
            entries.append(&mut tail.entries);
            damaged.append(&mut tail.damaged);
            tail = AuditTail { entries, damaged };
        }
        Ok(tail)
    }
}

impl LogPart {
    fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let len = file.metadata()?.len();
        Ok(Self { path: path.to_owned(), file, len })
    }
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> AuditReadError {
    |source| AuditReadError { path: path.to_owned(), source }
}

/// What [`AuditTrail::entries`] reads. It ends after an error.
#[derive(Debug)]
pub struct AuditEntries {
    files: VecDeque<LogPart>,
    reading: Option<Reading>,
}

#[derive(Debug)]
struct Reading {
    path: PathBuf,
    reader: BufReader<Take<File>>,
    /// The lines that were read.
    lines: u64,
    buffer: Vec<u8>,
}

impl Iterator for AuditEntries {
    type Item = Result<AuditItem, AuditReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.reading.is_none() {
                let LogPart { path, file, len } = self.files.pop_front()?;
                let reader = BufReader::new(file.take(len));
                self.reading = Some(Reading { path, reader, lines: 0, buffer: Vec::new() });
            }
            let reading = self.reading.as_mut()?;
            match reading.next() {
                Ok(Some(item)) => return Some(Ok(item)),
                Ok(None) => self.reading = None,
                Err(error) => {
                    let error = failed(&reading.path)(error);
                    self.files.clear();
                    self.reading = None;
                    return Some(Err(error));
                }
            }
        }
    }
}

impl Reading {
    /// What the next line that is not empty holds.
    fn next(&mut self) -> io::Result<Option<AuditItem>> {
        loop {
            self.buffer.clear();
            let read = (&mut self.reader).take(MAX_LINE).read_until(b'\n', &mut self.buffer)?;
            if read == 0 {
                return Ok(None);
            }
            self.lines += 1;
            let line = match self.buffer.strip_suffix(b"\n") {
                Some(line) => line,
                None if read as u64 == MAX_LINE => {
                    self.reader.skip_until(b'\n')?;
                    b"too long"
                }
                None => &self.buffer,
            };
            if line.trim_ascii().is_empty() {
                continue;
            }
            let damaged = || DamagedLine { path: self.path.clone(), line: self.lines };
            let entry = AuditEntry::parse(line);
            return Ok(Some(entry.map_or_else(
                || AuditItem::Damaged(damaged()),
                |entry| AuditItem::Entry(Box::new(entry)),
            )));
        }
    }
}
