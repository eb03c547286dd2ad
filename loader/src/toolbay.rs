//! The facade that a host application embeds.

use std::{path::PathBuf, sync::Arc};

use parking_lot::Mutex;
use toolbay_core::{
    Access, CallError, CallRequest, Caller, Collision, Entry, Offer, OfferedTool, Pipeline,
    PipelineConfig, Plan, PlanError, ProviderId, Registry, Reply, ToolName, offered,
};

use crate::{
    audit_log::{AuditLog, folder},
    clock::SystemClock,
    config::Config,
    error::{OpenError, RefreshError, RegistryFileError},
    inspect::FileIdentity,
    provider::{PluginBackend, PluginProvider, Registered},
    refresh::{self, Found},
    registry_file::{RegistryFile, Written},
    rejection::Rejection,
    store::{ContentHash, Store},
    verify::DeclaredTool,
};

/// Tools from native plugins: found, verified, registered, and called.
///
/// One value serves any number of threads, and its calls run side by side. What they share is short: a place in memory for their audit
/// records, and the opening of a provider's library, which the first calls of that provider wait for.
pub struct Toolbay {
    config: Config,
    file: RegistryFile,
    store: Store,
    pipeline: Pipeline,
    /// Held by whoever replaces the state, also while plugins run that take their time.
    replacing: Mutex<()>,
    /// Held for a look or a swap alone: no plugin's code runs under it.
    state: Mutex<State>,
}

/// What is registered.
#[derive(Default)]
struct State {
    /// The registry file as it was last read or written, once it was; none where there was no file.
    identity: Option<Option<FileIdentity>>,
    problem: Option<Arc<RegistryFileError>>,
    providers: Vec<Arc<PluginProvider>>,
}

/// What a refresh did.
#[derive(Debug)]
#[non_exhaustive]
pub struct RefreshReport {
    /// Which registry it is now. It counts up only where something changed.
    pub generation: u64,
    /// The providers that are registered, sorted by id.
    pub providers: Vec<ProviderStatus>,
    /// The files, and single tools, that were not taken.
    pub rejections: Vec<Rejection>,
    /// The names that several providers wanted.
    pub collisions: Vec<Collision>,
    /// The files that are no plugins, with what they are.
    pub ignored: Vec<(PathBuf, &'static str)>,
}

/// A registered provider.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProviderStatus {
    /// Its id.
    pub id: ProviderId,
    /// Its version.
    pub version: String,
    /// The SHA-256 of its library.
    pub hash: ContentHash,
    /// Every tool that its note declares, also those that it does not list now.
    pub declared: Vec<DeclaredTool>,
    /// The tools that it listed when it was registered.
    pub tools: Vec<ToolName>,
    /// Whether its library is open in this process.
    pub running: bool,
    /// How many calls in this process ended with a fault of it.
    pub faults: u64,
}

impl Toolbay {
    /// Opens the registry file. No library is opened: the tools are listed from the file, and a library is opened by the first call
    /// of one of its tools, after it has been verified again.
    ///
    /// A registry file that is damaged, or of another release, is no error: [`registry_problem`](Self::registry_problem) tells it,
    /// and [`refresh`](Self::refresh) registers the plugins anew.
    ///
    /// # Errors
    ///
    /// [`OpenError`] where the host's own tools contradict each other, or where the audit log can't be written.
    pub fn open(mut config: Config) -> Result<Self, OpenError> {
        let paths = std::iter::once(&mut config.home).chain(&mut config.plugin_directories);
        for path in paths {
            // A later change of the current folder must not lead to other files.
            *path = std::path::absolute(&*path)
                .map_err(|source| OpenError::Path { path: path.clone(), source })?;
        }
        let audit = AuditLog::open(&config.home.join(folder::FOLDER), config.audit.clone())?;
        let pipeline = Pipeline::new(PipelineConfig {
            limits: config.limits.clone(),
            ..PipelineConfig::new(Arc::new(audit), Arc::new(SystemClock))
        });
        let toolbay = Self {
            file: RegistryFile::new(config.home.clone()),
            store: Store::new(config.home.join("store")),
            pipeline,
            replacing: Mutex::default(),
            state: Mutex::default(),
            config,
        };
        toolbay.reload()?;
        Ok(toolbay)
    }

    /// Looks through the plugin directories, verifies and loads what is there, and registers its tools, in this process and in the
    /// file. What can't be taken is reported, and stops nothing else.
    ///
    /// # Errors
    ///
    /// [`RefreshError`] where the result can't be kept; then nothing has changed.
    pub fn refresh(&self) -> Result<RefreshReport, RefreshError> {
        let replacing = self.replacing.lock();
        let Found { running, rejections, ignored } = refresh::find(&self.config, &self.store);
        let there = self.state.lock().providers.clone();
        let mut providers: Vec<_> =
            running.into_iter().map(|provider| same_or(provider, &there)).collect();
        // By id, so that the order of files changes nothing.
        providers.sort_by(|one, other| one.registered().id.cmp(&other.registered().id));
        let (plan, collisions) = self.plan(&providers)?;
        let registered = providers.iter().map(|provider| provider.registered().clone()).collect();
        let Written { generation, identity } = self.file.replace(registered)?;
        let state = State { identity: Some(identity), problem: None, providers };
        let status = statuses(&state.providers);
        let old = self.replace(plan.commit(generation, &Access::default()), state);
        drop(replacing);
        // What is no longer registered ends here, with the vendor's own code: no lock is held that others wait for.
        drop((old, there));
        for collision in &collisions {
            log::warn!("{collision}");
        }
        Ok(RefreshReport { generation, providers: status, rejections, collisions, ignored })
    }

    /// Reads the registry file again where another process has replaced it, and tells whether it has. Running providers that are
    /// registered as before go on. While somebody else in this process refreshes or reloads, it leaves that to them.
    ///
    /// # Errors
    ///
    /// [`PlanError`] where the host's own tools contradict each other.
    pub fn reload(&self) -> Result<bool, PlanError> {
        let Some(replacing) = self.replacing.try_lock() else { return Ok(false) };
        let identity = Some(self.file.identity());
        let there = {
            let state = self.state.lock();
            if identity == state.identity {
                return Ok(false);
            }
            state.providers.clone()
        };
        let reading = self.file.read();
        let providers: Vec<_> = reading
            .contents
            .providers
            .into_iter()
            .map(|registered| {
                let configuration = self.config.providers.get(&registered.id).cloned();
                let store = self.store.clone();
                same_or(Arc::new(PluginProvider::new(registered, store, configuration)), &there)
            })
            .collect();
        let (plan, collisions) = self.plan(&providers)?;
        for collision in collisions {
            log::debug!("{collision}");
        }
        let state = State { identity, problem: reading.problem.map(Arc::new), providers };
        let old = self.replace(plan.commit(reading.contents.generation, &Access::default()), state);
        drop(replacing);
        drop((old, there));
        Ok(true)
    }

    /// Makes this the current state, and returns the old one for the caller to drop.
    fn replace(&self, registry: Registry, state: State) -> (Arc<Registry>, State) {
        let old = self.registry();
        self.pipeline.registry().replace(registry);
        (old, std::mem::replace(&mut *self.state.lock(), state))
    }

    /// Calls a tool, on this thread: gates, validation, execution and bounding, with one audit record whatever happens.
    ///
    /// # Errors
    ///
    /// [`CallError`] where there is no reply. A tool that ran and said no is a reply.
    pub fn call(&self, request: &CallRequest<'_>) -> Result<Reply, CallError> {
        self.pipeline.call(request)
    }

    /// The tools that this caller may use now, in registry order: the host's own, then each plugin's by provider id.
    pub fn tools(&self, caller: &Caller) -> Vec<Arc<Entry>> {
        offered(&self.pipeline.registry().load(), caller).cloned().collect()
    }

    /// Every registered tool, as one consistent state that stays as it is.
    pub fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.pipeline.registry().load())
    }

    /// The registered providers, sorted by id, also those that list no tools now.
    pub fn providers(&self) -> Vec<ProviderStatus> {
        statuses(&self.state.lock().providers)
    }

    /// What was wrong with the registry file when it was last read, where something was.
    pub fn registry_problem(&self) -> Option<Arc<RegistryFileError>> {
        self.state.lock().problem.clone()
    }

    /// Whether there is a registry file; without one, nothing has been refreshed yet.
    pub fn is_registered(&self) -> bool {
        self.state.lock().identity.flatten().is_some()
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    fn plan(&self, providers: &[Arc<PluginProvider>]) -> Result<(Plan, Vec<Collision>), PlanError> {
        let version = env!("CARGO_PKG_VERSION");
        let own = self.config.core.clone();
        let core = own.unwrap_or_else(|| Offer::new(ProviderId::core(), version, Vec::new()));
        Plan::new(core, providers.iter().map(offer).collect())
    }
}

/// The provider that is there already where this one is registered in the same way: it goes on with what it has in memory.
fn same_or(provider: Arc<PluginProvider>, there: &[Arc<PluginProvider>]) -> Arc<PluginProvider> {
    let same = there.iter().find(|there| there.registered() == provider.registered());
    same.map_or(provider, Arc::clone)
}

fn offer(provider: &Arc<PluginProvider>) -> Offer {
    let registered = provider.registered();
    let tools = registered.tools.iter().map(|definition| OfferedTool {
        definition: Arc::clone(definition),
        backend: Arc::new(PluginBackend(Arc::clone(provider))),
    });
    let (id, version) = (registered.id.clone(), registered.version.to_string());
    Offer { content: registered.hash.to_string(), ..Offer::new(id, version, tools.collect()) }
}

fn statuses(providers: &[Arc<PluginProvider>]) -> Vec<ProviderStatus> {
    let status = |provider: &Arc<PluginProvider>| {
        let Registered { id, version, hash, declared, tools } = provider.registered();
        ProviderStatus {
            id: id.clone(),
            version: version.to_string(),
            hash: *hash,
            declared: declared.clone(),
            tools: tools.iter().map(|tool| tool.name().clone()).collect(),
            running: provider.is_running(),
            faults: provider.faults(),
        }
    };
    providers.iter().map(status).collect()
}
