//! Builds a plugin's library so that the same source gives the same bytes.

use std::{
    env, io,
    process::{Command, Output},
};

use cargo_metadata::camino::{Utf8Path, Utf8PathBuf};

use super::{
    plugin::Plugin,
    remap::{self, Folders},
    this_program,
};
use crate::{
    checkout::Checkout,
    steps::{StepError, Steps},
};

/// Why the library can't be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// The compiler does not say what it is.
    ///
    /// Resolution: install Rust, or correct RUSTC.
    #[error("the compiler {rustc:?} does not say which it is and where: {said}")]
    Compiler {
        /// The program.
        rustc: String,
        /// What it said instead.
        said: String,
    },
    /// It is not known where cargo keeps sources, or which program this is.
    ///
    /// Resolution: set CARGO_HOME, or HOME.
    #[error("expected {what}, found none")]
    Machine {
        /// What is not known.
        what: &'static str,
    },
    /// Cargo failed.
    #[error(transparent)]
    Cargo(#[from] StepError),
}

/// A library that was built.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) library: Utf8PathBuf,
    /// The folders of which it should not know.
    pub(super) folders: Folders,
}

/// Builds a plugin in release mode, in a target folder that nothing else uses.
pub(super) fn compile(
    checkout: &Checkout,
    plugin: &Plugin,
    steps: &mut Steps,
) -> Result<Compiled, CompileError> {
    let (folders, host) = Folders::of(checkout)?;
    let wrapper = this_program::path()
        .map_err(|_| CompileError::Machine { what: "the path of this program" })?;
    let mut build = checkout.cargo(["build", "--release", "--package", &*plugin.package]);
    // With the target named, the library's place does not depend on the workspace's own settings.
    build.args(["--target", &*host]);
    if checkout.root().join("Cargo.lock").is_file() {
        build.arg("--locked");
    }
    build
        .arg("--target-dir")
        .arg(&folders.target)
        .args(["--config", "profile.release.strip=\"symbols\""])
        .env("CARGO_INCREMENTAL", "0")
        .env("RUSTC_WRAPPER", wrapper)
        .env(remap::VARIABLE, serde_json::json!(folders).to_string());
    steps.run(&format!("building {}", plugin.package), &mut build)?;
    let library = folders.target.join(&host).join("release").join(&plugin.library);
    Ok(Compiled { library, folders })
}

/// The folder that bundles are built in, and in which they are put.
pub(super) fn target(checkout: &Checkout) -> Utf8PathBuf {
    checkout.target().join("bundle")
}

impl Folders {
    /// The folders of this machine, and the system that its compiler builds for.
    fn of(checkout: &Checkout) -> Result<(Self, String), CompileError> {
        let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
        let sysroot = ask(checkout.root(), &rustc, &["--print", "sysroot"])?;
        let version = ask(checkout.root(), &rustc, &["-vV"])?;
        let field = |name: &str| {
            let line = version.lines().find_map(|line| line.strip_prefix(name));
            let said = || CompileError::Compiler { rustc: rustc.clone(), said: version.clone() };
            line.map(|value| value.trim().to_owned()).ok_or_else(said)
        };
        let folders = Self {
            root: checkout.root().to_owned(),
            target: target(checkout),
            cargo_home: cargo_home().ok_or(CompileError::Machine { what: "cargo's home" })?,
            sysroot: sysroot.trim().into(),
            commit: field("commit-hash:")?,
        };
        Ok((folders, field("host:")?))
    }
}

fn cargo_home() -> Option<Utf8PathBuf> {
    let named = env::var_os("CARGO_HOME").map(Into::into);
    let home = named.or_else(|| Some(env::home_dir()?.join(".cargo")))?;
    Utf8PathBuf::from_path_buf(home).ok()
}

fn ask(root: &Utf8Path, rustc: &str, arguments: &[&str]) -> Result<String, CompileError> {
    let failed = |said: String| CompileError::Compiler { rustc: rustc.to_owned(), said };
    let asked: io::Result<Output> = Command::new(rustc).args(arguments).current_dir(root).output();
    let Output { status, stdout, stderr } = asked.map_err(|error| failed(error.to_string()))?;
    match String::from_utf8(stdout) {
        Ok(said) if status.success() => Ok(said),
        _ => Err(failed(String::from_utf8_lossy(&stderr).trim().to_owned())),
    }
}
