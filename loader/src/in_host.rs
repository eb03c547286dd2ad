//! A plugin in the host's own process, whose callers get an answer in time all the same.
//!
//! Nothing can end code that runs in this process. What may take too long therefore runs on a thread of its own: where it does not come back in
//! time, whoever waits goes on without it. The call is then abandoned, its thread stays with the plugin, and nothing more is asked of the
//! instance until it has come back.

mod fence;
mod linker;

use std::{
    cell::Cell,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use parking_lot::Mutex;
use toolbay_abi::wire::Fault;
use toolbay_core::{CancelToken, Progress, ProgressSink, ProviderId};

use fence::Fence;
pub(crate) use fence::OnHang;
use linker::{InLinker, Linker};

use crate::{
    awaited::{Awaited, Waited},
    deadlines::{Deadlines, LoadPhase},
    entries::{Broken, Crash, Entries, EntryCall, EntryReply},
    in_process::{InProcess, Journaled},
    instance::refused,
    journal::Running,
    library,
    rejection::{Reason, Stage},
    threads::Threads,
};

/// A process has one, however many homes are open in it.
static LINKER: Linker = Linker::new();

/// What all plugins of a home in this process share: the threads that run their code, and how long it may take.
#[derive(Debug, Clone)]
pub(crate) struct ThisProcess {
    threads: Threads,
    deadlines: Deadlines,
}

/// Something that is loaded on a thread of its own.
struct Loading<T> {
    phase: Mutex<(LoadPhase, Instant)>,
    loaded: Awaited<T>,
}

impl<T> Loading<T> {
    fn enter(&self, phase: LoadPhase) {
        *self.phase.lock() = (phase, Instant::now());
        self.loaded.wake();
    }
}

/// Whether the constructors of a plugin have not come back, so that the linker opens nothing more in this process.
pub(crate) fn is_linker_held() -> bool {
    LINKER.held_by().is_some()
}

impl ThisProcess {
    pub(crate) fn new(deadlines: Deadlines) -> Self {
        Self { threads: Threads::default(), deadlines }
    }

    /// Loads a plugin on a thread of its own, which tells each phase before it begins. Where one takes too long, that is the answer.
    pub(crate) fn load<T: Send + 'static>(
        &self,
        journaled: &Journaled,
        load: impl FnOnce(&dyn Fn(LoadPhase)) -> Result<T, Reason> + Send + 'static,
    ) -> Result<T, Reason> {
        let provider = &journaled.provider;
        let in_linker = LINKER.enter(provider).map_err(linker_held)?;
        let phase = Mutex::new((LoadPhase::Open, Instant::now()));
        let loading = Arc::new(Loading { phase, loaded: Awaited::default() });
        let (here, journaled) = (Arc::clone(&loading), journaled.clone());
        let job = move || {
            let in_linker = Cell::new(Some(in_linker));
            let entered = Cell::new(None);
            let enter = |phase| {
                drop(entered.take());
                if phase > LoadPhase::Constructors {
                    drop::<Option<InLinker<'_>>>(in_linker.take());
                }
                here.enter(phase);
                entered.set(Some(journaled.enter(Running::Loading(phase))));
            };
            let loaded = load(&enter);
            drop((entered.take(), in_linker.take()));
            here.loaded.give(loaded);
        };
        self.run(job).map_err(|broken| refused(Stage::Load, &broken))?;
        let allowed = |phase| self.deadlines.of(phase);
        let until = || {
            let (phase, since) = *loading.phase.lock();
            Some(since + allowed(phase))
        };
        match loading.loaded.wait_until(until, None) {
            Waited::Answered(loaded) => loaded,
            Waited::Late | Waited::Cancelled => {
                LINKER.give_up(provider);
                let (phase, _) = *loading.phase.lock();
                let how = format!(
                    "in the phase {phase}: nothing within {} s; it goes on in the host",
                    allowed(phase).as_secs_f64()
                );
                let hang = Broken::Crashed(Crash { how, hung: true });
                Err(refused(phase.stage(), &hang))
            }
        }
    }

    fn run(&self, job: impl FnOnce() + Send + 'static) -> Result<(), Broken> {
        self.threads.run(job).map_err(|error| {
            Broken::Fault(Fault::Provider { problem: format!("no thread for it: {error}") })
        })
    }
}

/// Ends this process with an exit code, where the constructors of a plugin have not come back: they keep the dynamic linker, for which an ordinary
/// end of the process would wait for good. Elsewhere, it does nothing. What has to be written must have been written before.
///
/// ```
/// // The last line of `main`, once the `Toolbay` is dropped:
/// toolbay_loader::end_where_linker_is_held(0);
/// // Nothing keeps the linker here, so that the program goes on, and ends in its own way.
/// ```
pub fn end_where_linker_is_held(code: u8) {
    if is_linker_held() {
        library::end_process(code)
    }
}

fn linker_held(holder: ProviderId) -> Reason {
    Reason::plugin(
        Stage::Load,
        "linker_held",
        "a dynamic linker that is free",
        format!("one that is busy with provider {holder}, whose constructors have not come back"),
        format!("start the host anew, and let {holder} run in a worker"),
    )
    .by_environment()
}

/// An instance of a provider in this process. Dropping it ends the instance, once the calls that were abandoned have come back.
pub(crate) struct InHost {
    plugin: Option<Arc<InProcess>>,
    provider: ProviderId,
    process: ThisProcess,
    fence: Arc<Fence>,
}

impl InHost {
    /// `on_hang` is told of a call that was abandoned, and has not come back within the grace.
    pub(crate) fn new(
        plugin: InProcess,
        provider: &ProviderId,
        process: &ThisProcess,
        on_hang: OnHang,
    ) -> Self {
        let fence = Arc::new(Fence::new(on_hang));
        let (plugin, process) = (Some(Arc::new(plugin)), process.clone());
        Self { plugin, provider: provider.clone(), process, fence }
    }

    fn plugin(&self) -> Result<&Arc<InProcess>, Broken> {
        let ended = || Broken::Fault(Fault::Provider { problem: "it has ended".to_owned() });
        self.plugin.as_ref().ok_or_else(ended)
    }

    /// Does something about a call on a thread of its own.
    fn in_time<T: Send + 'static>(
        &self,
        call: &EntryCall<'_>,
        work: impl FnOnce(&InProcess, &EntryCall<'_>) -> Result<T, Broken> + Send + 'static,
    ) -> Result<T, Broken> {
        let deadline = self.process.deadlines.end_of_call(call.deadline);
        let grace = self.process.deadlines.grace;
        let stop = CancelToken::new();
        let wanted = call.progress.cloned().map(|sink| Arc::new(Wanted(Mutex::new(Some(sink)))));
        let owned = OwnedCall::new(call, &stop, wanted.clone(), deadline);
        let answer = Arc::new(Awaited::default());
        let number = self.fence.number();
        let (plugin, fence) = (Arc::clone(self.plugin()?), Arc::clone(&self.fence));
        let given = Arc::clone(&answer);
        self.process.run(move || {
            let result = owned.with(|call| work(&plugin, call));
            // The last to have it may end it here.
            drop(plugin);
            given.give(result);
            fence.came_back(number);
        })?;
        let waited = answer.wait_or_stop(deadline, call.cancel, grace, || stop.cancel());
        if let Some(wanted) = &wanted {
            wanted.0.lock().take();
        }
        let (broken, grace) = match waited {
            Waited::Answered(result) => return result,
            Waited::Late => (Broken::DeadlineExceeded, grace),
            Waited::Cancelled => (Broken::Cancelled, Duration::ZERO),
        };
        let fence = Arc::clone(&self.fence);
        self.process.run(move || fence.watch(number, &answer, grace))?;
        Err(broken)
    }
}

impl Entries for InHost {
    fn execute(&self, call: &EntryCall<'_>) -> Result<EntryReply, Broken> {
        // Another thread costs many times what a small tool does, so that whoever neither sets a time nor may cancel waits for the tool.
        match (call.deadline, call.cancel) {
            (None, None) => self.plugin()?.execute(call),
            _ => self.in_time(call, |plugin, call| plugin.execute(call)),
        }
    }

    fn preview(&self, call: &EntryCall<'_>) -> Result<Bytes, Broken> {
        self.in_time(call, |plugin, call| plugin.preview(call))
    }

    fn extension(&self, id: &str, version: u32, payload: &[u8]) -> Result<Option<Bytes>, Broken> {
        let (id, payload) = (id.to_owned(), payload.to_owned());
        let nothing = EntryCall {
            tool: "",
            arguments: "",
            context: &[],
            tool_config: &[],
            cancel: None,
            progress: None,
            deadline: None,
        };
        self.in_time(&nothing, move |plugin, _| plugin.extension(&id, version, &payload))
    }

    fn ended(&self) -> Option<Crash> {
        self.fence.hung()
    }

    fn is_in_host(&self) -> bool {
        true
    }
}

impl Drop for InHost {
    fn drop(&mut self) {
        let Some(plugin) = self.plugin.take() else { return };
        if is_linker_held() {
            // No thread could begin: the C library takes the linker's lock for that, as it does where a thread logs for the first time.
            std::mem::forget(plugin);
            return;
        }
        let stopped = Arc::new(Awaited::default());
        let done = Arc::clone(&stopped);
        let job = move || {
            drop(plugin);
            done.give(());
        };
        // Where there is no thread for it, it has ended here.
        if self.process.run(job).is_ok() {
            let stop = self.process.deadlines.stop;
            if stopped.wait(Some(Instant::now() + stop), None) == Waited::Late {
                let (provider, limit) = (&self.provider, stop.as_secs_f64());
                log::warn!(
                    "provider {provider}: it did not stop within {limit} s, and goes on in the host"
                );
            }
        }
    }
}

/// A call that outlives whoever has made it.
struct OwnedCall {
    tool: String,
    arguments: String,
    context: Vec<u8>,
    tool_config: Vec<u8>,
    cancel: CancelToken,
    progress: Option<Arc<dyn ProgressSink>>,
    deadline: Option<Instant>,
}

impl OwnedCall {
    fn new(
        call: &EntryCall<'_>,
        stop: &CancelToken,
        progress: Option<Arc<Wanted>>,
        deadline: Instant,
    ) -> Self {
        Self {
            tool: call.tool.to_owned(),
            arguments: call.arguments.to_owned(),
            context: call.context.to_owned(),
            tool_config: call.tool_config.to_owned(),
            cancel: stop.clone(),
            progress: progress.map(|wanted| wanted as _),
            // One that is the host's own, and not the caller's, is not the plugin's to know.
            deadline: call.deadline.map(|_| deadline),
        }
    }

    fn with<T>(&self, work: impl FnOnce(&EntryCall<'_>) -> T) -> T {
        work(&EntryCall {
            tool: &self.tool,
            arguments: &self.arguments,
            context: &self.context,
            tool_config: &self.tool_config,
            cancel: Some(&self.cancel),
            progress: self.progress.as_ref(),
            deadline: self.deadline,
        })
    }
}

/// Progress that is passed on as long as somebody waits for the answer.
struct Wanted(Mutex<Option<Arc<dyn ProgressSink>>>);

impl ProgressSink for Wanted {
    fn progress(&self, progress: Progress) {
        if let Some(sink) = &*self.0.lock() {
            sink.progress(progress);
        }
    }
}
