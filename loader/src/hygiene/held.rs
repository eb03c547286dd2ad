//! What a process has numbers for: descriptors and threads.

use std::{
    collections::BTreeSet,
    fs,
    os::fd::{AsRawFd, BorrowedFd, OwnedFd},
    path::Path,
};

use rustix::{
    fs::{Dir, Mode, OFlags, fstat, open},
    io::{self, fcntl_dupfd_cloexec},
    stdio::{dup2_stderr, dup2_stdin, dup2_stdout, stderr, stdin, stdout},
};

use super::{
    MAX_NAME,
    disturbance::{Change, Disturbance},
    surroundings::Aspect,
};
use crate::plugin_text::one_line;

/// How many descriptors and threads are named.
const MOST: usize = 4;

/// The lowest number of a descriptor that is no standard stream.
pub(super) const FIRST: i32 = 3;

/// Descriptors 0 to 2, with others that lead to the same files, to put them back.
pub(super) struct StandardStreams([Option<OwnedFd>; 3]);

impl StandardStreams {
    pub(super) fn now() -> Self {
        Self(streams().map(|stream| fcntl_dupfd_cloexec(stream, FIRST).ok()))
    }
}

impl Aspect for StandardStreams {
    fn settle(&self, found: &mut Vec<Disturbance>) {
        const PUT_BACK: [fn(&OwnedFd) -> io::Result<()>; 3] = [
            |stream| dup2_stdin(stream),
            |stream| dup2_stdout(stream),
            |stream| dup2_stderr(stream),
        ];
        let ways = self.0.iter().zip(streams()).zip(PUT_BACK);
        for (number, ((before, after), put_back)) in (0..).zip(ways) {
            let Some(before) = before else { continue };
            let (was, is) = (file(before), file(after));
            if was.is_some() && was == is {
                continue;
            }
            let change = Change::StandardStream { number, closed: is.is_none() };
            found.push(change.found(put_back(before).is_ok()));
        }
    }
}

fn streams() -> [BorrowedFd<'static>; 3] {
    [stdin(), stdout(), stderr()]
}

/// Which file it leads to; `None` where it is closed.
fn file(descriptor: impl std::os::fd::AsFd) -> Option<(u64, u64)> {
    fstat(descriptor).ok().map(|stat| (stat.st_dev, stat.st_ino))
}

/// The descriptors that are open; `None` where the system does not say.
pub(super) struct Descriptors(Option<BTreeSet<i32>>);

impl Descriptors {
    pub(super) fn now() -> Self {
        let open = numbers("/proc/self/fd");
        Self(open.map(|(mut numbers, own)| {
            numbers.remove(&own);
            numbers
        }))
    }
}

impl Aspect for Descriptors {
    fn settle(&self, found: &mut Vec<Disturbance>) {
        let (Some(before), Self(Some(after))) = (&self.0, Self::now()) else { return };
        let leads_to = |number: &i32| fs::read_link(format!("/proc/self/fd/{number}")).ok();
        // Another thread may have closed it meanwhile.
        let new: Vec<_> = after.difference(before).filter_map(leads_to).collect();
        if !new.is_empty() {
            let shown = |target: &Path| one_line(&target.to_string_lossy(), MAX_NAME);
            let first = new.iter().take(MOST).map(|target| shown(target)).collect();
            found.push(Change::Descriptors { count: new.len(), first }.found(false));
        }
    }
}

/// The threads that run; `None` where the system does not say.
pub(super) struct Threads(Option<BTreeSet<i32>>);

impl Threads {
    pub(super) fn now() -> Self {
        Self(numbers("/proc/self/task").map(|(numbers, _)| numbers))
    }
}

impl Aspect for Threads {
    fn settle(&self, found: &mut Vec<Disturbance>) {
        let (Some(before), Self(Some(after))) = (&self.0, Self::now()) else { return };
        let new: Vec<_> = after.difference(before).filter_map(|id| running_thread(*id)).collect();
        if !new.is_empty() {
            let first = new.iter().take(MOST).map(|name| one_line(name, MAX_NAME)).collect();
            found.push(Change::Threads { count: new.len(), first }.found(false));
        }
    }
}

/// The name of a thread, unless it is about to end: one that was joined is on the list for a moment longer.
fn running_thread(id: i32) -> Option<String> {
    /// The kernel's `PF_EXITING`, which is set before whoever joins the thread is woken.
    const EXITING: u64 = 4;
    /// The flags are the seventh word after the name.
    const FLAGS: usize = 6;
    let stat = fs::read(format!("/proc/self/task/{id}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // A name may have brackets of its own.
    let (name, rest) = (stat.split_once('(')?.1).rsplit_once(')')?;
    let flags: u64 = rest.split_whitespace().nth(FLAGS)?.parse().ok()?;
    (flags & EXITING == 0).then(|| name.to_owned())
}

/// The entries of a folder that are numbers, and the number of the descriptor that it was read with.
fn numbers(folder: &str) -> Option<(BTreeSet<i32>, i32)> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = open(folder, flags, Mode::empty()).ok()?;
    let own = opened.as_raw_fd();
    let entries = Dir::new(opened).ok()?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().to_str().ok()?.parse().ok());
    Some((names.collect(), own))
}
