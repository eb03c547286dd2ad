//! Compares what a file says with what this host accepts, and takes a private copy: the bytes that were checked are the bytes that
//! are loaded.

mod declared;

use semver::Version;
use toolbay_abi::{note::TARGET, shape};
use toolbay_core::ProviderId;

pub use declared::DeclaredTool;

use crate::{
    discover::Candidate,
    inspect::{self, Inspected, Inspection, RootSymbol},
    rejection::{Reason, Rejection, Stage},
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

/// The panic strategy of a plugin, whatever the host's own is: the catch is in the plugin.
const UNWIND: &str = "unwind";

/// Every reason for which this host would refuse the file, without loading it.
pub fn problems(inspected: &Inspected) -> Vec<Reason> {
    let note = inspected.note();
    let facts = inspected.facts();
    let mut problems = Vec::new();
    let mut refuse = |code, expected: String, found: String, remedy: &str| {
        problems.push(Reason::plugin(Stage::Verify, code, expected, found, remedy));
    };

    let digest = format!("{:016x}", shape::DIGEST);
    if (note.epoch, note.digest.as_str()) != (shape::EPOCH, digest.as_str()) {
        refuse(
            "other_abi",
            format!("interface {} with digest {digest}", shape::EPOCH),
            format!("interface {} with digest {:?}", note.epoch, note.digest),
            "build the plugin again with the toolbay-plugin-api of this host",
        );
    }
    if note.target != TARGET {
        refuse(
            "other_target",
            TARGET.to_owned(),
            note.target.clone(),
            "build the plugin for this system: cargo build --release --target ...",
        );
    }
    if !TARGET.starts_with(facts.machine) {
        refuse(
            "other_machine",
            TARGET.to_owned(),
            format!("a library for {}", facts.machine),
            "build the plugin for this system: cargo build --release --target ...",
        );
    }
    if note.panic != UNWIND || !facts.unwinds {
        let found = if facts.unwinds { note.panic.clone() } else { "abort".to_owned() };
        refuse(
            "panic_abort",
            format!("a library built with panic = {UNWIND:?}"),
            format!("panic = {found:?}, with which a panic would end the host"),
            "remove `panic` from the profile in Cargo.toml and build again",
        );
    }
    match facts.root {
        RootSymbol::Defined { .. } => {}
        RootSymbol::Malformed | RootSymbol::Missing => {
            let found = if facts.root == RootSymbol::Missing {
                "none"
            } else {
                "a symbol of another kind or size"
            };
            refuse(
                "no_root_module",
                "a root module defined in this very file".to_owned(),
                found.to_owned(),
                "call export_provider! in a crate with crate-type = [\"cdylib\"]",
            );
        }
    }
    if let Err(found) = provider_id(&note.id) {
        refuse(
            "bad_provider_id",
            "a lower-case letter, then letters, digits, _ and -, 64 at most, and not \"core\""
                .to_owned(),
            found,
            "change the id in export_provider!",
        );
    }
    if let Err(error) = Version::parse(&note.version) {
        let found = format!("{:?} ({error})", note.version);
        refuse(
            "bad_version",
            "a version such as 1.2.3".to_owned(),
            found,
            "correct the version in Cargo.toml",
        );
    }
    problems
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
