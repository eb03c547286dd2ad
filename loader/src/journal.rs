//! Whose code this process is running at this moment, written where it survives the process.
//!
//! Each process has a file in `journal`, whose lock it holds until it ends, and which it has mapped: what is written there stays with the kernel
//! when the process ends in whatever way, and costs no system call. Whoever opens the home next reads what was left behind. A file of another start
//! of the machine tells nothing: the power was cut, and the plugin is not to blame.

mod mapped;

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    ops::Range,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    process,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering, compiler_fence},
    },
};

use memmap2::MmapMut;
use parking_lot::{Mutex, MutexGuard};
use rustix::fs::{FallocateFlags, fallocate};
use toolbay_core::ProviderId;

use crate::{
    deadlines::LoadPhase,
    sealed_file::remove_if_there,
    store::{ContentHash, private_dir},
};

/// How many threads can say at once whose code they run; what is beyond is not written down.
const SLOTS: usize = 64;

/// The bytes of a page, which is the least that can be mapped.
const PAGE: usize = 4096;

const MAGIC: &[u8; 8] = b"TBJRNL\x00\x01";

const ENDING: &str = "journal";

/// Where in a page the content's hash is; before it is the byte of what runs.
const HASH: Range<usize> = 1..33;

/// Where in a page the provider's id begins, which ends with a zero.
const ID: usize = HASH.end;

thread_local! {
    /// The slot that a thread looks at first.
    static FIRST: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed) % SLOTS
    };
}

/// What of a plugin's code runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Running {
    Loading(LoadPhase),
    Call,
    Stop,
}

impl Running {
    const ALL: [Self; 7] = [
        Self::Loading(LoadPhase::Open),
        Self::Loading(LoadPhase::Constructors),
        Self::Loading(LoadPhase::Root),
        Self::Loading(LoadPhase::Create),
        Self::Loading(LoadPhase::Tools),
        Self::Call,
        Self::Stop,
    ];

    /// The byte that stands for it; 0 is none.
    fn code(self) -> u8 {
        let at = Self::ALL.iter().position(|one| *one == self);
        at.and_then(|at| u8::try_from(at + 1).ok()).unwrap_or_default()
    }

    fn of_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code).checked_sub(1)?).copied()
    }
}

impl std::fmt::Display for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Loading(phase) => phase.fmt(f),
            Self::Call => f.write_str("call"),
            Self::Stop => f.write_str("stop"),
        }
    }
}

/// A plugin whose code ran when a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Suspect {
    pub(crate) provider: ProviderId,
    pub(crate) content: ContentHash,
    pub(crate) running: Running,
}

/// The journal of this process.
#[derive(Debug)]
pub(crate) struct Journal {
    folder: PathBuf,
    file: OnceLock<Option<JournalFile>>,
}

#[derive(Debug)]
struct JournalFile {
    /// Held for its lock.
    _file: File,
    slots: Vec<Mutex<MmapMut>>,
}

/// While it lives, the journal says whose code runs.
#[must_use = "what it says holds as long as it lives"]
pub(crate) struct Entered<'j>(Option<MutexGuard<'j, MmapMut>>);

impl Journal {
    pub(crate) fn new(home: &Path) -> Self {
        Self { folder: home.join("journal"), file: OnceLock::new() }
    }

    /// Makes the file now, where there is none yet: what is opened later may look like a plugin's.
    pub(crate) fn prepare(&self) {
        self.open();
    }

    fn open(&self) -> Option<&JournalFile> {
        let file = self.file.get_or_init(|| {
            let created = JournalFile::create(&self.folder);
            created.inspect_err(|error| log::warn!("no journal of whose code runs: {error}")).ok()
        });
        file.as_ref()
    }

    /// Says whose code this thread is about to run. Where that can't be written down, it runs all the same.
    pub(crate) fn enter(
        &self,
        provider: &ProviderId,
        content: ContentHash,
        running: Running,
    ) -> Entered<'_> {
        let slots = self.open().map_or(&[][..], |file| &file.slots);
        // From a place of the thread's own on, which nobody else is likely to have.
        let (before, after) = slots.split_at(FIRST.with(|first| *first).min(slots.len()));
        let mut slot = after.iter().chain(before).find_map(Mutex::try_lock);
        if let Some(slot) = &mut slot {
            let id = provider.as_str().as_bytes();
            slot[HASH].copy_from_slice(content.as_bytes());
            slot[ID..ID + id.len()].copy_from_slice(id);
            slot[ID + id.len()] = 0;
            slot[0] = running.code();
            // Nothing of it may be put off until after the plugin's code, which can end the process.
            compiler_fence(Ordering::SeqCst);
        }
        Entered(slot)
    }

    /// Whose code ran in each process that has ended since the machine was started. What they left behind is removed.
    pub(crate) fn left_behind(&self) -> io::Result<Vec<Vec<Suspect>>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let boot = boot_id()?;
        let mut ended = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_none_or(|ending| ending != ENDING) {
                continue;
            }
            let file = match File::open(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                file => file?,
            };
            // Its process lives, or somebody else is at it.
            if file.try_lock().is_err() {
                continue;
            }
            let mut content = Vec::new();
            io::Read::read_to_end(
                &mut io::Read::take(&file, (PAGE * (SLOTS + 1)) as u64),
                &mut content,
            )?;
            remove_if_there(&path)?;
            let suspects = suspects(&content, &boot);
            if !suspects.is_empty() {
                ended.push(suspects);
            }
        }
        Ok(ended)
    }
}

impl JournalFile {
    fn create(folder: &Path) -> io::Result<Self> {
        private_dir(folder)?;
        let name = format!("{}-{:016x}.{ENDING}", process::id(), getrandom::u64()?);
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create_new(true).mode(0o600);
        // Under another name until it is locked: whoever reads the folder takes one without a lock for one that was left behind.
        let draft = folder.join(format!("{name}.new"));
        let mut file = options.open(&draft)?;
        let write = |file: &mut File| {
            file.lock()?;
            file.write_all(&[MAGIC, boot_id()?.as_bytes()].concat())?;
            // All of its room at once: where a disk is full, writing to a mapping would end the process.
            fallocate(&*file, FallocateFlags::empty(), 0, (PAGE * (SLOTS + 1)) as u64)?;
            fs::rename(&draft, folder.join(&name))
        };
        if let Err(error) = write(&mut file) {
            remove_if_there(&draft)?;
            return Err(error);
        }
        let slot = |at: usize| mapped::map(&file, (PAGE * at) as u64, PAGE).map(Mutex::new);
        let slots = (1..=SLOTS).map(slot).collect::<io::Result<_>>()?;
        Ok(Self { _file: file, slots })
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        if let Some(slot) = &mut self.0 {
            compiler_fence(Ordering::SeqCst);
            slot[0] = 0;
        }
    }
}

/// Which start of the machine this is.
fn boot_id() -> io::Result<String> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|id| id.trim().to_owned())
}

/// Whose code a journal says ran, where it is one of this start of the machine.
fn suspects(journal: &[u8], boot: &str) -> Vec<Suspect> {
    let is_of_now = journal.starts_with(&[MAGIC, boot.as_bytes()].concat());
    let slots = journal.chunks_exact(PAGE).skip(1).filter(|_| is_of_now);
    let suspect = |slot: &[u8]| {
        let running = Running::of_code(slot[0])?;
        let content = ContentHash::from_bytes(slot[HASH].try_into().ok()?);
        let id = slot[ID..].split(|&byte| byte == 0).next()?;
        let provider = str::from_utf8(id).ok()?.parse().ok()?;
        Some(Suspect { provider, content, running })
    };
    slots.filter_map(suspect).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The one journal that is there.
    fn only(folder: &Path) -> PathBuf {
        let mut there = fs::read_dir(folder.join("journal")).unwrap();
        let path = there.next().unwrap().unwrap().path();
        assert!(there.next().is_none());
        path
    }

    #[test]
    fn what_runs_when_a_process_ends_is_left_behind_and_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        let reader = Journal::new(home.path());
        assert_eq!(reader.left_behind().unwrap(), Vec::<Vec<Suspect>>::new());
        let journal = Journal::new(home.path());
        let [one, other] = ["one", "other"].map(|name| name.parse::<ProviderId>().unwrap());
        let content = |provider: &ProviderId| ContentHash::of(provider.as_str().as_bytes());
        drop(journal.enter(&other, content(&other), Running::Loading(LoadPhase::Constructors)));
        let entered = journal.enter(&one, content(&one), Running::Call);
        assert!(reader.left_behind().unwrap().is_empty(), "its process lives");
        // As it is when the process ends here: the lock is gone, and nothing was taken back.
        let left = fs::read(only(home.path())).unwrap();
        drop(entered);
        drop(journal);
        let path = only(home.path());
        fs::write(&path, &left).unwrap();
        let suspect = Suspect { content: content(&one), provider: one, running: Running::Call };
        assert_eq!(reader.left_behind().unwrap(), [[suspect]]);
        assert!(!path.exists() && reader.left_behind().unwrap().is_empty(), "it is told once");

        // After a power cut, or in a file that was cut short, nobody is named.
        let mut of_before = left.clone();
        of_before[MAGIC.len()] ^= 1;
        for content in [&of_before[..], &left[..PAGE], &left[..20], b""] {
            fs::write(&path, content).unwrap();
            assert!(reader.left_behind().unwrap().is_empty());
            assert!(!path.exists());
        }
    }

    #[test]
    fn more_threads_than_there_is_room_for_run_all_the_same() {
        let home = tempfile::tempdir().unwrap();
        let journal = Journal::new(home.path());
        let enter = || journal.enter(&"a".parse().unwrap(), ContentHash::of(b"a"), Running::Call);
        let entered: Vec<_> = (0..SLOTS + 2).map(|_| enter()).collect();
        assert_eq!(entered.iter().filter(|entered| entered.0.is_some()).count(), SLOTS);
        drop(entered);
        assert!(enter().0.is_some());
    }

    #[test]
    fn every_phase_has_a_byte_of_its_own() {
        for running in Running::ALL {
            assert_eq!(Running::of_code(running.code()), Some(running));
        }
        assert_eq!([0, 8, 255].map(Running::of_code), [None; 3]);
    }
}
