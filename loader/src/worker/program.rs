//! Which program a worker is.

use std::{ffi::OsStr, path::PathBuf, process::Command};

/// The program that loads a plugin in a process of its own. Its `main` begins with [`run_if_worker`](crate::run_if_worker).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerProgram {
    path: PathBuf,
}

/// The argument by which a program knows that it is to be a worker.
pub(super) const ARGUMENT: &str = "--toolbay-worker";

/// What a worker gets of the host's environment: nothing that a host keeps secrets in.
const ENVIRONMENT: &[&str] =
    &["HOME", "LANG", "LC_ALL", "LC_CTYPE", "PATH", "RUST_BACKTRACE", "TMPDIR", "TZ"];

impl WorkerProgram {
    /// This very program, also where its file has been replaced since it started.
    pub fn this_program() -> Self {
        Self { path: PathBuf::from("/proc/self/exe") }
    }

    /// The program in a file.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where the program is.
    pub(super) fn path(&self) -> &PathBuf {
        &self.path
    }

    /// The command that starts it for a provider, whose id people see in the list of processes.
    pub(super) fn command(&self, provider: &str) -> Command {
        let mut command = Command::new(&self.path);
        command.args([OsStr::new(ARGUMENT), OsStr::new(provider)]).env_clear();
        let kept = ENVIRONMENT.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        command.envs(kept);
        command
    }
}
