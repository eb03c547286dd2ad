//! The work tree that the tasks run in: where it is, what it holds and how cargo is started there.

use std::{ffi::OsStr, io, process::Command};

use cargo_metadata::{
    Metadata, MetadataCommand, Package,
    camino::{Utf8Path, Utf8PathBuf},
};

/// Why the work tree can't be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckoutError {
    /// `cargo metadata` failed.
    #[error("cargo can't read the workspace; run this inside the repository")]
    Metadata(#[source] cargo_metadata::Error),
    /// Git could not be started.
    #[error(
        "git can't be started; install it, since it tells which files belong to the repository"
    )]
    GitStart(#[source] io::Error),
    /// Git refused to list the files.
    #[error("git can't list the files of {root}: {said}")]
    GitList {
        /// The folder that was to be listed.
        root: Utf8PathBuf,
        /// What git wrote to its standard error.
        said: String,
    },
    /// A file that git listed can't be read.
    #[error("{path} can't be read")]
    Read {
        /// The file, relative to the root.
        path: String,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
}

/// A work tree of the repository.
#[derive(Debug)]
pub struct Checkout {
    metadata: Metadata,
}

/// A file of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackedFile {
    /// The path relative to the root, with `/` between its parts.
    pub path: String,
    /// Whether git has the file already; the others are new and not ignored.
    pub tracked: bool,
    /// The content; none where it is not text in UTF-8.
    pub text: Option<String>,
}

impl Checkout {
    /// Finds the work tree around the current folder.
    ///
    /// # Errors
    ///
    /// [`CheckoutError::Metadata`] outside of a cargo workspace, or where a manifest is broken.
    pub fn discover() -> Result<Self, CheckoutError> {
        let metadata = MetadataCommand::new().no_deps().exec().map_err(CheckoutError::Metadata)?;
        Ok(Self { metadata })
    }

    /// The folder that holds the workspace's manifest.
    #[must_use]
    pub fn root(&self) -> &Utf8Path {
        &self.metadata.workspace_root
    }

    /// The folder that cargo builds into.
    #[must_use]
    pub fn target(&self) -> &Utf8Path {
        &self.metadata.target_directory
    }

    /// The workspace's members.
    #[must_use]
    pub fn members(&self) -> Vec<&Package> {
        self.metadata.workspace_packages()
    }

    /// A cargo command that runs in the root.
    #[must_use]
    pub fn cargo<I, A>(&self, arguments: I) -> Command
    where
        I: IntoIterator<Item = A>,
        A: AsRef<OsStr>,
    {
        // Under `cargo xtask` the variable names the very cargo that runs us, whichever toolchain was chosen.
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(arguments).current_dir(self.root());
        command
    }

    /// A command of the nightly compiler's cargo that runs in the root.
    #[must_use]
    pub fn nightly<const N: usize>(&self, arguments: [&str; N]) -> Command {
        // Rustup's own cargo: the one that runs this program knows its own compiler alone.
        let mut command = Command::new("cargo");
        command.arg("+nightly").args(arguments).current_dir(self.root());
        command.env_remove("CARGO").env_remove("RUSTC").env_remove("RUSTUP_TOOLCHAIN");
        command
    }

    /// Reads the files of the repository, in the order of their paths: what git tracks, and what is new and not ignored.
    ///
    /// # Errors
    ///
    /// Git is missing or refuses, or a file can't be read.
    pub fn files(&self) -> Result<Vec<TrackedFile>, CheckoutError> {
        let mut files = Vec::new();
        for (tracked, which) in
            [(true, &["--cached"][..]), (false, &["--others", "--exclude-standard"])]
        {
            for path in self.listed(which)? {
                if let Some(text) = self.read(&path)? {
                    files.push(TrackedFile { path, tracked, text: String::from_utf8(text).ok() });
                }
            }
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(files)
    }

    fn listed(&self, which: &[&str]) -> Result<Vec<String>, CheckoutError> {
        let output = Command::new("git")
            .args(["ls-files", "-z"])
            .args(which)
            .current_dir(self.root())
            .output()
            .map_err(CheckoutError::GitStart)?;
        if !output.status.success() {
            return Err(CheckoutError::GitList {
                root: self.root().to_owned(),
                said: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            });
        }
        Ok(String::from_utf8_lossy(&output.stdout)
            .split_terminator('\0')
            .map(str::to_owned)
            .collect())
    }

    /// The file's bytes; none where git lists a file that was deleted since.
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, CheckoutError> {
        match std::fs::read(self.root().join(path)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(CheckoutError::Read { path: path.to_owned(), cause }),
        }
    }
}
