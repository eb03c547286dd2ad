//! `cargo xtask sanitize`: runs the tests of plugins in the host's own process under the address sanitizer, which sees into both sides.
//!
//! It needs a nightly compiler. Host and plugins are built in the same way, so that they share the sanitizer's memory.

use crate::{
    checkout::Checkout,
    steps::{StepError, Steps},
};

/// The files of `tests/tests` in which memory crosses the boundary of a plugin in this process.
const TESTS: [&str; 5] = ["context", "flow", "in_host", "memory", "panics"];

/// Tests that need a plugin to run in a worker, whose limits leave the sanitizer no memory.
const IN_WORKERS: [&str; 3] = [
    "a_library_that_can_not_unwind_runs_in_a_worker_or_not_at_all",
    "what_a_trusted_key_has_signed_is_probed_in_a_worker_before_it_runs_in_the_host",
    "what_hangs_in_the_host_runs_in_a_worker_from_then_on_and_in_none_after_a_release",
];

/// The sanitizer; its functions for the libraries that are opened, since the program alone has them; and frames for its reports.
const RUSTFLAGS: &str =
    "-Zsanitizer=address -Clink-arg=-Wl,--export-dynamic -Cforce-frame-pointers=yes";

/// Builds the host, the plugins and the tests with the sanitizer, and runs them.
///
/// # Errors
///
/// A test that failed or a report of the sanitizer, which is a finding; or there is no nightly compiler.
pub fn run(checkout: &Checkout) -> Result<(), StepError> {
    let mut steps = Steps::new(3);
    let cargo = |does: &str| {
        let mut command = checkout.nightly([does]);
        // Named, so that programs which run while it builds are not built with the sanitizer.
        command.args(["--locked", "--target", "host-tuple"]);
        command.arg("--target-dir").arg(checkout.target().join("asan"));
        command.env("RUSTFLAGS", RUSTFLAGS).env_remove("CARGO_ENCODED_RUSTFLAGS");
        command
    };
    // The same packages each time, or their dependencies would be built with other features. The tests name the host as the program of workers.
    let plugins = |does: &str| {
        let mut command = cargo(does);
        command.args(["--package=toolbay", "--package=toolbay-tests"]);
        command.args(TESTS.map(|file| format!("--test={file}")));
        command
    };
    let host = ["--bin", "toolbay"];
    steps.run("building host, plugins and tests", plugins("build").args(host))?;
    let mut calls = plugins("test");
    calls.args(["--no-fail-fast", "--"]);
    calls.args(IN_WORKERS.iter().flat_map(|test| ["--skip", *test]));
    let leaks = checkout.root().join("tests/leaks.txt");
    calls.env("LSAN_OPTIONS", format!("suppressions={leaks}"));
    steps.run("calling plugins in this process", &mut calls)?;
    let cell = ["--package", "toolbay-core", "--lib", "--", "registry::cell"];
    steps.run("reading the registry while it is replaced", cargo("test").args(cell))
}
