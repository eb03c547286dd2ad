//! Why a library did not open, in a form that also comes back from a worker.

use std::{error::Error, iter};

use serde::{Deserialize, Serialize};

use crate::{
    library::OpenError,
    plugin_text::one_line,
    rejection::{Reason, Stage},
};

/// The most bytes of the linker's words in a rejection.
const MAX_WORDS: usize = 2_000;

/// Why a library did not open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NotOpened {
    kind: Kind,
    found: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Kind {
    Linker,
    NoRootSymbol,
    ForeignRootSymbol,
    OtherFileMapped,
    Namesake,
    Mappings,
    Layout,
    Changed,
    NoSandbox,
}

impl NotOpened {
    /// Its process could not give up what the plugin may not do.
    pub(crate) fn no_sandbox(error: &dyn Error) -> Self {
        Self { kind: Kind::NoSandbox, found: chain(error) }
    }

    /// It is not the file that was verified.
    pub(crate) fn changed(found: impl Into<String>) -> Self {
        Self { kind: Kind::Changed, found: found.into() }
    }

    /// The reason for which the library is not taken.
    pub(crate) fn reason(&self) -> Reason {
        let (code, remedy, by_environment) = match self.kind {
            Kind::Linker => {
                ("not_opened", "install what the library needs, or build it for this system", true)
            }
            Kind::NoRootSymbol => {
                ("no_root_module", "build the plugin with export_provider!", false)
            }
            Kind::ForeignRootSymbol => {
                ("foreign_root_module", "link no other plugin into this one", false)
            }
            Kind::OtherFileMapped => (
                "other_file_mapped",
                "find out who exchanged the file between its verification and its opening; then restart the host",
                true,
            ),
            Kind::Namesake => (
                "companion_name_taken",
                "use one of the two plugins in another process, or ask its vendor for a private library with a name of its own",
                true,
            ),
            Kind::Mappings => {
                ("not_attested", "mount /proc, by which the host knows what it has loaded", true)
            }
            Kind::Layout => {
                ("other_abi", "build the plugin again with this host's toolbay-plugin-api", false)
            }
            Kind::NoSandbox => (
                "no_sandbox",
                "use a kernel with seccomp filters; `toolbay doctor` says what this one has",
                true,
            ),
            Kind::Changed => (
                "changed_in_store",
                "refresh, which takes the plugin into the store anew; find out who changed the store",
                true,
            ),
        };
        // It may come from a worker, which may say anything.
        let found = one_line(&self.found, MAX_WORDS);
        let reason = Reason::plugin(Stage::Load, code, "a library that opens", found, remedy);
        if by_environment { reason.by_environment() } else { reason }
    }
}

impl From<&OpenError> for NotOpened {
    fn from(error: &OpenError) -> Self {
        let kind = match error {
            OpenError::Linker(_) => Kind::Linker,
            OpenError::NoRootSymbol(_) => Kind::NoRootSymbol,
            OpenError::ForeignRootSymbol { .. } => Kind::ForeignRootSymbol,
            OpenError::OtherFileMapped { .. } => Kind::OtherFileMapped,
            OpenError::Namesake { .. } => Kind::Namesake,
            OpenError::Mappings(_) => Kind::Mappings,
            OpenError::Layout { .. } => Kind::Layout,
        };
        Self { kind, found: chain(error) }
    }
}

/// What is missing often stands at the end, in the linker's own words, which have names of the library in them.
fn chain(error: &dyn Error) -> String {
    let causes = iter::successors(error.source(), |&cause| cause.source());
    causes.fold(error.to_string(), |chain, cause| format!("{chain}: {cause}"))
}
