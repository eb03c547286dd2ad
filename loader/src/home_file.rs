//! The host's own files that are read whole into one value and replaced whole: a sealed document each, with a lock of its own.

use std::{io, marker::PhantomData, path::PathBuf};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use thiserror::Error;

use crate::{
    inspect::FileIdentity,
    lock_file::Lock,
    sealed_file::{Form, Keep, SealedError, SealedFile},
    store::private_dir,
};

/// What is in such a file.
pub(crate) trait Document:
    Serialize + DeserializeOwned + Default + Clone + PartialEq
{
    /// The file's name without its ending, and the member that holds the document.
    const NAME: &'static str;
    /// The version of the form, the only one that is read.
    const FORMAT: u32;
    /// Whether the content can be found anew. Such a file makes room, kept aside, where it can't be read; any other is never written over.
    const FOUND_ANEW: bool;
}

/// What is wrong with one of the host's own files.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HomeFileError {
    /// The file can't be read or written.
    ///
    /// Resolution: correct the permissions of the home folder, or free space.
    #[error("{}: not readable or not writable; correct the permissions of its folder, or free space", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is not what was written.
    ///
    /// Resolution: put the version before it in its place, or a copy of your own.
    #[error(
        "{} is damaged: expected what the host wrote, found {found}; put {} or a copy of your own in its place",
        .path.display(),
        .path.with_extension("previous.json").display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is there instead.
        found: String,
    },
    /// The file was written by another release.
    ///
    /// Resolution: use that release.
    #[error("{} has format {found}, expected {expected}: use the release that wrote it", .path.display())]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The format of this release.
        expected: u32,
    },
    /// The content can't be written as JSON. It is a bug of the host.
    ///
    /// Resolution: report it.
    #[error("{} can't be written as JSON; report this as a bug of the host", .path.display())]
    Encode {
        /// The file.
        path: PathBuf,
        /// What the writer says.
        source: serde_json::Error,
    },
}

/// The file of a kind of document in a home.
#[derive(Debug, Clone)]
pub(crate) struct HomeFile<D> {
    file: SealedFile,
    document: PhantomData<fn() -> D>,
}

impl<D: Document> HomeFile<D> {
    pub(crate) fn new(home: PathBuf) -> Self {
        let form = Form { member: D::NAME, format: D::FORMAT };
        Self { file: SealedFile::new(home, D::NAME, form), document: PhantomData }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> PathBuf {
        self.file.path()
    }

    /// Which file it is now, where there is one.
    pub(crate) fn identity(&self) -> Option<FileIdentity> {
        self.file.identity()
    }

    /// Reads the document, an empty one where there is no file.
    ///
    /// # Errors
    ///
    /// [`HomeFileError`] where there is a file that can't be read.
    pub(crate) fn read(&self) -> Result<D, HomeFileError> {
        match self.file.read(|text| serde_json::from_str(text.get())) {
            // It was there: what it forbade must not be allowed because somebody has lost it.
            Ok(None) if !D::FOUND_ANEW && self.file.has_previous() => Err(HomeFileError::Damaged {
                path: self.path(),
                found: "no file, beside the version before it".to_owned(),
            }),
            Ok(document) => Ok(document.unwrap_or_default()),
            Err(error) => Err(self.error(error)),
        }
    }

    /// Changes the document, under the lock that other processes wait for. Where nothing changes, the file stays.
    ///
    /// # Errors
    ///
    /// What the change gives, and [`HomeFileError`]; the file is then as it was.
    pub(crate) fn update<T, E: From<HomeFileError>>(
        &self,
        change: impl FnOnce(&mut D) -> Result<T, E>,
    ) -> Result<T, E> {
        let io = |path: PathBuf| move |source| HomeFileError::Io { path, source };
        private_dir(self.file.folder()).map_err(io(self.file.folder().to_owned()))?;
        let lock = self.file.beside("lock");
        let _lock = Lock::wait(&lock).map_err(io(lock.clone()))?;
        let found = self.file.path().exists();
        let (before, keep) = match self.read() {
            Ok(before) => (Some(before), if found { Keep::Previous } else { Keep::Nothing }),
            Err(error) if !D::FOUND_ANEW => return Err(error.into()),
            Err(_) => (None, Keep::Aside),
        };
        let mut document = before.clone().unwrap_or_default();
        let value = change(&mut document)?;
        if before.as_ref() != Some(&document) {
            let encode = |source| HomeFileError::Encode { path: self.path(), source };
            let text = serde_json::to_string_pretty(&document).map_err(encode)?;
            let text = RawValue::from_string(text).map_err(encode)?;
            self.file.write(&text, keep).map_err(|error| self.error(error))?;
        }
        Ok(value)
    }

    /// Takes back the last update, which made `after` of `before`: it needs no room on a disk that is full. Returns whether it did; where
    /// others have changed the document meanwhile, it is not the last.
    ///
    /// # Errors
    ///
    /// [`HomeFileError`]; the file is then as it was.
    pub(crate) fn take_back(&self, before: &D, after: &D) -> Result<bool, HomeFileError> {
        let io = |path: PathBuf| move |source| HomeFileError::Io { path, source };
        let lock = self.file.beside("lock");
        let _lock = Lock::wait(&lock).map_err(io(lock.clone()))?;
        let is_last = self.read()? == *after;
        Ok(is_last
            && self
                .file
                .put_previous_back(|text| {
                    serde_json::from_str(text.get()).is_ok_and(|it: D| it == *before)
                })
                .map_err(|error| self.error(error))?)
    }

    fn error(&self, error: SealedError) -> HomeFileError {
        match error {
            SealedError::Io { path, source } => HomeFileError::Io { path, source },
            SealedError::Damaged { path, found } => HomeFileError::Damaged { path, found },
            SealedError::OtherFormat { path, found } => {
                HomeFileError::OtherFormat { path, found, expected: D::FORMAT }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
    struct Kept(u32);

    impl Document for Kept {
        const NAME: &'static str = "kept";
        const FORMAT: u32 = 1;
        const FOUND_ANEW: bool = false;
    }

    #[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
    struct Anew(u32);

    impl Document for Anew {
        const NAME: &'static str = "anew";
        const FORMAT: u32 = 1;
        const FOUND_ANEW: bool = true;
    }

    fn set<D: Document>(file: &HomeFile<D>, document: D) -> Result<(), HomeFileError> {
        file.update(|there| {
            *there = document;
            Ok(())
        })
    }

    #[test]
    fn what_is_written_reads_back_and_what_is_unchanged_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = HomeFile::<Kept>::new(folder.path().to_owned());
        assert_eq!(file.read().unwrap(), Kept(0));
        set(&file, Kept(7)).unwrap();
        let identity = file.identity();
        set(&file, Kept(7)).unwrap();
        assert_eq!((file.read().unwrap(), file.identity()), (Kept(7), identity));
    }

    #[test]
    fn only_what_can_be_found_anew_makes_room_where_it_cant_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let kept = HomeFile::<Kept>::new(folder.path().to_owned());
        let anew = HomeFile::<Anew>::new(folder.path().to_owned());
        for path in [kept.path(), anew.path()] {
            fs::write(path, "{").unwrap();
        }
        assert!(matches!(set(&kept, Kept(1)), Err(HomeFileError::Damaged { .. })));
        assert_eq!(fs::read_to_string(kept.path()).unwrap(), "{");
        assert!(matches!(anew.read(), Err(HomeFileError::Damaged { .. })));
        set(&anew, Anew(1)).unwrap();
        assert_eq!(anew.read().unwrap(), Anew(1));
        let aside = folder.path().join("anew.aside-1.json");
        assert_eq!(fs::read_to_string(aside).unwrap(), "{");
    }

    #[test]
    fn only_the_last_update_is_taken_back() {
        let folder = tempfile::tempdir().unwrap();
        let file = HomeFile::<Kept>::new(folder.path().to_owned());
        set(&file, Kept(1)).unwrap();
        assert!(!file.take_back(&Kept(0), &Kept(1)).unwrap(), "there is no version before it");
        set(&file, Kept(2)).unwrap();
        for (before, after) in [(1, 1), (2, 2), (0, 2)] {
            assert!(!file.take_back(&Kept(before), &Kept(after)).unwrap(), "{before} {after}");
            assert_eq!(file.read().unwrap(), Kept(2));
        }
        assert!(file.take_back(&Kept(1), &Kept(2)).unwrap());
        assert_eq!(file.read().unwrap(), Kept(1));
        set(&file, Kept(3)).unwrap();
        assert_eq!(file.read().unwrap(), Kept(3));
    }

    #[test]
    fn a_file_that_is_gone_beside_its_former_version_is_missed() {
        let folder = tempfile::tempdir().unwrap();
        let file = HomeFile::<Kept>::new(folder.path().to_owned());
        set(&file, Kept(1)).unwrap();
        set(&file, Kept(2)).unwrap();
        fs::remove_file(file.path()).unwrap();
        assert!(matches!(file.read(), Err(HomeFileError::Damaged { .. })));
    }
}
