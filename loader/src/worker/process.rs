//! A worker's process, from its start until it has been reaped.
//!
//! One thread starts the process, takes what it prints, ends it where it must, and reaps it. It lives as long as the process: where the host
//! dies, so does the thread that started the worker, and with it the worker. The process is only ever ended by its number while it has not
//! been reaped, so that the number can't be another's.

use std::{
    io,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::{net::UnixStream, process::CommandExt},
    },
    process::{Child, ChildStderr, ChildStdout, Stdio},
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll},
    process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open},
};
use toolbay_core::ProviderId;

use super::{ending, latch::Latch, program::WorkerProgram};
use crate::{capture::Capture, entries::Crash};

/// How long a process may go on after its connection ended: it is about to end itself.
pub(super) const ENDING: Duration = Duration::from_secs(1);

/// What the thread of a process asks and tells while the process runs.
pub(super) trait Watched: Send + Sync {
    /// When the process must be ended, as it stands now, and why.
    fn due(&self) -> Option<(Instant, Crash)>;

    /// The process has ended, and was reaped.
    fn ended(&self, crash: &Crash);
}

/// A process that was started.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) pid: u32,
    child: Mutex<Option<Child>>,
    /// Why the host ended it, where it did.
    blame: Mutex<Option<Crash>>,
    /// Wakes its thread.
    wake: OwnedFd,
    is_over: Latch,
}

impl Process {
    /// Starts a worker for a provider, with this end of the connection as its standard input.
    ///
    /// # Errors
    ///
    /// The program can't be started.
    pub(super) fn start(
        program: &WorkerProgram,
        provider: &ProviderId,
        connection: UnixStream,
        watched: Arc<dyn Watched>,
    ) -> io::Result<Arc<Self>> {
        let (tell, told) = mpsc::sync_channel(1);
        let (program, provider) = (program.clone(), provider.clone());
        let name = format!("worker {provider}");
        thread::Builder::new().name(name).spawn(move || {
            match Self::spawn(&program, &provider, connection) {
                Ok((process, watch)) => {
                    // Whoever asked has gone: then nobody will use it, and its connection ends it.
                    let _ = tell.send(Ok(Arc::clone(&process)));
                    watch.run(&process, &provider, &*watched);
                }
                Err(error) => drop(tell.send(Err(error))),
            }
        })?;
        told.recv().unwrap_or_else(|_| Err(io::Error::other("its thread ended")))
    }

    fn spawn(
        program: &WorkerProgram,
        provider: &ProviderId,
        connection: UnixStream,
    ) -> io::Result<(Arc<Self>, Watch)> {
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let mut child = program
            .command(provider.as_str())
            // A group of its own, so that what it starts is ended with it.
            .process_group(0)
            .stdin(OwnedFd::from(connection))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (output, errors) = (child.stdout.take(), child.stderr.take());
        let pid = child.id();
        let watch = || {
            let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
            for pipe in output.iter().map(AsFd::as_fd).chain(errors.iter().map(AsFd::as_fd)) {
                rustix::io::ioctl_fionbio(pipe, true)?;
            }
            Ok::<_, io::Error>(pidfd)
        };
        let pidfd = match watch() {
            Ok(pidfd) => pidfd,
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(error);
            }
        };
        let watch = Watch {
            pidfd,
            output: Capture::new(output, "stdout"),
            errors: Capture::new(errors, "stderr"),
        };
        let process = Arc::new(Self {
            pid,
            child: Mutex::new(Some(child)),
            blame: Mutex::default(),
            wake,
            is_over: Latch::default(),
        });
        Ok((process, watch))
    }

    /// Ends the process and what it has started, and says why. The first reason counts.
    pub(super) fn kill(&self, blame: Crash) {
        let child = self.child.lock();
        // Without a child it has been reaped, and its number may be another's.
        if let Some(child) = &*child {
            self.blame.lock().get_or_insert(blame);
            let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
        }
    }

    /// Lets its thread ask anew when the process must be ended.
    pub(super) fn wake(&self) {
        // The counter is full only where the thread has been woken already.
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
    }

    /// Waits until the process has been reaped.
    pub(super) fn wait(&self) {
        self.is_over.wait();
    }

    /// Ends the process, whose connection has ended, unless it is about to end by itself: then that is what counts.
    pub(super) fn kill_unless_ending(&self, blame: Crash) {
        if !self.is_over.wait_until(Instant::now() + ENDING) {
            self.kill(blame);
        }
    }

    /// Reaps the process, which has ended, together with what it has started and what is still in its group.
    fn reap(&self) -> String {
        let Some(mut child) = self.child.lock().take() else { return "ended".to_owned() };
        // Not reaped yet, so that the group's number is still its own.
        let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
        child.wait().map_or_else(|error| format!("ended: {error}"), ending::in_words)
    }
}

/// What the thread of a process watches.
struct Watch {
    pidfd: OwnedFd,
    output: Capture<ChildStdout>,
    errors: Capture<ChildStderr>,
}

impl Watch {
    fn run(mut self, process: &Process, provider: &ProviderId, watched: &dyn Watched) {
        loop {
            let due = watched.due();
            if let Some((at, crash)) = &due
                && *at <= Instant::now()
            {
                process.kill(crash.clone());
            }
            let has_ended = self.wait(process, due.map(|(at, _)| at));
            self.output.drain(provider);
            self.errors.drain(provider);
            if has_ended {
                break;
            }
        }
        let mut how = process.reap();
        // What it printed last; another process that has inherited the pipe is not waited for.
        self.output.drain(provider);
        self.errors.drain(provider);
        self.output.last_words(provider);
        if let Some(words) = self.errors.last_words(provider) {
            how.push_str(&format!("; it said last: {words}"));
        }
        let blame = process.blame.lock().clone();
        let crash = blame.unwrap_or(Crash { how, hung: false });
        watched.ended(&crash);
        process.is_over.open();
    }

    /// Waits until there is something to do, and tells whether the process has ended.
    fn wait(&self, process: &Process, until: Option<Instant>) -> bool {
        const AGAIN: Duration = Duration::from_millis(1);
        let pidfd = self.pidfd.as_fd();
        let pipes = [
            self.output.from.as_ref().map(AsFd::as_fd),
            self.errors.from.as_ref().map(AsFd::as_fd),
        ];
        let watched: Vec<BorrowedFd<'_>> =
            [pidfd, process.wake.as_fd()].into_iter().chain(pipes.into_iter().flatten()).collect();
        let mut polled: Vec<PollFd<'_>> =
            watched.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
        // Where the time is over, the process was ended just now and will soon be gone.
        let left = until.map(|until| until.saturating_duration_since(Instant::now()).max(AGAIN));
        let timeout = left.and_then(|left| Timespec::try_from(left).ok());
        if poll(&mut polled, timeout.as_ref()).is_err() {
            return false;
        }
        let has_ended = polled[0].revents().contains(PollFlags::IN);
        if polled[1].revents().contains(PollFlags::IN) {
            let _ = rustix::io::read(&process.wake, &mut [0; 8]);
        }
        has_ended
    }
}
