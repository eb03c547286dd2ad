//! The lock file of plugins: which content of which provider may run, as somebody once checked it.
//!
//! It is TOML in a fixed order, for people to read and version control to compare.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use thiserror::Error;
use toolbay_abi::note::TARGET;

use crate::rejection::{Reason, Stage};

/// The name of the file in the home.
pub const FILE_NAME: &str = "plugins.lock";

/// The version of the file's format.
const FORMAT: u32 = 1;

const HEAD: &str = "# What `toolbay lock` found registered. With --locked, nothing else runs.\n";

/// What may run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PluginsLock {
    version: u32,
    #[serde(default, rename = "plugin")]
    plugins: Vec<LockedPlugin>,
}

/// A plugin that may run on a system.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedPlugin {
    /// The provider's id.
    pub id: String,
    /// The system that the library is for, such as `x86_64-linux-gnu`.
    pub target: String,
    /// The provider's version.
    pub version: String,
    /// The SHA-256 of the content.
    pub hash: String,
    /// Who signed it, as [`Signer`](crate::Signer) shows it.
    pub signer: String,
}

/// Why the lock file can't be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PluginsLockError {
    /// There is none.
    ///
    /// Resolution: write one.
    #[error("{}: expected a lock file, found none; `toolbay lock` writes one of what is registered", .path.display())]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// It can't be read or written.
    ///
    /// Resolution: correct the permissions, or free space.
    #[error("{}: not readable or not writable", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is no lock file of this release.
    ///
    /// Resolution: put the one of version control back, or write a new one.
    #[error("{}: expected a lock file of format {FORMAT}, found {found}; `toolbay lock` writes a new one", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is there instead.
        found: String,
    },
}

impl PluginsLock {
    /// A lock file with these plugins.
    pub fn new(mut plugins: Vec<LockedPlugin>) -> Self {
        plugins.sort();
        Self { version: FORMAT, plugins }
    }

    /// Its plugins, sorted by id, then by system.
    pub fn plugins(&self) -> &[LockedPlugin] {
        &self.plugins
    }

    /// Reads the lock file of a home.
    ///
    /// # Errors
    ///
    /// [`PluginsLockError`], also where there is none.
    pub fn read(home: &Path) -> Result<Self, PluginsLockError> {
        let path = home.join(FILE_NAME);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(PluginsLockError::Missing { path });
            }
            Err(source) => return Err(PluginsLockError::Io { path, source }),
        };
        match toml::from_str::<Self>(&text) {
            Ok(lock) if lock.version == FORMAT => Ok(Self::new(lock.plugins)),
            Ok(lock) => {
                Err(PluginsLockError::Damaged { path, found: format!("format {}", lock.version) })
            }
            Err(error) => {
                Err(PluginsLockError::Damaged { path, found: error.message().to_owned() })
            }
        }
    }

    /// Replaces the lock file of a home, and keeps what the one that is there says of other systems.
    ///
    /// # Errors
    ///
    /// [`PluginsLockError`]; the file is then as it was.
    pub fn write(home: &Path, plugins: Vec<LockedPlugin>) -> Result<Self, PluginsLockError> {
        let others = match Self::read(home) {
            Ok(lock) => lock.plugins.into_iter().filter(|plugin| plugin.target != TARGET).collect(),
            Err(PluginsLockError::Missing { .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        let lock = Self::new([others, plugins].concat());
        let path = home.join(FILE_NAME);
        let io = |source| PluginsLockError::Io { path: path.clone(), source };
        let text = toml::to_string(&lock).map_err(|error| io(io::Error::other(error)))?;
        let mut temporary = tempfile::NamedTempFile::new_in(home).map_err(io)?;
        io::Write::write_all(&mut temporary, format!("{HEAD}\n{text}").as_bytes()).map_err(io)?;
        temporary.as_file().sync_all().map_err(io)?;
        temporary.persist(&path).map_err(|error| io(error.error))?;
        Ok(lock)
    }

    /// Checks that a plugin is the one that is locked for this system.
    pub(crate) fn check(&self, plugin: &LockedPlugin) -> Result<(), Reason> {
        let locked =
            self.plugins.iter().find(|locked| locked.id == plugin.id && locked.target == TARGET);
        let differs = |found: String, expected: String| {
            Err(Reason::plugin(
                Stage::Policy,
                "not_locked",
                expected,
                found,
                "install what is locked, or look at what is there and run `toolbay lock` without --locked",
            )
            .by_environment())
        };
        let Some(locked) = locked else {
            return differs(
                format!("{} {}, which is not in it", plugin.id, plugin.version),
                format!("a plugin that {FILE_NAME} has for {TARGET}"),
            );
        };
        let fields = [
            ("version", &locked.version, &plugin.version),
            ("signer", &locked.signer, &plugin.signer),
            ("hash", &locked.hash, &plugin.hash),
        ];
        match fields.into_iter().find(|(_, locked, found)| locked != found) {
            Some((field, locked, found)) => differs(
                format!("{field} {found}"),
                format!("{field} {locked} of provider {}, as {FILE_NAME} has it", plugin.id),
            ),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plugin(id: &str, target: &str) -> LockedPlugin {
        LockedPlugin {
            id: id.to_owned(),
            target: target.to_owned(),
            version: "1.0.0".to_owned(),
            hash: "ab".repeat(32),
            signer: "nobody".to_owned(),
        }
    }

    #[test]
    fn the_file_reads_back_sorted_and_keeps_other_systems() {
        let home = tempfile::tempdir().unwrap();
        assert!(matches!(PluginsLock::read(home.path()), Err(PluginsLockError::Missing { .. })));
        let elsewhere = plugin("b", "other-system");
        let text = toml::to_string(&PluginsLock::new(vec![elsewhere.clone()])).unwrap();
        fs::write(home.path().join(FILE_NAME), text).unwrap();
        PluginsLock::write(home.path(), vec![plugin("b", TARGET), plugin("a", TARGET)]).unwrap();
        let lock = PluginsLock::read(home.path()).unwrap();
        assert_eq!(lock.plugins()[0], plugin("a", TARGET));
        assert!(lock.plugins().contains(&elsewhere));
        PluginsLock::write(home.path(), Vec::new()).unwrap();
        assert_eq!(PluginsLock::read(home.path()).unwrap().plugins(), [elsewhere]);
    }

    #[test]
    fn what_is_no_lock_file_is_never_written_over() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(FILE_NAME);
        for text in ["version = 2\n", "version = 1\nplugins = []\n", "<<<<<<< ours\n", ""] {
            fs::write(&path, text).unwrap();
            let read = PluginsLock::read(home.path());
            assert!(matches!(read, Err(PluginsLockError::Damaged { .. })), "{text}: {read:?}");
            let written = PluginsLock::write(home.path(), Vec::new());
            assert!(matches!(written, Err(PluginsLockError::Damaged { .. })), "{text}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn only_what_is_locked_may_run() {
        let lock = PluginsLock::new(vec![plugin("a", TARGET), plugin("b", "other-system")]);
        assert_eq!(lock.check(&plugin("a", TARGET)), Ok(()));
        let version = LockedPlugin { version: "1.0.1".to_owned(), ..plugin("a", TARGET) };
        let hash = LockedPlugin { hash: "cd".repeat(32), ..plugin("a", TARGET) };
        let signer = LockedPlugin { signer: "another".to_owned(), ..plugin("a", TARGET) };
        for other in [version, hash, signer, plugin("b", TARGET), plugin("c", TARGET)] {
            let reason = lock.check(&other).unwrap_err();
            assert_eq!((reason.stage, reason.code), (Stage::Policy, "not_locked"), "{other:?}");
        }
    }
}
