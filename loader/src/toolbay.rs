//! The facade that a host application embeds.

mod administration;
mod agents;
mod approvals;
mod commit;
mod diagnosis;
mod installing;
mod keys;
mod listening;
mod locking;
mod quarantine;
mod running;
mod state;
mod switched_providers;
mod trace;
mod view;

use std::{path::PathBuf, sync::Arc};

use parking_lot::Mutex;
use toolbay_core::{
    Approvals, CallError, CallRequest, Caller, Change, Collision, Entry, LimitUse, Offer,
    OfferedTool, Pipeline, PipelineConfig, Plan, PlanError, ProviderId, Registry, Reply, ToolName,
    offered,
};

pub use self::{
    administration::{GroupState, Switch, ToolState},
    agents::{Loadout, LoadoutChange},
    diagnosis::{Diagnosis, Health},
    installing::{InstallError, InstallReport},
    running::{Collected, GcError},
    switched_providers::ProviderState,
    trace::{StepVerdict, Trace, TraceStep},
};
use self::{commit::Committed, listening::Guarded, state::State};
use crate::{
    access_file::AccessFile,
    approval_store::ApprovalFiles,
    audit_log::{AuditLog, folder},
    clock::SystemClock,
    config::Config,
    departed_file::Departed,
    error::{AccessFileError, OpenError, RefreshError, RegistryFileError},
    home_file::{HomeFile, HomeFileError},
    installed_file::Installed,
    policy::{Loosened, Policy},
    provider::{PluginBackend, PluginProvider, Registered},
    refresh::{Found, RefreshOptions, Scan},
    registry_file::RegistryFile,
    rejection::Rejection,
    scan_cache::ScanCache,
    store::ContentHash,
    trust::Signer,
    verify::DeclaredTool,
    vetting::Vetting,
};

/// Tools from native plugins: found, verified, registered, and called.
///
/// One value serves any number of threads, and its calls run side by side. What they share is short: a place in memory for their audit
/// records, and the opening of a provider's library, which the first calls of that provider wait for.
pub struct Toolbay {
    config: Config,
    file: RegistryFile,
    access: AccessFile,
    approvals: Arc<ApprovalFiles>,
    audit: Arc<AuditLog>,
    vetting: Arc<Vetting>,
    installed: HomeFile<Installed>,
    departed: HomeFile<Departed>,
    cache: HomeFile<ScanCache>,
    pipeline: Pipeline,
    /// Held by whoever replaces the state, also while plugins run that take their time.
    replacing: Mutex<()>,
    /// Held for a look or a swap alone: no plugin's code runs under it.
    state: Mutex<State>,
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
    /// What the policy warns of in what was taken: first of all that nobody has signed it.
    pub warnings: Vec<Rejection>,
    /// The names that several providers wanted.
    pub collisions: Vec<Collision>,
    /// The files that are no plugins, with what they are.
    pub ignored: Vec<(PathBuf, &'static str)>,
    /// The tools that differ from what was reviewed. Where a change lets a tool do more, it is off until somebody has looked at it.
    pub changed: Vec<ChangedTool>,
}

/// A tool that differs from what was reviewed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ChangedTool {
    /// The tool.
    pub tool: ToolName,
    /// In what it differs.
    pub changes: Vec<Change>,
    /// Whether it waits for a review.
    pub needs_review: bool,
}

/// A registered provider.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProviderStatus {
    /// Its id.
    pub id: ProviderId,
    /// Its version.
    pub version: String,
    /// The SHA-256 of its library; of several, that of the list of theirs.
    pub hash: ContentHash,
    /// Who stands for it.
    pub signer: Signer,
    /// The copy in the store that is loaded, or would be.
    pub library: PathBuf,
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
        let audit = config.home.join(folder::FOLDER);
        let audit = Arc::new(AuditLog::open(&audit, config.audit.clone())?);
        let approvals = Arc::new(ApprovalFiles::new(config.home.join("approvals")));
        let pipeline = Pipeline::new(PipelineConfig {
            limits: config.limits.clone(),
            rules: config.rules.clone(),
            approvals: Some(Approvals {
                store: Arc::clone(&approvals) as _,
                expire_after: config.approvals_expire_after,
            }),
            listeners: config.listeners.iter().map(Guarded::around).collect(),
            ..PipelineConfig::new(Arc::clone(&audit) as _, Arc::new(SystemClock))
        });
        let toolbay = Self {
            file: RegistryFile::new(config.home.clone()),
            access: AccessFile::new(config.home.clone()),
            approvals,
            audit,
            vetting: Arc::new(Vetting::new(&config)),
            installed: HomeFile::new(config.home.clone()),
            departed: HomeFile::new(config.home.clone()),
            cache: HomeFile::new(config.home.clone()),
            pipeline,
            replacing: Mutex::default(),
            state: Mutex::default(),
            config,
        };
        toolbay.reload()?;
        toolbay.vetting.blame_ended_hosts();
        Ok(toolbay)
    }

    /// Looks through the plugin directories, verifies and loads what is there, and registers its tools, in this process and in the
    /// file. What can't be taken is reported, and stops nothing else.
    ///
    /// A tool that is on for the first time is pinned as it is. One that was pinned and may do more now is off until it is
    /// [reviewed](Self::review_tool).
    ///
    /// # Errors
    ///
    /// [`RefreshError`] where the result can't be kept; then nothing has changed.
    pub fn refresh(&self) -> Result<RefreshReport, RefreshError> {
        self.refresh_with(RefreshOptions::default())
    }

    /// The same, in another way.
    ///
    /// # Errors
    ///
    /// As [`refresh`](Self::refresh).
    pub fn refresh_with(&self, options: RefreshOptions) -> Result<RefreshReport, RefreshError> {
        let replacing = self.replacing.lock();
        if options.retry {
            self.vetting.failures.update(|failures| {
                failures.clear();
                Ok::<_, RefreshError>(())
            })?;
        }
        let rulebook = self.vetting.rulebook();
        let circumstances = self.vetting.circumstances(&rulebook);
        let installed = self.installed.read()?;
        let scan = Scan {
            config: &self.config,
            vetting: &self.vetting,
            rulebook: &rulebook,
            cache: self.cache.read().unwrap_or_default().under(&circumstances),
            registered: &self.file.read().contents.providers,
            installed: &installed,
            departed: &self.departed.read()?,
            options,
        };
        let Found { providers, rejections, warnings, ignored, cache, .. } = scan.find();
        let found: Vec<Registered> =
            providers.iter().map(|provider| provider.registered().clone()).collect();
        let committed = self.commit(
            providers,
            |current| {
                let now = self.installed.read()?;
                Ok(commit::merge(found, current, &installed, &now))
            },
            None,
        )?;
        if let Err(error) = self.cache.update(|there| {
            *there = cache;
            Ok::<_, HomeFileError>(())
        }) {
            log::warn!("the next refresh reads everything anew: {error}");
        }
        drop(replacing);
        let Committed { generation, providers, collisions, changed, old } = committed;
        // What is no longer registered ends here, with the vendor's own code: no lock is held that others wait for.
        drop(old);
        Ok(RefreshReport {
            generation,
            providers,
            rejections,
            warnings,
            collisions,
            ignored,
            changed,
        })
    }

    /// Reads the registry and the decisions of administrators again where another process has replaced them, and tells whether it has.
    /// Running providers that are registered as before go on. While somebody else in this process refreshes or reloads, it leaves
    /// that to them.
    ///
    /// # Errors
    ///
    /// [`PlanError`] where the host's own tools contradict each other.
    pub fn reload(&self) -> Result<bool, PlanError> {
        match self.replacing.try_lock() {
            Some(replacing) => self.take_over(replacing),
            None => Ok(false),
        }
    }

    /// Calls a tool, on this thread: gates, validation, execution and bounding, with one audit record whatever happens.
    ///
    /// # Errors
    ///
    /// [`CallError`] where there is no reply. A tool that ran and said no is a reply.
    pub fn call(&self, request: &CallRequest<'_>) -> Result<Reply, CallError> {
        self.pipeline.call(request)
    }

    /// The limits that hold for a tool because of its provider or of itself, and what this process has counted for them. Nothing that is
    /// refreshed or replaced changes a count.
    pub fn limits(&self, entry: &Entry) -> Vec<LimitUse> {
        self.pipeline.limits(entry)
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
        self.state.lock().registry_problem.clone()
    }

    /// What was wrong with the file of administrators' decisions when it was last read, where something was. Every tool is off then.
    pub fn access_problem(&self) -> Option<Arc<AccessFileError>> {
        self.state.lock().access_problem.clone()
    }

    /// Whether there is a registry file; without one, nothing has been refreshed yet.
    pub fn is_registered(&self) -> bool {
        self.state.lock().registry.flatten().is_some()
    }

    /// The policy about plugins that is in force.
    pub fn policy(&self) -> Policy {
        self.vetting.policy()
    }

    /// Puts a stricter policy in force, for whatever is loaded from now on.
    ///
    /// # Errors
    ///
    /// [`Loosened`] where a setting is less strict than the one in force; nothing has changed.
    pub fn tighten(&self, policy: Policy) -> Result<(), Loosened> {
        self.vetting.tighten(policy)
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
    let plugin = &registered.plugin;
    let (id, version) = (plugin.id.clone(), plugin.version.to_string());
    Offer { content: plugin.hash.to_string(), ..Offer::new(id, version, tools.collect()) }
}

fn statuses(providers: &[Arc<PluginProvider>]) -> Vec<ProviderStatus> {
    let status = |provider: &Arc<PluginProvider>| {
        let Registered { plugin, tools } = provider.registered();
        ProviderStatus {
            id: plugin.id.clone(),
            version: plugin.version.to_string(),
            hash: plugin.hash,
            signer: plugin.signer.clone(),
            library: provider.library(),
            declared: plugin.declared.clone(),
            tools: tools.iter().map(|tool| tool.name().clone()).collect(),
            running: provider.is_running(),
            faults: provider.faults(),
        }
    };
    providers.iter().map(status).collect()
}
