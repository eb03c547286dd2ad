//! Which folder is the host's home.

use std::{env, ffi::OsString, io, path::PathBuf};

use thiserror::Error;
use toolbay_loader::has_raised_rights;

/// Why no home folder is known.
#[derive(Debug, Error)]
#[non_exhaustive]
pub(crate) enum HomeError {
    /// Nothing says where it is.
    ///
    /// Resolution: pass `--home`, or set `TOOLBAY_HOME`.
    #[error(
        "home folder unknown: expected --home, TOOLBAY_HOME, XDG_DATA_HOME or HOME, found none of them"
    )]
    Unknown,
    /// The program runs with rights that its caller does not have, so that their environment does not count.
    ///
    /// Resolution: pass `--home`, and better run the program with the rights of its own user alone.
    #[error(
        "home folder unknown: expected --home, since environment variables do not count for a program that runs setuid or with raised capabilities"
    )]
    RaisedRights,
    /// The folder is relative, and the current folder can't be told.
    ///
    /// Resolution: name the home folder by an absolute path.
    #[error("home folder {}: no absolute path", .path.display())]
    Relative {
        /// The folder as it was named.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// The home folder as an absolute path: `flag`, or else `TOOLBAY_HOME`, `toolbay` in `XDG_DATA_HOME`, or `~/.local/share/toolbay`.
///
/// In a program with rights that its caller does not have, only the flag counts: whoever chooses the home chooses which code runs.
pub(crate) fn resolve(flag: Option<PathBuf>) -> Result<PathBuf, HomeError> {
    let path = match has_raised_rights() {
        true => flag.ok_or(HomeError::RaisedRights)?,
        false => find(flag, |name| env::var_os(name)).ok_or(HomeError::Unknown)?,
    };
    std::path::absolute(&path).map_err(|source| HomeError::Relative { path, source })
}

/// Empty variables count as unset, and so does a relative `XDG_DATA_HOME`, as its specification wants.
fn find(flag: Option<PathBuf>, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    flag.or_else(|| folder("TOOLBAY_HOME")).or_else(|| {
        let data = folder("XDG_DATA_HOME").filter(|path| path.is_absolute());
        data.or_else(|| Some(folder("HOME")?.join(".local/share"))).map(|data| data.join("toolbay"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_explicit_folder_wins() {
        type Variables = &'static [(&'static str, &'static str)];
        const ALL: Variables = &[("TOOLBAY_HOME", "/t"), ("XDG_DATA_HOME", "/x"), ("HOME", "/h")];
        let cases: [(Option<&str>, Variables, Option<&str>); 8] = [
            (Some("flag"), ALL, Some("flag")),
            (None, ALL, Some("/t")),
            (None, &ALL[1..], Some("/x/toolbay")),
            (None, &ALL[2..], Some("/h/.local/share/toolbay")),
            (None, &[], None),
            (None, &[("TOOLBAY_HOME", ""), ("XDG_DATA_HOME", "/x")], Some("/x/toolbay")),
            (
                None,
                &[("XDG_DATA_HOME", "relative"), ("HOME", "/h")],
                Some("/h/.local/share/toolbay"),
            ),
            (None, &[("HOME", "")], None),
        ];
        for (flag, variables, expected) in cases {
            let variable = |name: &str| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
            };
            let found = find(flag.map(PathBuf::from), variable);
            assert_eq!(found, expected.map(PathBuf::from), "{flag:?} {variables:?}");
        }
    }
}
