//! Compares what a plugin says with what this host accepts, and takes a private copy: the bytes that were checked are the bytes that are
//! loaded.

mod bundled;
mod declared;
mod drift;
mod findings;

use std::{
    collections::BTreeSet,
    fs::File,
    path::{Path, PathBuf},
};

use semver::Version;
use toolbay_core::ProviderId;

pub use declared::{DeclaredTool, declared_tools};
use findings::identity;
pub use findings::{Problem, findings};
pub(crate) use {
    bundled::{entry_of, is_intact, target_of},
    drift::check_definition,
};

use crate::{
    bundle::Manifest,
    deadlines::LoadPhase,
    discover::Candidate,
    inspect::{self, Inspected, Inspection},
    library::{self, Opened, VerifiedFile},
    not_opened::NotOpened,
    policy::Isolation,
    rejection::{Reason, Rejection, Stage},
    static_audit::{Check, Finding, HostSystem, Level, StaticAuditPolicy},
    store::ContentHash,
    trust::Signer,
    vetting::{Rulebook, Vetting},
};

/// A plugin in the store: all that a registry keeps of it, and that is needed to find and verify it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredPlugin {
    pub(crate) id: ProviderId,
    pub(crate) version: Version,
    /// The hash of its libraries: of a single one, its SHA-256.
    pub(crate) hash: ContentHash,
    /// The entry of the store that it is in.
    pub(crate) entry: ContentHash,
    /// Where in the entry its library is.
    pub(crate) library: String,
    /// Whether the entry is a bundle, and not a single library.
    pub(crate) bundled: bool,
    pub(crate) signer: Signer,
    /// The tools that its note declares, those with a mistake left out.
    pub(crate) declared: Vec<DeclaredTool>,
}

/// A plugin that this host takes, with what is worth telling.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) plugin: StoredPlugin,
    /// The tools that are left out for a mistake of their own.
    pub(crate) left_out: Vec<Reason>,
    /// What the policy warns of.
    pub(crate) warnings: Vec<Reason>,
}

/// A plugin that was verified just now, with the files that were, held open.
#[derive(Debug)]
pub(crate) struct Loadable {
    pub(crate) library: Inspected,
    /// The hash of the library's own file.
    hash: ContentHash,
    /// The libraries that travel with it.
    companions: Vec<Companion>,
    pub(crate) manifest: Option<Manifest>,
}

/// A library that travels with a plugin, verified and held open.
#[derive(Debug)]
struct Companion {
    path: PathBuf,
    file: File,
    hash: ContentHash,
}

impl Loadable {
    /// Opens the library. This is where its code first runs. `enter` is told of each phase before it begins.
    pub(crate) fn open(&self, enter: &dyn Fn(LoadPhase)) -> Result<Opened, Reason> {
        let library = VerifiedFile { path: self.library.path(), file: self.library.file() };
        let companions = self.companions.iter();
        let companions: Vec<VerifiedFile<'_>> =
            companions.map(|Companion { path, file, .. }| VerifiedFile { path, file }).collect();
        library::open_library(library, &companions, enter)
            .map_err(|error| NotOpened::from(&error).reason())
    }

    /// The folders of the store that its libraries are in.
    pub(crate) fn folders(&self) -> BTreeSet<&Path> {
        let companions = self.companions.iter().map(|companion| companion.path.as_path());
        companions.chain([self.library.path()]).filter_map(Path::parent).collect()
    }

    /// Whether a panic in it can be caught.
    pub(crate) fn unwinds(&self) -> bool {
        self.library.facts().unwinds && self.library.note().panic == findings::UNWIND
    }

    /// The library with the hash that was verified.
    pub(crate) fn hashed(&self) -> (&Path, ContentHash) {
        (self.library.path(), self.hash)
    }

    /// The libraries that travel with it, with the hashes that were verified.
    pub(crate) fn hashed_companions(&self) -> Vec<(&Path, ContentHash)> {
        self.companions.iter().map(|companion| (&*companion.path, companion.hash)).collect()
    }
}

impl StoredPlugin {
    /// Where its library is.
    pub(crate) fn path(&self, vetting: &Vetting) -> PathBuf {
        vetting.store.entry(self.entry).join(&self.library)
    }
}

/// What is known of a library from its bytes, by what follows from it.
#[derive(Debug)]
pub struct Judged {
    /// Why it is refused.
    pub problems: Vec<Reason>,
    /// What the policy warns of.
    pub warnings: Vec<Reason>,
}

/// The [`findings`] of a library, by what follows from them. `companions` are the names of the libraries that travel with it.
pub fn judged(
    inspected: &Inspected,
    host: &HostSystem,
    policy: &StaticAuditPolicy,
    companions: &BTreeSet<String>,
) -> Judged {
    Judged::of(findings(inspected, host, policy, companions))
}

impl Judged {
    fn of(found: Vec<Problem>) -> Self {
        let (problems, warnings): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|problem| problem.level() == Level::Deny);
        let reasons = |found: Vec<Problem>| found.into_iter().map(Problem::into_reason).collect();
        Self { problems: reasons(problems), warnings: reasons(warnings) }
    }
}

impl Rulebook {
    /// The findings of a library by what follows from them here: one that can't unwind is no danger where it runs in a worker.
    pub(crate) fn judged(
        &self,
        vetting: &Vetting,
        inspected: &Inspected,
        companions: &BTreeSet<String>,
    ) -> Judged {
        let policy = &self.policy;
        let mut found = findings(inspected, &vetting.host, &policy.static_audit, companions);
        let place = inspected.note().id.parse().map(|provider| policy.isolation.of(&provider));
        if let Ok(Isolation::Auto | Isolation::Worker) = place {
            for problem in &mut found {
                if let Problem::Found(Finding { check: Check::PanicStrategy, level, .. }) = problem
                {
                    *level = Level::Warn;
                }
            }
        }
        Judged::of(found)
    }

    /// Takes a loose library, which nobody can have signed, into the store.
    ///
    /// # Errors
    ///
    /// Every reason for which it is refused, at least one.
    pub(crate) fn take_library(
        &self,
        vetting: &Vetting,
        source: &Inspected,
    ) -> Result<Taken, Vec<Reason>> {
        let one = |reason| vec![reason];
        let signer = self.trust().unsigned().map_err(one)?;
        let found = self.judged(vetting, source, &BTreeSet::new());
        if !found.problems.is_empty() {
            return Err(found.problems);
        }
        let (id, version) = identity(source.note()).map_err(one)?;
        // People meet this name in debuggers and in /proc/self/maps.
        let library = format!("{id}-{version}.so");
        // Before it is there: what somebody uses is not removed.
        let hash = vetting.store.hash_of(source.file()).map_err(one)?;
        vetting.hold(hash).map_err(one)?;
        let (path, hash) = vetting.store.copy(source.file(), hash, &library).map_err(one)?;
        let copy = match inspect::inspect(&Candidate::at(&path)) {
            Ok(Inspection::Plugin(copy))
                if copy.note() == source.note() && copy.facts() == source.facts() =>
            {
                *copy
            }
            Ok(_) => return Err(one(changed_while_read())),
            Err(rejection) => return Err(one(*rejection.reason)),
        };
        let (declared, left_out) = declared_tools(copy.note());
        let (entry, bundled) = (hash, false);
        let plugin = StoredPlugin { id, version, hash, entry, library, bundled, signer, declared };
        self.check_lock(&plugin).map_err(one)?;
        Ok(Taken { plugin, left_out, warnings: found.warnings })
    }

    /// Verifies a plugin in the store before it is opened: who stands for it, every byte of it, and that its own note says what is
    /// registered, by which the gates have decided.
    ///
    /// # Errors
    ///
    /// The first reason for which it is not opened.
    pub(crate) fn loadable(
        &self,
        vetting: &Vetting,
        plugin: &StoredPlugin,
    ) -> Result<Loadable, Reason> {
        vetting.store.check_private()?;
        vetting.store.check_entry(plugin.entry)?;
        self.check_lock(plugin)?;
        let (loadable, found) = match plugin.bundled {
            true => self.stored_bundle(vetting, plugin)?,
            false => self.stored_library(vetting, plugin)?,
        };
        let companions = companion_names(&loadable.companions);
        let library = &loadable.library;
        if let Some(reason) = self.judged(vetting, library, &companions).problems.into_iter().next()
        {
            return Err(reason);
        }
        let note = library.note();
        let same = note.id == plugin.id.as_str()
            && note.version == plugin.version.to_string()
            && found == plugin.declared;
        if !same {
            return Err(Reason::plugin(
                Stage::Verify,
                "other_declarations",
                "the provider and the declarations that are registered",
                "others in the library's note",
                "refresh, which registers what the note says; find out who changed the registry file",
            )
            .by_environment());
        }
        Ok(loadable)
    }

    fn stored_library(
        &self,
        vetting: &Vetting,
        plugin: &StoredPlugin,
    ) -> Result<(Loadable, Vec<DeclaredTool>), Reason> {
        if self.trust().unsigned()? != plugin.signer {
            return Err(other_signer(&plugin.signer, &Signer::Nobody));
        }
        let library = plugin_at(&plugin.path(vetting))?;
        // What is hashed is the very file that was read, which nothing but its own content can change.
        vetting.store.check_hash(library.file(), plugin.hash)?;
        let (declared, _) = declared_tools(library.note());
        let (hash, companions) = (plugin.hash, Vec::new());
        Ok((Loadable { library, hash, companions, manifest: None }, declared))
    }
}

/// The plugin in a file of the store.
pub(crate) fn plugin_at(path: &Path) -> Result<Inspected, Reason> {
    match inspect::inspect(&Candidate::at(path)) {
        Ok(Inspection::Plugin(plugin)) => Ok(*plugin),
        Ok(Inspection::NotAPlugin(what)) => Err(Reason::plugin(
            Stage::Inspect,
            "not_a_plugin",
            "a library with a Toolbay note",
            what,
            "build the library with export_provider! in a crate with crate-type = [\"cdylib\"]",
        )),
        Err(Rejection { reason, .. }) => Err(*reason),
    }
}

/// The names under which a linker looks for libraries that travel with a plugin.
fn companion_names(companions: &[Companion]) -> BTreeSet<String> {
    let names = companions.iter().filter_map(|companion| companion.path.file_name());
    names.map(|name| name.to_string_lossy().into_owned()).collect()
}

fn other_signer(registered: &Signer, found: &Signer) -> Reason {
    Reason::plugin(
        Stage::Signature,
        "other_signer",
        format!("a plugin that is signed by {registered}, as it is registered"),
        format!("one that is signed by {found}"),
        "refresh, which registers what is there; find out who changed the registry file",
    )
    .by_environment()
}

fn changed_while_read() -> Reason {
    Reason::plugin(
        Stage::Verify,
        "changed_while_read",
        "a file that stays as it is",
        "one that changed while it was copied",
        "finish copying the library, then refresh again",
    )
    .by_environment()
}
