//! Paths in a bundle, which lead nowhere else and mean one file on every system.

use std::{
    borrow::Borrow,
    collections::{BTreeMap, btree_map::Entry},
    fmt,
    str::FromStr,
};

use thiserror::Error;

use super::refused;
use crate::{plugin_text::one_line, rejection::Reason};

/// The path of a file in a bundle, such as `docs/guide.md`: relative, in UTF-8, with `/` between its parts.
///
/// A part is neither empty nor `.` nor `..`, has no control character, backslash or colon, and ends in neither a dot nor a space, which
/// some systems drop. It has at most 255 bytes, the path at most 1,024 bytes and 8 parts.
///
/// ```
/// use toolbay_loader::BundlePath;
///
/// assert!("docs/guide.md".parse::<BundlePath>().is_ok());
/// assert!("../guide.md".parse::<BundlePath>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BundlePath(Box<str>);

impl BundlePath {
    /// The most bytes of a path.
    pub const MAX_BYTES: usize = 1024;

    /// The most bytes of one part.
    pub const MAX_PART_BYTES: usize = 255;

    /// The most parts, the file's own name among them.
    pub const MAX_PARTS: usize = 8;

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The folder that it lies in, or the empty text.
    pub(super) fn folder(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// Whether it lies in this folder or below; in the empty one lies everything.
    pub(super) fn is_below(&self, folder: &str) -> bool {
        folder.is_empty() || self.0.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    }

    /// The path that a file system or an archive has as bytes.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, PathError> {
        match str::from_utf8(bytes) {
            Ok(text) => text.parse(),
            Err(_) => Err(PathError {
                expected: "UTF-8",
                found: one_line(&bytes.escape_ascii().to_string(), PathError::MAX_FOUND),
            }),
        }
    }
}

impl Borrow<str> for BundlePath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BundlePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// A text that is no [`BundlePath`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("path in a bundle: expected {expected}, found \"{found}\"")]
pub struct PathError {
    expected: &'static str,
    /// Made fit for a line.
    found: String,
}

impl PathError {
    const MAX_FOUND: usize = 200;

    /// The rule that it breaks.
    pub fn expected(&self) -> &'static str {
        self.expected
    }

    /// The text, escaped and cut.
    pub fn found(&self) -> &str {
        &self.found
    }

    /// Why a bundle with such a path is refused.
    pub(super) fn refused(self) -> Reason {
        let Self { expected, found } = self;
        refused(
            "bad_path",
            format!("paths of {expected}"),
            format!("\"{found}\""),
            "rename the file, and pack the bundle again",
        )
    }
}

impl FromStr for BundlePath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        match broken_rule(text) {
            None => Ok(Self(text.into())),
            Some(expected) => {
                let found = text.escape_debug().to_string();
                Err(PathError { expected, found: one_line(&found, PathError::MAX_FOUND) })
            }
        }
    }
}

fn broken_rule(text: &str) -> Option<&'static str> {
    if text.len() > BundlePath::MAX_BYTES {
        return Some("at most 1,024 bytes");
    }
    if text.split('/').count() > BundlePath::MAX_PARTS {
        return Some("at most 8 parts");
    }
    text.split('/').find_map(|part| {
        let refused = |char: char| char.is_control() || matches!(char, '\\' | ':');
        match part {
            "" => Some("relative paths without empty parts"),
            "." | ".." => Some("names, without . and .."),
            _ if part.len() > BundlePath::MAX_PART_BYTES => Some("parts of at most 255 bytes"),
            _ if part.contains(refused) => Some("characters but control characters, \\ and :"),
            _ if part.ends_with(['.', ' ']) => Some("parts that end in neither dot nor space"),
            _ => None,
        }
    })
}

/// Paths that can lie beside each other on every system: no two of them differ only in case, and none is a folder of another.
#[derive(Debug, Default)]
pub(super) struct PathSet {
    /// Lower-cased, and as it was spelled.
    known: BTreeMap<String, Known>,
}

#[derive(Debug)]
struct Known {
    spelled: String,
    is_folder: bool,
}

impl PathSet {
    /// Adds the path of a file, which must be new.
    pub(super) fn add_file(&mut self, path: &BundlePath) -> Result<(), Reason> {
        self.add_folders(path.folder())?;
        match self.known.entry(path.as_str().to_lowercase()) {
            Entry::Vacant(entry) => {
                entry.insert(Known { spelled: path.to_string(), is_folder: false });
                Ok(())
            }
            Entry::Occupied(entry) => Err(collision(&entry.get().spelled, path.as_str())),
        }
    }

    /// Adds a folder, which may be there already, and those around it.
    pub(super) fn add_folder(&mut self, path: &BundlePath) -> Result<(), Reason> {
        self.add_folders(path.as_str())
    }

    fn add_folders(&mut self, folder: &str) -> Result<(), Reason> {
        let ends = folder.match_indices('/').map(|(at, _)| at).chain([folder.len()]);
        for folder in ends.filter_map(|end| folder.get(..end)).filter(|text| !text.is_empty()) {
            match self.known.entry(folder.to_lowercase()) {
                Entry::Vacant(entry) => {
                    entry.insert(Known { spelled: folder.to_owned(), is_folder: true });
                }
                Entry::Occupied(entry) => {
                    let known = entry.get();
                    if !known.is_folder || known.spelled != folder {
                        return Err(collision(&known.spelled, folder));
                    }
                }
            }
        }
        Ok(())
    }
}

fn collision(one: &str, other: &str) -> Reason {
    refused(
        "colliding_paths",
        "paths that differ in more than case, and no file that is a folder as well",
        format!("{one:?} and {other:?}"),
        "rename one of them, and pack the bundle again",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_in_its_bundle_and_means_the_same_everywhere() {
        let part = "p".repeat(255);
        let longest = [&part[..], &part, &part, &part[..254], "p"].join("/");
        assert_eq!(longest.len(), 1024);
        let eight = ["a"; 8].join("/");
        for good in ["a", "lib/x.so", ".hidden", "a..b", "ä ö/ü", "-", &part, &longest, &eight] {
            assert_eq!(good.parse::<BundlePath>().unwrap().as_str(), good);
        }
        let bad = [
            ("", "relative paths without empty parts"),
            ("/etc/passwd", "relative paths without empty parts"),
            ("a//b", "relative paths without empty parts"),
            ("a/", "relative paths without empty parts"),
            ("..", "names, without . and .."),
            ("../x", "names, without . and .."),
            ("a/../../x", "names, without . and .."),
            ("./a", "names, without . and .."),
            ("a\\b", "characters but control characters, \\ and :"),
            ("C:/a", "characters but control characters, \\ and :"),
            ("a\0", "characters but control characters, \\ and :"),
            ("a\nb", "characters but control characters, \\ and :"),
            ("a\u{85}", "characters but control characters, \\ and :"),
            ("a./b", "parts that end in neither dot nor space"),
            ("a ", "parts that end in neither dot nor space"),
            (&format!("{part}p"), "parts of at most 255 bytes"),
            (&format!("{longest}p"), "at most 1,024 bytes"),
            (&format!("{eight}/a"), "at most 8 parts"),
        ];
        for (bad, expected) in bad {
            let error = bad.parse::<BundlePath>().unwrap_err();
            assert_eq!(error.expected(), expected, "{bad:?}");
            assert!(error.found().len() < 250 && !error.found().contains(char::is_control));
        }
        let error = BundlePath::from_bytes(b"lib/\xff\n").unwrap_err();
        assert_eq!((error.expected(), error.found()), ("UTF-8", "lib/\\xff\\n"));
    }

    #[test]
    fn paths_that_a_system_could_take_for_each_other_are_refused() {
        let add = |paths: &[&str]| {
            let mut set = PathSet::default();
            paths.iter().try_for_each(|path| match path.strip_suffix('/') {
                Some(folder) => set.add_folder(&folder.parse().unwrap()),
                None => set.add_file(&path.parse().unwrap()),
            })
        };
        let good: [&[&str]; 4] = [
            &["a", "b", "c/a", "c/b", "c/d/a"],
            &["a-b", "a/b", "a.b"],
            &["a/", "a/b/", "a/", "a/b/c"],
            &["Docs/a", "Docs/b", "docs.md"],
        ];
        for good in good {
            assert_eq!(add(good), Ok(()), "{good:?}");
        }
        let bad: [&[&str]; 8] = [
            &["a", "a"],
            &["a.so", "A.so"],
            &["é", "É"],
            &["a", "a/b"],
            &["a/b/c", "a/b"],
            &["a/b", "A"],
            &["Docs/a", "docs/b"],
            &["a", "a/"],
        ];
        for bad in bad {
            assert_eq!(add(bad).unwrap_err().code, "colliding_paths", "{bad:?}");
        }
    }
}
