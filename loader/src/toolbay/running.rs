//! What is really loaded, and what nobody uses any more.

use std::{collections::BTreeSet, io};

use thiserror::Error;

use super::Toolbay;
use crate::{
    home_file::HomeFileError,
    provider::Registered,
    running::{LoadedLibrary, RunningProcess},
    store::ContentHash,
};

/// What a collection removed from the store, or would remove.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Collected {
    /// The entries.
    pub entries: Vec<ContentHash>,
    /// How many bytes that freed; 0 where nothing was removed.
    pub bytes: u64,
    /// How many entries stay.
    pub kept: usize,
}

/// Why the store was not collected.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GcError {
    /// A folder can't be read, or something can't be removed.
    ///
    /// Resolution: correct the permissions.
    #[error("the store can't be read or something can't be removed")]
    Io(#[from] io::Error),
    /// What is installed can't be read, and so not what must stay.
    ///
    /// Resolution: as the source says.
    #[error("what is installed can't be read, and so not what must stay")]
    Installed(#[from] HomeFileError),
}

impl Toolbay {
    /// The libraries that this process has loaded through this home, in the order of loading.
    pub fn loaded(&self) -> Vec<LoadedLibrary> {
        self.vetting.running.own()
    }

    /// The processes that have loaded libraries through this home, with what they have loaded, in the order of their numbers.
    ///
    /// # Errors
    ///
    /// Where the folder in which they say it can't be read.
    pub fn running_processes(&self) -> io::Result<Vec<RunningProcess>> {
        self.vetting.running.processes()
    }

    /// Removes the entries of the store that are neither installed nor registered, now or in the version before, nor used by a running
    /// process; with `dry`, only tells which. What killed processes left behind goes, too.
    ///
    /// # Errors
    ///
    /// [`GcError`]; what was removed until then stays removed.
    pub fn collect_store(&self, dry: bool) -> Result<Collected, GcError> {
        // Nobody begins to use an entry meanwhile.
        let _lock = self.vetting.running.lock()?;
        let store = &self.vetting.store;
        let mut used: BTreeSet<ContentHash> = self.installed.read()?.entries().collect();
        let entry = |registered: &Registered| registered.plugin.entry;
        let current = self.file.read().contents.providers;
        used.extend(current.iter().map(entry));
        let registered: BTreeSet<_> = current.iter().map(|there| there.plugin.hash).collect();
        used.extend(self.file.read_previous().iter().map(entry));
        for process in self.vetting.running.processes()? {
            used.extend(process.holds);
        }
        let mut collected = Collected::default();
        for entry in store.entries()? {
            if used.contains(&entry) {
                collected.kept += 1;
                continue;
            }
            if !dry {
                collected.bytes += store.remove(entry)?;
            }
            collected.entries.push(entry);
        }
        if !dry {
            collected.bytes += store.remove_left_behind()?;
            self.vetting.probes.forget_others(|content| registered.contains(&content));
        }
        Ok(collected)
    }
}
