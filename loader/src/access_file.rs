//! The access file: what administrators decide about tools, and the agents that they keep.
//!
//! It is the opposite of the registry file in one way: what it holds can't be found anew, and much of it forbids. So a file that is damaged
//! or of another release allows nothing until a person has looked at it, and no update writes over it.

mod format;
#[cfg(test)]
mod killed;

use std::{collections::BTreeMap, path::PathBuf};

use serde_json::value::RawValue;
use toolbay_core::{Access, AgentName, AgentProfile, ProviderId, ToolName};

use crate::{
    error::AccessFileError,
    inspect::FileIdentity,
    lock_file::Lock,
    sealed_file::{Form, Keep, SealedError, SealedFile},
    store::private_dir,
};

/// The version of the file's format that this release writes, and the only one that it reads.
pub(crate) const FORMAT: u32 = 1;

/// What the file holds. Rows about tools, groups and providers that nobody knows stay.
#[derive(Debug, Clone, Default)]
pub(crate) struct Contents {
    /// Counted up by each write.
    pub(crate) generation: u64,
    /// What administrators have decided about tools.
    pub(crate) access: Access,
    /// The agents; one that can't be read is there as one that may use nothing.
    pub(crate) agents: BTreeMap<AgentName, AgentProfile>,
    /// What tools were called when they were last seen, so that those that are gone can still be shown.
    pub(crate) labels: BTreeMap<ToolName, Label>,
    /// Those of the agents that can't be read. A write keeps them as they are, unless the agent was replaced or removed.
    pub(crate) damaged: BTreeMap<AgentName, DamagedAgent>,
}

/// What people read of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The name that they read.
    pub label: String,
    /// One line.
    pub summary: String,
    /// Who contributed it.
    pub provider: ProviderId,
}

/// An agent that can't be read.
#[derive(Debug, Clone)]
pub(crate) struct DamagedAgent {
    /// What is wrong with it.
    pub(crate) found: String,
    text: Box<RawValue>,
}

/// The folder's access file.
#[derive(Debug, Clone)]
pub(crate) struct AccessFile(SealedFile);

/// What reading the file gave.
#[derive(Debug)]
pub(crate) struct Reading {
    /// What is decided; that every tool is off where there is a file that can't be read.
    pub(crate) contents: Contents,
    /// What is wrong with the file, where something is: then nothing may be used.
    pub(crate) problem: Option<AccessFileError>,
    /// Whether there was a file at all.
    pub(crate) found: bool,
}

/// What the file holds after an update.
#[derive(Debug)]
pub(crate) struct Updated<T> {
    /// What the change gave.
    pub(crate) value: T,
    /// What the file holds.
    pub(crate) contents: Contents,
    /// Which file that is.
    pub(crate) identity: Option<FileIdentity>,
}

impl AccessFile {
    pub(crate) fn new(home: PathBuf) -> Self {
        Self(SealedFile::new(home, "access", Form { member: "access", format: FORMAT }))
    }

    /// Which file it is now, where there is one.
    pub(crate) fn identity(&self) -> Option<FileIdentity> {
        self.0.identity()
    }

    /// Reads the file. Of one that can't be read only the generation is known, from the one before it.
    pub(crate) fn read(&self) -> Reading {
        let problem = match self.0.read(format::decode) {
            Ok(Some(contents)) => return Reading { contents, problem: None, found: true },
            // It was there: what it forbade must not be allowed because somebody has lost it.
            Ok(None) if self.0.has_previous() => AccessFileError::Damaged {
                path: self.0.path(),
                found: "no file, beside the version before it".to_owned(),
            },
            Ok(None) => {
                return Reading { contents: Contents::default(), problem: None, found: false };
            }
            Err(problem) => problem.into(),
        };
        let previous = self.0.read_previous(format::decode).ok().flatten();
        let generation = previous.map_or(0, |previous| previous.generation) + 1;
        let access = Access { closed: true, ..Access::default() };
        let contents = Contents { generation, access, ..Contents::default() };
        Reading { contents, problem: Some(problem), found: true }
    }

    /// Changes what the file holds, under the lock that other processes wait for: read, changed and written, nobody else's change is
    /// lost. The generation is counted up here alone, and only where something changes; else the file stays.
    ///
    /// # Errors
    ///
    /// What `change` returns, or [`AccessFileError`]; the file is then as it was. One that can't be read is never written over.
    pub(crate) fn update<T, E: From<AccessFileError>>(
        &self,
        change: impl FnOnce(&mut Contents) -> Result<T, E>,
    ) -> Result<Updated<T>, E> {
        let io = |path| move |source| AccessFileError::Io { path, source };
        private_dir(self.0.folder()).map_err(io(self.0.folder().to_owned()))?;
        let lock = self.0.beside("lock");
        let _lock = Lock::wait(&lock).map_err(io(lock.clone()))?;

        let Reading { contents: old, problem, found } = self.read();
        if let Some(problem) = problem {
            return Err(problem.into());
        }
        let mut contents = old.clone();
        let value = change(&mut contents)?;
        contents.generation = old.generation;
        if format::encode(&contents)?.get() != format::encode(&old)?.get() {
            contents.generation += 1;
            let keep = if found { Keep::Previous } else { Keep::Nothing };
            self.0.write(&format::encode(&contents)?, keep).map_err(AccessFileError::from)?;
        }
        // Under the lock: it is the file that was written here, and not what another process has put there since.
        Ok(Updated { value, contents, identity: self.identity() })
    }
}

impl From<SealedError> for AccessFileError {
    fn from(error: SealedError) -> Self {
        match error {
            SealedError::Io { path, source } => Self::Io { path, source },
            SealedError::Damaged { path, found } => Self::Damaged { path, found },
            SealedError::OtherFormat { path, found } => Self::OtherFormat { path, found },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, thread};

    use tempfile::TempDir;

    use super::*;

    fn home() -> (TempDir, AccessFile) {
        let folder = tempfile::tempdir().unwrap();
        let file = AccessFile::new(folder.path().to_owned());
        (folder, file)
    }

    fn switch(file: &AccessFile, tool: &str, on: bool) -> Result<Updated<()>, AccessFileError> {
        file.update(|contents| {
            contents.access.tools.insert(tool.parse().unwrap(), on);
            Ok(())
        })
    }

    #[test]
    fn an_update_writes_what_changed_and_nothing_otherwise() {
        let (folder, file) = home();
        let reading = file.read();
        assert!(!reading.found && reading.problem.is_none() && file.identity().is_none());
        let nothing = file.update(|_| Ok::<_, AccessFileError>("nothing")).unwrap();
        assert_eq!((nothing.value, nothing.contents.generation), ("nothing", 0));
        assert_eq!(file.identity(), None, "no file for no decision");

        let first = switch(&file, "a", false).unwrap();
        assert_eq!((first.contents.generation, first.identity), (1, file.identity()));
        let same = switch(&file, "a", false).unwrap();
        assert_eq!((same.contents.generation, same.identity), (1, first.identity));
        let forged = file.update(|contents| {
            contents.generation = 70;
            Ok::<_, AccessFileError>(())
        });
        assert_eq!(forged.unwrap().contents.generation, 1, "it is counted here alone");
        let second = switch(&file, "b", true).unwrap();
        assert_ne!(second.identity, first.identity);

        let reading = file.read();
        assert!(reading.found && reading.problem.is_none());
        assert_eq!(reading.contents.generation, 2);
        assert_eq!(reading.contents.access, second.contents.access);
        let previous = fs::read_to_string(folder.path().join("access.previous.json")).unwrap();
        assert!(previous.contains("\"generation\": 1"), "{previous}");
    }

    #[test]
    fn a_change_that_is_refused_leaves_the_file() {
        let (_folder, file) = home();
        let before = switch(&file, "a", false).unwrap().identity;
        let refused = file.update(|contents| {
            contents.access.tools.clear();
            Err::<(), _>(AccessFileError::Damaged { path: PathBuf::new(), found: "no".to_owned() })
        });
        assert!(matches!(refused, Err(AccessFileError::Damaged { .. })));
        assert_eq!(file.identity(), before);
        // The lock is free again.
        assert_eq!(switch(&file, "a", true).unwrap().contents.generation, 2);
    }

    #[test]
    fn a_file_that_can_not_be_read_switches_everything_off_and_is_not_written_over() {
        let (folder, file) = home();
        switch(&file, "a", false).unwrap();
        let whole = fs::read_to_string(file.0.path()).unwrap();
        switch(&file, "b", true).unwrap();
        type Expected = fn(&AccessFileError) -> bool;
        let damaged: Expected = |error| matches!(error, AccessFileError::Damaged { .. });
        let other: Expected =
            |error| matches!(error, AccessFileError::OtherFormat { found: 2, .. });
        let cases = [
            (String::new(), damaged),
            (whole[..whole.len() / 2].to_owned(), damaged),
            (whole.replace("false", "true"), damaged),
            (r#"{"format": 2, "access": {}}"#.to_owned(), other),
        ];
        for (content, expected) in cases {
            fs::write(file.0.path(), &content).unwrap();
            let reading = file.read();
            let problem = reading.problem.as_ref().unwrap();
            assert!(expected(problem), "{problem}");
            assert!(reading.found && reading.contents.agents.is_empty());
            assert_eq!(reading.contents.generation, 2, "it goes on from the one before");
            let closed = Access { closed: true, ..Access::default() };
            assert_eq!(reading.contents.access, closed);

            let refused = switch(&file, "b", false).unwrap_err();
            assert!(expected(&refused), "{refused}");
            assert_eq!(fs::read_to_string(file.0.path()).unwrap(), content, "nothing is lost");
        }
        // As the error says.
        fs::rename(folder.path().join("access.previous.json"), file.0.path()).unwrap();
        let reading = file.read();
        assert!(reading.problem.is_none());
        assert_eq!(reading.contents.access.tools.values().collect::<Vec<_>>(), [&false]);
        assert_eq!(switch(&file, "b", true).unwrap().contents.generation, 2);
    }

    #[test]
    fn a_file_that_was_lost_allows_nothing() {
        let (folder, file) = home();
        assert!(file.read().problem.is_none(), "nobody has decided anything yet");
        switch(&file, "a", false).unwrap();
        switch(&file, "b", false).unwrap();
        fs::remove_file(file.0.path()).unwrap();
        let reading = file.read();
        assert!(matches!(reading.problem, Some(AccessFileError::Damaged { .. })));
        assert!(reading.contents.access.closed);
        assert!(matches!(switch(&file, "b", true), Err(AccessFileError::Damaged { .. })));
        fs::rename(folder.path().join("access.previous.json"), file.0.path()).unwrap();
        assert!(file.read().problem.is_none());
    }

    #[test]
    fn the_error_says_what_to_do() {
        let (folder, file) = home();
        fs::write(file.0.path(), "").unwrap();
        let error = switch(&file, "a", true).unwrap_err().to_string();
        let previous = folder.path().join("access.previous.json");
        assert!(error.contains(&format!("puts {} in its place", previous.display())), "{error}");
    }

    #[test]
    fn of_updates_at_once_none_is_lost() {
        const THREADS: u64 = 8;
        const ROUNDS: u64 = 10;
        let (folder, _) = home();
        thread::scope(|scope| {
            for thread in 0..THREADS {
                // A file of its own, as another process has.
                let file = AccessFile::new(folder.path().to_owned());
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        switch(&file, &format!("t{thread}-{round}"), true).unwrap();
                    }
                });
            }
        });
        let contents = AccessFile::new(folder.path().to_owned()).read().contents;
        assert_eq!(contents.generation, THREADS * ROUNDS);
        assert_eq!(contents.access.tools.len() as u64, THREADS * ROUNDS);
    }
}
