//! Maps the file of a journal.
#![expect(unsafe_code, reason = "a mapping of a file has no safe form: others may change the file")]

use std::{fs::File, io};

use memmap2::{MmapMut, MmapOptions};

/// Maps a part of a file, for writing.
pub(super) fn map(file: &File, offset: u64, len: usize) -> io::Result<MmapMut> {
    // SAFETY: the part is mapped once in this process and only written to through the result. Other processes only read the file, after this
    // one has ended: it has a random name in a private folder, and is locked until then. Nobody who keeps to that makes it shorter.
    unsafe { MmapOptions::new().offset(offset).len(len).map_mut(file) }
}
