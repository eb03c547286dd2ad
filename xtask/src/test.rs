//! `cargo xtask test`: builds what the tests load, then runs all tests and all examples of the documentation.

use std::ffi::OsString;

use crate::{
    checkout::Checkout,
    steps::{StepError, Steps},
};

/// Builds the workspace, then runs its tests, with `cargo nextest` where that is installed, and its documentation's examples.
///
/// `extra` goes to the test runner as it is. The examples run even where tests failed, so that one run tells everything.
///
/// # Errors
///
/// The first step that failed.
pub fn run(checkout: &Checkout, extra: &[OsString]) -> Result<(), StepError> {
    let mut steps = Steps::new(3);
    // Cargo builds the cdylib of a plugin only when it builds the package itself, not for a test that opens the library by path.
    steps.run(
        "building the workspace with its plugins",
        &mut checkout.cargo(["build", "--workspace", "--locked"]),
    )?;
    let nextest = checkout
        .cargo(["nextest", "--version"])
        .output()
        .is_ok_and(|output| output.status.success());
    let runner: &[&str] = if nextest {
        &["nextest", "run"]
    } else {
        &["test", "--lib", "--bins", "--tests", "--examples"]
    };
    let tests = steps.run(
        "running the tests",
        checkout.cargo(runner).args(["--workspace", "--locked"]).args(extra),
    );
    let examples = steps.run(
        "running the documentation's examples",
        &mut checkout.cargo(["test", "--doc", "--workspace", "--locked"]),
    );
    tests.and(examples)
}
