//! The contents that failed, as administrators see them.

use thiserror::Error;
use toolbay_core::{AuditError, Party};

use crate::{
    access_error::NotAdmin,
    failure_file::{FailureRecord, Retry},
    home_file::HomeFileError,
    store::ContentHash,
};

/// A content that failed, and what is remembered of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quarantined {
    /// The content of the library.
    pub content: ContentHash,
    /// How it failed.
    pub failure: FailureRecord,
    /// Whether it is tried again.
    pub retry: Retry,
}

/// Why nothing was released.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum QuarantineError {
    /// Whoever wants it is no administrator.
    ///
    /// Resolution: ask one.
    #[error("{actor} may not do that: expected an administrator")]
    NotAdmin {
        /// Who wanted it.
        actor: String,
    },
    /// Nothing is remembered of it.
    ///
    /// Resolution: use a name that `toolbay quarantine list` shows.
    #[error("nothing is remembered of {subject}: expected a provider that failed, or the hash of its content{}", suggested(.known))]
    Unknown {
        /// What was asked for.
        subject: String,
        /// The providers that failed.
        known: Vec<String>,
    },
    /// The decision can't be recorded.
    ///
    /// Resolution: make the audit log writable.
    #[error("the decision can't be recorded, so it was not made")]
    NotAuditable(#[from] AuditError),
    /// What failed can't be read or written.
    ///
    /// Resolution: see the cause.
    #[error("what failed before can't be read or kept")]
    File(#[from] HomeFileError),
}

impl QuarantineError {
    /// The error as one word that never changes.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotAdmin { .. } => NotAdmin::CODE,
            Self::Unknown { .. } => "unknown",
            Self::NotAuditable(_) => "not_auditable",
            Self::File(_) => "file",
        }
    }

    /// Whose fault it is.
    pub const fn party(&self) -> Party {
        match self {
            Self::NotAdmin { .. } | Self::Unknown { .. } => Party::Caller,
            Self::NotAuditable(_) | Self::File(_) => Party::Environment,
        }
    }
}

impl From<NotAdmin> for QuarantineError {
    fn from(NotAdmin { actor }: NotAdmin) -> Self {
        Self::NotAdmin { actor }
    }
}

fn suggested(known: &[String]) -> String {
    match known {
        [] => "; none has failed".to_owned(),
        known => format!(", one of {}", known.join(", ")),
    }
}
