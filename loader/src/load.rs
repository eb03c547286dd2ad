//! From a plugin in the store to one that runs: verified once more, opened, created and listed. This is where its code first runs, in the host
//! or in a worker.

use std::{sync::Arc, time::Instant};

use serde_json::value::RawValue;
use toolbay_core::{ProviderId, ToolDefinition};

use crate::{
    deadlines::LoadPhase,
    entries::{Broken, Crash, Entries},
    hygiene::{Disturbance, Turn},
    in_host::{self, InHost},
    in_process::{InProcess, Journaled},
    instance::{self, HUNG, Instance, refused},
    library::Opened,
    rejection::{Reason, Stage},
    running::{LoadedLibrary, Phase},
    store::ContentHash,
    verify::{Loadable, StoredPlugin},
    vetting::{Place, Rulebook, Vetting},
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

/// What was opened, and in which process.
struct Opening {
    mapped: MappedThere,
    worker: Option<u32>,
    /// What was changed meanwhile, where it is this process.
    disturbances: Vec<Disturbance>,
}

/// Loads a plugin, unless its content is known to fail.
pub(crate) fn load(
    vetting: &Arc<Vetting>,
    rulebook: &Rulebook,
    plugin: &StoredPlugin,
    configuration: Option<&RawValue>,
) -> Result<Loaded, Reason> {
    let place = rulebook.place(plugin, &vetting.build);
    rulebook.check_failures(plugin, place, &vetting.build, vetting.now())?;
    vetting.hold(plugin.entry)?;
    let mut watch = Stopwatch { phases: Vec::new(), since: Instant::now() };
    let loadable = watch.phase("verify", rulebook.loadable(vetting, plugin))?;
    let loadable = Arc::new(loadable);
    let place = match place {
        // A panic in the one would end the host; the other's constructors would wait for what does not come.
        Place::ProbedHost if !loadable.unwinds() || in_host::is_linker_held() => Place::Worker,
        place => place,
    };
    let in_worker = |watch: &mut Stopwatch| {
        let sandbox = rulebook.sandbox(plugin, &loadable, configuration);
        let loaded = run_in_worker(watch, vetting, &loadable, plugin, configuration, sandbox);
        vetting.remember(plugin, false, loaded.as_ref().map(drop));
        loaded
    };
    let in_host = |watch: &mut Stopwatch| {
        let loaded = run_here(watch, vetting, rulebook, &loadable, plugin, configuration);
        vetting.remember(plugin, true, loaded.as_ref().map(drop));
        loaded
    };
    let loaded = match place {
        Place::Worker => in_worker(&mut watch),
        Place::Host => in_host(&mut watch),
        Place::ProbedHost => {
            if !vetting.probes.has_passed(plugin.hash, &vetting.build) {
                let mut unmeasured = Stopwatch { phases: Vec::new(), since: Instant::now() };
                let probed = in_worker(&mut unmeasured);
                watch.phase("probe", probed.map(drop))?;
                if let Err(error) = vetting.probes.passed(plugin.hash, &vetting.build) {
                    log::warn!("provider {}: that it was probed can't be kept: {error}", plugin.id);
                }
            }
            in_host(&mut watch)
        }
    };
    let (loaded, Opening { mapped, worker, disturbances }) = loaded?;
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
    vetting: &Arc<Vetting>,
    rulebook: &Rulebook,
    loadable: &Arc<Loadable>,
    plugin: &StoredPlugin,
    configuration: Option<&RawValue>,
) -> Result<(Loaded, Opening), Reason> {
    vetting.running.opens_here();
    let journal = Arc::clone(&vetting.journal);
    let journaled = Journaled { journal, provider: plugin.id.clone(), content: plugin.hash };
    let (here, configuration) = (Arc::clone(loadable), configuration.map(ToOwned::to_owned));
    let (provider, entering) = (plugin.id.clone(), journaled.clone());
    let hygiene = vetting.hygiene(rulebook, plugin);
    let turn = hygiene.turn();
    let turn_number = turn.as_ref().map(Turn::number);
    let load = move |enter: &dyn Fn(LoadPhase)| {
        hygiene.around(turn, || {
            let mut watch = Stopwatch { phases: Vec::new(), since: Instant::now() };
            let Opened { root, mapped } = watch.phase("open", here.open(enter))?;
            enter(LoadPhase::Create);
            let journaled = Some(entering);
            let created = InProcess::create(root, &provider, configuration.as_deref(), journaled);
            let created = created.map_err(|fault| refused(Stage::Create, &Broken::Fault(fault)));
            let created = watch.phase("create", created)?;
            enter(LoadPhase::Tools);
            let listed = created.tools().map_err(|broken| refused(Stage::Adapt, &broken));
            let listed = watch.phase("list", listed)?;
            Ok((mapped, created, listed, watch.phases))
        })
    };
    let loaded = vetting.this_process.load(&journaled, load);
    let loaded = loaded.inspect_err(|reason| {
        if let (HUNG, Some(turn)) = (reason.code, turn_number) {
            turn.give_up();
        }
    });
    let ((mapped, created, listed, phases), disturbances) = loaded?;
    watch.phases.extend(phases);
    let mapped = MappedThere { path: mapped.path, device: mapped.device, inode: mapped.inode };
    let hanging = (Arc::clone(vetting), plugin.clone());
    let on_hang = Box::new(move |crash: &Crash| hanging.0.hung_here(&hanging.1, crash));
    let entries = InHost::new(created, &plugin.id, &vetting.this_process, on_hang);
    let loaded = adapt(loadable, plugin, entries, &listed)?;
    Ok((loaded, Opening { mapped, worker: None, disturbances }))
}

fn run_in_worker(
    watch: &mut Stopwatch,
    vetting: &Vetting,
    loadable: &Loadable,
    plugin: &StoredPlugin,
    configuration: Option<&RawValue>,
    sandbox: Sandbox,
) -> Result<(Loaded, Opening), Reason> {
    let worker = watch.phase("start", vetting.start_worker(&plugin.id))?;
    let companions = loadable.hashed_companions();
    let mapped = watch.phase("open", worker.open(loadable.hashed(), &companions, sandbox))?;
    let created = worker.create(configuration).map_err(|broken| refused(Stage::Create, &broken));
    watch.phase("create", created)?;
    let listed = worker.tools().map_err(|broken| refused(Stage::Adapt, &broken));
    let listed = watch.phase("list", listed)?;
    let pid = worker.pid();
    let loaded = adapt(loadable, plugin, worker, &listed)?;
    Ok((loaded, Opening { mapped, worker: Some(pid), disturbances: Vec::new() }))
}

/// Makes tools of what a provider lists that was made, in the host or in a worker.
fn adapt(
    loadable: &Loadable,
    plugin: &StoredPlugin,
    entries: impl Entries + 'static,
    listed: &[u8],
) -> Result<Loaded, Reason> {
    let promised = loadable.manifest.as_ref().map(|manifest| &*manifest.parts().tools);
    let note = loadable.library.note();
    let (tools, left_out) = instance::adapted(listed, note, &plugin.declared, promised)?;
    Ok(Loaded { instance: Instance::new(entries), tools, left_out })
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
