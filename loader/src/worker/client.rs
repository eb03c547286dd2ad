//! The host's side: a plugin's functions, answered by a worker.

use std::{
    io::Write,
    os::unix::{ffi::OsStrExt, net::UnixStream},
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    thread,
    time::{Duration, Instant},
};

use bytes::Bytes;
use parking_lot::Mutex;
use serde_json::value::RawValue;
use toolbay_abi::wire::Fault;
use toolbay_core::{CancelToken, ProgressSink, ProviderId};

use super::{
    frame,
    given::Given,
    latch::Latch,
    message::{Call, HashedFile, Open, PROTOCOL, Request, ToWorker},
    pending::{Pending, Question},
    process::{ENDING, Process, Watched},
    program::WorkerProgram,
    reader::Reader,
    sandbox::Sandbox,
};
use crate::{
    awaited::Waited,
    deadlines::{Deadlines, LoadPhase},
    entries::{Broken, Crash, Entries, EntryCall, EntryReply},
    instance,
    rejection::{Reason, Stage},
    store::ContentHash,
};

/// How long a worker may take to say that it is one.
const START: Duration = Duration::from_secs(10);

/// How long a worker may leave what the host says unread.
const UNREAD: Duration = Duration::from_secs(10);

/// A plugin that runs in a process of its own. Dropping it ends the process, gently at first.
pub(crate) struct Worker {
    connection: Arc<Connection>,
    process: Arc<Process>,
}

/// What is mapped in a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MappedThere {
    pub(crate) path: PathBuf,
    pub(crate) device: String,
    pub(crate) inode: u64,
}

/// What the threads of a worker share.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) provider: ProviderId,
    writing: Mutex<UnixStream>,
    pub(super) pending: Pending<Given>,
    /// Which phase of loading it is in, and since when.
    phase: Mutex<Option<(LoadPhase, Instant)>>,
    deadlines: Deadlines,
    /// Whether everything was read that it has said.
    pub(super) is_read: Latch,
    /// By when it must have stopped, where it was told to.
    stop_by: OnceLock<Instant>,
}

impl Watched for Connection {
    fn due(&self) -> Option<(Instant, Crash)> {
        let hung = |at, how: &str| (at, Crash { how: how.to_owned(), hung: true });
        let call = self.pending.first_due();
        let call = call.map(|at| hung(at, "the host ended it: a call did not stop in time"));
        let stop = self.stop_by.get();
        let stop = stop.map(|at| hung(*at, "the host ended it: it did not stop in time"));
        let phase = self.phase.lock().map(|(phase, since)| {
            let allowed = self.deadlines.of(phase);
            let how = format!("the host ended it: nothing within {} s", allowed.as_secs_f64());
            hung(since + allowed, &how)
        });
        [call, stop, phase].into_iter().flatten().min_by_key(|(at, _)| *at)
    }

    fn ended(&self, crash: &Crash) {
        match self.stop_by.get() {
            None => log::error!("provider {}: its process {}", self.provider, crash.how),
            Some(_) if crash.hung => log::warn!("provider {}: {}", self.provider, crash.how),
            Some(_) => {}
        }
        // What it said last counts: the phase that it was in, and answers that it has given. Where something that it started holds the
        // connection open, nothing more comes.
        self.is_read.wait_until(Instant::now() + ENDING);
        self.pending.close(crash);
    }
}

impl Worker {
    /// Starts a process for a provider.
    pub(crate) fn start(
        program: &WorkerProgram,
        deadlines: &Deadlines,
        provider: &ProviderId,
    ) -> Result<Self, Reason> {
        let not_started = |found: String| {
            let expected = format!("a worker, {}", program.path().display());
            let remedy = "make that program one of this release which begins with toolbay_loader::run_if_worker, and that this user may run; \
                          nothing of the plugin runs in the host instead";
            Reason::plugin(Stage::Load, "worker_not_started", expected, found, remedy)
                .by_environment()
        };
        let started = || {
            let (here, there) = UnixStream::pair()?;
            here.set_write_timeout(Some(UNREAD))?;
            let connection = Arc::new(Connection {
                provider: provider.clone(),
                writing: Mutex::new(here.try_clone()?),
                pending: Pending::from(super::message::HELLO),
                phase: Mutex::default(),
                deadlines: deadlines.clone(),
                is_read: Latch::default(),
                stop_by: OnceLock::new(),
            });
            let watched = Arc::clone(&connection) as _;
            let process = Process::start(program, provider, there, watched)?;
            Ok::<_, std::io::Error>((here, connection, process))
        };
        let (reading, connection, process) =
            started().map_err(|error| not_started(error.to_string()))?;
        let worker = Self { connection, process };
        let hello = worker.connection.pending.ask(None);
        let reader = Reader {
            connection: Arc::clone(&worker.connection),
            process: Arc::clone(&worker.process),
        };
        thread::Builder::new()
            .name(format!("from {provider}"))
            .spawn(move || reader.run(reading))
            .map_err(|error| not_started(error.to_string()))?;
        let hello = hello.map_err(|crash| not_started(crash.how))?;
        match hello.answer.wait(Some(Instant::now() + START), None) {
            Waited::Answered(Ok(Given::Hello { protocol: PROTOCOL })) => Ok(worker),
            Waited::Answered(Ok(Given::Hello { protocol })) => Err(not_started(format!(
                "one that speaks version {protocol} of the protocol, where the host speaks {PROTOCOL}"
            ))),
            Waited::Answered(Ok(_)) => Err(not_started("a program that is no worker".to_owned())),
            Waited::Answered(Err(crash)) => {
                Err(not_started(format!("a process that {}", crash.how)))
            }
            Waited::Late | Waited::Cancelled => {
                let how = format!("said nothing for {} s", START.as_secs());
                worker.process.kill(Crash { how: how.clone(), hung: true });
                Err(not_started(format!("a process that {how}")))
            }
        }
    }

    /// The number of the process.
    pub(crate) fn pid(&self) -> u32 {
        self.process.pid
    }

    /// Opens the library in the worker, with the libraries that travel with it.
    pub(crate) fn open(
        &self,
        library: (&Path, ContentHash),
        companions: &[(&Path, ContentHash)],
        sandbox: Sandbox,
    ) -> Result<MappedThere, Reason> {
        let hashed = |&(path, hash): &(&Path, ContentHash)| HashedFile {
            path: path.as_os_str().as_bytes().to_vec(),
            hash: hash.to_string(),
        };
        let request = Request::Open(Open {
            provider: self.connection.provider.as_str(),
            library: hashed(&library),
            companions: companions.iter().map(hashed).collect(),
            sandbox,
            log_level: log::max_level() as u8,
        });
        let opened = match self.load(LoadPhase::Open, request) {
            Ok(Given::Opened(mapped)) => return Ok(mapped),
            Ok(Given::NotOpened(problem)) => return Err(problem.reason()),
            Ok(_) => self.other_kind(),
            Err(broken) => broken,
        };
        Err(instance::refused(Stage::Load, &opened))
    }

    /// Makes the provider from its configuration.
    pub(crate) fn create(&self, configuration: Option<&RawValue>) -> Result<(), Broken> {
        let configuration = configuration.map(RawValue::get);
        match self.load(LoadPhase::Create, Request::Create { configuration })? {
            Given::Created => Ok(()),
            _ => Err(self.other_kind()),
        }
    }

    /// The tools that the provider lists now, a JSON array of definitions.
    pub(crate) fn tools(&self) -> Result<Bytes, Broken> {
        let given = self.load(LoadPhase::Tools, Request::Tools);
        self.bytes(given).map(Option::unwrap_or_default)
    }

    /// Asks for one of the phases of loading. What hangs in it, or ends the process, is named by the phase.
    fn load(&self, first: LoadPhase, request: Request<'_>) -> Result<Given, Broken> {
        self.connection.enter(Some(first));
        self.process.wake();
        let question = self.ask(request, None, None)?;
        // Its thread ends the process where the phase takes too long.
        let waited = question.answer.wait(None, None);
        let phase = self.connection.enter(None);
        match waited {
            Waited::Answered(Ok(Given::Fault(fault))) => Err(Broken::Fault(fault)),
            Waited::Answered(Ok(given)) => Ok(given),
            Waited::Answered(Err(Crash { how, hung })) => {
                let how = format!("in the phase {}: {how}", phase.unwrap_or(first));
                Err(Broken::Crashed(Crash { how, hung }))
            }
            Waited::Late | Waited::Cancelled => Err(Broken::DeadlineExceeded),
        }
    }

    /// Asks a question, without waiting for the answer.
    fn ask(
        &self,
        request: Request<'_>,
        progress: Option<Arc<dyn ProgressSink>>,
        deadline: Option<Instant>,
    ) -> Result<Arc<Question<Given>>, Broken> {
        let question = self.connection.pending.ask(progress).map_err(Broken::Crashed)?;
        let number = question.number;
        let message = frame::encode(&ToWorker::Request { number, request }).map_err(|error| {
            self.connection.pending.forget(number);
            Broken::Fault(Fault::Contract { problem: error.to_string() })
        })?;
        match self.write(&message, deadline) {
            true => Ok(question),
            false => {
                self.connection.pending.forget(number);
                Err(Broken::DeadlineExceeded)
            }
        }
    }

    /// Says something to the worker. Tells whether there was time for it; whoever waits for an answer learns of a broken connection.
    fn write(&self, message: &[u8], deadline: Option<Instant>) -> bool {
        let writing = match deadline {
            Some(deadline) => self.connection.writing.try_lock_until(deadline),
            None => Some(self.connection.writing.lock()),
        };
        let Some(mut writing) = writing else { return false };
        if let Err(error) = writing.write_all(message) {
            drop(writing);
            let how = format!("did not read what the host said: {error}");
            self.process.kill_unless_ending(Crash { how, hung: true });
        }
        true
    }

    fn say(&self, message: &ToWorker<'_>) {
        if let Ok(message) = frame::encode(message) {
            self.write(&message, None);
        }
    }

    /// Asks a question and waits for the answer. Where the time is over, or nobody wants it any more, the call is asked to stop; where it does
    /// not, its process is ended.
    fn answer(
        &self,
        request: Request<'_>,
        progress: Option<&Arc<dyn ProgressSink>>,
        deadline: Option<Instant>,
        cancel: Option<&CancelToken>,
    ) -> Result<Given, Broken> {
        let deadline = self.connection.deadlines.end_of_call(deadline);
        let question = self.ask(request, progress.cloned(), Some(deadline))?;
        let grace = self.connection.deadlines.grace;
        let stop = || self.say(&ToWorker::Cancel { number: question.number });
        match question.answer.wait_or_stop(deadline, cancel, grace, stop) {
            Waited::Answered(Ok(Given::Fault(fault))) => Err(Broken::Fault(fault)),
            Waited::Answered(Ok(given)) => Ok(given),
            Waited::Answered(Err(crash)) => Err(Broken::Crashed(crash)),
            Waited::Late => {
                self.abandon(question.number, grace);
                Err(Broken::DeadlineExceeded)
            }
            Waited::Cancelled => {
                self.abandon(question.number, Duration::ZERO);
                Err(Broken::Cancelled)
            }
        }
    }

    fn abandon(&self, number: u64, grace: Duration) {
        if self.connection.pending.abandon(number, Instant::now() + grace) {
            self.process.wake();
        }
    }

    fn bytes(&self, given: Result<Given, Broken>) -> Result<Option<Bytes>, Broken> {
        match given? {
            Given::Bytes(bytes) => Ok(bytes),
            _ => Err(self.other_kind()),
        }
    }

    /// Ends a worker that answers something else than it was asked.
    fn other_kind(&self) -> Broken {
        let how = "gave an answer of another kind than it was asked for".to_owned();
        let crash = Crash { how, hung: false };
        self.process.kill(crash.clone());
        Broken::Crashed(crash)
    }
}

impl Connection {
    /// A phase of loading begins, or the last one has ended. Returns the one before.
    fn enter(&self, phase: Option<LoadPhase>) -> Option<LoadPhase> {
        let entered = phase.map(|phase| (phase, Instant::now()));
        std::mem::replace(&mut *self.phase.lock(), entered).map(|(phase, _)| phase)
    }

    /// The worker says that it enters a phase of loading. It gains no time by saying so again.
    pub(super) fn entered(&self, phase: LoadPhase) {
        if let Some(there) = &mut *self.phase.lock()
            && there.0 < phase
        {
            *there = (phase, Instant::now());
        }
    }
}

fn message<'a>(call: &EntryCall<'a>) -> Call<'a> {
    Call {
        tool: call.tool,
        arguments: call.arguments,
        context: call.context,
        tool_config: call.tool_config,
        remaining_ms: call.remaining_ms(),
        listens: call.progress.is_some(),
    }
}

impl Entries for Worker {
    fn execute(&self, call: &EntryCall<'_>) -> Result<EntryReply, Broken> {
        let request = Request::Execute(message(call));
        match self.answer(request, call.progress, call.deadline, call.cancel)? {
            Given::Replied(reply) => Ok(reply),
            _ => Err(self.other_kind()),
        }
    }

    fn preview(&self, call: &EntryCall<'_>) -> Result<Bytes, Broken> {
        let request = Request::Preview(message(call));
        let given = self.answer(request, call.progress, call.deadline, call.cancel);
        self.bytes(given).map(Option::unwrap_or_default)
    }

    fn extension(&self, id: &str, version: u32, payload: &[u8]) -> Result<Option<Bytes>, Broken> {
        let request = Request::Extension { id, version, payload };
        self.bytes(self.answer(request, None, None, None))
    }

    fn ended(&self) -> Option<Crash> {
        self.connection.pending.closed()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.connection.stop_by.set(Instant::now() + self.connection.deadlines.stop);
        self.process.wake();
        self.say(&ToWorker::Stop);
        self.process.wait();
    }
}
