//! The registry file: what was registered, kept across restarts.
//!
//! It makes nothing trusted. It saves opening the libraries in order to list their tools; before code runs, the library is verified
//! again.
//!
//! A reader never changes anything: a file that is damaged, or of a later release, is reported, and only the next write moves it aside.

mod format;
#[cfg(test)]
mod killed;

use std::path::PathBuf;

use crate::{
    error::RegistryFileError,
    inspect::FileIdentity,
    lock_file::Lock,
    provider::Registered,
    sealed_file::{Form, Keep, SealedError, SealedFile},
    store::{ContentHash, private_dir},
};

/// The version of the file's format that this release writes, and the only one that it reads.
pub const FORMAT: u32 = 2;

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
pub(crate) struct RegistryFile(SealedFile);

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
        Self(SealedFile::new(home, "registry", Form { member: "registry", format: FORMAT }))
    }

    /// Which file it is now, where there is one.
    pub(crate) fn identity(&self) -> Option<FileIdentity> {
        self.0.identity()
    }

    /// What the version before it holds, where there is one that can be read.
    pub(crate) fn read_previous(&self) -> Vec<Registered> {
        let previous = self.0.read_previous(format::decode).ok().flatten();
        previous.map_or_else(Vec::new, |previous| previous.providers)
    }

    /// Reads the file. One that is damaged offers nothing: the previous version may name plugins that were removed since, and
    /// only lends its generation, so that the next one counts on.
    pub(crate) fn read(&self) -> Reading {
        let problem = match self.0.read(format::decode) {
            Ok(Some(contents)) => return Reading { contents, problem: None, found: true },
            Ok(None) => {
                return Reading { contents: Contents::default(), problem: None, found: false };
            }
            Err(problem) => problem.into(),
        };
        let previous = self.0.read_previous(format::decode).ok().flatten();
        // The file that can't be read was the next one after it.
        let generation = previous.map_or(0, |previous| previous.generation) + 1;
        let contents = Contents { generation, providers: Vec::new() };
        Reading { contents, problem: Some(problem), found: true }
    }

    /// Begins to replace what is registered, under the lock that other processes wait for: what was read stays what is there until the
    /// value is dropped.
    ///
    /// # Errors
    ///
    /// [`RegistryFileError::Io`].
    pub(crate) fn begin(&self) -> Result<Writing<'_>, RegistryFileError> {
        let io = |path| move |source| RegistryFileError::Io { path, source };
        private_dir(self.0.folder()).map_err(io(self.0.folder().to_owned()))?;
        let lock = self.0.beside("lock");
        let lock = Lock::wait(&lock).map_err(io(lock.clone()))?;
        Ok(Writing { file: self, reading: self.read(), _lock: lock })
    }
}

/// The digest of how a provider is registered.
pub(crate) fn digest(registered: &Registered) -> Result<ContentHash, RegistryFileError> {
    let contents = Contents { generation: 0, providers: vec![registered.clone()] };
    format::encode(&contents).map(|text| ContentHash::of(text.get().as_bytes()))
}

/// The file while nobody else can replace it.
#[derive(Debug)]
pub(crate) struct Writing<'a> {
    file: &'a RegistryFile,
    reading: Reading,
    _lock: Lock,
}

impl Writing<'_> {
    /// What is registered.
    pub(crate) fn registered(&self) -> &[Registered] {
        &self.reading.contents.providers
    }

    /// Replaces what is registered, and returns what the file holds then. Where nothing changes, the file and its generation stay.
    ///
    /// # Errors
    ///
    /// [`RegistryFileError::Io`]; the file is then as it was.
    pub(crate) fn replace(self, providers: Vec<Registered>) -> Result<Written, RegistryFileError> {
        let Self { file, reading, _lock } = self;
        let mut contents = Contents { generation: reading.contents.generation, providers };
        let is_same = reading.found
            && reading.problem.is_none()
            && format::encode(&contents)?.get() == format::encode(&reading.contents)?.get();
        if !is_same {
            contents.generation += 1;
            let keep = match reading {
                Reading { problem: Some(_), .. } => Keep::Aside,
                Reading { found: true, .. } => Keep::Previous,
                _ => Keep::Nothing,
            };
            file.0.write(&format::encode(&contents)?, keep)?;
        }
        // Under the lock: it is the file that was written here, and not what another process has put there since.
        Ok(Written { generation: contents.generation, identity: file.identity() })
    }
}

/// Reads invented content; what can be read must read the same when it is written.
#[cfg(fuzzing)]
pub fn fuzz(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let Ok(raw) = serde_json::value::RawValue::from_string(text.to_owned()) else { return };
    if let Ok(contents) = format::decode(&raw)
        && let Ok(written) = format::encode(&contents)
    {
        let again = format::decode(&written).map(|contents| contents.providers).ok();
        assert_eq!(again, Some(contents.providers));
    }
}

impl From<SealedError> for RegistryFileError {
    fn from(error: SealedError) -> Self {
        match error {
            SealedError::Io { path, source } => Self::Io { path, source },
            SealedError::Damaged { path, found } => Self::Damaged { path, found },
            SealedError::OtherFormat { path, found } => Self::OtherFormat { path, found },
        }
    }
}
