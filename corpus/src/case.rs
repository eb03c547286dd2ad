//! A case: one misdeed, how its library is made, and what must come of it.

use serde_json::{Value, json};

use crate::{CSource, Deed, Expected, Moment, TOOL};

/// How a case's library is made.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Making {
    /// The provider, with this deed at the case's moment written into the file.
    Patched(Deed),
    /// The provider as it is: a call tells it this deed.
    Called(Deed),
    /// The provider with a member of its note changed.
    Noted {
        /// The member of the note.
        member: &'static str,
        /// Its value.
        value: Value,
    },
    /// A source in C.
    Compiled {
        /// The source.
        source: CSource,
        /// Arguments for compiler and linker.
        arguments: &'static [&'static str],
    },
}

/// One misdeed, and what must come of it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Case {
    /// Its name, which stays: the moment and the deed, or what is wrong with the file.
    pub id: String,
    /// The number of its kind in the list of the README; empty for a twin.
    pub number: &'static str,
    /// What it does, in a line.
    pub does: &'static str,
    /// When.
    pub moment: Moment,
    /// How its library is made.
    pub making: Making,
    /// What a host says that only reads the file, by Toolbay's default policy.
    pub by_reading: Expected,
    /// What comes of it in the host's process, where the policy lets it pass.
    pub in_host: Expected,
    /// What comes of it in a process of its own, where the policy lets it pass.
    pub in_worker: Expected,
}

impl Case {
    /// The provider's id, as its note says.
    pub fn provider(&self) -> &'static str {
        match self.making {
            Making::Compiled { .. } => "compiled",
            _ => "violent",
        }
    }

    /// What to call once it is loaded: the tool and its arguments. A provider that does its deed while it is loaded must answer, too, where it is
    /// loaded at all.
    pub fn call(&self) -> (&'static str, Value) {
        match self.making {
            Making::Called(deed) => (TOOL, arguments(deed)),
            _ => benign_call(),
        }
    }
}

/// What to call of a twin: it answers `done`.
pub(crate) fn benign_call() -> (&'static str, Value) {
    (TOOL, arguments(Deed::Nothing))
}

fn arguments(deed: Deed) -> Value {
    json!({ "deed": deed.word() })
}
