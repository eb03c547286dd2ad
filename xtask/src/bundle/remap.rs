//! The compiler with the machine's folders named in the same words everywhere, so that the same source gives the same bytes.
//!
//! This program stands between cargo and rustc. Flags in an environment variable would take the place of those in the workspace's own
//! `.cargo/config.toml`, which may be needed to link.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs, io,
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, ExitCode},
};

use cargo_metadata::camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

/// The environment variable by which a process knows that it stands before the compiler; it holds the [`Folders`].
pub(super) const VARIABLE: &str = "TOOLBAY_BUNDLE_REMAP";

/// The folders of this machine that the compiler writes into libraries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Folders {
    /// The workspace's.
    pub(super) root: Utf8PathBuf,
    /// The one that is built into, where build scripts write sources.
    pub(super) target: Utf8PathBuf,
    /// Cargo's, with the sources of dependencies.
    pub(super) cargo_home: Utf8PathBuf,
    /// The compiler's, which may hold the standard library's sources.
    pub(super) sysroot: Utf8PathBuf,
    /// The commit that the compiler is of, as its own libraries have it.
    pub(super) commit: String,
}

impl Folders {
    /// Each folder with its name in libraries. The compiler takes the last that fits, so that one in another comes behind it.
    fn prefixes(&self) -> Vec<(Utf8PathBuf, String)> {
        let sources = self.sysroot.join("lib/rustlib/src/rust");
        let mut prefixes = vec![
            (self.root.clone(), "/workspace".to_owned()),
            (self.target.clone(), "/target".to_owned()),
            (self.cargo_home.clone(), "/cargo".to_owned()),
            (sources, format!("/rustc/{}", self.commit)),
        ];
        // The folder of a registry has a name that depends on where it was fetched from.
        let registries = fs::read_dir(self.cargo_home.join("registry/src"));
        let registries = registries.into_iter().flatten().flatten();
        let registries =
            registries.filter_map(|entry| Utf8PathBuf::from_path_buf(entry.path()).ok());
        prefixes.extend(registries.map(|folder| (folder, "/cargo/registry/src".to_owned())));
        prefixes.sort_by_key(|(folder, _)| folder.as_str().len());
        prefixes
    }

    /// The compiler's arguments.
    fn arguments(&self) -> impl Iterator<Item = OsString> {
        let prefixes = self.prefixes().into_iter();
        prefixes.map(|(from, to)| format!("--remap-path-prefix={from}={to}").into())
    }

    /// Those that stand in a library's bytes all the same.
    pub(super) fn named_in<'a>(&'a self, content: &[u8]) -> Vec<&'a Utf8Path> {
        let folders: [&Utf8Path; 3] = [&self.root, &self.target, &self.cargo_home];
        let stands = |folder: &&Utf8Path| {
            let name = folder.as_str().as_bytes();
            !name.is_empty() && content.windows(name.len()).any(|window| window == name)
        };
        folders.into_iter().filter(stands).collect()
    }
}

/// Becomes the compiler. What cargo says is the compiler's path and its arguments.
pub(super) fn child(folders: &OsStr) -> ExitCode {
    let mut said = env::args_os().skip(1);
    let error = match (said.next(), serde_json::from_slice::<Folders>(folders.as_encoded_bytes())) {
        (Some(rustc), Ok(folders)) => {
            let mut compiler = Command::new(&rustc);
            compiler.args(said).args(folders.arguments()).env_remove(VARIABLE);
            failed(Path::new(&rustc), &compiler.exec())
        }
        _ => format!("{VARIABLE}: expected the folders, and a compiler as the first argument"),
    };
    eprintln!("error: {error}");
    ExitCode::FAILURE
}

fn failed(rustc: &Path, error: &io::Error) -> String {
    format!("{} can't be run: {error}", rustc.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_folders_in_folders_the_inner_comes_last() {
        let home = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(home.path()).unwrap();
        fs::create_dir_all(path.join("cargo/registry/src/index.example-0123")).unwrap();
        let folders = Folders {
            root: path.join("work"),
            target: path.join("work/target"),
            cargo_home: path.join("cargo"),
            sysroot: "/toolchain".into(),
            commit: "abc".to_owned(),
        };
        let prefixes = folders.prefixes();
        let at = |name: &str| prefixes.iter().position(|(_, to)| to == name).unwrap();
        assert!(at("/workspace") < at("/target") && at("/cargo") < at("/cargo/registry/src"));
        let sources = &prefixes[at("/rustc/abc")].0;
        assert_eq!(sources, "/toolchain/lib/rustlib/src/rust");
        assert_eq!(
            folders.named_in(path.join("work/src").as_str().as_bytes()),
            [folders.root.as_path()]
        );
        assert!(folders.named_in(b"/workspace/src").is_empty());
    }
}
