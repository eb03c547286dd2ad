//! Which processes have which libraries open: what is really loaded, and what must not be removed.
//!
//! Each process that opens libraries has a file in `running`, one JSON object a line, which it only appends to, and whose lock it holds
//! until it ends. A file that nobody holds was left behind by a process that is no more. Where libraries were opened in workers alone, which end
//! with the host that has started them, the lock goes with it.

use std::{
    collections::{BTreeMap, BTreeSet, btree_map},
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    process,
};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::{
    hygiene::Disturbance,
    lock_file::Lock,
    store::{ContentHash, private_dir},
};

/// A process that has libraries open.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RunningProcess {
    /// Its number.
    pub pid: u32,
    /// The release of the loader that it uses.
    pub release: String,
    /// What it has loaded, in the order of loading.
    pub loaded: Vec<LoadedLibrary>,
    /// The entries of the store that it uses, or is about to.
    pub(crate) holds: BTreeSet<ContentHash>,
}

/// A library that is loaded in a process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LoadedLibrary {
    /// The provider's id.
    pub provider: String,
    /// Its version.
    pub version: String,
    /// The SHA-256 of its content.
    pub hash: String,
    /// Who signed it, as [`Signer`](crate::Signer) shows it.
    pub signer: String,
    /// The copy in the store that is mapped.
    pub path: PathBuf,
    /// The device of the mapped file, as the kernel names it.
    pub device: String,
    /// The inode of the mapped file.
    pub inode: u64,
    /// The compiler that built it, where it says so.
    pub rustc: Option<String>,
    /// The process that it is loaded in, where that is a worker of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<u32>,
    /// How long each phase of loading took.
    pub phases: Vec<Phase>,
    /// What of the process was no longer as before, once it was loaded there. Of a worker nobody asks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbances: Vec<Disturbance>,
}

/// A phase of loading and how long it took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Phase {
    /// The phase: `verify`, `open`, `create` or `list`.
    pub name: String,
    /// Microseconds.
    pub microseconds: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Process { pid: u32, release: String },
    Holds(String),
    Loaded(Box<LoadedLibrary>),
}

const ENDING: &str = "jsonl";

/// The files of this process in folders that it no longer uses: what it has mapped stays mapped all the same. One file for each folder says it.
static KEPT: Mutex<BTreeMap<PathBuf, Own>> = Mutex::new(BTreeMap::new());

/// The folder of these files, and this process's own.
#[derive(Debug)]
pub(crate) struct Running {
    folder: PathBuf,
    own: Mutex<Own>,
}

#[derive(Debug, Default)]
struct Own {
    file: Option<File>,
    holds: BTreeSet<ContentHash>,
    loaded: Vec<LoadedLibrary>,
    /// Whether something may have been mapped in this process itself.
    is_mapped: bool,
}

impl Running {
    pub(crate) fn new(home: &Path) -> Self {
        Self { folder: home.join("running"), own: Mutex::default() }
    }

    /// Says that this process is about to use an entry of the store, which from then on stays there.
    pub(crate) fn hold(&self, entry: ContentHash) -> io::Result<()> {
        let mut own = self.own.lock();
        if own.holds.contains(&entry) {
            return Ok(());
        }
        let _lock = self.lock()?;
        self.append(&mut own, &Line::Holds(entry.to_string()))?;
        own.holds.insert(entry);
        Ok(())
    }

    /// Says that a library is about to be opened in this process itself, whence it never goes.
    pub(crate) fn opens_here(&self) {
        self.own.lock().is_mapped = true;
    }

    /// Says that this process has loaded a library.
    pub(crate) fn loaded(&self, library: LoadedLibrary) -> io::Result<()> {
        let mut own = self.own.lock();
        own.loaded.retain(|there| is_there(there, process::id()));
        own.loaded.push(library.clone());
        self.append(&mut own, &Line::Loaded(Box::new(library)))
    }

    /// What this process has loaded through this home, in itself and in workers that have not ended.
    pub(crate) fn own(&self) -> Vec<LoadedLibrary> {
        let mut own = self.own.lock();
        own.loaded.retain(|there| is_there(there, process::id()));
        own.loaded.clone()
    }

    /// Keeps other processes from using further entries of the store, until the lock is dropped.
    pub(crate) fn lock(&self) -> io::Result<Lock> {
        private_dir(&self.folder)?;
        Lock::wait(&self.folder.join(".lock"))
    }

    /// The processes that are running, in the order of their numbers. What others have left behind is removed.
    pub(crate) fn processes(&self) -> io::Result<Vec<RunningProcess>> {
        let mut processes = Vec::new();
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(processes),
            entries => entries?,
        };
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == ENDING) {
                processes.extend(read(&path)?);
            }
        }
        processes.sort_by_key(|process| process.pid);
        Ok(processes)
    }

    fn append(&self, own: &mut Own, line: &Line) -> io::Result<()> {
        let file = match &mut own.file {
            Some(file) => file,
            none => {
                let mut file = create(&self.folder)?;
                let release = env!("CARGO_PKG_VERSION").to_owned();
                write_line(&mut file, &Line::Process { pid: process::id(), release })?;
                none.insert(file)
            }
        };
        write_line(file, line)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.own.get_mut().is_mapped {
            return;
        }
        // Whoever looks for what is in use finds it in the one file or in the other.
        let _lock = self.lock();
        let own = std::mem::take(self.own.get_mut());
        match KEPT.lock().entry(self.folder.clone()) {
            btree_map::Entry::Vacant(place) => drop(place.insert(own)),
            btree_map::Entry::Occupied(mut kept) => {
                let kept = kept.get_mut();
                for entry in own.holds {
                    let line = Line::Holds(entry.to_string());
                    if kept.holds.insert(entry)
                        && let Err(error) = self.append(kept, &line)
                    {
                        log::warn!(
                            "entry {entry} of the store is in use, and may be removed: {error}"
                        );
                    }
                }
            }
        }
    }
}

/// Whether the process that a library was loaded in has not ended: a worker is a child of its host.
fn is_there(library: &LoadedLibrary, host: u32) -> bool {
    library.worker.is_none_or(|worker| parent_of(worker) == Some(host))
}

fn parent_of(process: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // After the name, which may hold anything: the state, and the parent.
    let (_, after) = stat.rsplit_once(") ")?;
    after.split(' ').nth(1)?.parse().ok()
}

fn write_line(file: &mut File, line: &Line) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    file.write_all(&text)
}

/// A file of this process's own, locked. Somebody may take it for one that was left behind before it is locked: then there is another.
fn create(folder: &Path) -> io::Result<File> {
    loop {
        let name = format!("{}-{:016x}.{ENDING}", process::id(), getrandom::u64()?);
        let path = folder.join(name);
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path)?;
        file.lock()?;
        let id = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        let there = fs::metadata(&path).ok().map(id);
        if there == file.metadata().ok().map(id) {
            return Ok(file);
        }
    }
}

/// What a file says, or nothing where its process is no more.
fn read(path: &Path) -> io::Result<Option<RunningProcess>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    if file.try_lock().is_ok() {
        let removed = crate::sealed_file::remove_if_there(path);
        return removed.map(|()| None);
    }
    let mut process = RunningProcess {
        pid: 0,
        release: String::new(),
        loaded: Vec::new(),
        holds: BTreeSet::new(),
    };
    // The last line may be half written.
    let text = io::read_to_string(file)?;
    for line in text.lines().filter_map(|line| serde_json::from_str(line).ok()) {
        match line {
            Line::Process { pid, release } => {
                process.pid = pid;
                process.release = release;
            }
            Line::Holds(entry) => process.holds.extend(entry.parse::<ContentHash>().ok()),
            Line::Loaded(library) => process.loaded.push(*library),
        }
    }
    let RunningProcess { pid, loaded, .. } = &mut process;
    loaded.retain(|there| is_there(there, *pid));
    Ok(Some(process))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hygiene::Change;

    fn library(provider: &str) -> LoadedLibrary {
        LoadedLibrary {
            provider: provider.to_owned(),
            version: "1.0.0".to_owned(),
            hash: ContentHash::of(provider.as_bytes()).to_string(),
            signer: "nobody".to_owned(),
            path: PathBuf::from("/store/a.so"),
            device: "fe:00".to_owned(),
            inode: 7,
            rustc: None,
            worker: None,
            phases: vec![Phase { name: "open".to_owned(), microseconds: 5 }],
            disturbances: vec![Disturbance {
                change: Change::Umask { before: 0o22, after: 0 },
                restored: true,
            }],
        }
    }

    #[test]
    fn what_was_opened_in_the_process_itself_is_held_until_that_ends() {
        let home = tempfile::tempdir().unwrap();
        let [first, second, third] = [b"a", b"b", b"c"].map(|content| ContentHash::of(content));
        for (entry, opens_here) in [(first, true), (second, false), (third, true)] {
            let running = Running::new(home.path());
            running.hold(entry).unwrap();
            if opens_here {
                running.opens_here();
            }
        }
        let processes = Running::new(home.path()).processes().unwrap();
        let [process] = &processes[..] else { panic!("one file: {processes:?}") };
        assert_eq!(process.holds, [first, third].into(), "the worker's is gone");
    }

    #[test]
    fn a_library_in_a_worker_is_told_until_that_ends() {
        let home = tempfile::tempdir().unwrap();
        let running = Running::new(home.path());
        let mut worker =
            process::Command::new("cat").stdin(process::Stdio::piped()).spawn().unwrap();
        let there = LoadedLibrary { worker: Some(worker.id()), ..library("a") };
        running.hold(ContentHash::of(b"a")).unwrap();
        running.loaded(there.clone()).unwrap();
        running.loaded(library("b")).unwrap();
        let told = || (running.own(), running.processes().unwrap().remove(0).loaded);
        let both = vec![there, library("b")];
        assert_eq!(told(), (both.clone(), both));
        drop(worker.stdin.take());
        worker.wait().unwrap();
        let own = vec![library("b")];
        assert_eq!(told(), (own.clone(), own));
        // A process of that number that is somebody else's is no worker.
        let first = LoadedLibrary { worker: Some(1), ..library("c") };
        running.loaded(first).unwrap();
        assert_eq!(running.own(), [library("b")]);
    }

    #[test]
    fn what_a_process_has_open_is_told_until_it_ends() {
        let home = tempfile::tempdir().unwrap();
        let running = Running::new(home.path());
        assert_eq!(running.processes().unwrap(), []);
        let entry = ContentHash::of(b"a");
        running.hold(entry).unwrap();
        running.hold(entry).unwrap();
        running.loaded(library("a")).unwrap();
        let other = Running::new(home.path());
        let [process] = &other.processes().unwrap()[..] else { panic!("one process") };
        assert_eq!(process.pid, process::id());
        assert_eq!(process.holds, [entry].into());
        assert_eq!(process.loaded, [library("a")]);
        drop(running);
        assert_eq!(other.processes().unwrap(), []);
        let left = fs::read_dir(home.path().join("running")).unwrap();
        let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, [".lock"], "what is left behind is removed");
    }
}
