//! The host's private, content-addressed copies of libraries.
//!
//! A library is loaded from here alone. Other content has another path, so the dynamic linker never answers with an older library
//! of the same name, and nobody who replaces a file in a plugin directory changes what is mapped.

use std::{
    fmt,
    fs::{self, File, Permissions},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    str::FromStr,
};

use semver::Version;
use sha2::{Digest, Sha256};
use toolbay_core::ProviderId;

use crate::{
    inspect::{self, Inspected},
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

/// A library in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stored {
    /// Where it is.
    pub path: PathBuf,
    /// The hash of its content.
    pub hash: ContentHash,
}

/// The folder of copies.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
}

impl Store {
    /// The store in this folder, which is made when the first copy is.
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Copies a library, unless its content is there already: hashed as it is written, made durable, then put in place with one
    /// rename.
    pub(crate) fn copy(
        &self,
        source: &Inspected,
        id: &ProviderId,
        version: &Version,
    ) -> Result<Stored, Reason> {
        let failed = |error: io::Error| self.failed(&error);
        private_dir(&self.root).map_err(failed)?;
        self.check_private()?;
        let hash = copy_and_hash(source.file(), &mut io::sink()).map_err(failed)?;
        let path = self.path(hash, id, version);
        let there = inspect::open(&path).ok().map(|(file, _)| file);
        if there.is_some_and(|file| self.check_hash(&file, hash).is_ok()) {
            return Ok(Stored { path, hash });
        }

        let mut temporary = tempfile::Builder::new()
            .prefix(".incoming-")
            .tempfile_in(&self.root)
            .map_err(failed)?;
        // Hashed again: the source may have changed meanwhile, and the copy is what counts.
        let hash = copy_and_hash(source.file(), temporary.as_file_mut()).map_err(failed)?;
        let path = self.path(hash, id, version);
        let folder = self.folder(hash);
        private_dir(&folder).map_err(failed)?;
        temporary.as_file().set_permissions(Permissions::from_mode(0o500)).map_err(failed)?;
        temporary.as_file().sync_all().map_err(failed)?;
        temporary.persist(&path).map_err(|error| failed(error.error))?;
        sync_dir(&folder).and_then(|()| sync_dir(&self.root)).map_err(failed)?;
        Ok(Stored { path, hash })
    }

    /// Checks that nobody but the host's own user can write to the store: what is verified there must stay what it is.
    pub(crate) fn check_private(&self) -> Result<(), Reason> {
        let mode = fs::metadata(&self.root).map_err(|error| self.failed(&error))?.mode();
        if mode & 0o022 == 0 {
            return Ok(());
        }
        Err(Reason::plugin(
            Stage::Store,
            "store_not_private",
            format!("a folder that only the host's user can write to, {}", self.root.display()),
            format!("one of mode {:o}", mode & 0o7777),
            "take the right to write from group and others",
        )
        .by_environment())
    }

    /// Checks that a file of the store has the content that its name says.
    pub(crate) fn check_hash(&self, file: &File, hash: ContentHash) -> Result<(), Reason> {
        let there = copy_and_hash(file, &mut io::sink()).map_err(|error| self.failed(&error))?;
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

    /// Where the copy of this content is, or would be. People meet its name in debuggers and in `/proc/self/maps`.
    pub(crate) fn path(&self, hash: ContentHash, id: &ProviderId, version: &Version) -> PathBuf {
        self.folder(hash).join(format!("{id}-{version}.so"))
    }

    fn folder(&self, hash: ContentHash) -> PathBuf {
        self.root.join(hash.to_string())
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

/// Makes a folder that only the host's user can enter; one that is there stays as it is.
pub(crate) fn private_dir(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Makes a rename in a folder durable.
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
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
