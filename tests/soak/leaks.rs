//! What the process has in use while no host is open in it: it must be what it was.

use std::{
    fmt, fs,
    process::id,
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, WaitOptions, waitpid};
use toolbay_tests::processes::{Process, processes};

use crate::report::{Report, Surprise};

/// How long what has been let go may take to be gone.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bytes of anonymous memory that the process may have more than after warming up. What libraries that are open have written to is in it, and is
/// the same each time; what the allocator keeps of what threads have used at the same time is in it as well, and is little where all of them
/// share one heap, as `cargo xtask soak` has it.
const MORE_MEMORY: u64 = 16 << 20;

/// What a process has in use.
#[derive(Debug, Clone)]
pub(crate) struct Usage {
    /// Its children, theirs, and so on, also those whose parent has ended.
    processes: Vec<u32>,
    descriptors: usize,
    threads: usize,
    /// Bytes of memory that no file has the content of.
    anonymous: u64,
}

impl Usage {
    /// What is in use once nothing goes away any more that was let go.
    pub(crate) fn at_rest() -> Self {
        let since = Instant::now();
        loop {
            let usage = Self::now();
            if (usage.processes.is_empty() && usage.threads == 1) || since.elapsed() > PATIENCE {
                reap_orphans();
                return Self::now();
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let number = |name: &str| {
            let value = status.lines().find_map(|line| line.strip_prefix(name));
            let number = value.and_then(|value| value.split_whitespace().next()?.parse().ok());
            number.unwrap_or(u64::MAX)
        };
        Self {
            processes: descendants(),
            descriptors: fs::read_dir("/proc/self/fd").map_or(0, Iterator::count),
            threads: number("Threads:").try_into().unwrap_or(usize::MAX),
            anonymous: number("RssAnon:").saturating_mul(1024),
        }
    }

    /// Checks that nothing is left of a round. Memory is only compared where there was something to warm up before.
    pub(crate) fn check(&self, warm: Option<&Self>, report: &Report, round: usize) {
        let about = |what: &'static str| move || format!("{what} after round {round}");
        let none = format!("{:?}", [0_u32; 0]);
        let found = format!("{:?}", self.processes);
        report.count(equal(&none, &found), about("processes that are left"));
        report.count(equal("1", &self.threads.to_string()), about("threads"));
        let Some(warm) = warm else { return };
        let [expected, found] = [warm, self].map(|usage| usage.descriptors.to_string());
        report.count(equal(&expected, &found), about("descriptors"));
        let limit = warm.anonymous + MORE_MEMORY;
        let outcome = (self.anonymous <= limit).then_some(()).ok_or_else(|| {
            let expected = format!("{} MiB at most", limit >> 20);
            Surprise::new(expected, format!("{} MiB", self.anonymous >> 20))
        });
        report.count(outcome, about("anonymous memory"));
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { processes, descriptors, threads, anonymous } = self;
        let (processes, mebibytes) = (processes.len(), *anonymous as f64 / f64::from(1 << 20));
        write!(
            f,
            "{processes} processes, {descriptors} descriptors, {threads} threads, {mebibytes:.1} MiB anonymous memory"
        )
    }
}

fn equal(expected: &str, found: &str) -> Result<(), Surprise> {
    if expected == found { Ok(()) } else { Err(Surprise::new(expected, found)) }
}

/// The numbers of all processes below this one that have not ended. It is the parent of those whose own has ended.
fn descendants() -> Vec<u32> {
    let all = processes();
    let mut found = vec![id()];
    let mut at = 0;
    while let Some(&parent) = found.get(at) {
        found.extend(all.iter().filter(|one| one.parent == parent).map(|one| one.pid));
        at += 1;
    }
    let has_ended = |pid: &u32| all.iter().any(|one| one.pid == *pid && one.is_zombie);
    found.into_iter().skip(1).filter(|pid| !has_ended(pid)).collect()
}

/// Hears of the end of those whose parent has ended before them.
fn reap_orphans() {
    let own = id();
    let ended = |one: &Process| one.parent == own && one.is_zombie;
    for process in processes().into_iter().filter(ended) {
        let pid = i32::try_from(process.pid).ok().and_then(Pid::from_raw);
        let _ = waitpid(pid, WaitOptions::NOHANG);
    }
}
