//! Which bundles are installed: what an operator decided, and can't be found anew.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    discover::Candidate,
    home_file::Document,
    store::{ContentHash, Store},
};

/// An installed bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InstalledBundle {
    /// The version of its provider.
    pub version: String,
    /// The entry of the store that holds it.
    pub entry: String,
    /// The file of the entry that was installed, where it is a single library and no bundle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<String>,
    /// The file or folder that it was installed from, for people.
    pub from: String,
    /// When, in seconds since the epoch.
    pub at: u64,
}

/// The installed bundles, by the id of their provider.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Installed(pub(crate) BTreeMap<String, InstalledBundle>);

impl Document for Installed {
    const NAME: &'static str = "installed";
    const FORMAT: u32 = 1;
    const FOUND_ANEW: bool = false;
}

impl Installed {
    /// Installs a bundle of this provider in the place of another, or none.
    pub(crate) fn set(&mut self, id: &str, bundle: Option<InstalledBundle>) {
        match bundle {
            Some(bundle) => drop(self.0.insert(id.to_owned(), bundle)),
            None => drop(self.0.remove(id)),
        }
    }

    /// Where the installed bundles and libraries are.
    pub(crate) fn candidates(&self, store: &Store) -> Vec<Candidate> {
        let candidate = |bundle: &InstalledBundle| {
            let entry = store.entry(bundle.entry.parse().ok()?);
            Some(Candidate::at(match &bundle.library {
                None => entry,
                Some(library) => entry.join(library),
            }))
        };
        self.0.values().filter_map(candidate).collect()
    }

    /// The entries of the store that hold them.
    pub(crate) fn entries(&self) -> impl Iterator<Item = ContentHash> {
        self.0.values().filter_map(|bundle| bundle.entry.parse().ok())
    }
}
