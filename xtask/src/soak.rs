//! `cargo xtask soak`: lets fifty providers, hostile ones among them, be used from all sides for a while, and checks every answer.
//!
//! It runs in the development profile, as the tests do: nothing is built twice, and overflows and broken assumptions end it.

use std::{
    io,
    os::unix::process::CommandExt,
    process::Command,
    time::{SystemTime, UNIX_EPOCH},
};

use cargo_metadata::camino::Utf8PathBuf;

use crate::{
    checkout::Checkout,
    steps::{StepError, Steps},
};

/// The program, and the package that it and the library of its providers belong to.
const PROGRAM: &str = "toolbay-soak";
const PACKAGES: [&str; 2] = ["toolbay-tests", "toolbay-fixture-violent"];

/// Why nothing was soaked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SoakError {
    /// The program or the plugin can't be built.
    #[error("the soak can't be built")]
    Build(#[from] StepError),
    /// The program can't be run.
    #[error("{path} can't be run")]
    Run {
        /// The program.
        path: Utf8PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
}

/// A seed that is hardly ever the same twice.
#[must_use]
pub fn any_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::from(now.subsec_nanos()))
}

/// Builds the program and becomes it, so that whatever interrupts this process interrupts it. Its exit code is 0 where every check passed.
///
/// # Errors
///
/// [`SoakError`] where it does not come to that.
pub fn run(checkout: &Checkout, minutes: f64, seed: u64) -> Result<(), SoakError> {
    let mut build = checkout.cargo(["build", "--locked"]);
    build.args(PACKAGES.map(|package| format!("--package={package}"))).arg("--lib");
    build.args(["--bin", PROGRAM]);
    Steps::new(1).run("building the soak and its plugin", &mut build)?;
    let path = checkout.target().join("debug").join(PROGRAM);
    let mut program = Command::new(&path);
    program.args([minutes.to_string(), seed.to_string()]);
    // One heap for all threads: what each of many keeps free would hide a leak.
    let cause = program.env("MALLOC_ARENA_MAX", "1").exec();
    Err(SoakError::Run { path, cause })
}
