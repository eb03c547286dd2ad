//! The registry file: what was registered, kept across restarts.
//!
//! It makes nothing trusted. It saves opening the libraries in order to list their tools; before code runs, the library is verified
//! again.
//!
//! A write goes to a temporary file in the same folder, is made durable and then renamed over the old one, of which a link stays
//! as the previous version. A reader never changes anything: a file that is damaged, or of a later release, is reported, and only
//! the next write moves it aside.

mod format;

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use serde_json::value::RawValue;

use crate::{
    error::RegistryFileError,
    inspect::FileIdentity,
    provider::Registered,
    store::{ContentHash, private_dir, sync_dir},
};

/// The version of the file's format that this release writes, and the only one that it reads.
pub const FORMAT: u32 = 1;

/// What the file holds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Contents {
    /// Counted up by each write.
    pub(crate) generation: u64,
    /// The providers, sorted by id.
    pub(crate) providers: Vec<Registered>,
}

/// The folder's registry file.
#[derive(Debug, Clone)]
pub(crate) struct RegistryFile {
    home: PathBuf,
}

/// What the file holds after it was replaced.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) generation: u64,
    pub(crate) identity: Option<FileIdentity>,
}

/// What reading the file gave.
#[derive(Debug)]
pub(crate) struct Reading {
    /// What is registered; no provider where there is no file that can be read.
    pub(crate) contents: Contents,
    /// What is wrong with the file, where something is.
    pub(crate) problem: Option<RegistryFileError>,
    /// Whether there was a file at all.
    pub(crate) found: bool,
}

impl RegistryFile {
    pub(crate) fn new(home: PathBuf) -> Self {
        Self { home }
    }

    fn path(&self) -> PathBuf {
        self.home.join("registry.json")
    }

    fn previous(&self) -> PathBuf {
        self.home.join("registry.previous.json")
    }

    /// Which file it is now, where there is one.
    pub(crate) fn identity(&self) -> Option<FileIdentity> {
        fs::metadata(self.path()).ok().map(|metadata| FileIdentity::of(&metadata))
    }

    /// Reads the file. One that is damaged offers nothing: the previous version may name plugins that were removed since, and
    /// only lends its generation, so that the next one counts on.
    pub(crate) fn read(&self) -> Reading {
        let problem = match read(&self.path()) {
            Ok(Some(contents)) => return Reading { contents, problem: None, found: true },
            Ok(None) => {
                return Reading { contents: Contents::default(), problem: None, found: false };
            }
            Err(problem) => problem,
        };
        let previous = read(&self.previous()).ok().flatten();
        // The file that can't be read was the next one after it.
        let generation = previous.map_or(0, |previous| previous.generation) + 1;
        let contents = Contents { generation, providers: Vec::new() };
        Reading { contents, problem: Some(problem), found: true }
    }

    /// Replaces what is registered, under the lock that other processes wait for, and returns what the file holds then. Where nothing
    /// changes, the file and its generation stay.
    ///
    /// # Errors
    ///
    /// [`RegistryFileError::Io`]; the file is then as it was.
    pub(crate) fn replace(&self, providers: Vec<Registered>) -> Result<Written, RegistryFileError> {
        private_dir(&self.home).map_err(|error| failed(&self.home, error))?;
        let lock_path = self.home.join("registry.lock");
        let lock = open_private(&lock_path).map_err(|error| failed(&lock_path, error))?;
        lock.lock().map_err(|error| failed(&lock_path, error))?;

        let reading = self.read();
        let mut contents = Contents { generation: reading.contents.generation, providers };
        let is_same = reading.found
            && reading.problem.is_none()
            && format::encode(&contents)?.get() == format::encode(&reading.contents)?.get();
        if !is_same {
            contents.generation += 1;
            self.write(&contents, &reading)?;
        }
        // Under the lock: it is the file that was written here, and not what another process has put there since.
        Ok(Written { generation: contents.generation, identity: self.identity() })
    }

    /// Puts the new file in place with one rename. What goes wrong before that leaves the old one where it is.
    fn write(&self, contents: &Contents, old: &Reading) -> Result<(), RegistryFileError> {
        let path = self.path();
        let text = seal(&format::encode(contents)?);
        let io = |error| failed(&path, error);
        let mut temporary =
            tempfile::Builder::new().prefix(".registry-").tempfile_in(&self.home).map_err(io)?;
        temporary.write_all(text.as_bytes()).map_err(io)?;
        temporary.as_file().sync_all().map_err(io)?;
        match old {
            Reading { problem: Some(_), .. } => self.keep_aside()?,
            Reading { found: true, .. } => self.keep_as_previous().map_err(io)?,
            _ => {}
        }
        temporary.persist(&path).map_err(|error| io(error.error))?;
        sync_dir(&self.home).map_err(io)
    }

    fn keep_as_previous(&self) -> io::Result<()> {
        let staged = self.home.join(".registry-previous");
        match fs::remove_file(&staged) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        link_or_copy(&self.path(), &staged)?;
        fs::rename(staged, self.previous())
    }

    /// Keeps a file that can't be read, under a name that nothing has yet.
    fn keep_aside(&self) -> Result<(), RegistryFileError> {
        let mut number = 1;
        loop {
            let aside = self.home.join(format!("registry.aside-{number}.json"));
            match link_or_copy(&self.path(), &aside) {
                Ok(()) => {
                    log::warn!("kept the registry file that can't be read as {}", aside.display());
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(failed(&aside, error)),
            }
        }
    }
}

/// A second name for a file, or a copy where the file system has no second names. Fails where the name is taken.
fn link_or_copy(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            let mut copy = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
            io::copy(&mut File::open(from)?, &mut copy)?;
            copy.sync_all()
        }
        linked => linked,
    }
}

/// Opens a lock file that nobody else can hold up.
fn open_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn failed(path: &Path, source: io::Error) -> RegistryFileError {
    RegistryFileError::Io { path: path.to_owned(), source }
}

/// The outer object: version and checksum first, so that they can be told whatever follows.
#[derive(serde::Deserialize)]
struct Sealed<'a> {
    format: u32,
    #[serde(default)]
    checksum: String,
    #[serde(borrow)]
    registry: Option<&'a RawValue>,
}

fn seal(registry: &RawValue) -> String {
    let text = registry.get();
    let checksum = ContentHash::of(text.as_bytes());
    format!(
        "{{\"format\": {FORMAT}, \"checksum\": \"sha256:{checksum}\", \"registry\":\n{text}\n}}\n"
    )
}

/// The contents of a file, or `None` where there is none.
fn read(path: &Path) -> Result<Option<Contents>, RegistryFileError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(path, error)),
    };
    let damaged = |found: String| RegistryFileError::Damaged { path: path.to_owned(), found };
    let sealed: Sealed<'_> =
        serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
    if sealed.format != FORMAT {
        return Err(RegistryFileError::OtherFormat { path: path.to_owned(), found: sealed.format });
    }
    let registry = sealed.registry.ok_or_else(|| damaged("no registry".to_owned()))?;
    let checksum = format!("sha256:{}", ContentHash::of(registry.get().as_bytes()));
    if checksum != sealed.checksum {
        return Err(damaged(format!(
            "content with checksum {checksum}, which is not the one in the file"
        )));
    }
    format::decode(registry).map(Some).map_err(|error| damaged(error.to_string()))
}
