//! What a manifest says, as data: what a packer fills in and what a host reads.

use std::collections::BTreeMap;

use semver::Version;
use toolbay_core::{Egress, ProviderId, Schema};

use super::{BundlePath, Manifest};
use crate::{rejection::Reason, store::ContentHash, verify::DeclaredTool};

/// What a manifest says, apart from the bytes in which it says it. Rules that bind several of these are checked by
/// [`ManifestParts::to_manifest`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestParts {
    /// The provider's id.
    pub id: ProviderId,
    /// The provider's version.
    pub version: Version,
    /// Who publishes it: 1 to 100 visible characters.
    pub vendor: String,
    /// Under which terms, as an SPDX expression where there is one: 1 to 200 visible characters.
    pub license: String,
    /// What it does, in 1 to 1,000 visible characters.
    pub description: Option<String>,
    /// Where to read more: an `https` or `http` address of at most 1,000 characters.
    pub homepage: Option<String>,
    /// The oldest host that takes it.
    pub minimum_host: Version,
    /// Where its code may open network connections; at least as wide as what any of its tools declares.
    pub egress: Egress,
    /// A text for people, one of [`files`](Self::files).
    pub documentation: Option<BundlePath>,
    /// A picture, one of [`files`](Self::files).
    pub icon: Option<BundlePath>,
    /// The libraries for each system, by its name, such as `x86_64-linux-gnu`; at least one.
    pub targets: BTreeMap<String, Target>,
    /// All files that are no libraries.
    pub files: Vec<ListedFile>,
    /// Every tool that the provider may ever offer.
    pub tools: Vec<BundledTool>,
}

/// The libraries for one system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The interface's generation for which they are built.
    pub epoch: u32,
    /// The interface's digest; in the file, 16 hexadecimal digits.
    pub digest: u64,
    /// The plugin itself, then the private libraries that travel with it, which lie in its folder or below.
    pub libraries: Vec<ListedFile>,
}

/// A file with the size and content that it must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedFile {
    /// Where it is in the bundle.
    pub path: BundlePath,
    /// Bytes; at most [`MAX_FILE_LEN`](crate::MAX_FILE_LEN).
    pub size: u64,
    /// The hash of its content.
    pub sha256: ContentHash,
}

/// A tool of the bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundledTool {
    /// What its library's note declares of it.
    pub declared: DeclaredTool,
    /// What models read of it.
    pub definition: BundledDefinition,
}

/// What models read of a tool, as far as it is known before the provider runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BundledDefinition {
    /// It is the same in every installation.
    Fixed {
        /// What it does.
        description: String,
        /// What arguments it takes.
        input_schema: Schema,
        /// What it answers, where it says so.
        output_schema: Option<Schema>,
    },
    /// It depends on the provider's configuration.
    Configured,
}

impl ManifestParts {
    /// The manifest that says this, in its canonical form: members sorted, no space, one line feed at the end. Equal parts give equal bytes.
    ///
    /// Schemas are sorted with the rest, so that one that was spelled otherwise comes back with the same meaning in other words.
    ///
    /// # Errors
    ///
    /// What [`Manifest::parse`] refuses: a manifest is never written that no host would read.
    pub fn to_manifest(&self) -> Result<Manifest, Reason> {
        Manifest::parse(&super::manifest::canonical_text(self)?)
    }

    /// Every file of the bundle but the manifest and its signature: first the libraries of each system, then the others.
    pub fn listed(&self) -> impl Iterator<Item = &ListedFile> {
        self.libraries().chain(&self.files)
    }

    /// The libraries of all systems.
    pub fn libraries(&self) -> impl Iterator<Item = &ListedFile> {
        self.targets.values().flat_map(|target| &target.libraries)
    }
}
