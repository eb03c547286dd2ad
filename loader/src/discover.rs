//! Finds the files that may be plugins. It opens none of them.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::rejection::{Reason, Rejection, Stage};

/// The most entries that are looked at in one plugin directory.
pub const MAX_ENTRIES: usize = 10_000;

/// The name of the manifest, by which a folder is known as a bundle.
pub(crate) const MANIFEST: &str = "toolbay.json";

/// A file or folder that may be a plugin.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    path: PathBuf,
}

impl Candidate {
    /// A file or folder that somebody named outright, wherever it is.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// What is in the plugin directories, in the order of the paths' bytes.
#[derive(Debug, Default)]
pub struct Discovery {
    /// The files and folders that may be plugins.
    pub candidates: Vec<Candidate>,
    /// The directories and entries that can't be looked at.
    pub rejections: Vec<Rejection>,
}

/// Looks into each directory, and not into directories inside it: a cargo target directory, say, holds copies of the same
/// libraries further down.
///
/// Every file but those with a leading dot is a candidate, whatever its name, for a library is known by its note; so is every directory
/// with a manifest, which is a bundle. Other directories are none.
pub fn discover(directories: &[PathBuf]) -> Discovery {
    let mut discovery = Discovery::default();
    for directory in directories {
        if let Err(error) = look_into(directory, &mut discovery) {
            let reason = unreadable(directory, &error);
            discovery.rejections.push(reason.of(directory, None));
        }
    }
    discovery.candidates.sort();
    discovery.candidates.dedup();
    discovery
}

fn look_into(directory: &Path, discovery: &mut Discovery) -> io::Result<()> {
    for (count, entry) in fs::read_dir(directory)?.enumerate() {
        if count == MAX_ENTRIES {
            let reason = Reason::plugin(
                Stage::Discover,
                "too_many_entries",
                format!("at most {MAX_ENTRIES} entries in a plugin directory"),
                "more; the rest was not looked at",
                "give plugins a directory of their own",
            );
            discovery.rejections.push(reason.by_environment().of(directory, None));
            break;
        }
        let entry = entry?;
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        // An entry whose kind can't be told is a candidate: opening it will say what is wrong with it alone.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let path = entry.path();
        if !hidden && (!is_folder || path.join(MANIFEST).symlink_metadata().is_ok()) {
            discovery.candidates.push(Candidate { path });
        }
    }
    Ok(())
}

fn unreadable(directory: &Path, error: &io::Error) -> Reason {
    let remedy = if error.kind() == io::ErrorKind::NotFound {
        format!(
            "create {}, or take it out of the configured plugin directories",
            directory.display()
        )
    } else {
        "correct the directory's permissions, or take it out of the configured plugin directories"
            .to_owned()
    };
    let expected = "a directory that can be read";
    Reason::plugin(Stage::Discover, "unreadable_directory", expected, error.to_string(), remedy)
        .by_environment()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_candidates_in_byte_order_whatever_their_names() {
        let root = tempfile::tempdir().unwrap();
        for name in ["b.so", "a", "c.txt", ".hidden.so"] {
            fs::write(root.path().join(name), "x").unwrap();
        }
        fs::create_dir(root.path().join("deps")).unwrap();
        fs::write(root.path().join("deps/inner.so"), "x").unwrap();
        fs::create_dir(root.path().join("d")).unwrap();
        fs::write(root.path().join("d/toolbay.json"), "{}").unwrap();

        let twice = [root.path().to_owned(), root.path().to_owned()];
        let found = discover(&twice);
        let names: Vec<_> = found
            .candidates
            .iter()
            .map(|c| c.path().file_name().unwrap().to_str().unwrap())
            .collect();
        assert_eq!(names, ["a", "b.so", "c.txt", "d"]);
        assert_eq!(found.rejections, []);
    }

    #[test]
    fn a_missing_directory_is_reported_and_the_others_are_read() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("a.so"), "x").unwrap();
        let found = discover(&[root.path().join("missing"), root.path().to_owned()]);
        assert_eq!(found.candidates.len(), 1);
        assert_eq!(found.rejections.len(), 1);
        assert_eq!(found.rejections[0].reason.code, "unreadable_directory");
    }
}
