//! How long rotated files of the audit log are kept.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::FileExt,
    path::Path,
    time::{Duration, SystemTime},
};

use super::folder::{numbered, rotated};
use crate::audit_query::AuditEntry;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// How much of a file's end is looked at for its last record: more than the longest record has.
const TAIL: usize = 512 * 1024;

/// Removes the rotated files whose last record is older than so many days; with 0 days, none. What can't be removed is told in the log.
///
/// Only for whoever holds the log's lock.
pub(super) fn expire(folder: &Path, days: u32) {
    if days == 0 {
        return;
    }
    let (now, limit) = (SystemTime::now(), DAY * days);
    let numbers = rotated(folder).unwrap_or_default();
    for path in numbers.into_iter().map(|number| numbered(folder, number)) {
        let removed = last_record(&path).and_then(|last| {
            let old = now.duration_since(last).is_ok_and(|age| age > limit);
            if old { fs::remove_file(&path) } else { Ok(()) }
        });
        if let Err(error) = removed {
            log::error!("{} can't be removed when it is too old: {error}", path.display());
        }
    }
}

/// When the last record of a file was made; where none can be read, when the file was last written to.
fn last_record(path: &Path) -> io::Result<SystemTime> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    let start = metadata.len().saturating_sub(TAIL as u64);
    let mut tail = vec![0; TAIL.min(metadata.len() as usize)];
    file.read_exact_at(&mut tail, start)?;
    let entry = tail.rsplit(|byte| *byte == b'\n').find_map(AuditEntry::parse);
    entry.map_or_else(|| metadata.modified(), |entry| Ok(SystemTime::UNIX_EPOCH + entry.at))
}
