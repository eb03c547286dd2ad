//! What can go wrong with the host's own files.

use std::{io, path::PathBuf};

use thiserror::Error;
use toolbay_core::{Party, PlanError};

use crate::home_file::HomeFileError;

/// What is wrong with the registry file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RegistryFileError {
    /// The file can't be read or written.
    ///
    /// Resolution: correct the permissions of the home folder, or free space.
    #[error("registry file {}: not readable or not writable", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is not what was written.
    ///
    /// Resolution: refresh, which moves it aside and registers the plugins anew.
    #[error(
        "registry file {} is damaged: expected what the host wrote, found {found}; no plugin is offered until a refresh, which keeps the damaged file aside",
        .path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is there instead.
        found: String,
    },
    /// The file was written by another release.
    ///
    /// Resolution: use that release, or refresh, which moves the file aside.
    #[error(
        "registry file {} has format {found}, expected {}: use the release that wrote it, or refresh with this one, which keeps that file aside",
        .path.display(),
        crate::registry_file::FORMAT
    )]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
    },
    /// The content can't be written as JSON. It is a bug of the host.
    ///
    /// Resolution: report it.
    #[error("registry can't be written as JSON; report this as a bug of the host")]
    Encode {
        /// What the writer says.
        source: serde_json::Error,
    },
}

/// What is wrong with the access file, in which administrators' decisions and agents are kept. Unless it could only not be written, no tool
/// may be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AccessFileError {
    /// The file can't be read or written.
    ///
    /// Resolution: correct the permissions of the home folder, or free space.
    #[error("access file {}: not readable or not writable", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is not what was written.
    ///
    /// Resolution: put the previous version in its place, which lacks the last change. Without a file, nothing is decided, and the tools are on
    /// that their code enables.
    #[error(
        "access file {} is damaged: expected what the host wrote, found {found}; no tool can be used and nothing can be changed until somebody \
         puts {} in its place, which lacks the last change, or removes both, which forgets every decision",
        .path.display(),
        .path.with_extension("previous.json").display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is there instead.
        found: String,
    },
    /// The file was written by another release.
    ///
    /// Resolution: use that release.
    #[error(
        "access file {} has format {found}, expected {}: no tool can be used and nothing can be changed; use the release that wrote it",
        .path.display(),
        crate::access_file::FORMAT
    )]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
    },
    /// The content can't be written as JSON. It is a bug of the host.
    ///
    /// Resolution: report it.
    #[error("access file can't be written as JSON; report this as a bug of the host")]
    Encode {
        /// What the writer says.
        source: serde_json::Error,
    },
}

/// Why a host could not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The host's own tools contradict each other.
    ///
    /// Resolution: correct the host application.
    #[error("the host's own tools can't be registered")]
    Core(#[from] PlanError),
    /// A path of the configuration makes no absolute path.
    ///
    /// Resolution: give an absolute one.
    #[error("path {:?} of the configuration: expected an absolute path, or one below a current folder that exists", .path)]
    Path {
        /// The path.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The audit log can't be opened: without it no call is made.
    ///
    /// Resolution: correct the permissions of the folder, or free space.
    #[error("audit log {}: not writable", .path.display())]
    Audit {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl OpenError {
    /// Who can do something about it.
    pub fn party(&self) -> Party {
        match self {
            Self::Core(_) => Party::Host,
            Self::Path { .. } | Self::Audit { .. } => Party::Environment,
        }
    }
}

/// Why a refresh changed nothing.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RefreshError {
    /// The registry file could not be replaced.
    ///
    /// Resolution: as the source says.
    #[error("what was found can't be kept")]
    RegistryFile(#[from] RegistryFileError),
    /// The host's own tools contradict each other.
    ///
    /// Resolution: correct the host application.
    #[error("the host's own tools can't be registered")]
    Core(#[from] PlanError),
    /// What is installed can't be read, or what was found can't be kept.
    ///
    /// Resolution: as the source says.
    #[error("what is installed, or what failed before, can't be read or kept")]
    HomeFile(#[from] HomeFileError),
    /// What administrators decided can't be read, or what was pinned can't be kept.
    ///
    /// Resolution: as the source says.
    #[error("what was found can't be held against what was decided")]
    Access(#[from] AccessFileError),
}
