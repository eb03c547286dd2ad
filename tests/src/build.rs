//! Finds what cargo has built beside the running test, and builds what is not Rust.

use std::{
    env,
    error::Error,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use toolbay_corpus::CSource;

/// The library of a package that this crate depends on, by the package's name.
///
/// Cargo puts it beside the test binary, so that it is never an older build's.
///
/// # Panics
///
/// Where it is not there.
#[expect(clippy::panic, reason = "a test without its library has failed")]
pub fn library(package: &str) -> PathBuf {
    let path = beside_the_test().join(format!("lib{}.so", package.replace('-', "_")));
    if !path.is_file() {
        panic!(
            "expected {} to be built: is {package} a dependency of toolbay-tests?",
            path.display()
        );
    }
    path
}

/// A copy of a library in a folder, without what it has for debuggers.
///
/// # Panics
///
/// Where it can't be made.
#[expect(clippy::panic, reason = "a test without its library has failed")]
pub fn stripped(library: &Path, folder: &Path) -> PathBuf {
    let copy = folder.join(library.file_name().unwrap_or_default());
    let made = Command::new("strip").arg("-g").arg("-o").arg(&copy).arg(library).status();
    if !made.is_ok_and(|status| status.success()) {
        panic!("expected strip, of the same package as the linker, to copy {}", library.display());
    }
    copy
}

/// The host's binary.
///
/// # Panics
///
/// Where it is not built.
pub fn host_binary() -> PathBuf {
    binary("toolbay")
}

/// The binary of the corpus.
///
/// # Panics
///
/// Where it is not built.
pub fn corpus_binary() -> PathBuf {
    binary("toolbay-corpus")
}

/// The binary of the repository's tasks.
///
/// # Panics
///
/// Where it is not built.
pub fn xtask_binary() -> PathBuf {
    binary("toolbay-xtask")
}

#[expect(clippy::panic, reason = "a test without its program has failed")]
fn binary(name: &str) -> PathBuf {
    let path = beside_the_test().parent().map(|folder| folder.join(name)).unwrap_or_default();
    if !path.is_file() {
        panic!("expected {} to be built: run `cargo xtask test`", path.display());
    }
    path
}

/// A Python with the package `mcp`, or `None` where the machine has none and nobody insists.
///
/// `TOOLBAY_PYTHON` names it; with `TOOLBAY_REQUIRE_PYTHON` it must be there.
///
/// # Panics
///
/// Where somebody insists and it is not there.
#[expect(clippy::panic, reason = "a test that must run and can't has failed")]
pub fn python() -> Option<PathBuf> {
    let python = env::var_os("TOOLBAY_PYTHON").map(PathBuf::from);
    if python.is_none() && env::var_os("TOOLBAY_REQUIRE_PYTHON").is_some() {
        panic!("expected TOOLBAY_PYTHON to name a Python with the package mcp");
    }
    python
}

/// Compiles a C source of the corpus into a library.
///
/// # Panics
///
/// Where the compiler refuses it.
#[expect(clippy::panic, reason = "a test without its library has failed")]
pub fn c_library(source: &'static str, output: &Path, extra: &[&OsStr]) {
    if let Err(error) = CSource(source).compile(output, extra) {
        panic!("{error}: {:?}", error.source());
    }
}

#[expect(clippy::panic, reason = "a test that does not know where it is has failed")]
fn beside_the_test() -> PathBuf {
    let Ok(test) = env::current_exe().and_then(fs::canonicalize) else { panic!("no test binary") };
    test.parent().map(Path::to_owned).unwrap_or_default()
}
