//! The worker's side: opens the library, and runs its functions on threads of their own.

use std::{
    borrow::Cow,
    collections::HashMap,
    env,
    ffi::OsStr,
    fs::File,
    os::unix::{ffi::OsStrExt, net::UnixStream},
    path::Path,
    process,
    sync::Arc,
    time::{Duration, Instant},
};

use log::{LevelFilter, Log, Metadata, Record};
use parking_lot::{Mutex, RwLock};
use rustix::process::{Signal, kill_current_process_group};
use serde_json::value::RawValue;
use toolbay_abi::{PluginRootRef, wire::Fault};
use toolbay_core::{CancelToken, Progress, ProgressSink, ProviderId};

use super::{
    frame::{self, FrameError, Frames},
    message::{Answer, Call, FromWorker, HELLO, HashedFile, Open, PROTOCOL, Request, ToWorker},
    program::ARGUMENT,
    sandbox::SandboxError,
    setup,
};
use crate::{
    deadlines::LoadPhase,
    entries::{Broken, Entries, EntryCall, EntryReply},
    in_process::InProcess,
    inspect,
    library::{self, VerifiedFile},
    not_opened::NotOpened,
    store::hash_of,
    threads::Threads,
};

/// Serves as a worker where this process was started as one, and then does not return. It belongs at the very start of `main`: a worker closes
/// whatever descriptors it has inherited.
///
/// ```
/// // The first line of `main`:
/// toolbay_loader::run_if_worker();
/// // In another process than a worker, the program goes on here.
/// ```
pub fn run_if_worker() {
    if env::args_os().nth(1).is_some_and(|argument| argument == ARGUMENT) {
        process::exit(serve())
    }
}

/// The exit status of a worker that could not begin.
const NOT_BEGUN: i32 = 71;

fn serve() -> i32 {
    let begun = setup::take_connection().and_then(|connection| {
        setup::leave_no_core()?;
        Ok((connection.try_clone()?, connection))
    });
    let (reading, writing) = match begun {
        Ok(connection) => connection,
        Err(error) => {
            complain(&format!("a worker can't begin: {error}"));
            return NOT_BEGUN;
        }
    };
    let host = Host(Arc::new(Mutex::new(writing)));
    // Nothing else in this process logs.
    let _ = log::set_boxed_logger(Box::new(host.clone()));
    let served = Served {
        host,
        threads: Threads::default(),
        calls: Arc::default(),
        library: RwLock::default(),
        entries: Arc::default(),
    };
    served.host.answer(HELLO, Answer::Hello { protocol: PROTOCOL });
    let end = Arc::new(served).run(reading);
    if let Err(error) = end {
        complain(&format!("a worker has lost its host: {error}"));
    }
    // The host is gone, or no longer understood: nothing that this plugin has started outlives it.
    let _ = kill_current_process_group(Signal::KILL);
    NOT_BEGUN
}

/// Says something to whoever reads standard error.
fn complain(words: &str) {
    let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("{words}\n").as_bytes());
}

/// The connection to the host, as far as it is written to.
#[derive(Debug, Clone)]
struct Host(Arc<Mutex<UnixStream>>);

impl Host {
    fn say(&self, message: &FromWorker<'_>) {
        let error = match frame::encode(message) {
            Ok(frame) => {
                let written = std::io::Write::write_all(&mut *self.0.lock(), &frame);
                written.err().map(FrameError::from)
            }
            Err(error) => Some(error),
        };
        // The host hears nothing more, or waits for an answer that never comes: it knows what to do.
        if let Some(error) = error {
            complain(&format!("a worker can't speak to its host: {error}"));
        }
    }

    fn answer(&self, number: u64, answer: Answer<'_>) {
        self.say(&FromWorker::Answer { number, answer });
    }

    fn refuse(&self, number: u64, fault: &Fault) {
        let fault = serde_json::to_vec(fault).unwrap_or_default();
        self.answer(number, Answer::Fault(&fault));
    }
}

impl Log for Host {
    fn enabled(&self, _metadata: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        let message = Cow::Owned(record.args().to_string());
        // The host puts the provider's id before it, as it does for plugins of its own.
        let own = record.target().strip_prefix("plugin::").and_then(|rest| rest.split_once("::"));
        let target = Cow::Borrowed(own.map_or(record.target(), |(_, target)| target));
        self.say(&FromWorker::Log { level: record.level() as u8, target, message });
    }

    fn flush(&self) {}
}

/// Where a call's progress goes.
struct Listener {
    host: Host,
    number: u64,
}

impl ProgressSink for Listener {
    fn progress(&self, progress: Progress) {
        self.host.say(&FromWorker::progress(self.number, progress));
    }
}

struct Served {
    host: Host,
    threads: Threads,
    /// The calls that run, by number.
    calls: Arc<Mutex<HashMap<u64, CancelToken>>>,
    /// The library, once it is open.
    library: RwLock<Option<(ProviderId, PluginRootRef)>>,
    entries: Arc<RwLock<Option<Arc<InProcess>>>>,
}

impl Served {
    /// Reads what the host says, until there is no host.
    fn run(self: Arc<Self>, reading: UnixStream) -> Result<(), FrameError> {
        let mut frames = Frames::new(reading);
        while let Some(frame) = frames.next()? {
            match postcard::from_bytes(&frame)? {
                ToWorker::Cancel { number } => {
                    if let Some(call) = self.calls.lock().get(&number) {
                        call.cancel();
                    }
                }
                ToWorker::Stop => self.spawn(0, Self::stop),
                ToWorker::Request { number, request } => {
                    // Here, while there are no others: threads are only bound by what the one that has started them has given up.
                    let entered = match &request {
                        Request::Open(open) => open.sandbox.enter(),
                        _ => Ok(()),
                    };
                    // Before the thread is there, so that a cancellation that follows finds it.
                    self.calls.lock().insert(number, CancelToken::new());
                    self.spawn(number, move |served| served.request(number, &frame, entered));
                }
            }
        }
        Ok(())
    }

    fn spawn(self: &Arc<Self>, number: u64, job: impl FnOnce(&Self) + Send + 'static) {
        let served = Arc::clone(self);
        if let Err(error) = self.threads.run(move || job(&served)) {
            let problem = format!("no thread for it: {error}");
            self.host.refuse(number, &Fault::Provider { problem });
        }
    }

    fn stop(&self) {
        // Calls that run hold it as well; they end with the process.
        drop(self.entries.write().take());
        process::exit(0)
    }

    fn request(&self, number: u64, frame: &[u8], entered: Result<(), SandboxError>) {
        let Ok(ToWorker::Request { request, .. }) = postcard::from_bytes(frame) else { return };
        let cancel = self.calls.lock().get(&number).cloned().unwrap_or_default();
        match request {
            Request::Open(open) => self.open(number, &open, entered),
            Request::Create { configuration } => self.create(number, configuration),
            Request::Tools => {
                self.host.say(&FromWorker::Phase(LoadPhase::Tools));
                if let Some(tools) = self.with_entries(number, InProcess::tools) {
                    self.host.answer(number, Answer::Given(Some(&tools)));
                }
            }
            Request::Execute(call) => {
                let reply = self.with_entries(number, |entries| {
                    let reply =
                        self.with_call(number, &call, &cancel, |call| entries.execute(call))?;
                    let len = reply.text.len() + reply.rest.len();
                    if len > frame::MAX_LEN - 1024 {
                        let problem = format!("a reply of {len} bytes");
                        return Err(Broken::Fault(Fault::Contract { problem }));
                    }
                    Ok(reply)
                });
                if let Some(EntryReply { status, text, rest }) = reply {
                    let (text, rest) = (&*text, &*rest);
                    self.host.answer(number, Answer::Replied { status, text, rest });
                }
            }
            Request::Preview(call) => {
                let lines = self.with_entries(number, |entries| {
                    self.with_call(number, &call, &cancel, |call| entries.preview(call))
                });
                if let Some(lines) = lines {
                    self.host.answer(number, Answer::Given(Some(&lines)));
                }
            }
            Request::Extension { id, version, payload } => {
                let answer =
                    self.with_entries(number, |entries| entries.extension(id, version, payload));
                if let Some(answer) = answer {
                    self.host.answer(number, Answer::Given(answer.as_deref()));
                }
            }
        }
        self.calls.lock().remove(&number);
    }

    fn open(&self, number: u64, open: &Open<'_>, entered: Result<(), SandboxError>) {
        let level = LevelFilter::iter().nth(usize::from(open.log_level));
        log::set_max_level(level.unwrap_or(LevelFilter::Off));
        let enter = |phase| self.host.say(&FromWorker::Phase(phase));
        enter(LoadPhase::Open);
        let opened = (|| {
            entered.map_err(|error| NotOpened::no_sandbox(&error))?;
            let library = verified(&open.library)?;
            let companions = open.companions.iter().map(verified);
            let companions = companions.collect::<Result<Vec<_>, _>>()?;
            let files: Vec<VerifiedFile<'_>> =
                companions.iter().map(|(path, file)| VerifiedFile { path, file }).collect();
            let library = VerifiedFile { path: library.0, file: &library.1 };
            library::open_library(library, &files, &enter).map_err(|error| NotOpened::from(&error))
        })();
        match opened {
            Ok(opened) => {
                let provider = open.provider.parse().ok();
                *self.library.write() = provider.map(|provider| (provider, opened.root));
                let path = opened.mapped.path.as_os_str().as_bytes();
                let (device, inode) = (&*opened.mapped.device, opened.mapped.inode);
                self.host.answer(number, Answer::Opened { path, device, inode });
            }
            Err(problem) => self.host.answer(number, Answer::NotOpened(problem)),
        }
    }

    fn create(&self, number: u64, configuration: Option<&str>) {
        self.host.say(&FromWorker::Phase(LoadPhase::Create));
        let configuration = configuration
            .map(serde_json::from_str::<&RawValue>)
            .transpose()
            .map_err(|error| contract(format!("expected a configuration as JSON: {error}")));
        let created = configuration.and_then(|configuration| match &*self.library.read() {
            Some((provider, root)) => InProcess::create(*root, provider, configuration, None),
            None => Err(contract("expected an open library".to_owned())),
        });
        match created {
            Ok(entries) => {
                *self.entries.write() = Some(Arc::new(entries));
                self.host.answer(number, Answer::Created);
            }
            Err(fault) => self.host.refuse(number, &fault),
        }
    }

    /// Asks the provider, and lets it go before anything is answered: whoever hears of the last answer may tell it to end, and then nobody else
    /// must have it. Where there is nothing to give, that is the answer.
    fn with_entries<T>(
        &self,
        number: u64,
        work: impl FnOnce(&InProcess) -> Result<T, Broken>,
    ) -> Option<T> {
        let entries = self.entries.read().clone();
        let worked = match entries {
            Some(entries) => work(&entries),
            None => Err(Broken::Fault(contract("expected a provider".to_owned()))),
        };
        if let Err(Broken::Fault(fault)) = &worked {
            self.host.refuse(number, fault);
        }
        worked.ok()
    }

    fn with_call<T>(
        &self,
        number: u64,
        call: &Call<'_>,
        cancel: &CancelToken,
        work: impl FnOnce(&EntryCall<'_>) -> Result<T, Broken>,
    ) -> Result<T, Broken> {
        let listener: Option<Arc<dyn ProgressSink>> =
            call.listens.then(|| Arc::new(Listener { host: self.host.clone(), number }) as _);
        work(&EntryCall {
            tool: call.tool,
            arguments: call.arguments,
            context: call.context,
            tool_config: call.tool_config,
            cancel: Some(cancel),
            progress: listener.as_ref(),
            deadline: match call.remaining_ms {
                0 => None,
                left => Instant::now().checked_add(Duration::from_millis(left)),
            },
        })
    }
}

fn contract(problem: String) -> Fault {
    Fault::Contract { problem }
}

/// A file with the content that the host has verified.
fn verified(file: &HashedFile) -> Result<(&Path, File), NotOpened> {
    let path = Path::new(OsStr::from_bytes(&file.path));
    let (opened, _) =
        inspect::open(path).map_err(|reason| NotOpened::changed(reason.found.clone()))?;
    let hash = hash_of(&opened).map_err(|error| NotOpened::changed(error.to_string()))?;
    match hash.to_string() == file.hash {
        true => Ok((path, opened)),
        false => Err(NotOpened::changed(format!("content with the hash {hash}"))),
    }
}
