//! What is printed while a plugin is loaded in this process, taken away from where it would go.
//!
//! Pipes take the place of descriptors 1 and 2, and a thread reads them, so that nobody who prints is kept waiting. What came is logged once
//! the descriptors are back: a logger that prints to one of them would otherwise write into the pipe that it is read from.

use std::{
    io::{self, PipeReader, PipeWriter},
    os::fd::{AsFd, OwnedFd},
    sync::{Arc, mpsc},
    thread,
    time::Instant,
};

use parking_lot::Mutex;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::{fcntl_dupfd_cloexec, ioctl_fionbio},
    stdio::{dup2_stderr, dup2_stdout, stderr, stdout},
};
use toolbay_core::ProviderId;

use super::{
    disturbance::{Change, Disturbance},
    held::FIRST,
    native,
};
use crate::capture::Capture;

/// The names of the two streams.
const NAMES: [&str; 2] = ["stdout", "stderr"];

/// Descriptors 1 and 2 as long as pipes are in their place. Whoever takes them out puts them back: the load, or the reader where that takes
/// too long.
type Kept = Arc<Mutex<Option<[OwnedFd; 2]>>>;

/// Pipes in the place of descriptors 1 and 2.
#[derive(Debug)]
pub(super) struct Redirected {
    kept: Kept,
    /// Tells the reader, where it is dropped, that what was printed is to be told.
    end: Option<PipeWriter>,
    printed: mpsc::Receiver<[u64; 2]>,
}

/// The right to put the descriptors back, which happens when it is dropped.
#[derive(Debug)]
pub(super) struct Claimed([OwnedFd; 2]);

impl Redirected {
    /// Puts pipes in the place of descriptors 1 and 2, until this value is ended or dropped, and no longer than `until`.
    pub(super) fn begin(provider: &ProviderId, until: Instant) -> io::Result<Self> {
        // What was printed before belongs to nobody.
        native::flush_output();
        let kept = [stdout(), stderr()].map(|stream| fcntl_dupfd_cloexec(stream, FIRST));
        let [one, two] = kept;
        let kept: Kept = Arc::new(Mutex::new(Some([one?, two?])));
        let ((output, to_output), (errors, to_errors)) = (io::pipe()?, io::pipe()?);
        let (ended, end) = io::pipe()?;
        ioctl_fionbio(&output, true)?;
        ioctl_fionbio(&errors, true)?;
        let (tell, printed) = mpsc::channel();
        let (say, begun) = mpsc::channel();
        let streams = [(output, NAMES[0]), (errors, NAMES[1])];
        let mut reader = Reader {
            streams: streams.map(|(from, name)| Capture::holding(from, name)),
            provider: provider.clone(),
        };
        let late = Arc::clone(&kept);
        // Where the time is over at once, the reader puts back what was redirected before, and not what is about to be.
        let not_yet = kept.lock();
        thread::Builder::new().name("plugin output".to_owned()).spawn(move || {
            let _ = say.send(());
            reader.read_until(&ended, until);
            drop(late.lock().take().map(Claimed));
            // Nobody waits for it where the load took too long.
            let _ = tell.send(reader.let_go());
            // A process that was started meanwhile may still have the pipes, and would wait for whoever reads them.
            reader.read_all();
        })?;
        // A thread can't begin while constructors run: the C library has locked what it needs for that.
        let _ = begun.recv();
        let redirected = [dup2_stdout(&to_output), dup2_stderr(&to_errors)];
        drop(not_yet);
        // Where one has failed, dropping puts both back.
        let begun = Self { kept, end: Some(end), printed };
        redirected.into_iter().collect::<Result<(), _>>()?;
        Ok(begun)
    }

    /// Takes the right to put the descriptors back; `None` where the reader has done so, since it took too long.
    pub(super) fn claim(&self) -> Option<Claimed> {
        self.kept.lock().take().map(Claimed)
    }

    /// Puts the descriptors back, and tells what was printed, which is logged by then.
    pub(super) fn end(mut self, claimed: Claimed) -> Vec<Disturbance> {
        // What a plugin has printed and the C library still holds.
        native::flush_output();
        drop(claimed);
        drop(self.end.take());
        let bytes = self.printed.recv().unwrap_or_default();
        let printed = NAMES.iter().zip(bytes).filter(|(_, bytes)| *bytes > 0);
        let change = |(stream, bytes): (&&str, u64)| {
            Change::Output { stream: (*stream).to_owned(), bytes }.found(false)
        };
        printed.map(change).collect()
    }
}

impl Drop for Redirected {
    fn drop(&mut self) {
        drop(self.claim());
    }
}

impl Drop for Claimed {
    fn drop(&mut self) {
        let Self([output, errors]) = self;
        for (name, result) in NAMES.iter().zip([dup2_stdout(output), dup2_stderr(errors)]) {
            if let Err(error) = result {
                log::error!("{name} can't be put back after a load: {error}");
            }
        }
    }
}

/// What reads the pipes.
struct Reader {
    streams: [Capture<PipeReader>; 2],
    provider: ProviderId,
}

impl Reader {
    /// Takes what comes until the load has ended, or until this moment, and then what has come until then.
    fn read_until(&mut self, ended: &PipeReader, until: Instant) {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let is_over = left.is_zero() || self.wait(Some(ended), Timespec::try_from(left).ok());
            self.drain();
            if is_over {
                return;
            }
        }
    }

    /// Takes what comes until nobody has the pipes any more.
    fn read_all(&mut self) {
        while self.streams.iter().any(|stream| stream.from.is_some()) {
            self.wait(None, None);
            self.drain();
        }
    }

    fn drain(&mut self) {
        for stream in &mut self.streams {
            stream.drain(&self.provider);
        }
    }

    fn let_go(&mut self) -> [u64; 2] {
        self.streams.each_mut().map(|stream| stream.let_go(&self.provider))
    }

    /// Waits until there is something to take, and tells whether the load has ended.
    fn wait(&self, ended: Option<&PipeReader>, timeout: Option<Timespec>) -> bool {
        let pipes = self.streams.iter().filter_map(|stream| stream.from.as_ref());
        let watched = ended.into_iter().chain(pipes).map(AsFd::as_fd);
        let mut polled: Vec<PollFd<'_>> =
            watched.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        if poll(&mut polled, timeout.as_ref()).is_err() {
            return false;
        }
        ended.is_some() && !polled[0].revents().is_empty()
    }
}
