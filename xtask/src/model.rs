//! `cargo xtask model`: tries orders of the threads in which the host's concurrent parts could go wrong, with shuttle in the place of locks,
//! threads and atomics.
//!
//! A model stands beside what it drives, in a file `model.rs`. Only here are they compiled, into a target folder of their own.

use std::process::Command;

use crate::{
    checkout::Checkout,
    steps::{StepError, Steps},
};

/// The packages that have models.
const PACKAGES: [&str; 2] = ["toolbay-core", "toolbay-loader"];

/// Builds the models and runs them.
///
/// # Errors
///
/// A model that failed, which is a finding, or that could not be built.
pub fn run(checkout: &Checkout) -> Result<(), StepError> {
    let mut steps = Steps::new(2);
    steps.run("building the models", tests(checkout).arg("--no-run"))?;
    steps.run("trying the orders of their threads", tests(checkout).args(["--", "model::"]))
}

/// The command for the tests under shuttle, without what only a debugger needs.
fn tests(checkout: &Checkout) -> Command {
    let mut command = checkout.cargo(["test", "--locked", "--lib"]);
    command.args(PACKAGES.map(|package| format!("--package={package}")));
    command.args(["--config", "profile.dev.debug=false"]);
    command.arg("--target-dir").arg(checkout.target().join("model"));
    command.env("RUSTFLAGS", "--cfg shuttle").env_remove("CARGO_ENCODED_RUSTFLAGS");
    command
}
