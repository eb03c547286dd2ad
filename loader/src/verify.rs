//! Compares what a file says with what this host accepts, and takes a private copy: the bytes that were checked are the bytes that
//! are loaded.

mod declared;

use std::collections::BTreeSet;

use semver::Version;
use toolbay_abi::note::Note;
use toolbay_core::ProviderId;

pub use declared::DeclaredTool;

use crate::{
    compatibility::compatibility,
    discover::Candidate,
    inspect::{self, Inspected, Inspection},
    plugin_text::one_line,
    rejection::{Reason, Rejection, Stage},
    static_audit::{self, Check, Finding, HostSystem, Level, StaticAuditPolicy, static_audit},
    store::{ContentHash, Store},
};

/// A plugin that this host can load, as a copy in its store that nobody else writes to.
#[derive(Debug)]
pub struct Verified {
    copy: Inspected,
    source: Inspected,
    hash: ContentHash,
    provider: ProviderId,
    version: Version,
    tools: Vec<DeclaredTool>,
}

impl Verified {
    /// The copy in the store, which is what gets loaded.
    pub fn copy(&self) -> &Inspected {
        &self.copy
    }

    /// The file that was found.
    pub fn source(&self) -> &Inspected {
        &self.source
    }

    /// The SHA-256 of its content.
    pub fn hash(&self) -> ContentHash {
        self.hash
    }

    /// The provider's id.
    pub fn provider(&self) -> &ProviderId {
        &self.provider
    }

    /// The provider's version.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// The tools that the note declares, those with a mistake left out.
    pub fn tools(&self) -> &[DeclaredTool] {
        &self.tools
    }
}

/// The panic strategy that a note must name.
const UNWIND: &str = "unwind";

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

/// Every reason for which this host would refuse the file under the default policy, without loading it.
pub fn problems(inspected: &Inspected) -> Vec<Reason> {
    let policy = StaticAuditPolicy::default();
    findings(inspected, &HostSystem::current(), &policy, &BTreeSet::new())
        .into_iter()
        .filter(|problem| problem.level() == Level::Deny)
        .map(Problem::into_reason)
        .collect()
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

/// Verifies a plugin and copies it into the store. Beside it come the tools that are left out for a mistake of their own.
///
/// # Errors
///
/// Every reason for which the file is refused, at least one.
pub fn verify(
    source: Inspected,
    store: &Store,
) -> Result<(Verified, Vec<Rejection>), Vec<Rejection>> {
    let of_source = |reason: Reason| reason.of(source.path(), Some(&source.note().id));
    let problems = problems(&source);
    if !problems.is_empty() {
        return Err(problems.into_iter().map(of_source).collect());
    }
    let refused = |reason| vec![of_source(reason)];
    // `problems` has checked both.
    let provider = provider_id(&source.note().id).map_err(|found| refused(unchecked(found)))?;
    let version = Version::parse(&source.note().version)
        .map_err(|error| refused(unchecked(error.to_string())))?;

    let stored = store.copy(&source, &provider, &version).map_err(refused)?;
    let copy = match inspect::inspect(&Candidate::at(&stored.path)) {
        Ok(Inspection::Plugin(copy))
            if copy.note() == source.note() && copy.facts() == source.facts() =>
        {
            *copy
        }
        Ok(_) => return Err(refused(changed())),
        Err(rejection) => return Err(vec![rejection]),
    };
    let (tools, reasons) = declared::tools(copy.note());
    let left_out = reasons.into_iter().map(of_source).collect();
    Ok((Verified { copy, source, hash: stored.hash, provider, version, tools }, left_out))
}

/// Verifies the copy of a plugin in the store before it is loaded again, and that its own note says what the registry file says: the
/// gates have decided by that.
///
/// # Errors
///
/// [`Rejection`] where the copy is gone, is not what the hash says, is refused by this host, or declares something else.
pub(crate) fn verify_stored(
    store: &Store,
    hash: ContentHash,
    id: &ProviderId,
    version: &Version,
    registered: &[DeclaredTool],
) -> Result<Inspected, Rejection> {
    let path = store.path(hash, id, version);
    store.check_private().map_err(|reason| reason.of(&path, Some(id.as_str())))?;
    let copy = match inspect::inspect(&Candidate::at(&path))? {
        Inspection::Plugin(copy) => *copy,
        Inspection::NotAPlugin(_) => return Err(changed().of(path, None)),
    };
    // What is hashed is the very file that was read, which nothing but its own content can change.
    store.check_hash(copy.file(), hash).map_err(|reason| reason.of(&path, Some(id.as_str())))?;
    let note = copy.note();
    if let Some(reason) = problems(&copy).into_iter().next() {
        return Err(reason.of(path, Some(&note.id)));
    }
    let (declared, _) = declared::tools(note);
    let same = (note.id.as_str(), note.version.as_str()) == (id.as_str(), &*version.to_string())
        && declared == registered;
    if !same {
        let reason = Reason::plugin(
            Stage::Verify,
            "other_declarations",
            "the provider and the declarations that are registered",
            "others in the library's note",
            "refresh, which registers what the note says; find out who changed the registry file",
        );
        return Err(reason.by_environment().of(path, Some(&note.id)));
    }
    Ok(copy)
}

fn provider_id(id: &str) -> Result<ProviderId, String> {
    match id.parse::<ProviderId>() {
        Ok(id) if id.is_core() => Err("\"core\", which is the host's own provider".to_owned()),
        Ok(id) => Ok(id),
        Err(error) => Err(format!("{:?}", error.found())),
    }
}

fn changed() -> Reason {
    Reason::plugin(
        Stage::Verify,
        "changed_while_read",
        "a file that stays as it is",
        "one that changed while it was copied",
        "finish copying the library, then refresh again",
    )
    .by_environment()
}

fn unchecked(found: String) -> Reason {
    Reason::plugin(
        Stage::Verify,
        "bad_note",
        "a note that was checked",
        found,
        "report this as a bug of the host",
    )
}
