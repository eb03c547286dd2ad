//! `cargo xtask`: the command line of the repository's tasks.
#![expect(clippy::print_stdout, reason = "what a task finds is its output")]

use std::{
    ffi::OsString,
    process::{Command, ExitCode},
};

use clap::{Parser, Subcommand};
use toolbay_xtask::{
    bench, bundle, checkout::Checkout, demo, fuzz, model, sanitize, soak, steps::StepError, test,
    tidy,
};

/// The tasks of this repository that cargo has no command for.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Check the rules that no compiler, lint or formatter checks.
    Tidy,
    /// Build what the tests load, then run all tests and the documentation's examples.
    Test {
        /// What the test runner gets besides, such as `-E 'package(toolbay-core)'`.
        #[arg(last = true)]
        extra: Vec<OsString>,
    },
    /// Try orders of the threads in which the concurrent parts could go wrong.
    Model,
    /// Run the tests of plugins in the host's own process under the address sanitizer.
    Sanitize,
    /// Feed invented input to whatever reads files of others, from the corpus in fuzz/corpus.
    Fuzz {
        /// How long each target gets.
        #[arg(long, default_value_t = 60)]
        seconds: u32,
        /// Build for a short run: without optimizations, and without the target that needs the whole host
        #[arg(long)]
        dev: bool,
        /// The target; all of them where none is named.
        target: Option<String>,
    },
    /// Build the host and its plugins, and show on them what Toolbay does.
    Demo,
    /// Measure calls, and compare with the targets.
    Bench {
        /// Fail where a target is missed; only a quiet machine can tell.
        #[arg(long)]
        strict: bool,
    },
    /// Use fifty providers, hostile ones among them, from all sides for a while, and check every answer.
    Soak {
        /// For how long.
        #[arg(long, default_value_t = 2.0)]
        minutes: f64,
        /// What decides what each thread does; another one each time where none is named.
        #[arg(long)]
        seed: Option<u64>,
    },
    #[command(flatten)]
    Package(bundle::Task),
    /// Do all that is done before a change is accepted: the script .ci/run.
    Ci,
}

fn main() -> ExitCode {
    if let Some(code) = bundle::child() {
        return code;
    }
    match run(Arguments::parse().task) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            error
                .downcast_ref::<StepError>()
                .map_or(ExitCode::FAILURE, |step| step.exit_code().into())
        }
    }
}

fn run(task: Task) -> anyhow::Result<ExitCode> {
    let checkout = Checkout::discover()?;
    match task {
        Task::Tidy => {
            let findings = tidy::check(&checkout)?;
            for finding in &findings {
                println!("{finding}");
            }
            if !findings.is_empty() {
                anyhow::bail!("{} places break the rules", findings.len());
            }
            println!("tidy: no findings");
        }
        Task::Test { extra } => test::run(&checkout, &extra)?,
        Task::Model => model::run(&checkout)?,
        Task::Sanitize => sanitize::run(&checkout)?,
        Task::Fuzz { seconds, dev, target } => {
            let build = if dev { fuzz::Build::Quick } else { fuzz::Build::Optimized };
            fuzz::run(&checkout, target.as_deref(), seconds, build)?;
        }
        Task::Demo => demo::run(&checkout, &mut std::io::stdout().lock())?,
        Task::Bench { strict } => {
            let summary = bench::run(&checkout)?;
            println!("{}", summary.table());
            if strict && summary.missed() > 0 {
                anyhow::bail!("{} targets missed", summary.missed());
            }
        }
        Task::Soak { minutes, seed } => {
            soak::run(&checkout, minutes, seed.unwrap_or_else(soak::any_seed))?;
        }
        Task::Package(task) => task.run()?,
        Task::Ci => {
            let script = checkout.root().join(".ci/run");
            let status = Command::new("bash").arg(script).status()?;
            anyhow::ensure!(status.success(), "expected .ci/run to succeed, found {status}");
        }
    }
    Ok(ExitCode::SUCCESS)
}
