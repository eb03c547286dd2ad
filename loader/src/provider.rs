//! A registered provider, whose library is opened by the first call.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::value::RawValue;
use toolbay_core::{
    BackendError, Caller, RawReply, ToolBackend, ToolDefinition, ToolName, ValidCall,
};

use crate::{
    config::Config,
    entries::Crash,
    instance::{self, Instance},
    load::{Loaded, load},
    rejection::{Reason, Rejection, Stage},
    supervised::{NotRunning, Runs, Supervised},
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
    running: Supervised<Running>,
    faults: AtomicU64,
}

struct Running {
    instance: Instance,
    /// Tools that it no longer lists as they are registered.
    changed: Vec<ToolName>,
}

impl Runs for Running {
    fn ended(&self) -> Option<Crash> {
        self.instance.ended()
    }
}

impl PluginProvider {
    /// A provider that runs once it is called, with what the application configures it with.
    pub(crate) fn new(registered: Registered, vetting: &Arc<Vetting>, config: &Config) -> Self {
        let configuration = config.providers.get(&registered.plugin.id).cloned();
        Self {
            registered,
            vetting: Arc::clone(vetting),
            configuration,
            running: Supervised::new(None),
            faults: AtomicU64::new(0),
        }
    }

    /// The provider with an instance that runs already, and that has just listed its tools.
    pub(crate) fn running(self, instance: Instance) -> Self {
        let running = Supervised::new(Some(Running { instance, changed: Vec::new() }));
        Self { running, ..self }
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
        self.running.is_running()
    }

    /// How many calls ended with a fault.
    pub(crate) fn faults(&self) -> u64 {
        self.faults.load(Ordering::Relaxed)
    }

    /// The running provider. The first caller opens the library, and whoever calls next starts a process again that has ended; a failure is
    /// tried again by the next one, for its cause may go away.
    fn ensure_running(&self) -> Result<Arc<Running>, Rejection> {
        let Registered { plugin, tools } = &self.registered;
        let may_be_replaced = |running: &Running| {
            let rulebook = self.vetting.rulebook();
            let place = rulebook.place(plugin, &self.vetting.build);
            !running.instance.is_in_host() || place == Place::Worker
        };
        let tell = |crash: &Crash, ends| self.vetting.process_ended(plugin, crash, ends);
        let start = || {
            let rulebook = self.vetting.rulebook();
            let loaded = load(&self.vetting, &rulebook, plugin, self.configuration.as_deref());
            loaded.map(|Loaded { instance, tools: listed, .. }| {
                let changed = instance::changed(tools.iter().map(|tool| &**tool), &listed);
                Running { instance, changed }
            })
        };
        self.running.ensure(may_be_replaced, tell, start).map_err(|why| {
            self.rejection(match why {
                NotRunning::Fenced(hang) => fenced(hang),
                NotRunning::Restarting { ends, left } => restarting(ends, left),
                NotRunning::Failed(reason) => reason,
            })
        })
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
        let ensure = || self.ensure_running().map_err(unavailable);
        let result =
            self.running.with(ensure, |running| self.listing(running, tool).and_then(work));
        if let Err(BackendError::Fault { .. } | BackendError::Crashed { .. }) = &result {
            self.faults.fetch_add(1, Ordering::Relaxed);
        }
        result
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
        let Some(running) = provider.running.take() else { return };
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
