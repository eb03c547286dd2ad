//! The file that an export goes to.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use super::AuditError;

/// Empties the file, or makes it, readable for its owner alone. A file of the log is left as it is: it is being read, and holds what
/// nobody can write again.
pub(super) fn create(path: &Path, log: &Path) -> Result<File, AuditError> {
    let failed = |source| AuditError::Output { path: path.to_owned(), source };
    let folder = folder_of(path).map_err(failed)?;
    if fs::canonicalize(log).is_ok_and(|log| folder == log) {
        return Err(AuditError::InLog { path: path.to_owned() });
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600).open(path).map_err(failed)
}

/// The folder in which the file is, or would be, without symbolic links.
fn folder_of(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Ok(file) => Ok(file.parent().map(Path::to_owned).unwrap_or_default()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            fs::canonicalize(folder.unwrap_or(Path::new(".")))
        }
        Err(error) => Err(error),
    }
}
