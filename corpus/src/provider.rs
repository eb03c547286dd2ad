//! The library of the violent provider, of which most cases are copies.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use cargo_metadata::Message;

use crate::{Deed, Moment, Patch, PatchError};

/// The provider's tool. It takes `{"deed": "WORD"}`.
pub const TOOL: &str = "do";

/// Why there is no library of the provider.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// Cargo can't be run.
    ///
    /// *Resolution*: install Rust, or name a library that was built elsewhere.
    #[error("cargo, which builds the provider, can't be run")]
    NoCargo(#[source] io::Error),
    /// Cargo does not build it.
    ///
    /// *Resolution*: cargo has said why on standard error.
    #[error("expected cargo to build the example violent of {}, found no library", manifest.display())]
    NotBuilt {
        /// The package's manifest.
        manifest: PathBuf,
    },
    /// The library can't be read.
    ///
    /// *Resolution*: the cause says why.
    #[error("{} can't be read", path.display())]
    Read {
        /// The library.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// It is not the violent provider of this release.
    ///
    /// *Resolution*: build the example `violent` of this very package.
    #[error("{} is not the violent provider of this release", path.display())]
    Other {
        /// The library.
        path: PathBuf,
        /// What is missing.
        #[source]
        cause: PatchError,
    },
}

/// The violent provider, as it was built: it does nothing unless a call tells it to.
#[derive(Debug, Clone)]
pub struct Provider {
    content: Vec<u8>,
}

impl Provider {
    /// Takes a library that was built before, and checks that it has a place for each moment.
    ///
    /// # Errors
    ///
    /// [`ProviderError::Read`] and [`ProviderError::Other`].
    pub fn read(path: &Path) -> Result<Self, ProviderError> {
        let content =
            fs::read(path).map_err(|cause| ProviderError::Read { path: path.to_owned(), cause })?;
        let provider = Self { content };
        for moment in Moment::ALL.into_iter().filter(|moment| moment.marker().is_some()) {
            provider
                .doing(moment, Deed::Abort)
                .map_err(|cause| ProviderError::Other { path: path.to_owned(), cause })?;
        }
        Ok(provider)
    }

    /// Builds it from the sources of this crate, into a folder for what cargo builds.
    ///
    /// # Errors
    ///
    /// [`ProviderError`] where cargo does not build it.
    pub fn build(target: &Path) -> Result<Self, ProviderError> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let output = Command::new("cargo")
            .args([
                "build",
                "--example=violent",
                "--release",
                "--message-format=json-render-diagnostics",
            ])
            .arg("--manifest-path")
            .arg(&manifest)
            .arg("--target-dir")
            .arg(target)
            // Names for debuggers would be most of each copy.
            .env("CARGO_PROFILE_RELEASE_STRIP", "debuginfo")
            .stderr(Stdio::inherit())
            .output()
            .map_err(ProviderError::NoCargo)?;
        let library = Message::parse_stream(&output.stdout[..]).flatten().find_map(|message| {
            let Message::CompilerArtifact(artifact) = message else { return None };
            let is_it = artifact.target.name == "violent" && artifact.target.is_example();
            artifact.filenames.into_iter().find(|path| is_it && path.extension() == Some("so"))
        });
        match library {
            Some(library) if output.status.success() => Self::read(library.as_std_path()),
            _ => Err(ProviderError::NotBuilt { manifest }),
        }
    }

    /// The library that does nothing: the twin of all others.
    pub fn benign(&self) -> &[u8] {
        &self.content
    }

    /// The library that does this at a moment.
    ///
    /// # Errors
    ///
    /// [`PatchError::NoPlace`] where the moment is one that a call is told.
    pub fn doing(&self, moment: Moment, deed: Deed) -> Result<Vec<u8>, PatchError> {
        let mut content = self.content.clone();
        Patch(&mut content).deed(moment, deed)?;
        Ok(content)
    }
}
