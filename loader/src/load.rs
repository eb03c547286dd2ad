//! From a plugin in the store to one that runs: verified once more, opened, created and listed. This is where its code first runs, in the host
//! or in a worker.

use std::{cell::Cell, path::Path, sync::Arc, time::Instant};

use serde_json::value::RawValue;
use toolbay_core::{ProviderId, ToolDefinition};

use crate::{
    entries::{Broken, Entries},
    hygiene::Disturbance,
    in_process::{InProcess, Journaled},
    instance::{Instance, refused},
    journal::Running,
    library::Opened,
    policy::Isolation,
    rejection::{Reason, Stage},
    running::{LoadedLibrary, Phase},
    store::ContentHash,
    verify::{Loadable, StoredPlugin},
    vetting::{Rulebook, Vetting},
    worker::{MappedThere, Sandbox, Worker},
};

/// A plugin that runs.
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

/// Where a plugin was opened.
struct Place {
    mapped: MappedThere,
    worker: Option<u32>,
    /// What was changed meanwhile, where it is this process.
    disturbances: Vec<Disturbance>,
}

/// Loads a plugin, unless its content is known to fail.
pub(crate) fn load(
    vetting: &Vetting,
    rulebook: &Rulebook,
    plugin: &StoredPlugin,
    configuration: Option<&RawValue>,
) -> Result<Loaded, Reason> {
    rulebook.check_failures(plugin, &vetting.build, vetting.now())?;
    vetting.hold(plugin.entry)?;
    let mut watch = Stopwatch { phases: Vec::new(), since: Instant::now() };
    let loadable = watch.phase("verify", rulebook.loadable(vetting, plugin))?;
    let isolation = rulebook.isolation(plugin, &vetting.build);
    let loaded = match isolation {
        Isolation::InProcess => vetting
            .hygiene(rulebook, plugin)
            .around(|| run_here(&mut watch, vetting, &loadable, plugin, configuration))
            .map(|((loaded, place), disturbances)| (loaded, Place { disturbances, ..place })),
        _ => {
            let sandbox = rulebook.sandbox(plugin);
            run_in_worker(&mut watch, vetting, &loadable, plugin, configuration, sandbox)
        }
    };
    let in_process = isolation == Isolation::InProcess;
    vetting.remember(plugin, in_process, loaded.as_ref().map(drop));
    let (loaded, Place { mapped, worker, disturbances }) = loaded?;
    let rustc: Vec<&str> = loadable.library.facts().rustc.iter().map(String::as_str).collect();
    let rustc = rustc.join(", ");
    let library = LoadedLibrary {
        provider: plugin.id.to_string(),
        version: plugin.version.to_string(),
        hash: plugin.hash.to_string(),
        signer: plugin.signer.to_string(),
        path: mapped.path,
        device: mapped.device,
        inode: mapped.inode,
        rustc: (!rustc.is_empty()).then_some(rustc),
        worker,
        phases: watch.phases,
        disturbances,
    };
    if let Err(error) = vetting.running.loaded(library) {
        log::warn!("what is loaded can't be told to others: {error}");
    }
    Ok(loaded)
}

fn run_here(
    watch: &mut Stopwatch,
    vetting: &Vetting,
    loadable: &Loadable,
    plugin: &StoredPlugin,
    configuration: Option<&RawValue>,
) -> Result<(Loaded, Place), Reason> {
    let journal = Arc::clone(&vetting.journal);
    let journaled = Journaled { journal, provider: plugin.id.clone(), content: plugin.hash };
    let entered = Cell::new(None);
    let enter = |phase| {
        drop(entered.take());
        entered.set(Some(journaled.enter(Running::Loading(phase))));
    };
    let opened = loadable.open(&enter);
    drop(entered.take());
    let Opened { root, mapped } = watch.phase("open", opened)?;
    let mapped = MappedThere { path: mapped.path, device: mapped.device, inode: mapped.inode };
    let created = InProcess::create(root, &plugin.id, configuration, Some(journaled.clone()));
    let entries = watch.phase("create", created.map_err(Broken::Fault));
    let loaded = list(watch, loadable, plugin, entries)?;
    Ok((loaded, Place { mapped, worker: None, disturbances: Vec::new() }))
}

fn run_in_worker(
    watch: &mut Stopwatch,
    vetting: &Vetting,
    loadable: &Loadable,
    plugin: &StoredPlugin,
    configuration: Option<&RawValue>,
    sandbox: Sandbox,
) -> Result<(Loaded, Place), Reason> {
    let worker = watch.phase("start", vetting.start_worker(&plugin.id))?;
    let files = loadable.hashed()?;
    let files: Vec<(&Path, ContentHash)> =
        files.iter().map(|(path, hash)| (*path, *hash)).collect();
    let [library, companions @ ..] = &files[..] else { return Err(no_worker()) };
    let mapped = watch.phase("open", worker.open(*library, companions, sandbox))?;
    let created = watch.phase("create", worker.create(configuration));
    let pid = worker.pid();
    let loaded = list(watch, loadable, plugin, created.map(|()| worker))?;
    Ok((loaded, Place { mapped, worker: Some(pid), disturbances: Vec::new() }))
}

/// Lists the tools of a provider that was made, in the host or in a worker.
fn list(
    watch: &mut Stopwatch,
    loadable: &Loadable,
    plugin: &StoredPlugin,
    created: Result<impl Entries + 'static, Broken>,
) -> Result<Loaded, Reason> {
    let created = created.map_err(|broken| refused(Stage::Create, &broken))?;
    let instance = Instance::new(created);
    let promised = loadable.manifest.as_ref().map(|manifest| &*manifest.parts().tools);
    let listed =
        watch.phase("list", instance.tools(loadable.library.note(), &plugin.declared, promised))?;
    let (tools, left_out) = listed;
    Ok(Loaded { instance, tools, left_out })
}

impl Vetting {
    /// Starts a worker for a provider.
    fn start_worker(&self, provider: &ProviderId) -> Result<Worker, Reason> {
        match &self.worker {
            Some(program) => Worker::start(program, &self.deadlines, provider),
            None => Err(no_worker()),
        }
    }

    /// Starts a worker and ends it, to see whether one can be started.
    pub(crate) fn try_worker(&self) -> Result<(), Reason> {
        self.start_worker(&ProviderId::core()).map(drop)
    }

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

fn no_worker() -> Reason {
    Reason::plugin(
        Stage::Policy,
        "no_worker",
        "a worker program, since the policy wants this plugin in a process of its own",
        "none",
        "name one in the application's configuration of the loader, or change the policy; the plugin does not run in the host instead",
    )
    .by_environment()
}
