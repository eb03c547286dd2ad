//! Which files and folders the repository has.

use std::collections::BTreeSet;

/// The paths of the repository's files and of the folders that they are in.
#[derive(Debug)]
pub(super) struct Tree {
    paths: BTreeSet<String>,
}

impl Tree {
    /// The tree that has these files, each with `/` between its parts.
    pub(super) fn new<'a>(files: impl IntoIterator<Item = &'a str>) -> Self {
        let mut paths = BTreeSet::new();
        for file in files {
            let mut path = file;
            paths.insert(path.to_owned());
            while let Some((folder, _)) = path.rsplit_once('/') {
                paths.insert(folder.to_owned());
                path = folder;
            }
        }
        Self { paths }
    }

    /// Whether the path, relative to `folder` (empty for the root), is a file or a folder of the repository.
    pub(super) fn has(&self, folder: &str, path: &str) -> bool {
        let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    if parts.pop().is_none() {
                        return false;
                    }
                }
                part => parts.push(part),
            }
        }
        parts.is_empty() || self.paths.contains(&parts.join("/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_their_folders_are_there() {
        let tree = Tree::new(["core/src/lib.rs", "README.md"]);
        for (folder, path, expected) in [
            ("", "core/src/lib.rs", true),
            ("", "core/src", true),
            ("", "core/", true),
            ("core", "src/lib.rs", true),
            ("core/src", "../../README.md", true),
            ("core", "..", true),
            ("", "core/src/main.rs", false),
            ("", "src/lib.rs", false),
            ("core", "../../README.md", false),
        ] {
            assert_eq!(tree.has(folder, path), expected, "{path} from {folder:?}");
        }
    }
}
