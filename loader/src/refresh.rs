//! From plugin directories and installed bundles to registered providers: the stages in their order, each file on its own.
//!
//! What has not changed since it was registered is neither read nor run: its tools are known. A provider with a configuration is run all the
//! same, for what it lists may depend on files that only it knows.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use semver::Version;
use toolbay_core::ProviderId;

use crate::{
    bundle::{self, Bundle},
    config::Config,
    departed_file::Departed,
    discover::{self, Candidate, Discovery},
    inspect::{self, Inspection},
    installed_file::Installed,
    load::{Loaded, load},
    provider::{PluginProvider, Registered},
    registry_file,
    rejection::{Reason, Rejection, Stage},
    scan_cache::{ScanCache, Stats},
    store::ContentHash,
    trust::Signer,
    verify::{StoredPlugin, Taken, entry_of, is_intact},
    vetting::{Rulebook, Vetting},
};

/// How a refresh goes about it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefreshOptions {
    /// Whether an older version, or the plugin of another publisher, may take the place of a signed one that is registered.
    pub replace: bool,
    /// Whether what failed before is forgotten, so that it is tried again.
    pub retry: bool,
}

impl RefreshOptions {
    /// The options with such replacements allowed or not.
    #[must_use]
    pub const fn replace(self, replace: bool) -> Self {
        Self { replace, ..self }
    }

    /// The options with everything tried again or not.
    #[must_use]
    pub const fn retry(self, retry: bool) -> Self {
        Self { retry, ..self }
    }
}

/// What a scan starts from.
pub(crate) struct Scan<'a> {
    pub(crate) config: &'a Config,
    pub(crate) vetting: &'a Arc<Vetting>,
    pub(crate) rulebook: &'a Rulebook,
    /// What was seen before, as far as it counts now.
    pub(crate) cache: ScanCache,
    /// What is registered.
    pub(crate) registered: &'a [Registered],
    pub(crate) installed: &'a Installed,
    pub(crate) departed: &'a Departed,
    pub(crate) options: RefreshOptions,
}

/// What is there now.
pub(crate) struct Found {
    pub(crate) providers: Vec<Arc<PluginProvider>>,
    pub(crate) rejections: Vec<Rejection>,
    pub(crate) warnings: Vec<Rejection>,
    pub(crate) ignored: Vec<(PathBuf, &'static str)>,
    /// What is worth remembering of this scan.
    pub(crate) cache: ScanCache,
    /// The ids that plugins give themselves for which there was no room.
    failing: BTreeSet<String>,
}

/// A plugin that is there, before it is known which of several versions is used.
struct Present {
    source: PathBuf,
    /// What its source looked like before it was read, for the next scan.
    stats: Option<Stats>,
    plugin: StoredPlugin,
    /// How it is registered, where it is, and nothing has changed since.
    registered: Option<Registered>,
    /// Whether there was something to tell of it, which each scan tells anew.
    is_remarkable: bool,
    /// Whether an administrator has installed it.
    is_installed: bool,
}

impl Scan<'_> {
    /// Looks at everything that is there.
    pub(crate) fn find(self) -> Found {
        let Discovery { mut candidates, rejections } =
            discover::discover(&self.config.plugin_directories);
        let installed: BTreeSet<_> =
            self.installed.candidates(&self.vetting.store).into_iter().collect();
        candidates.extend(installed.iter().cloned());
        let mut found = Found {
            providers: Vec::new(),
            rejections,
            warnings: Vec::new(),
            ignored: Vec::new(),
            cache: self.cache.emptied(),
            failing: BTreeSet::new(),
        };
        let mut present = Vec::new();
        for candidate in &candidates {
            let is_installed = installed.contains(candidate);
            let there = self.look_at(candidate.path(), &mut found);
            present.extend(there.map(|there| Present { is_installed, ..there }));
        }
        for plugin in self.one_of_each(present, &mut found) {
            let provider = self.provide(plugin, &mut found);
            found.providers.extend(provider);
        }
        self.keep_serving(&mut found);
        found.rejections.sort();
        found
    }

    /// What a file or folder is: known from before, where it has not changed, and else taken stage by stage.
    fn look_at(&self, path: &Path, found: &mut Found) -> Option<Present> {
        let now = self.vetting.now();
        let known = |entry: ContentHash| {
            let mut there = self.registered.iter();
            let registered = there.find(|registered| registered.plugin.entry == entry)?;
            let digest = registry_file::digest(registered).ok()?;
            self.cache.knows(entry, digest).then(|| registered.clone())
        };
        let stats = Stats::of(path);
        let store = &self.vetting.store;
        let fresh = stats.as_ref().and_then(|stats| self.cache.fresh(path, stats, store, now));
        if let Some(registered) = fresh.and_then(known) {
            return Some(Present::known(path, stats, registered));
        }
        let mut source = match read(path) {
            Ok(Source::Other(what)) => {
                found.ignored.push((path.to_owned(), what));
                return None;
            }
            Ok(source) => source,
            Err(reason) => {
                found.rejections.push(reason.of(path, None));
                return None;
            }
        };
        // The same content, whatever the times say: there is nothing that would be decided otherwise.
        let content = source.entry(self.vetting);
        let registered = content.and_then(known);
        if let Some(registered) =
            registered.filter(|registered| source.is_stored(self.vetting, &registered.plugin))
        {
            return Some(Present::known(path, stats, registered));
        }
        match source.take(self.rulebook, self.vetting) {
            Ok(Taken { plugin, left_out, warnings }) => {
                let of_source = |reason: Reason| reason.of(path, Some(plugin.id.as_str()));
                let is_remarkable = !left_out.is_empty() || !warnings.is_empty();
                found.rejections.extend(left_out.into_iter().map(of_source));
                found.warnings.extend(warnings.into_iter().map(of_source));
                let source = path.to_owned();
                Some(Present {
                    source,
                    stats,
                    plugin,
                    registered: None,
                    is_remarkable,
                    is_installed: false,
                })
            }
            Err(reasons) => {
                let id = source.id();
                found.failing.extend(id.clone().filter(|_| reasons.iter().any(is_lack_of_room)));
                let rejections = reasons.into_iter().map(|reason| reason.of(path, id.as_deref()));
                found.rejections.extend(rejections);
                None
            }
        }
    }

    /// One plugin of each provider: of several, the highest version, and of several of one version the one with the lowest hash, so
    /// that names of files change nothing. A second copy of the same content is no conflict. One that may not take the place of what is
    /// registered keeps no other from it; where there is no other, what is registered stays.
    fn one_of_each(&self, mut present: Vec<Present>, found: &mut Found) -> Vec<Present> {
        present.sort_by(|one, other| {
            let by_content = one.plugin.entry.cmp(&other.plugin.entry);
            let by_content = by_content.then_with(|| one.source.cmp(&other.source));
            other.plugin.version.cmp(&one.plugin.version).then(by_content)
        });
        let mut kept: BTreeMap<ProviderId, Present> = BTreeMap::new();
        let mut displaced: BTreeMap<ProviderId, Registered> = BTreeMap::new();
        for present in present {
            let id = &present.plugin.id;
            let of_source = |reason: Reason| reason.of(&present.source, Some(id.as_str()));
            if let Some(winner) = kept.get(id) {
                if winner.plugin.entry != present.plugin.entry {
                    let source = winner.source.display().to_string();
                    let reason = duplicate(id, &winner.plugin.version, &source);
                    found.rejections.push(of_source(reason));
                }
                continue;
            }
            // What is installed was weighed when it was, also where the process was killed before it was registered.
            let is_weighed = self.options.replace || present.is_installed;
            let before = self.registered.iter().find(|before| before.plugin.id == *id);
            let reason = match before {
                _ if is_weighed => None,
                Some(before) => displacement(before, &present.plugin),
                None => self.departed.refuses(&present.plugin),
            };
            if let Some(reason) = reason {
                found.rejections.push(of_source(reason));
                displaced.extend(before.map(|before| (id.clone(), before.clone())));
                continue;
            }
            kept.insert(id.clone(), present);
        }
        displaced.retain(|id, _| !kept.contains_key(id));
        let displaced = displaced.into_values().map(|before| Arc::new(self.new_provider(before)));
        found.providers.extend(displaced);
        kept.into_values().collect()
    }

    fn new_provider(&self, registered: Registered) -> PluginProvider {
        PluginProvider::new(registered, self.vetting, self.config)
    }

    /// The provider of a plugin, which is run where it is not known what it lists.
    fn provide(&self, present: Present, found: &mut Found) -> Option<Arc<PluginProvider>> {
        let Present { source, stats, plugin, registered, is_remarkable, .. } = present;
        let id = plugin.id.clone();
        let of_source = |reason: Reason| reason.of(&source, Some(id.as_str()));
        if plugin.signer == Signer::Nobody {
            found.warnings.push(of_source(unsigned()));
        }
        let configuration = self.config.providers.get(&id).cloned();
        let remember = |found: &mut Found, registered: &Registered| {
            if configuration.is_none() {
                let (store, now) = (&self.vetting.store, self.vetting.now());
                found.cache.remember(&source, stats, registered, store, now);
            }
        };
        // Of one with a configuration nothing was remembered, so that none is known here that was listed with another.
        if let (Some(registered), None) = (registered, &configuration) {
            remember(found, &registered);
            return Some(Arc::new(self.new_provider(registered)));
        }
        match load(self.vetting, self.rulebook, &plugin, configuration.as_deref()) {
            Ok(Loaded { instance, tools, left_out }) => {
                let tools = tools.into_iter().map(Arc::new).collect();
                let registered = Registered { plugin: plugin.clone(), tools };
                if !is_remarkable && left_out.is_empty() {
                    remember(found, &registered);
                }
                found.rejections.extend(left_out.into_iter().map(of_source));
                Some(Arc::new(self.new_provider(registered).running(instance)))
            }
            Err(reason) => {
                let leaves_the_old = is_lack_of_room(&reason) || is_failure_of_code(&reason);
                found.failing.extend(leaves_the_old.then(|| id.to_string()));
                found.rejections.push(of_source(reason));
                None
            }
        }
    }

    /// Keeps what is registered where what is there now can't take its place, though it may: for there was no room, or its code failed.
    fn keep_serving(&self, found: &mut Found) {
        let is_found = |id: &ProviderId| {
            found.providers.iter().any(|provider| provider.registered().plugin.id == *id)
        };
        let kept: Vec<_> = self
            .registered
            .iter()
            .filter(|before| found.failing.contains(before.plugin.id.as_str()))
            .filter(|before| !is_found(&before.plugin.id))
            .map(|before| Arc::new(self.new_provider(before.clone())))
            .collect();
        found.providers.extend(kept);
    }
}

impl Present {
    fn known(path: &Path, stats: Option<Stats>, registered: Registered) -> Self {
        let plugin = registered.plugin.clone();
        let (source, registered) = (path.to_owned(), Some(registered));
        Self { source, stats, plugin, registered, is_remarkable: false, is_installed: false }
    }
}

/// What a path leads to.
pub(crate) enum Source {
    Library(Box<inspect::Inspected>),
    Bundle(Box<Bundle>),
    Other(&'static str),
}

/// Reads what is at a path, without running anything of it.
pub(crate) fn read(path: &Path) -> Result<Source, Reason> {
    if bundle::is_bundle(path) {
        return Bundle::open(path).map(Box::new).map(Source::Bundle);
    }
    match inspect::inspect(&Candidate::at(path)) {
        Ok(Inspection::Plugin(plugin)) => Ok(Source::Library(plugin)),
        Ok(Inspection::NotAPlugin(what)) => Ok(Source::Other(what)),
        Err(Rejection { reason, .. }) => Err(*reason),
    }
}

impl Source {
    /// The entry of the store that it is, or would be; `None` where that can't be told.
    fn entry(&self, vetting: &Vetting) -> Option<ContentHash> {
        match self {
            Self::Library(library) => vetting.store.hash_of(library.file()).ok(),
            Self::Bundle(bundle) => Some(entry_of(bundle)),
            Self::Other(_) => None,
        }
    }

    /// Whether the store has it, byte for byte, as the plugin that is registered.
    fn is_stored(&self, vetting: &Vetting, plugin: &StoredPlugin) -> bool {
        match self {
            Self::Library(_) => vetting.store.holds(plugin.entry, &plugin.library),
            Self::Bundle(bundle) => is_intact(vetting, bundle),
            Self::Other(_) => false,
        }
    }

    /// The id that it gives itself.
    pub(crate) fn id(&self) -> Option<String> {
        match self {
            Self::Library(library) => Some(library.note().id.clone()),
            Self::Bundle(bundle) => Some(bundle.manifest().parts().id.to_string()),
            Self::Other(_) => None,
        }
    }

    /// Takes it into the store.
    pub(crate) fn take(
        &mut self,
        rulebook: &Rulebook,
        vetting: &Vetting,
    ) -> Result<Taken, Vec<Reason>> {
        match self {
            Self::Library(library) => rulebook.take_library(vetting, library),
            Self::Bundle(bundle) => rulebook.take_bundle(vetting, bundle),
            Self::Other(what) => Err(vec![not_a_plugin(what)]),
        }
    }
}

/// Why something that is neither library nor bundle is not taken.
pub(crate) fn not_a_plugin(what: &str) -> Reason {
    Reason::plugin(
        Stage::Inspect,
        "not_a_plugin",
        "a bundle, or a library with a Toolbay note",
        what,
        "name a bundle, or the library that cargo built, such as target/release/libgreeting.so",
    )
}

/// Why a plugin makes room for another one of its provider.
pub(crate) fn duplicate(id: &ProviderId, version: &Version, source: &str) -> Reason {
    Reason::plugin(
        Stage::Verify,
        "duplicate_provider",
        format!("one plugin of provider {id}"),
        format!("version {version} of it in {source}"),
        "remove one of them; the highest version is used, and of equal versions the one with the lowest SHA-256",
    )
    .by_environment()
}

/// Whether the host could not write what it has to: a copy, or what is in use.
/// Whether a plugin was accepted, and then failed as its code ran, now or before.
fn is_failure_of_code(reason: &Reason) -> bool {
    match reason.stage {
        Stage::Load | Stage::Adapt => true,
        // That is the operator's mistake, and the same for every version.
        Stage::Create => reason.code != "bad_configuration",
        stage => stage == Stage::Policy && reason.code == "failed_before",
    }
}

fn is_lack_of_room(reason: &Reason) -> bool {
    matches!(reason.code, "not_written" | "store_failed")
}

/// What is told of every plugin that nobody has signed, each time.
pub(crate) fn unsigned() -> Reason {
    Reason::plugin(
        Stage::Signature,
        "unsigned",
        "a bundle with a signature of a key that is trusted here",
        "no signature; it runs because the policy allows that",
        "use this only to develop plugins: nobody stands for this code",
    )
    .by_environment()
}

/// Why a plugin may not take the place of a signed one that is registered: it is older, or another publisher's. Nobody asks that where the
/// registered one is unsigned, as are plugins that are being developed.
pub(crate) fn displacement(before: &Registered, plugin: &StoredPlugin) -> Option<Reason> {
    let Signer::Publisher { name, .. } = &before.plugin.signer else { return None };
    let id = &plugin.id;
    match &plugin.signer {
        Signer::Publisher { name: other, .. } if other == name => {}
        other => {
            let expected = format!("provider {id} of {name}, as it is registered");
            let found = format!("one of {other}");
            let reason = Reason::plugin(Stage::Policy, "other_publisher", expected, found, STAYS);
            return Some(reason.by_environment());
        }
    }
    downgrade(&before.plugin.version, plugin, STAYS)
}

const STAYS: &str =
    "the registered one stays in use; where you want the other, ask for it with --replace";

/// Why a plugin is refused after a later version of it.
pub(crate) fn downgrade(before: &Version, plugin: &StoredPlugin, remedy: &str) -> Option<Reason> {
    let StoredPlugin { id, version, .. } = plugin;
    (version < before).then(|| {
        let expected = format!("version {before} of provider {id} or a later one");
        let found = format!("version {version}, whose weaknesses may be known");
        Reason::plugin(Stage::Policy, "downgrade", expected, found, remedy).by_environment()
    })
}
