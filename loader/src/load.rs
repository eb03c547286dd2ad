//! From a plugin in the store to one that runs: verified once more, opened, created and listed. This is where its code first runs.

use std::{error::Error, iter, time::Instant};

use serde_json::value::RawValue;
use toolbay_core::ToolDefinition;

use crate::{
    instance::Instance,
    library::{OpenError, Opened},
    plugin_text::one_line,
    rejection::{Reason, Stage},
    running::{LoadedLibrary, Phase},
    store::ContentHash,
    verify::{Loadable, StoredPlugin},
    vetting::{Rulebook, Vetting},
};

/// The most bytes of the linker's words in a rejection.
const MAX_WORDS: usize = 2_000;

/// A plugin that runs in this process.
pub(crate) struct Loaded {
    pub(crate) instance: Instance,
    /// The tools that it lists, as far as it may.
    pub(crate) tools: Vec<ToolDefinition>,
    /// Why it may not list the others.
    pub(crate) left_out: Vec<Reason>,
}

/// Measures the phases one after the other.
struct Stopwatch {
    phases: Vec<Phase>,
    since: Instant,
}

impl Stopwatch {
    fn phase<T>(&mut self, name: &str, result: T) -> T {
        let microseconds = u64::try_from(self.since.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.phases.push(Phase { name: name.to_owned(), microseconds });
        self.since = Instant::now();
        result
    }
}

/// Loads a plugin, unless its content is known to fail.
pub(crate) fn load(
    vetting: &Vetting,
    rulebook: &Rulebook,
    plugin: &StoredPlugin,
    configuration: Option<&RawValue>,
) -> Result<Loaded, Reason> {
    rulebook.check_failures(plugin.hash, &vetting.build, vetting.now())?;
    vetting.hold(plugin.entry)?;
    let mut watch = Stopwatch { phases: Vec::new(), since: Instant::now() };
    let loadable = watch.phase("verify", rulebook.loadable(vetting, plugin))?;
    let loaded = run(&mut watch, &loadable, plugin, configuration);
    vetting.remember(plugin, loaded.as_ref().map(drop));
    let (loaded, opened) = loaded?;
    let rustc: Vec<&str> = loadable.library.facts().rustc.iter().map(String::as_str).collect();
    let rustc = rustc.join(", ");
    let library = LoadedLibrary {
        provider: plugin.id.to_string(),
        version: plugin.version.to_string(),
        hash: plugin.hash.to_string(),
        signer: plugin.signer.to_string(),
        path: opened.mapped.path,
        device: opened.mapped.device,
        inode: opened.mapped.inode,
        rustc: (!rustc.is_empty()).then_some(rustc),
        phases: watch.phases,
    };
    if let Err(error) = vetting.running.loaded(library) {
        log::warn!("what is loaded can't be told to others: {error}");
    }
    Ok(loaded)
}

fn run(
    watch: &mut Stopwatch,
    loadable: &Loadable,
    plugin: &StoredPlugin,
    configuration: Option<&RawValue>,
) -> Result<(Loaded, Opened), Reason> {
    let opened = watch.phase("open", loadable.open())?;
    let created = Instance::create(opened.root, &plugin.id, configuration);
    let instance = watch.phase("create", created)?;
    let promised = loadable.manifest.as_ref().map(|manifest| &*manifest.parts().tools);
    let listed =
        watch.phase("list", instance.tools(loadable.library.note(), &plugin.declared, promised))?;
    let (tools, left_out) = listed;
    Ok((Loaded { instance, tools, left_out }, opened))
}

impl Vetting {
    /// Says that this process is about to use an entry of the store, so that nobody removes it.
    pub(crate) fn hold(&self, entry: ContentHash) -> Result<(), Reason> {
        self.running.hold(entry).map_err(|error| {
            Reason::plugin(
                Stage::Store,
                "store_failed",
                format!("a folder to say in what is used, {}", self.home.join("running").display()),
                error.to_string(),
                "make the folder writable for the host, or free space",
            )
            .by_environment()
        })
    }
}

impl OpenError {
    /// The reason for which the library is not taken.
    pub(crate) fn reason(&self) -> Reason {
        // What is missing stands at the end of the chain, in the linker's own words, which have names of the library in them.
        let mut found = self.to_string();
        for cause in iter::successors(self.source(), |&cause| cause.source()) {
            found.push_str(&format!(": {cause}"));
        }
        let (code, remedy) = match self {
            Self::Linker(_) => {
                ("not_opened", "install what the library needs, or build it for this system")
            }
            Self::NoRootSymbol(_) => ("no_root_module", "build the plugin with export_provider!"),
            Self::ForeignRootSymbol { .. } => {
                ("foreign_root_module", "link no other plugin into this one")
            }
            Self::OtherFileMapped { .. } => (
                "other_file_mapped",
                "find out who exchanged the file between its verification and its opening; then restart the host",
            ),
            Self::Namesake { .. } => (
                "companion_name_taken",
                "use one of the two plugins in another process, or ask its vendor for a private library with a name of its own",
            ),
            Self::Mappings(_) => {
                ("not_attested", "mount /proc, by which the host knows what it has loaded")
            }
            Self::Layout { .. } => {
                ("other_abi", "build the plugin again with this host's toolbay-plugin-api")
            }
        };
        let found = one_line(&found, MAX_WORDS);
        let reason = Reason::plugin(Stage::Load, code, "a library that opens", found, remedy);
        match self {
            Self::Linker(_)
            | Self::OtherFileMapped { .. }
            | Self::Namesake { .. }
            | Self::Mappings(_) => reason.by_environment(),
            _ => reason,
        }
    }
}
