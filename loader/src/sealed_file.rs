//! One JSON document in one file: sealed with a checksum, and replaced as a whole.
//!
//! A write goes to a temporary file in the same folder, is made durable and then renamed over the old one, of which a link may stay as the
//! previous version. A reader never changes anything, also where the file is damaged or of another release.
//!
//! Whoever writes holds a lock of its own choice, so that one name serves for all temporary files: what a process leaves behind as it is
//! killed, the next write takes away.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    fmt::Display,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use tempfile::NamedTempFile;
use thiserror::Error;

use crate::{
    inspect::FileIdentity,
    store::{ContentHash, sync_dir},
};

/// In which form documents of a kind are kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    /// The member of the outer object that holds the document.
    pub(crate) member: &'static str,
    /// The version of the document's format that is written, and the only one that is read.
    pub(crate) format: u32,
}

/// What becomes of the file that a write replaces.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Keep {
    /// It is gone.
    Nothing,
    /// It stays as the previous version, in the place of the one before.
    Previous,
    /// It stays under a name that nothing has yet.
    Aside,
}

/// A file of this name and form in a folder.
#[derive(Debug, Clone)]
pub(crate) struct SealedFile {
    folder: PathBuf,
    name: String,
    form: Form,
}

/// Why a document could not be read or written.
#[derive(Debug, Error)]
pub(crate) enum SealedError {
    /// The file can't be read or written.
    ///
    /// Resolution: correct the permissions, or free space.
    #[error("{}: not readable or not writable", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is not what was written.
    ///
    /// Resolution: whatever the kind of document demands.
    #[error("{}: expected what the host wrote, found {found}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is there instead.
        found: String,
    },
    /// The file was written by another release.
    ///
    /// Resolution: use that release.
    #[error("{}: has format {found}", .path.display())]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
    },
}

impl SealedFile {
    pub(crate) fn new(folder: PathBuf, name: impl Into<String>, form: Form) -> Self {
        Self { folder, name: name.into(), form }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.beside("json")
    }

    /// A file whose name begins as this one's.
    pub(crate) fn beside(&self, rest: &str) -> PathBuf {
        self.folder.join(format!("{}.{rest}", self.name))
    }

    /// Which file it is now, where there is one.
    pub(crate) fn identity(&self) -> Option<FileIdentity> {
        fs::metadata(self.path()).ok().map(|metadata| FileIdentity::of(&metadata))
    }

    /// The document, or `None` where there is no file.
    pub(crate) fn read<T, E: Display>(
        &self,
        decode: impl FnOnce(&RawValue) -> Result<T, E>,
    ) -> Result<Option<T>, SealedError> {
        self.read_at(self.path(), decode)
    }

    /// The document before it.
    pub(crate) fn read_previous<T, E: Display>(
        &self,
        decode: impl FnOnce(&RawValue) -> Result<T, E>,
    ) -> Result<Option<T>, SealedError> {
        self.read_at(self.previous(), decode)
    }

    fn read_at<T, E: Display>(
        &self,
        path: PathBuf,
        decode: impl FnOnce(&RawValue) -> Result<T, E>,
    ) -> Result<Option<T>, SealedError> {
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(SealedError::Io { path, source }),
        };
        match self.form.open(&bytes) {
            Ok(document) => match decode(document) {
                Ok(document) => Ok(Some(document)),
                Err(error) => Err(SealedError::Damaged { path, found: error.to_string() }),
            },
            Err(Seal::Broken(found)) => Err(SealedError::Damaged { path, found }),
            Err(Seal::OtherFormat(found)) => Err(SealedError::OtherFormat { path, found }),
        }
    }

    /// Puts another document in place with one rename. What goes wrong before that leaves the old one where it is. The caller holds the
    /// lock that all writers of this form in the folder wait for.
    pub(crate) fn write(&self, document: &RawValue, keep: Keep) -> Result<(), SealedError> {
        let path = self.path();
        let io = |source| SealedError::Io { path: path.clone(), source };
        let temporary = self.write_beside(document).map_err(io)?;
        match keep {
            Keep::Nothing => {}
            Keep::Previous => self.keep_as_previous().map_err(io)?,
            Keep::Aside => self.keep_aside()?,
        }
        temporary.persist(&path).map_err(|error| io(error.error))?;
        sync_dir(&self.folder).map_err(io)
    }

    fn write_beside(&self, document: &RawValue) -> io::Result<NamedTempFile> {
        let name = format!(".{}-new", self.form.member);
        remove_if_there(&self.folder.join(&name))?;
        let mut temporary =
            tempfile::Builder::new().prefix(&name).rand_bytes(0).tempfile_in(&self.folder)?;
        temporary.write_all(self.form.seal(document).as_bytes())?;
        temporary.as_file().sync_all()?;
        Ok(temporary)
    }

    /// Whether there is the version before, which is kept where the file was once replaced.
    pub(crate) fn has_previous(&self) -> bool {
        self.previous().exists()
    }

    fn previous(&self) -> PathBuf {
        self.beside("previous.json")
    }

    fn keep_as_previous(&self) -> io::Result<()> {
        let staged = self.folder.join(format!(".{}-previous", self.form.member));
        remove_if_there(&staged)?;
        link_or_copy(&self.path(), &staged)?;
        fs::rename(staged, self.previous())
    }

    /// Puts the version before in the place of the document, where it is the one that is meant. The caller holds the lock of all writers.
    pub(crate) fn put_previous_back(
        &self,
        is_meant: impl FnOnce(&RawValue) -> bool,
    ) -> Result<bool, SealedError> {
        let path = self.path();
        let io = |source| SealedError::Io { path: path.clone(), source };
        let is_meant = self.read_previous(|document| Ok::<_, Infallible>(is_meant(document)))?;
        if is_meant == Some(true) {
            fs::rename(self.previous(), &path).and_then(|()| sync_dir(&self.folder)).map_err(io)?;
        }
        Ok(is_meant == Some(true))
    }

    fn keep_aside(&self) -> Result<(), SealedError> {
        let mut number = 1;
        loop {
            let aside = self.beside(&format!("aside-{number}.json"));
            match link_or_copy(&self.path(), &aside) {
                Ok(()) => {
                    let what = self.form.member;
                    log::warn!("kept the {what} file that can't be read as {}", aside.display());
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(source) => return Err(SealedError::Io { path: aside, source }),
            }
        }
    }
}

/// Why bytes are no document of a form.
enum Seal {
    Broken(String),
    OtherFormat(u32),
}

impl Form {
    /// Version and checksum come first, so that they can be told whatever follows.
    fn seal(self, document: &RawValue) -> String {
        let Self { member, format } = self;
        let text = document.get();
        let checksum = ContentHash::of(text.as_bytes());
        format!(
            "{{\"format\": {format}, \"checksum\": \"sha256:{checksum}\", \"{member}\":\n{text}\n}}\n"
        )
    }

    fn open(self, bytes: &[u8]) -> Result<&RawValue, Seal> {
        let broken = |error: serde_json::Error| Seal::Broken(error.to_string());
        let members: BTreeMap<String, &RawValue> = serde_json::from_slice(bytes).map_err(broken)?;
        let member = |name: &str| {
            members.get(name).copied().ok_or_else(|| Seal::Broken(format!("no {name}")))
        };
        let format: u32 = serde_json::from_str(member("format")?.get()).map_err(broken)?;
        if format != self.format {
            return Err(Seal::OtherFormat(format));
        }
        let document = member(self.member)?;
        let checksum = format!("sha256:{}", ContentHash::of(document.get().as_bytes()));
        let sealed: String = serde_json::from_str(member("checksum")?.get()).map_err(broken)?;
        if checksum != sealed {
            return Err(Seal::Broken(format!(
                "content with checksum {checksum}, which is not the one in the file"
            )));
        }
        Ok(document)
    }
}

/// Reads a member that may be `null` and must be there: in what somebody decided, nothing is read from silence.
pub(crate) fn stated<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Option::deserialize(deserializer)
}

pub(crate) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
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

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: Form = Form { member: "notes", format: 2 };

    fn document(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn text(file: &SealedFile) -> Result<Option<String>, SealedError> {
        file.read(|document| Ok::<_, Infallible>(document.get().to_owned()))
    }

    #[test]
    fn a_document_reads_back_from_bytes_that_never_change() {
        let folder = tempfile::tempdir().unwrap();
        let file = SealedFile::new(folder.path().to_owned(), "a", FORM);
        assert!(matches!(text(&file), Ok(None)));
        file.write(&document("[1,  2]"), Keep::Nothing).unwrap();
        assert_eq!(text(&file).unwrap().as_deref(), Some("[1,  2]"));
        assert_eq!(
            fs::read_to_string(file.path()).unwrap(),
            "{\"format\": 2, \"checksum\": \"sha256:f6454fd9a25de1c4b7c1f427b45e6286c9f89b16e26a9a068d0e577852867d51\", \
             \"notes\":\n[1,  2]\n}\n"
        );
    }

    #[test]
    fn what_is_no_document_of_the_form_is_told_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = SealedFile::new(folder.path().to_owned(), "a", FORM);
        file.write(&document("[1]"), Keep::Nothing).unwrap();
        let whole = fs::read_to_string(file.path()).unwrap();
        let cases = [
            (String::new(), "EOF"),
            (whole[..whole.len() - 3].to_owned(), "EOF"),
            (whole.replace("[1]", "[2]"), "checksum"),
            (whole.replace("notes", "other"), "no notes"),
            (whole.replace("checksum", "sum"), "no checksum"),
            (whole.replace("format", "form"), "no format"),
            (whole.replace("\"format\": 2", "\"format\": \"2\""), "invalid type"),
        ];
        for (damaged, expected) in cases {
            fs::write(file.path(), &damaged).unwrap();
            match text(&file) {
                Err(SealedError::Damaged { path, found }) => {
                    assert_eq!(path, file.path());
                    assert!(found.contains(expected), "{expected}: {found}");
                }
                other => panic!("{expected}: {other:?}"),
            }
            assert_eq!(fs::read_to_string(file.path()).unwrap(), damaged);
        }
        fs::write(file.path(), r#"{"format": 3, "whatever": "follows"}"#).unwrap();
        assert!(matches!(text(&file), Err(SealedError::OtherFormat { found: 3, .. })));
        let refused = file.read(|_| Err::<(), _>("not so"));
        assert!(matches!(refused, Err(SealedError::OtherFormat { .. })), "nothing is decoded");
        fs::write(file.path(), &whole).unwrap();
        assert_eq!(text(&file).unwrap().as_deref(), Some("[1]"), "the whole one is read");
    }

    #[test]
    fn a_write_keeps_what_it_is_told_to_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = SealedFile::new(folder.path().to_owned(), "a", FORM);
        // What processes leave behind that are killed as they write.
        fs::write(folder.path().join(".notes-new"), "half").unwrap();
        fs::write(folder.path().join(".notes-previous"), "older").unwrap();
        file.write(&document("1"), Keep::Nothing).unwrap();
        file.write(&document("2"), Keep::Previous).unwrap();
        file.write(&document("3"), Keep::Previous).unwrap();
        let previous = file.read_previous(|document| Ok::<_, Infallible>(document.get().len()));
        assert!(matches!(previous, Ok(Some(1))));
        assert_eq!(names(folder.path()), ["a.json", "a.previous.json"]);
        fs::write(file.path(), "damaged").unwrap();
        file.write(&document("4"), Keep::Aside).unwrap();
        fs::write(file.path(), "damaged again").unwrap();
        file.write(&document("5"), Keep::Aside).unwrap();
        let expected = ["a.aside-1.json", "a.aside-2.json", "a.json", "a.previous.json"];
        assert_eq!(names(folder.path()), expected);
        let aside =
            |number: u8| fs::read_to_string(file.beside(&format!("aside-{number}.json"))).unwrap();
        assert_eq!((aside(1), aside(2)), ("damaged".to_owned(), "damaged again".to_owned()));
        assert_eq!(text(&file).unwrap().as_deref(), Some("5"));
    }
}
