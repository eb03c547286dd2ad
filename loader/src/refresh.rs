//! From plugin directories and installed bundles to registered providers: the stages in their order, each file on its own.
//!
//! What has not changed since it was registered is neither read nor run: its tools are known. A provider with a configuration is run all the
//! same, for what it lists may depend on files that only it knows.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use toolbay_core::ProviderId;

use crate::{
    bundle::{self, Bundle},
    config::Config,
    discover::{self, Candidate, Discovery},
    inspect::{self, Inspection},
    installed_file::Installed,
    load::{Loaded, load},
    provider::{PluginProvider, Registered},
    rejection::{Reason, Rejection, Stage},
    scan_cache::{ScanCache, Stats},
    store::ContentHash,
    trust::Signer,
    verify::{StoredPlugin, Taken, entry_of},
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
}

/// A plugin that is there, before it is known which of several versions is used.
struct Present {
    source: PathBuf,
    /// What its source looked like before it was read, for the next scan; none where that shall tell again what is wrong with it.
    stats: Option<Stats>,
    plugin: StoredPlugin,
    /// How it is registered, where it is, and nothing has changed since.
    registered: Option<Registered>,
}

impl Scan<'_> {
    /// Looks at everything that is there.
    pub(crate) fn find(mut self) -> Found {
        let Discovery { mut candidates, rejections } =
            discover::discover(&self.config.plugin_directories);
        candidates.extend(self.installed.candidates(&self.vetting.store));
        let cache = ScanCache::new(self.vetting.circumstances(self.rulebook));
        let mut found = Found {
            providers: Vec::new(),
            rejections,
            warnings: Vec::new(),
            ignored: Vec::new(),
            cache,
        };
        let mut present = Vec::new();
        for candidate in &candidates {
            present.extend(self.look_at(candidate.path(), &mut found));
        }
        for plugin in one_of_each(present, &mut found.rejections) {
            let provider = self.provide(plugin, &mut found);
            found.providers.extend(provider);
        }
        found.rejections.sort();
        found
    }

    /// What a file or folder is: known from before, where it has not changed, and else taken stage by stage.
    fn look_at(&mut self, path: &Path, found: &mut Found) -> Option<Present> {
        let now = self.vetting.now();
        let known = |entry: ContentHash| {
            self.registered.iter().find(|registered| registered.plugin.entry == entry).cloned()
        };
        let stats = Stats::of(path);
        if let Some(registered) = self.cache.fresh(path, now).and_then(known) {
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
        if let Some(registered) = content.filter(|entry| self.cache.knows(*entry)).and_then(known) {
            return Some(Present::known(path, stats, registered));
        }
        match source.take(self.rulebook, self.vetting) {
            Ok(Taken { plugin, left_out, warnings }) => {
                let of_source = |reason: Reason| reason.of(path, Some(plugin.id.as_str()));
                let stats = stats.filter(|_| left_out.is_empty() && warnings.is_empty());
                found.rejections.extend(left_out.into_iter().map(of_source));
                found.warnings.extend(warnings.into_iter().map(of_source));
                let source = path.to_owned();
                Some(Present { source, stats, plugin, registered: None })
            }
            Err(reasons) => {
                let id = source.id();
                let rejections = reasons.into_iter().map(|reason| reason.of(path, id.as_deref()));
                found.rejections.extend(rejections);
                None
            }
        }
    }

    /// The provider of a plugin, which is run where it is not known what it lists.
    fn provide(&self, present: Present, found: &mut Found) -> Option<Arc<PluginProvider>> {
        let Present { source, stats, plugin, registered } = present;
        let id = plugin.id.clone();
        let of_source = |reason: Reason| reason.of(&source, Some(id.as_str()));
        let before = self.registered.iter().find(|before| before.plugin.id == id);
        if plugin.signer == Signer::Nobody {
            found.warnings.push(of_source(unsigned()));
        }
        let configuration = self.config.providers.get(&id).cloned();
        let new = |registered: Registered| {
            PluginProvider::new(registered, Arc::clone(self.vetting), configuration.clone())
        };
        if let Some(before) = before.filter(|_| !self.options.replace)
            && let Some(reason) = displacement(before, &plugin)
        {
            found.rejections.push(of_source(reason));
            return Some(Arc::new(new(before.clone())));
        }
        let remember = |found: &mut Found| {
            if let (Some(stats), None) = (stats, &configuration) {
                found.cache.record(&source, stats, plugin.entry, self.vetting.now());
            }
        };
        // Of one with a configuration nothing was remembered, so that none is known here that was listed with another.
        if let (Some(registered), None) = (registered, &configuration) {
            remember(found);
            return Some(Arc::new(new(registered)));
        }
        match load(self.vetting, self.rulebook, &plugin, configuration.as_deref()) {
            Ok(Loaded { instance, tools, left_out }) => {
                if left_out.is_empty() {
                    remember(found);
                }
                found.rejections.extend(left_out.into_iter().map(of_source));
                let tools = tools.into_iter().map(Arc::new).collect();
                let registered = Registered { plugin: plugin.clone(), tools };
                Some(Arc::new(new(registered).running(instance)))
            }
            Err(reason) => {
                found.rejections.push(of_source(reason));
                None
            }
        }
    }
}

impl Present {
    fn known(path: &Path, stats: Option<Stats>, registered: Registered) -> Self {
        let plugin = registered.plugin.clone();
        Self { source: path.to_owned(), stats, plugin, registered: Some(registered) }
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

/// One plugin of each provider: of several, the highest version, and of several of one version the one with the lowest hash, so
/// that names of files change nothing. A second copy of the same content is no conflict.
fn one_of_each(mut present: Vec<Present>, rejections: &mut Vec<Rejection>) -> Vec<Present> {
    present.sort_by(|one, other| {
        let by_content = one.plugin.entry.cmp(&other.plugin.entry);
        let by_content = by_content.then_with(|| one.source.cmp(&other.source));
        other.plugin.version.cmp(&one.plugin.version).then(by_content)
    });
    let mut kept: BTreeMap<ProviderId, Present> = BTreeMap::new();
    for plugin in present {
        let Some(winner) = kept.get(&plugin.plugin.id) else {
            kept.insert(plugin.plugin.id.clone(), plugin);
            continue;
        };
        if winner.plugin.entry != plugin.plugin.entry {
            let reason = Reason::plugin(
                Stage::Verify,
                "duplicate_provider",
                format!("one plugin of provider {}", plugin.plugin.id),
                format!("version {} of it in {}", winner.plugin.version, winner.source.display()),
                "remove one of them; the highest version is used, and of equal versions the one with the lowest SHA-256",
            );
            let id = Some(plugin.plugin.id.as_str());
            rejections.push(reason.by_environment().of(&plugin.source, id));
        }
    }
    kept.into_values().collect()
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
    let refused = |code, expected, found: String| {
        let remedy =
            "the registered one stays in use; where you want the other, ask for it with --replace";
        Some(Reason::plugin(Stage::Policy, code, expected, found, remedy).by_environment())
    };
    let id = &plugin.id;
    match &plugin.signer {
        Signer::Publisher { name: other, .. } if other == name => {}
        other => {
            let expected = format!("provider {id} of {name}, as it is registered");
            return refused("other_publisher", expected, format!("one of {other}"));
        }
    }
    if plugin.version >= before.plugin.version {
        return None;
    }
    let expected = format!("version {} of provider {id} or a later one", before.plugin.version);
    let found = format!("version {}, whose weaknesses may be known", plugin.version);
    refused("downgrade", expected, found)
}
