//! Everything that this host has against a library, or to say about it, from its bytes alone.

use std::collections::BTreeSet;

use semver::Version;
use toolbay_abi::note::Note;
use toolbay_core::ProviderId;

use crate::{
    compatibility::compatibility,
    inspect::Inspected,
    plugin_text::one_line,
    rejection::{Reason, Stage},
    static_audit::{self, Check, Finding, HostSystem, Level, StaticAuditPolicy, static_audit},
};

/// The panic strategy that a note must name.
pub(super) const UNWIND: &str = "unwind";

/// Something about a plugin that this host does not take, or that somebody should hear of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// The note does not fit this host, whatever its policy.
    Unfit(Reason),
    /// The static audit's finding.
    Found(Finding),
}

impl Problem {
    /// What follows from it: [`Level::Warn`] or [`Level::Deny`].
    pub fn level(&self) -> Level {
        match self {
            Self::Unfit(_) => Level::Deny,
            Self::Found(finding) => finding.level,
        }
    }

    /// The audit's check, where it is one of the audit.
    pub fn check(&self) -> Option<Check> {
        match self {
            Self::Unfit(_) => None,
            Self::Found(finding) => Some(finding.check),
        }
    }

    /// What was expected and found, and what to do.
    pub fn reason(&self) -> &Reason {
        match self {
            Self::Unfit(reason) | Self::Found(Finding { reason, .. }) => reason,
        }
    }

    /// The reason by itself.
    pub fn into_reason(self) -> Reason {
        match self {
            Self::Unfit(reason) | Self::Found(Finding { reason, .. }) => reason,
        }
    }
}

/// Everything that this host has against the file, or to say about it, without loading it: interface and system, the static audit, and
/// the rest of the note, in this order. `companions` are the file names and sonames of the other libraries in its bundle.
pub fn findings(
    inspected: &Inspected,
    host: &HostSystem,
    policy: &StaticAuditPolicy,
    companions: &BTreeSet<String>,
) -> Vec<Problem> {
    let (note, facts) = (inspected.note(), inspected.facts());
    let mut problems: Vec<Problem> = compatibility(note).into_iter().map(Problem::Unfit).collect();
    let found = static_audit(facts, host, policy, companions);
    problems.extend(found.into_iter().map(Problem::Found));
    let (check, level) = (Check::PanicStrategy, policy.level(Check::PanicStrategy));
    // Where the library can't unwind the audit has said so.
    if note.panic != UNWIND && facts.unwinds && level != Level::Allow {
        let reason = static_audit::panic_abort(&note.panic);
        problems.push(Problem::Found(Finding { check, level, reason }));
    }
    problems.extend([bad_id(note), bad_version(note)].into_iter().flatten().map(Problem::Unfit));
    problems
}

fn bad_id(note: &Note) -> Option<Reason> {
    let found = provider_id(&note.id).err()?;
    Some(Reason::plugin(
        Stage::Verify,
        "bad_provider_id",
        "a lower-case letter, then letters, digits, _ and -, 64 at most, and not \"core\"",
        found,
        "change the id in export_provider!",
    ))
}

fn bad_version(note: &Note) -> Option<Reason> {
    let error = Version::parse(&note.version).err()?;
    Some(Reason::plugin(
        Stage::Verify,
        "bad_version",
        "a version such as 1.2.3",
        format!("{:?} ({error})", one_line(&note.version, 100)),
        "correct the version in Cargo.toml",
    ))
}

/// The id and version in a library's note.
///
/// # Errors
///
/// What [`findings`] has of them.
pub(super) fn identity(note: &Note) -> Result<(ProviderId, Version), Reason> {
    if let Some(reason) = bad_id(note).or_else(|| bad_version(note)) {
        return Err(reason);
    }
    let unchecked = |found: String| {
        let (expected, remedy) = ("a note that was checked", "report this as a bug of the host");
        Reason::plugin(Stage::Verify, "bad_note", expected, found, remedy)
    };
    let id = provider_id(&note.id).map_err(unchecked)?;
    let version = Version::parse(&note.version).map_err(|error| unchecked(error.to_string()))?;
    Ok((id, version))
}

fn provider_id(id: &str) -> Result<ProviderId, String> {
    match id.parse::<ProviderId>() {
        Ok(id) if id.is_core() => Err("\"core\", which is the host's own provider".to_owned()),
        Ok(id) => Ok(id),
        Err(error) => Err(format!("{:?}", error.found())),
    }
}
