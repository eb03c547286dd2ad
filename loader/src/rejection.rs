//! Why a file did not become tools: data that a program can act on and a person can read.

use std::{fmt, path::PathBuf};

use toolbay_core::Party;

/// Where on the way from a file to tools it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Finding files in the plugin directories.
    Discover,
    /// Reading the file's note and tables, without running anything of it.
    Inspect,
    /// Reading a bundle: its manifest, its paths and its files.
    Bundle,
    /// Finding out who signed a bundle, and whether this host trusts them.
    Signature,
    /// Asking the operator's policy: what may be unsigned, what is locked, what failed before.
    Policy,
    /// Judging the library's tables, without running anything of it.
    Audit,
    /// Comparing what was read with what this host accepts.
    Verify,
    /// Copying the file into the host's private store.
    Store,
    /// Opening the library.
    Load,
    /// Making the provider from its configuration.
    Create,
    /// Turning what the provider lists into tools.
    Adapt,
}

impl Stage {
    /// The stage as one word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Discover => "discover",
            Self::Inspect => "inspect",
            Self::Bundle => "bundle",
            Self::Signature => "signature",
            Self::Policy => "policy",
            Self::Audit => "audit",
            Self::Verify => "verify",
            Self::Store => "store",
            Self::Load => "load",
            Self::Create => "create",
            Self::Adapt => "adapt",
        }
    }
}

/// A file, or one tool of it, that was not taken.
///
/// Nothing here stops the others: a refresh returns all rejections beside what it took.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rejection {
    /// The file.
    pub path: PathBuf,
    /// The provider, once the file has said which it is.
    pub provider: Option<String>,
    /// Where it ended, and why.
    pub reason: Box<Reason>,
}

/// What was expected, what was found and what to do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reason {
    /// Where it ended.
    pub stage: Stage,
    /// A stable word for programs, such as `not_a_regular_file`.
    pub code: &'static str,
    /// What the host accepts.
    pub expected: String,
    /// What is there instead.
    pub found: String,
    /// What to do about it.
    pub remedy: String,
    /// Whether the same file may do elsewhere, or later.
    by_environment: bool,
}

impl Reason {
    /// A reason for which the plugin is at fault.
    pub(crate) fn plugin(
        stage: Stage,
        code: &'static str,
        expected: impl Into<String>,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let (expected, found, remedy) = (expected.into(), found.into(), remedy.into());
        Self { stage, code, expected, found, remedy, by_environment: false }
    }

    /// The reason, with the environment at fault: the same file may do elsewhere, or later.
    pub(crate) fn by_environment(self) -> Self {
        Self { by_environment: true, ..self }
    }

    /// Whose fault it is: the plugin's, or the environment's.
    pub fn party(&self) -> Party {
        if self.by_environment { Party::Environment } else { Party::Plugin }
    }

    /// The rejection of a file for this reason.
    pub(crate) fn of(self, path: impl Into<PathBuf>, provider: Option<&str>) -> Rejection {
        Rejection {
            path: path.into(),
            provider: provider.map(str::to_owned),
            reason: Box::new(self),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} ({}): expected {}, found {}; {}",
            self.code,
            self.stage.as_str(),
            self.expected,
            self.found,
            self.remedy
        )
    }
}

impl std::error::Error for Reason {}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.reason)
    }
}

impl std::error::Error for Rejection {}
