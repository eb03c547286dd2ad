//! Unpacking into a folder of the host's own.

use std::{
    collections::BTreeSet,
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use super::{Bundle, BundlePath, ListedFile, MANIFEST, SIGNATURE, not_written};
use crate::{
    rejection::{Reason, Stage},
    store::sync_dir,
};

const FOLDER_MODE: u32 = 0o700;
const LIBRARY_MODE: u32 = 0o500;
const FILE_MODE: u32 = 0o400;

impl Bundle {
    /// Writes the manifest, its signature and the chosen files below a folder, which must be empty and belong to the host alone. Each file
    /// is hashed as it is written, and files and folders are durable on return: folders of mode 0700, libraries 0500, others 0400.
    ///
    /// What is in the folder after an error is worth nothing; the caller removes it.
    ///
    /// # Errors
    ///
    /// As for [`Bundle::copy_file`]; `not_empty` of the stage [`Store`](Stage::Store) where the folder holds something, and `not_written`
    /// where it can't be written to.
    pub fn unpack(
        &mut self,
        folder: &Path,
        which: impl Fn(&BundlePath) -> bool,
    ) -> Result<(), Reason> {
        check_empty(folder)?;
        write(folder, MANIFEST, self.manifest.bytes())?;
        if let Some(signature) = &self.signature {
            write(folder, SIGNATURE, signature)?;
        }
        let parts = self.manifest.parts();
        let chosen = |file: &&ListedFile| which(&file.path);
        let libraries: Vec<_> = parts.libraries().filter(chosen).cloned().collect();
        let others: Vec<_> = parts.files.iter().filter(chosen).cloned().collect();
        let mut folders = BTreeSet::from([folder.to_owned()]);
        for (files, mode) in [(libraries, LIBRARY_MODE), (others, FILE_MODE)] {
            for listed in files {
                let path = listed.path.as_str();
                let failed = |error: io::Error| not_written(path, &error);
                make_folders(folder, listed.path.folder(), &mut folders).map_err(failed)?;
                let mut file = create(&folder.join(path), mode).map_err(failed)?;
                self.copy_listed(&listed, &mut file)?;
                file.sync_all().map_err(failed)?;
            }
        }
        let sync = |folder: &PathBuf| {
            sync_dir(folder).map_err(|error| not_written(&folder.display().to_string(), &error))
        };
        // Inner ones first: what a folder holds is durable before it is itself.
        folders.iter().rev().try_for_each(sync)
    }
}

fn check_empty(folder: &Path) -> Result<(), Reason> {
    let failed = |error: io::Error| not_written(&folder.display().to_string(), &error);
    match fs::read_dir(folder).map_err(failed)?.next() {
        None => Ok(()),
        Some(_) => Err(Reason::plugin(
            Stage::Store,
            "not_empty",
            format!("an empty folder to unpack into, {}", folder.display()),
            "one that holds something",
            "unpack into a new folder",
        )
        .by_environment()),
    }
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), Reason> {
    let written = create(&folder.join(name), FILE_MODE).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.map_err(|error| not_written(name, &error))
}

fn create(path: &Path, mode: u32) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    // The process may have a mask of its own.
    file.set_permissions(Permissions::from_mode(mode))?;
    Ok(file)
}

fn make_folders(root: &Path, inner: &str, made: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    let mut folder = root.to_owned();
    for part in inner.split('/').filter(|part| !part.is_empty()) {
        folder.push(part);
        if made.insert(folder.clone()) {
            fs::DirBuilder::new().mode(FOLDER_MODE).create(&folder)?;
        }
    }
    Ok(())
}
