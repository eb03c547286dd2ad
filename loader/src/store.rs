//! The host's private, content-addressed copies of libraries.
//!
//! A library is loaded from here alone. Other content has another path, so the dynamic linker never answers with an older library
//! of the same name, and nobody who replaces a file in a plugin directory changes what is mapped.

use std::{
    ffi::OsString,
    fmt,
    fs::{self, File, Metadata, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    str::FromStr,
};

use rustix::{fs::StatVfsMountFlags, process::geteuid};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::{
    inspect,
    rejection::{Reason, Stage},
};

/// The SHA-256 of a library's content; as text, 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// The hash of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The hash with these bytes.
    pub(crate) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub(crate) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The hash of all that was put in.
    pub(crate) fn finish(hasher: Sha256) -> Self {
        Self(hasher.finalize().into())
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A text that is no content hash.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected 64 hexadecimal digits, found {found:?}")]
pub struct NotAHash {
    found: String,
}

impl FromStr for ContentHash {
    type Err = NotAHash;

    fn from_str(text: &str) -> Result<Self, NotAHash> {
        let not_a_hash = || NotAHash { found: text.chars().take(80).collect() };
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(not_a_hash());
        }
        let mut hash = [0; 32];
        for (byte, digits) in hash.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let digits = str::from_utf8(digits).map_err(|_| not_a_hash())?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| not_a_hash())?;
        }
        Ok(Self(hash))
    }
}

/// The folder of copies: one entry for each content, a folder that is there as a whole or not at all.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    root: PathBuf,
}

/// An entry that is being written, under a name that nobody looks at. Dropped before it is [kept](Incoming::keep), it is gone.
#[derive(Debug)]
pub(crate) struct Incoming {
    folder: TempDir,
    /// Held as long as somebody writes, so that what a killed process has left behind can be told from it.
    _lock: File,
}

const INCOMING: &str = ".incoming-";
const REMOVED: &str = ".removed-";

impl Store {
    /// The store in this folder, which is made when the first copy is.
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Begins an entry: a folder of the store that only the host's user can enter.
    pub(crate) fn begin(&self) -> Result<Incoming, Reason> {
        let failed = |error: io::Error| self.failed(&error);
        private_dir(&self.root).map_err(failed)?;
        self.check_private()?;
        self.check_executable()?;
        loop {
            let folder =
                tempfile::Builder::new().prefix(INCOMING).tempdir_in(&self.root).map_err(failed)?;
            // Whoever collects the store may take it for one that was left behind until it is locked: then there is another.
            let Ok(lock) = File::open(folder.path()) else { continue };
            lock.lock().map_err(failed)?;
            if folder.path().exists() {
                return Ok(Incoming { folder, _lock: lock });
            }
        }
    }

    /// Copies a single library of this content into the store, unless it is there already. Returns where it is, and the hash of what was
    /// written, which is another where the file has changed since it was hashed.
    pub(crate) fn copy(
        &self,
        from: &File,
        hash: ContentHash,
        name: &str,
    ) -> Result<(PathBuf, ContentHash), Reason> {
        let failed = |error: io::Error| self.failed(&error);
        if self.check_private().is_ok() && self.holds(hash, name) {
            return Ok((self.entry(hash).join(name), hash));
        }
        let incoming = self.begin()?;
        let mut copy = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o500)
            .open(incoming.path().join(name))
            .map_err(failed)?;
        // Hashed again: the source may have changed meanwhile, and the copy is what counts.
        let hash = copy_and_hash(from, &mut copy).map_err(failed)?;
        copy.sync_all().map_err(failed)?;
        let entry = incoming.keep(self, hash, || self.holds(hash, name))?;
        Ok((entry.join(name), hash))
    }

    /// Whether a single library of this content is there, byte for byte.
    pub(crate) fn holds(&self, content: ContentHash, name: &str) -> bool {
        let copy = inspect::open(&self.entry(content).join(name));
        self.check_entry(content).is_ok()
            && copy.is_ok_and(|(copy, _)| self.check_hash(&copy, content).is_ok())
    }

    /// Checks that the store is fit for libraries; one that is not there yet will be made so.
    pub(crate) fn check(&self) -> Result<(), Reason> {
        if !self.root.exists() {
            return Ok(());
        }
        self.check_private().and_then(|()| self.check_executable())
    }

    /// Checks that nobody but the host's own user can write to the store: what is verified there must stay what it is.
    pub(crate) fn check_private(&self) -> Result<(), Reason> {
        let metadata = fs::metadata(&self.root).map_err(|error| self.failed(&error))?;
        check_private(&self.root, &metadata)
    }

    /// Checks that an entry is a folder of the store's own, and as private as the store.
    pub(crate) fn check_entry(&self, content: ContentHash) -> Result<(), Reason> {
        let entry = self.entry(content);
        let metadata = fs::symlink_metadata(&entry).map_err(|error| self.failed(&error))?;
        if metadata.is_dir() {
            return check_private(&entry, &metadata);
        }
        Err(Reason::plugin(
            Stage::Store,
            "changed_in_store",
            format!("a folder, {}", entry.display()),
            if metadata.is_symlink() { "a symbolic link" } else { "another kind of file" },
            "refresh or install the plugin again; find out who wrote to the store",
        )
        .by_environment())
    }

    /// Checks that libraries can be mapped from the store: where its file system forbids that, the linker's own message names no reason.
    fn check_executable(&self) -> Result<(), Reason> {
        let flags =
            rustix::fs::statvfs(&self.root).map_err(|error| self.failed(&error.into()))?.f_flag;
        if !flags.contains(StatVfsMountFlags::NOEXEC) {
            return Ok(());
        }
        Err(Reason::plugin(
            Stage::Store,
            "store_not_executable",
            format!("a file system that code can be mapped from, {}", self.root.display()),
            "one that is mounted with noexec",
            "put the home on another file system, or mount this one with exec",
        )
        .by_environment())
    }

    /// Checks that a file of the store has the content that its name says.
    pub(crate) fn check_hash(&self, file: &File, hash: ContentHash) -> Result<(), Reason> {
        let there = self.hash_of(file)?;
        if there == hash {
            return Ok(());
        }
        Err(Reason::plugin(
            Stage::Store,
            "changed_in_store",
            format!("content with SHA-256 {hash}"),
            there.to_string(),
            "refresh, which copies the library from its plugin directory again; find out who wrote to the store",
        )
        .by_environment())
    }

    /// The hash of a file's content.
    pub(crate) fn hash_of(&self, file: &File) -> Result<ContentHash, Reason> {
        hash_of(file).map_err(|error| self.failed(&error))
    }

    /// The folder of the entry of this content, whether it is there or not.
    pub(crate) fn entry(&self, content: ContentHash) -> PathBuf {
        self.root.join(content.to_string())
    }

    /// The entries that are there, in the order of their hashes.
    pub(crate) fn entries(&self) -> io::Result<Vec<ContentHash>> {
        let mut entries: Vec<ContentHash> =
            self.names()?.iter().filter_map(|name| name.to_str()?.parse().ok()).collect();
        entries.sort();
        Ok(entries)
    }

    /// Removes an entry, and returns how many bytes that freed. It is gone at once, also where the process is killed on the way.
    pub(crate) fn remove(&self, content: ContentHash) -> io::Result<u64> {
        // Under a name of its own: the same content may have been removed before, by a process that was killed on the way.
        let aside = self.root.join(format!("{REMOVED}{content}-{:016x}", getrandom::u64()?));
        fs::rename(self.entry(content), &aside)?;
        remove_tree(&aside)
    }

    /// Removes what processes have left behind that were killed as they wrote or removed, and returns how many bytes that freed.
    pub(crate) fn remove_left_behind(&self) -> io::Result<u64> {
        let mut freed = 0;
        for name in self.names()? {
            let text = name.to_string_lossy();
            let path = self.root.join(&name);
            let left_behind = text.starts_with(REMOVED)
                || (text.starts_with(INCOMING)
                    && File::open(&path).is_ok_and(|folder| folder.try_lock().is_ok()));
            if left_behind {
                freed += remove_tree(&path)?;
            }
        }
        Ok(freed)
    }

    fn names(&self) -> io::Result<Vec<OsString>> {
        match fs::read_dir(&self.root) {
            Ok(entries) => entries.map(|entry| Ok(entry?.file_name())).collect(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    fn failed(&self, error: &io::Error) -> Reason {
        Reason::plugin(
            Stage::Store,
            "store_failed",
            format!("a folder to keep copies in, {}", self.root.display()),
            error.to_string(),
            "make the folder writable for the host, free space, then refresh",
        )
        .by_environment()
    }
}

impl Incoming {
    /// The folder to write to.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Puts the entry in place with one rename, and returns where it is. One that is there already stays, where `intact` says that it is
    /// what it should be; otherwise it makes room.
    pub(crate) fn keep(
        self,
        store: &Store,
        content: ContentHash,
        intact: impl FnOnce() -> bool,
    ) -> Result<PathBuf, Reason> {
        let failed = |error: io::Error| store.failed(&error);
        let entry = store.entry(content);
        sync_dir(self.path()).map_err(failed)?;
        if fs::symlink_metadata(&entry).is_ok() {
            if intact() {
                return Ok(entry);
            }
            log::warn!("the copy in {} is not what it was: it is replaced", entry.display());
            store.remove(content).map_err(failed)?;
        }
        match fs::rename(self.path(), &entry) {
            // Another process was faster; what it has put there is checked again before it is loaded.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            renamed => renamed.map_err(failed)?,
        }
        sync_dir(&store.root).map_err(failed)?;
        Ok(entry)
    }
}

/// Removes what is at a path, a folder with all that is in it, and returns how many bytes its files had. A link goes itself, and what it
/// leads to stays.
fn remove_tree(path: &Path) -> io::Result<u64> {
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_dir() {
        fs::remove_file(path)?;
        return Ok(metadata.len());
    }
    let mut bytes = 0;
    for entry in fs::read_dir(path)? {
        bytes += remove_tree(&entry?.path())?;
    }
    fs::remove_dir(path)?;
    Ok(bytes)
}

fn check_private(folder: &Path, metadata: &Metadata) -> Result<(), Reason> {
    let (mode, owner) = (metadata.mode(), metadata.uid());
    let found = if mode & 0o022 != 0 {
        format!("one of mode {:o}", mode & 0o7777)
    } else if owner != 0 && owner != geteuid().as_raw() {
        format!("one of user {owner}")
    } else {
        return Ok(());
    };
    Err(Reason::plugin(
        Stage::Store,
        "store_not_private",
        format!("a folder that only the host's user can write to, {}", folder.display()),
        found,
        "take the right to write from group and others, and give the folder to the host's user",
    )
    .by_environment())
}

/// Makes a folder that only the host's user can enter; one that is there stays as it is.
pub(crate) fn private_dir(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Makes a rename in a folder durable.
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// The hash of a file's content.
pub(crate) fn hash_of(file: &File) -> io::Result<ContentHash> {
    copy_and_hash(file, &mut io::sink())
}

/// Reads by position, so that it does not matter who has read from the file before.
fn copy_and_hash(from: &File, to: &mut impl Write) -> io::Result<ContentHash> {
    let mut reader = Positioned { file: from, at: 0 };
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let read = reader.read(&mut buffer)?;
        if read == 0 {
            return Ok(ContentHash::finish(hasher));
        }
        hasher.update(&buffer[..read]);
        to.write_all(&buffer[..read])?;
    }
}

struct Positioned<'a> {
    file: &'a File,
    at: u64,
}

impl Read for Positioned<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_reads_back_as_it_is_written() {
        let hash = ContentHash::of(b"abc");
        let text = hash.to_string();
        assert_eq!(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(text.parse(), Ok(hash));
        let signed = format!("+{}", &text[1..]);
        let accented = format!("é{}", &text[2..]);
        for wrong in ["", "ba78", &text[1..], &text.replace('b', "g"), &accented, &signed] {
            assert!(wrong.parse::<ContentHash>().is_err(), "{wrong:?}");
        }
    }
}
