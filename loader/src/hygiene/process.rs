//! What a process has once for all its threads: limits, working directory, umask, locale, environment.

use std::{
    collections::BTreeMap,
    env,
    ffi::{OsStr, OsString},
    fs,
    os::fd::OwnedFd,
};

use rustix::{
    fs::{Mode, OFlags, fstat, open},
    process::{
        DumpableBehavior, Resource, Rlimit, dumpable_behavior, fchdir, getrlimit,
        set_dumpable_behavior, setrlimit, umask,
    },
};

use super::{
    MAX_NAME,
    disturbance::{Became, Change, Disturbance},
    native,
    surroundings::Aspect,
};
use crate::plugin_text::one_line;

const RESOURCES: [(Resource, &str); 16] = [
    (Resource::Cpu, "RLIMIT_CPU"),
    (Resource::Fsize, "RLIMIT_FSIZE"),
    (Resource::Data, "RLIMIT_DATA"),
    (Resource::Stack, "RLIMIT_STACK"),
    (Resource::Core, "RLIMIT_CORE"),
    (Resource::Rss, "RLIMIT_RSS"),
    (Resource::Nproc, "RLIMIT_NPROC"),
    (Resource::Nofile, "RLIMIT_NOFILE"),
    (Resource::Memlock, "RLIMIT_MEMLOCK"),
    (Resource::As, "RLIMIT_AS"),
    (Resource::Locks, "RLIMIT_LOCKS"),
    (Resource::Sigpending, "RLIMIT_SIGPENDING"),
    (Resource::Msgqueue, "RLIMIT_MSGQUEUE"),
    (Resource::Nice, "RLIMIT_NICE"),
    (Resource::Rtprio, "RLIMIT_RTPRIO"),
    (Resource::Rttime, "RLIMIT_RTTIME"),
];

/// What the process may use at most. A hard limit that was lowered only comes back where the process has the right to raise it.
pub(super) struct ResourceLimits([Rlimit; RESOURCES.len()]);

impl ResourceLimits {
    pub(super) fn now() -> Self {
        Self(RESOURCES.map(|(resource, _)| getrlimit(resource)))
    }
}

impl Aspect for ResourceLimits {
    fn settle(&self, found: &mut Vec<Disturbance>) {
        for ((resource, name), before) in RESOURCES.into_iter().zip(&self.0) {
            let after = getrlimit(resource);
            if after == *before {
                continue;
            }
            let pair = |limit: &Rlimit| [limit.current, limit.maximum];
            let (resource_name, was, is) = (name.to_owned(), pair(before), pair(&after));
            let restored = setrlimit(resource, *before).is_ok();
            let change = Change::ResourceLimit { resource: resource_name, before: was, after: is };
            found.push(change.found(restored));
        }
    }
}

/// Whether the process leaves a core, and may be looked into; `None` where the system does not say.
pub(super) struct Dumpable(Option<DumpableBehavior>);

impl Dumpable {
    pub(super) fn now() -> Self {
        Self(dumpable_behavior().ok())
    }
}

impl Aspect for Dumpable {
    fn settle(&self, found: &mut Vec<Disturbance>) {
        let (Some(before), Ok(after)) = (self.0, dumpable_behavior()) else { return };
        if before != after {
            let restored = set_dumpable_behavior(before).is_ok();
            let change = Change::Dumpable { before: before as i32, after: after as i32 };
            found.push(change.found(restored));
        }
    }
}

/// The folder that relative paths begin at, held open, so that it is found again also where it was moved.
pub(super) struct WorkingDirectory {
    path: String,
    folder: Option<OwnedFd>,
}

impl WorkingDirectory {
    pub(super) fn now() -> Self {
        Self { path: current_path(), folder: current_folder() }
    }
}

impl Aspect for WorkingDirectory {
    fn settle(&self, found: &mut Vec<Disturbance>) {
        let id = |folder: &OwnedFd| fstat(folder).ok().map(|stat| (stat.st_dev, stat.st_ino));
        let Some(before) = &self.folder else { return };
        if current_folder().is_some_and(|after| id(&after) == id(before)) {
            return;
        }
        let after = current_path();
        let restored = fchdir(before).is_ok();
        let change = Change::WorkingDirectory { before: self.path.clone(), after };
        found.push(change.found(restored));
    }
}

fn current_path() -> String {
    env::current_dir().map_or("none".to_owned(), |path| shown(path.as_os_str()))
}

fn current_folder() -> Option<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    open(".", flags, Mode::empty()).ok()
}

/// The rights that new files do not get. It is read from /proc: the system call that tells it changes it for a moment, in which other threads
/// may make files.
pub(super) struct Umask(Option<u32>);

impl Umask {
    pub(super) fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("Umask:"));
        Self(mask.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok()))
    }
}

impl Aspect for Umask {
    fn settle(&self, found: &mut Vec<Disturbance>) {
        let (Some(before), Self(Some(after))) = (self.0, Self::now()) else { return };
        if before != after {
            umask(Mode::from_raw_mode(before));
            found.push(Change::Umask { before, after }.found(true));
        }
    }
}

const CATEGORIES: [(i32, &str); 12] = [
    (libc::LC_CTYPE, "LC_CTYPE"),
    (libc::LC_NUMERIC, "LC_NUMERIC"),
    (libc::LC_TIME, "LC_TIME"),
    (libc::LC_COLLATE, "LC_COLLATE"),
    (libc::LC_MONETARY, "LC_MONETARY"),
    (libc::LC_MESSAGES, "LC_MESSAGES"),
    (libc::LC_PAPER, "LC_PAPER"),
    (libc::LC_NAME, "LC_NAME"),
    (libc::LC_ADDRESS, "LC_ADDRESS"),
    (libc::LC_TELEPHONE, "LC_TELEPHONE"),
    (libc::LC_MEASUREMENT, "LC_MEASUREMENT"),
    (libc::LC_IDENTIFICATION, "LC_IDENTIFICATION"),
];

/// The locale of the process. It is not put back: nobody may change it while another thread may print or read a number, and which threads do is
/// not known here.
pub(super) struct Locale(Option<Vec<String>>);

impl Locale {
    pub(super) fn now() -> Self {
        Self(native::locale_names(&CATEGORIES.map(|(category, _)| category)))
    }
}

impl Aspect for Locale {
    fn settle(&self, found: &mut Vec<Disturbance>) {
        let (Some(before), Self(Some(after))) = (&self.0, Self::now()) else { return };
        let names = CATEGORIES.iter().map(|(_, name)| *name).zip(before.iter().zip(&after));
        let mut changed: Vec<_> = names.filter(|(_, (before, after))| before != after).collect();
        let is_whole = changed.len() == CATEGORIES.len();
        if is_whole && changed.iter().all(|(_, names)| *names == changed[0].1) {
            changed = vec![("LC_ALL", changed[0].1)];
        }
        for (category, (before, after)) in changed {
            let category = category.to_owned();
            let [before, after] = [before, after].map(|name| one_line(name, MAX_NAME));
            found.push(Change::Locale { category, before, after }.found(false));
        }
    }
}

/// The environment as it is now, not as the process was given it. It is not put back: the C library lets nobody change it while another thread
/// may read it, and plugins read it as they like.
pub(super) struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    pub(super) fn now() -> Self {
        Self(env::vars_os().collect())
    }
}

impl Aspect for Environment {
    fn settle(&self, found: &mut Vec<Disturbance>) {
        const MOST: usize = 32;
        let (Self(before), Self(after)) = (self, &Self::now());
        let names = before.keys().chain(after.keys().filter(|name| !before.contains_key(*name)));
        let changed = names.filter_map(|name| {
            let became = match (before.get(name), after.get(name)) {
                (None, _) => Became::Set,
                (Some(_), None) => Became::Removed,
                (Some(was), Some(is)) if was != is => Became::Changed,
                _ => return None,
            };
            Some(Change::Variable { name: shown(name), became }.found(false))
        });
        found.extend(changed.take(MOST));
    }
}

fn shown(name: &OsStr) -> String {
    one_line(&name.to_string_lossy(), MAX_NAME)
}
