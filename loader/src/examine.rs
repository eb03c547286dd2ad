//! Everything that is known of a bundle or library without running anything of it: what `inspect` shows, a packer checks, and the first part
//! of why a provider is not there.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use toolbay_abi::note::Note;

use crate::{
    bundle::{Bundle, Manifest},
    config::Config,
    inspect::{Inspected, LibraryFacts},
    refresh::{self, Source},
    rejection::{Reason, Rejection, Stage},
    store::ContentHash,
    trust::Signer,
    verify::{entry_of, plugin_at, target_of},
    vetting::{Rulebook, Vetting},
};

/// A bundle or library as it was read, with all that this host has to say about it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Examination {
    /// Where it is.
    pub path: PathBuf,
    /// The manifest, where it is a bundle.
    pub manifest: Option<Manifest>,
    /// Who stands for it, or why nobody does whom this host trusts.
    pub signer: Result<Signer, Reason>,
    /// The library for this system, where there is one that can be read.
    pub library: Option<ExaminedLibrary>,
    /// Every reason for which this host refuses it, but for what its signature lacks.
    pub problems: Vec<Reason>,
    /// What the policy warns of.
    pub warnings: Vec<Reason>,
}

/// A library as it was read.
#[derive(Debug)]
#[non_exhaustive]
pub struct ExaminedLibrary {
    /// Where it is; in a bundle, its place there.
    pub path: PathBuf,
    /// Bytes.
    pub len: u64,
    /// The SHA-256 of its content, where that could be read.
    pub hash: Option<ContentHash>,
    /// What it says about itself.
    pub note: Note,
    /// What its tables say.
    pub facts: LibraryFacts,
}

impl Examination {
    /// Whether this host takes it.
    pub fn is_accepted(&self) -> bool {
        self.problems.is_empty() && self.signer.is_ok()
    }

    /// The id that it gives itself.
    pub fn id(&self) -> Option<String> {
        let by_manifest = self.manifest.as_ref().map(|manifest| manifest.parts().id.to_string());
        by_manifest.or_else(|| Some(self.library.as_ref()?.note.id.clone()))
    }
}

/// Examines a bundle, a folder with a manifest or a library, by the policy and the keys of a home. Nothing of it is run, and nothing is
/// written but copies in the system's folder for temporary files, which are removed.
///
/// # Errors
///
/// [`Rejection`] where it is none of these, or so damaged that nothing can be said about it.
pub fn examine(path: &Path, config: &Config) -> Result<Examination, Rejection> {
    let vetting = Vetting::new(config);
    let rulebook = vetting.rulebook();
    let source = refresh::read(path).map_err(|reason| reason.of(path, None))?;
    rulebook.examine(path, source, &vetting).map_err(|reason| reason.of(path, None))
}

impl Rulebook {
    /// Examines what was read at a path.
    pub(crate) fn examine(
        &self,
        path: &Path,
        source: Source,
        vetting: &Vetting,
    ) -> Result<Examination, Reason> {
        match source {
            Source::Other(what) => Err(refresh::not_a_plugin(what)),
            Source::Library(library) => {
                let found = self.judged(vetting, &library, &BTreeSet::new());
                Ok(Examination {
                    path: path.to_owned(),
                    manifest: None,
                    signer: self.trust().unsigned(),
                    library: Some(examined(path, &library, vetting)),
                    problems: found.problems,
                    warnings: found.warnings,
                })
            }
            Source::Bundle(mut bundle) => self.examine_bundle(path, &mut bundle, vetting),
        }
    }

    fn examine_bundle(
        &self,
        path: &Path,
        bundle: &mut Bundle,
        vetting: &Vetting,
    ) -> Result<Examination, Reason> {
        let manifest = &bundle.manifest().clone();
        let mut examination = Examination {
            path: path.to_owned(),
            manifest: Some(manifest.clone()),
            signer: self.trust().signer(bundle),
            library: None,
            problems: Vec::new(),
            warnings: Vec::new(),
        };
        let folder = tempfile::tempdir().map_err(|error| no_room(&error))?;
        // Everything, so that each file is held against its hash.
        if let Err(reason) = bundle.unpack(folder.path(), |_| true) {
            examination.problems.push(reason);
            return Ok(examination);
        }
        let listed = match target_of(manifest) {
            Ok((_, listed)) => listed,
            Err(reason) => {
                examination.problems.push(reason);
                return Ok(examination);
            }
        };
        let library = match plugin_at(&folder.path().join(listed.path.as_str())) {
            Ok(library) => library,
            Err(reason) => {
                examination.problems.push(reason);
                return Ok(examination);
            }
        };
        let place = Path::new(listed.path.as_str());
        examination.library = Some(examined(place, &library, vetting));
        let signer = examination.signer.clone().unwrap_or(Signer::Nobody);
        match self.judge(vetting, folder.path(), manifest, signer, entry_of(bundle)) {
            Ok(taken) => {
                examination.problems.extend(taken.left_out);
                examination.warnings.extend(taken.warnings);
            }
            Err(problems) => examination.problems.extend(problems),
        }
        Ok(examination)
    }
}

fn examined(path: &Path, library: &Inspected, vetting: &Vetting) -> ExaminedLibrary {
    ExaminedLibrary {
        path: path.to_owned(),
        len: library.identity().len,
        hash: vetting.store.hash_of(library.file()).ok(),
        note: library.note().clone(),
        facts: library.facts().clone(),
    }
}

fn no_room(error: &std::io::Error) -> Reason {
    Reason::plugin(
        Stage::Store,
        "no_temporary_folder",
        "a folder to unpack the bundle into",
        error.to_string(),
        "free space in the system's folder for temporary files, or set TMPDIR",
    )
    .by_environment()
}
