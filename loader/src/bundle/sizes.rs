//! How much a bundle may hold.

use super::refused;
use crate::{inspect::MAX_FILE_LEN, plugin_text::one_line, rejection::Reason};

/// The most files and folders of a bundle.
pub const MAX_BUNDLE_ENTRIES: usize = 10_000;

/// The most bytes of all files of a bundle together, and of a packed one.
pub const MAX_BUNDLE_LEN: u64 = 1024 * 1024 * 1024;

const REMEDY: &str = "ask the vendor for a smaller bundle";

/// Adds up what a bundle claims to hold.
#[derive(Debug, Default)]
pub(super) struct Sizes {
    entries: usize,
    total: u64,
}

impl Sizes {
    /// Counts a folder.
    pub(super) fn add_folder(&mut self) -> Result<(), Reason> {
        self.entries += 1;
        check_entries(self.entries)
    }

    /// Counts a file of so many bytes.
    pub(super) fn add(&mut self, path: &str, size: u64) -> Result<(), Reason> {
        self.add_folder()?;
        if size > MAX_FILE_LEN {
            return Err(too_large(&format!("files of at most {MAX_FILE_LEN} bytes"), path, size));
        }
        self.total = self.total.saturating_add(size);
        check_total(self.total)
    }
}

/// Checks a number of files and folders.
pub(super) fn check_entries(found: usize) -> Result<(), Reason> {
    if found <= MAX_BUNDLE_ENTRIES {
        return Ok(());
    }
    let expected = format!("at most {MAX_BUNDLE_ENTRIES} files and folders");
    Err(refused("too_many_files", expected, format!("{found} or more"), REMEDY))
}

/// Checks the bytes of all files together, or those of a packed bundle.
pub(super) fn check_total(found: u64) -> Result<(), Reason> {
    if found <= MAX_BUNDLE_LEN {
        return Ok(());
    }
    Err(too_large(&format!("at most {MAX_BUNDLE_LEN} bytes in all"), "all files", found))
}

fn too_large(expected: &str, what: &str, found: u64) -> Reason {
    let found = format!("{}: {found} bytes or more", one_line(what, 200));
    refused("bundle_too_large", expected, found, REMEDY)
}
