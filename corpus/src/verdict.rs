//! What comes of a case, in one of three places.

use std::fmt;

use serde::Serialize;

/// What comes of a case in one place. Codes and phases are those of Toolbay; another host has words of its own for the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// The host takes it, and what it does harms nobody.
    Survives,
    /// The host refuses it before any of its code runs.
    Refused {
        /// Why, in a word.
        code: &'static str,
    },
    /// It fails, by name and phase; host and other providers answer.
    Fails {
        /// What came of it, in a word.
        code: &'static str,
        /// When.
        phase: &'static str,
        /// Words that tell how.
        how: &'static str,
    },
    /// It ends the host. It must not be run in this place.
    EndsHost,
    /// It must not be run in this place: it would harm more than the host.
    NotRun {
        /// What it would harm.
        harms: &'static str,
    },
}

/// The verdicts that a case may come to; several where the moment decides which.
pub type Expected = Vec<Verdict>;

impl Verdict {
    /// It fails in this phase.
    pub const fn fails(code: &'static str, phase: &'static str, how: &'static str) -> Self {
        Self::Fails { code, phase, how }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Survives => f.write_str("survives"),
            Self::Refused { code } => write!(f, "refused: `{code}`"),
            Self::Fails { code, phase, how: "" } => write!(f, "`{code}` in {phase}"),
            Self::Fails { code, phase, how } => write!(f, "`{code}` in {phase}: {how}"),
            Self::EndsHost => f.write_str("**ends the host**"),
            Self::NotRun { harms } => write!(f, "not run: {harms}"),
        }
    }
}
