//! A plugin's library as it was read and judged, before any of its code runs.

use std::{
    collections::BTreeSet,
    fmt, fs, io,
    path::{Path, PathBuf},
};

use cargo_metadata::semver::Version;
use toolbay_loader::{
    Candidate, DeclaredTool, HostSystem, Inspection, Judged, LibraryFacts, Note, ProviderId,
    RejectionReason, StaticAuditPolicy, declared_tools, inspect, judged,
};

/// A library that says what it is, and that a host would take.
#[derive(Debug)]
pub(super) struct Library {
    /// Its file name.
    pub(super) name: String,
    pub(super) content: Vec<u8>,
    pub(super) note: Note,
    pub(super) facts: LibraryFacts,
    pub(super) id: ProviderId,
    pub(super) version: Version,
    pub(super) declared: Vec<DeclaredTool>,
    /// What a host warns of.
    pub(super) warnings: Vec<RejectionReason>,
}

/// Why a library is none that a host takes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LibraryError {
    /// It is no plugin.
    ///
    /// Resolution: make it one with `export_provider!`.
    #[error("{}: expected a library with Toolbay's note, which export_provider! makes, found {found}", .path.display())]
    NotAPlugin {
        /// The file.
        path: PathBuf,
        /// What it is.
        found: &'static str,
    },
    /// A host refuses it, in these words.
    ///
    /// Resolution: as each reason says.
    #[error("{}: a host refuses it{}", .path.display(), Lines(.reasons))]
    Refused {
        /// The file.
        path: PathBuf,
        /// Every reason.
        reasons: Vec<RejectionReason>,
    },
    /// It is of another version than its package.
    ///
    /// Resolution: build it again.
    #[error("{}: expected version {expected}, which its package has, found {found}; build it again", .path.display())]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// The package's version.
        expected: Version,
        /// The library's.
        found: Version,
    },
    /// It can't be read.
    ///
    /// Resolution: correct its permissions.
    #[error("{} can't be read", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        cause: io::Error,
    },
}

/// Reasons, each on a line of its own.
#[derive(Debug)]
pub(super) struct Lines<'a, T>(pub(super) &'a [T]);

impl<T: fmt::Display> fmt::Display for Lines<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|reason| write!(f, "\n  {reason}"))
    }
}

impl Library {
    /// Reads a library and judges it as a host does that has not changed its policy. `companions` are the names of the libraries that
    /// travel with it.
    pub(super) fn read(
        path: &Path,
        expected: &Version,
        companions: &BTreeSet<String>,
    ) -> Result<Self, LibraryError> {
        let owned = || path.to_owned();
        let refused = |reasons| LibraryError::Refused { path: owned(), reasons };
        let inspected = match inspect(&Candidate::at(path)) {
            Ok(Inspection::Plugin(inspected)) => inspected,
            Ok(Inspection::NotAPlugin(found)) => {
                return Err(LibraryError::NotAPlugin { path: owned(), found });
            }
            Err(rejection) => return Err(refused(vec![*rejection.reason])),
        };
        let policy = StaticAuditPolicy::default();
        let Judged { problems: mut reasons, warnings } =
            judged(&inspected, &HostSystem::current(), &policy, companions);
        let (declared, left_out) = declared_tools(inspected.note());
        reasons.extend(left_out);
        let note = inspected.note().clone();
        // What the note says is checked by now, unless it is among the reasons.
        let (Ok(id), Ok(version), []) = (note.id.parse(), Version::parse(&note.version), &*reasons)
        else {
            return Err(refused(reasons));
        };
        if version != *expected {
            let expected = expected.clone();
            return Err(LibraryError::OtherVersion { path: owned(), expected, found: version });
        }
        let content =
            fs::read(path).map_err(|cause| LibraryError::Read { path: owned(), cause })?;
        Ok(Self {
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            content,
            note,
            facts: inspected.facts().clone(),
            id,
            version,
            declared,
            warnings,
        })
    }
}
