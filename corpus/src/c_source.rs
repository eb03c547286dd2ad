//! The libraries that Rust would never make, in C.

use std::{
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use toolbay_abi::{note::TARGET, shape};

/// Why a source did not become a library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CError {
    /// There is no compiler.
    ///
    /// *Resolution*: install a C compiler that can be called as `cc`.
    #[error("cc, the C compiler, can't be run")]
    NoCompiler(#[source] io::Error),
    /// The compiler refuses it.
    ///
    /// *Resolution*: it needs GCC or Clang, on Linux; what it says is in the message.
    #[error("{path} does not compile: {message}")]
    Refused {
        /// The source.
        path: PathBuf,
        /// What the compiler said.
        message: String,
    },
}

/// A source in the folder `c` of this crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CSource(pub &'static str);

impl CSource {
    /// Where it is.
    pub fn path(self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("c").join(self.0)
    }

    /// Compiles it into a library, with these arguments for compiler and linker.
    ///
    /// # Errors
    ///
    /// [`CError`] where there is no compiler, or it refuses the source.
    pub fn compile(self, output: &Path, extra: &[&OsStr]) -> Result<(), CError> {
        let made = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"])
            .arg(output)
            .arg(self.path())
            .args(extra)
            .arg("-lpthread")
            .output()
            .map_err(CError::NoCompiler)?;
        if made.status.success() {
            return Ok(());
        }
        let message = String::from_utf8_lossy(&made.stderr).into_owned();
        Err(CError::Refused { path: self.path(), message })
    }
}

/// The macro that gives a C source a note that a host of this release accepts, as an argument of the compiler.
pub fn note_define(id: &str) -> String {
    changed_note_define(id, |_| {})
}

/// The macro that gives a C source another note than [`note_define`] does.
pub fn changed_note_define(id: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut note = json!({
        "epoch": shape::EPOCH,
        "digest": format!("{:016x}", shape::DIGEST),
        "shape": shape::SHAPE,
        "id": id,
        "version": "1.0.0",
        "panic": "unwind",
        "target": TARGET,
        "tools": [{ "name": "greet", "enabled": true, "effect": "read_only" }],
    });
    change(&mut note);
    format!("-DNOTE_JSON={:?}", note.to_string())
}
