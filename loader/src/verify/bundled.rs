//! Bundles: who signed them, and whether manifest, files and the library's own note say the same.

use std::{collections::BTreeSet, io, path::Path};

use semver::Version;
use toolbay_abi::note::TARGET;

use super::{
    Companion, DeclaredTool, Loadable, StoredPlugin, Taken, declared_tools, drift, identity,
    other_signer, plugin_at,
};
use crate::{
    bundle::{Bundle, ListedFile, Manifest, Target},
    inspect::{self, Inspected},
    rejection::{Reason, Stage},
    store::ContentHash,
    trust::Signer,
    vetting::{Rulebook, Vetting},
};

/// The entry of the store that a bundle gets: one for each manifest with its signature, and so with every byte that it lists.
pub(crate) fn entry_of(bundle: &Bundle) -> ContentHash {
    let mut bytes = bundle.manifest().bytes().to_vec();
    if let Some(signature) = bundle.signature() {
        // A manifest is JSON and has no NUL in it.
        bytes.push(0);
        bytes.extend_from_slice(signature);
    }
    ContentHash::of(&bytes)
}

/// The hash of a bundle's libraries for one system: of a single one, its own.
fn content_of(target: &Target) -> ContentHash {
    match target.libraries.as_slice() {
        [library] => library.sha256,
        libraries => {
            let line = |file: &ListedFile| format!("{}  {}\n", file.sha256, file.path);
            ContentHash::of(libraries.iter().map(line).collect::<String>().as_bytes())
        }
    }
}

/// The libraries of a bundle for this system.
pub(crate) fn target_of(manifest: &Manifest) -> Result<(&Target, &ListedFile), Reason> {
    let targets = &manifest.parts().targets;
    let target = targets.get(TARGET).and_then(|target| Some((target, target.libraries.first()?)));
    target.ok_or_else(|| {
        let there: Vec<&str> = targets.keys().map(String::as_str).collect();
        Reason::plugin(
            Stage::Verify,
            "no_library_for_target",
            format!("a library for {TARGET}"),
            format!("libraries for {}", there.join(", ")),
            "ask the publisher for a bundle that has one for this system",
        )
    })
}

impl Rulebook {
    /// Takes a bundle into the store, as a whole.
    ///
    /// # Errors
    ///
    /// Every reason for which it is refused, at least one.
    pub(crate) fn take_bundle(
        &self,
        vetting: &Vetting,
        bundle: &mut Bundle,
    ) -> Result<Taken, Vec<Reason>> {
        let one = |reason| vec![reason];
        let manifest = bundle.manifest().clone();
        let signer = self.trust().signer(bundle).map_err(one)?;
        let entry = entry_of(bundle);
        let there = vetting.store.entry(entry);
        // Before it is there, or looked at: what somebody uses is not removed.
        vetting.hold(entry).map_err(one)?;
        if vetting.store.check_private().is_ok() && is_intact(vetting, bundle) {
            // What is there would do; whoever names a damaged file must be told all the same.
            check_content(bundle).map_err(one)?;
            return self.judge(vetting, &there, &manifest, signer, entry);
        }
        let incoming = vetting.store.begin().map_err(one)?;
        bundle.unpack(incoming.path(), |_| true).map_err(one)?;
        let taken = self.judge(vetting, incoming.path(), &manifest, signer, entry)?;
        incoming.keep(&vetting.store, entry, || is_intact(vetting, bundle)).map_err(one)?;
        Ok(taken)
    }

    /// Judges the library of a bundle that lies unpacked in a folder.
    pub(crate) fn judge(
        &self,
        vetting: &Vetting,
        folder: &Path,
        manifest: &Manifest,
        signer: Signer,
        entry: ContentHash,
    ) -> Result<Taken, Vec<Reason>> {
        let one = |reason| vec![reason];
        let (target, library) = target_of(manifest).map_err(one)?;
        let inspected = plugin_at(&folder.join(library.path.as_str())).map_err(one)?;
        let mut found = self.judged(vetting, &inspected, &companions(target));
        found.problems.extend(agreement(manifest, target, &inspected));
        found.problems.extend(check_host(&manifest.parts().minimum_host).err());
        if !found.problems.is_empty() {
            return Err(found.problems);
        }
        let (id, version) = identity(inspected.note()).map_err(one)?;
        let (declared, left_out) = declared_in_both(manifest, &inspected);
        let plugin = StoredPlugin {
            id,
            version,
            hash: content_of(target),
            entry,
            library: library.path.to_string(),
            bundled: true,
            signer,
            declared,
        };
        self.check_lock(&plugin).map_err(one)?;
        Ok(Taken { plugin, left_out, warnings: found.warnings })
    }

    /// The library of a bundle in the store, with the signature and every library verified once more.
    pub(super) fn stored_bundle(
        &self,
        vetting: &Vetting,
        plugin: &StoredPlugin,
    ) -> Result<(Loadable, Vec<DeclaredTool>), Reason> {
        let folder = vetting.store.entry(plugin.entry);
        let bundle = Bundle::open(&folder)?;
        let signer = self.trust().signer(&bundle)?;
        if signer != plugin.signer {
            return Err(other_signer(&plugin.signer, &signer));
        }
        let manifest = bundle.manifest();
        let (target, library) = target_of(manifest)?;
        let found = (entry_of(&bundle), content_of(target), library.path.as_str());
        if found != (plugin.entry, plugin.hash, plugin.library.as_str()) {
            return Err(changed_in_store(plugin.entry, found.0));
        }
        let inspected = plugin_at(&folder.join(library.path.as_str()))?;
        vetting.store.check_hash(inspected.file(), library.sha256)?;
        let mut companions = Vec::new();
        for companion in target.libraries.iter().skip(1) {
            let path = folder.join(companion.path.as_str());
            let (file, _) = inspect::open(&path)?;
            vetting.store.check_hash(&file, companion.sha256)?;
            companions.push(Companion { path, file, hash: companion.sha256 });
        }
        if let Some(reason) = agreement(manifest, target, &inspected).into_iter().next() {
            return Err(reason);
        }
        let (declared, _) = declared_in_both(manifest, &inspected);
        let (hash, manifest) = (library.sha256, Some(manifest.clone()));
        Ok((Loadable { library: inspected, hash, companions, manifest }, declared))
    }
}

/// Whether the store holds this very bundle, byte for byte.
pub(crate) fn is_intact(vetting: &Vetting, bundle: &Bundle) -> bool {
    let entry = entry_of(bundle);
    if vetting.store.check_entry(entry).is_err() {
        return false;
    }
    let Ok(mut there) = Bundle::open(&vetting.store.entry(entry)) else { return false };
    entry_of(&there) == entry && check_content(&mut there).is_ok()
}

/// Holds every file of a bundle against its hash.
fn check_content(bundle: &mut Bundle) -> Result<(), Reason> {
    let listed: Vec<_> = bundle.manifest().parts().listed().map(|file| file.path.clone()).collect();
    listed.iter().try_for_each(|path| bundle.copy_file(path, &mut io::sink()))
}

fn companions(target: &Target) -> BTreeSet<String> {
    let names =
        target.libraries.iter().skip(1).filter_map(|file| file.path.as_str().rsplit('/').next());
    names.map(str::to_owned).collect()
}

/// In what manifest and note contradict each other.
fn agreement(manifest: &Manifest, target: &Target, inspected: &Inspected) -> Vec<Reason> {
    let (parts, note) = (manifest.parts(), inspected.note());
    let digest = format!("{:016x}", target.digest);
    let fields = [
        ("id", parts.id.to_string(), note.id.clone()),
        ("version", parts.version.to_string(), note.version.clone()),
        ("epoch", target.epoch.to_string(), note.epoch.to_string()),
        ("digest", digest, note.digest.clone()),
    ];
    let differs = fields.into_iter().filter(|(_, said, there)| said != there);
    differs.map(|(field, said, there)| drift::differs(field, &said, &there)).collect()
}

/// The tools of which manifest and note say the same, and why the others are left out.
fn declared_in_both(
    manifest: &Manifest,
    inspected: &Inspected,
) -> (Vec<DeclaredTool>, Vec<Reason>) {
    let (declared, mut left_out) = declared_tools(inspected.note());
    let (same, drifted) = drift::compare(&manifest.parts().tools, declared);
    left_out.extend(drifted);
    (same, left_out)
}

fn check_host(minimum: &Version) -> Result<(), Reason> {
    let this = env!("CARGO_PKG_VERSION");
    match Version::parse(this) {
        Ok(host) if host >= *minimum => Ok(()),
        _ => Err(Reason::plugin(
            Stage::Verify,
            "host_too_old",
            format!("a host of version {minimum} or later"),
            format!("version {this}"),
            "update the host, or ask the publisher for a bundle that this one takes",
        )
        .by_environment()),
    }
}

fn changed_in_store(expected: ContentHash, found: ContentHash) -> Reason {
    Reason::plugin(
        Stage::Store,
        "changed_in_store",
        format!("a bundle whose manifest and signature have SHA-256 {expected}"),
        found.to_string(),
        "refresh or install the bundle again; find out who wrote to the store",
    )
    .by_environment()
}
