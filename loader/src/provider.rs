//! A registered provider, whose library is opened by the first call.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use arc_swap::ArcSwapOption;
use parking_lot::Mutex;
use serde_json::value::RawValue;
use toolbay_core::{
    BackendError, Caller, RawReply, ToolBackend, ToolDefinition, ToolName, ValidCall,
};

use crate::{
    breaker::Breaker,
    config::Config,
    entries::Crash,
    instance::{self, Instance},
    load::{Loaded, load},
    rejection::{Reason, Rejection, Stage},
    verify::StoredPlugin,
    vetting::{Place, Vetting},
};

/// What the registry knows of a provider: enough to list its tools, and to find and check its library again.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Registered {
    pub(crate) plugin: StoredPlugin,
    /// The tools that it listed.
    pub(crate) tools: Vec<Arc<ToolDefinition>>,
}

/// A registered provider in this process.
pub(crate) struct PluginProvider {
    registered: Registered,
    vetting: Arc<Vetting>,
    configuration: Option<Box<RawValue>>,
    running: ArcSwapOption<Running>,
    /// Held by whoever opens the library, or starts its process again.
    opening: Mutex<Breaker>,
    /// Whether a process of it has ended since a call succeeded last.
    has_ended: AtomicBool,
    faults: AtomicU64,
}

struct Running {
    instance: Instance,
    /// Tools that it no longer lists as they are registered.
    changed: Vec<ToolName>,
}

impl PluginProvider {
    /// A provider that runs once it is called, with what the application configures it with.
    pub(crate) fn new(registered: Registered, vetting: &Arc<Vetting>, config: &Config) -> Self {
        let configuration = config.providers.get(&registered.plugin.id).cloned();
        Self {
            registered,
            vetting: Arc::clone(vetting),
            configuration,
            running: ArcSwapOption::empty(),
            opening: Mutex::default(),
            has_ended: AtomicBool::new(false),
            faults: AtomicU64::new(0),
        }
    }

    /// The provider with an instance that runs already, and that has just listed its tools.
    pub(crate) fn running(self, instance: Instance) -> Self {
        self.running.store(Some(Arc::new(Running { instance, changed: Vec::new() })));
        self
    }

    /// What is registered of it.
    pub(crate) fn registered(&self) -> &Registered {
        &self.registered
    }

    /// Where its library is.
    pub(crate) fn library(&self) -> PathBuf {
        self.registered.plugin.path(&self.vetting)
    }

    /// Whether its library is open, in this process or in a worker of it.
    pub(crate) fn is_running(&self) -> bool {
        self.running.load().as_ref().is_some_and(|running| running.instance.ended().is_none())
    }

    /// How many calls ended with a fault.
    pub(crate) fn faults(&self) -> u64 {
        self.faults.load(Ordering::Relaxed)
    }

    /// The running provider. The first caller opens the library, and whoever calls next starts a process again that has ended; a failure is
    /// tried again by the next one, for its cause may go away.
    fn ensure_running(&self) -> Result<Arc<Running>, Rejection> {
        let mut breaker = self.opening.lock();
        let Registered { plugin, tools } = &self.registered;
        let rulebook = self.vetting.rulebook();
        if let Some(running) = self.running.load_full() {
            let Some(hang) = running.instance.ended() else { return Ok(running) };
            let place = rulebook.place(plugin, &self.vetting.build);
            if running.instance.is_in_host() && place != Place::Worker {
                return Err(self.rejection(fenced(hang)));
            }
        }
        if let Some(ended) = self.running.swap(None)
            && let Some(crash) = ended.instance.ended()
        {
            let ends = breaker.ended(Instant::now());
            self.has_ended.store(true, Ordering::Relaxed);
            self.vetting.process_ended(plugin, &crash, ends);
        }
        if let Some(left) = breaker.wait(Instant::now()) {
            return Err(self.rejection(restarting(breaker.ends(), left)));
        }
        let loaded = load(&self.vetting, &rulebook, plugin, self.configuration.as_deref());
        let Loaded { instance, tools: listed, .. } =
            loaded.map_err(|reason| self.rejection(reason))?;
        let changed = instance::changed(tools.iter().map(|tool| &**tool), &listed);
        let running = Arc::new(Running { instance, changed });
        self.running.store(Some(Arc::clone(&running)));
        Ok(running)
    }

    fn rejection(&self, reason: Reason) -> Rejection {
        let plugin = &self.registered.plugin;
        reason.of(plugin.path(&self.vetting), Some(plugin.id.as_str()))
    }

    /// Lets the running provider do something about a tool, and counts how it ended.
    fn with_instance<T>(
        &self,
        tool: &ToolName,
        work: impl FnOnce(&Instance) -> Result<T, BackendError>,
    ) -> Result<T, BackendError> {
        let there = self.running.load();
        let result = match &*there {
            Some(running) if running.instance.ended().is_none() => {
                self.listing(running, tool).and_then(work)
            }
            _ => match self.ensure_running() {
                Ok(running) => self.listing(&running, tool).and_then(work),
                Err(rejection) => Err(unavailable(rejection)),
            },
        };
        self.counted(result)
    }

    /// The instance, where it lists the tool as it is registered.
    fn listing<'r>(
        &self,
        running: &'r Running,
        tool: &ToolName,
    ) -> Result<&'r Instance, BackendError> {
        if running.changed.contains(tool) {
            let reason = Reason::plugin(
                Stage::Adapt,
                "changed_tool",
                "the tool as it is registered",
                format!("{tool} in other words, or no longer listed"),
                "refresh, which registers the tool as it is now; restart a host whose configuration has changed while it runs",
            );
            return Err(unavailable(self.rejection(reason.by_environment())));
        }
        Ok(&running.instance)
    }

    /// Logs what nobody else would tell the operator: whoever waits for a preview gets to know only that there is none.
    fn logged<T>(
        &self,
        call: &ValidCall<'_>,
        question: &str,
        result: Result<T, BackendError>,
    ) -> Result<T, BackendError> {
        if let Err(error) = &result {
            let (id, tool) = (&self.registered.plugin.id, call.definition().name());
            log::warn!("provider {id}, tool {tool}, {question}: {error}");
        }
        result
    }

    fn counted<T>(&self, result: Result<T, BackendError>) -> Result<T, BackendError> {
        match &result {
            Err(BackendError::Fault { .. } | BackendError::Crashed { .. }) => {
                self.faults.fetch_add(1, Ordering::Relaxed);
            }
            Ok(_) if self.has_ended.load(Ordering::Relaxed) => {
                self.has_ended.store(false, Ordering::Relaxed);
                self.opening.lock().worked();
            }
            _ => {}
        }
        result
    }
}

fn unavailable(rejection: Rejection) -> BackendError {
    BackendError::Unavailable { party: rejection.reason.party(), source: Box::new(rejection) }
}

fn fenced(hang: Crash) -> Reason {
    Reason::plugin(
        Stage::Load,
        "fenced",
        "a provider whose calls come back",
        hang.how,
        "call again once it has come back; start the host anew, or let the provider run in a worker, which can be ended",
    )
}

fn restarting(ends: u32, left: Duration) -> Reason {
    Reason::plugin(
        Stage::Load,
        "restarting",
        "a plugin whose process goes on",
        format!("one whose processes ended {ends} times in a row"),
        format!("call again in {} ms, when it is started again", left.as_millis() + 1),
    )
}

/// What executes the tools of a plugin.
pub(crate) struct PluginBackend(pub(crate) Arc<PluginProvider>);

impl Drop for PluginBackend {
    /// Where a provider is registered no longer, the last call that runs drops it with the registry that it began with. Its caller does not wait
    /// until the provider has ended, which takes the vendor's code as long as it takes: that happens on a thread of its own. Of two calls
    /// that end at the same moment, one may wait all the same.
    fn drop(&mut self) {
        let Some(provider) = Arc::get_mut(&mut self.0) else { return };
        let Some(running) = provider.running.swap(None) else { return };
        let name = format!("end {}", provider.registered.plugin.id);
        let ending = thread::Builder::new().name(name).spawn(move || drop(running));
        if let Err(error) = ending {
            log::warn!("a provider ended in the thread of a call: {error}");
        }
    }
}

impl ToolBackend for PluginBackend {
    fn invoke(&self, call: &ValidCall<'_>) -> Result<RawReply, BackendError> {
        // From the start: the first call of a provider also opens its library.
        let deadline = call.deadline().and_then(|left| Instant::now().checked_add(left));
        let tool = call.definition().name();
        self.0.with_instance(tool, |instance| instance.execute(call, deadline))
    }

    fn preview(&self, call: &ValidCall<'_>) -> Result<Option<Vec<String>>, BackendError> {
        let tool = call.definition().name();
        let preview = self.0.with_instance(tool, |instance| instance.preview(call));
        self.0.logged(call, "preview", preview)
    }

    fn may_viewer_read(
        &self,
        call: &ValidCall<'_>,
        viewer: &Caller,
    ) -> Result<Option<bool>, BackendError> {
        let tool = call.definition().name();
        let answer = self.0.with_instance(tool, |instance| instance.may_viewer_read(call, viewer));
        self.0.logged(call, "may_viewer_read", answer)
    }
}
