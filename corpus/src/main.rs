//! `toolbay-corpus`: lists the hostile plugins, makes them, and checks a host against them.
#![expect(clippy::print_stdout, reason = "what it finds is its output")]

use std::{
    ffi::OsString,
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
    time::Duration,
};

use clap::{Args, Parser, Subcommand};
use toolbay_corpus::{Host, Index, Placeholders, Provider, catalogue, check, make};

/// Hostile plugins for those who write hosts.
#[derive(Debug, Parser)]
#[command(name = "toolbay-corpus", version)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// List the cases.
    List {
        /// As JSON, with the verdicts.
        #[arg(long)]
        json: bool,
    },
    /// Make each case as a library, with its twin beside it and corpus.json, which says what each is.
    Make {
        /// Where to.
        folder: PathBuf,
        #[command(flatten)]
        provider: ProviderArguments,
    },
    /// Run a host once for each case and its twin, and tell whether it survived and whether the twin worked.
    #[command(after_help = placeholders())]
    Check(CheckArguments),
}

#[derive(Debug, Args)]
struct ProviderArguments {
    /// The violent provider, where it is built already. Otherwise cargo builds it.
    #[arg(long, value_name = "FILE")]
    provider: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct CheckArguments {
    #[command(flatten)]
    provider: ProviderArguments,
    /// How long the host may take for a case, in seconds.
    #[arg(long, default_value_t = 30.0)]
    limit: f64,
    /// What the host prints once it has lived through all that it does with a plugin.
    #[arg(long, value_name = "TEXT")]
    says: Option<String>,
    /// Only the cases whose names begin so.
    #[arg(long, value_name = "PREFIX")]
    only: Vec<String>,
    /// The host's command.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

fn placeholders() -> String {
    let lines =
        Placeholders::NAMES.map(|(name, what)| format!("  {:<12} {what}\n", format!("{{{name}}}")));
    format!("Words of the command that stand for something:\n{}", lines.concat())
}

fn main() -> ExitCode {
    match run(Arguments::parse().task) {
        Ok(code) => code,
        Err(error) => {
            let mut message = format!("error: {error}");
            let mut cause = error.source();
            while let Some(error) = cause {
                message.push_str(&format!(": {error}"));
                cause = error.source();
            }
            let _ = writeln!(io::stderr(), "{message}");
            ExitCode::from(2)
        }
    }
}

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn run(task: Task) -> Outcome<ExitCode> {
    match task {
        Task::List { json } => list(json)?,
        Task::Make { folder, provider } => {
            let index = make(&found(&provider, &folder)?, catalogue(), &folder)?;
            println!("{} cases in {}", index.cases.len(), folder.display());
        }
        Task::Check(arguments) => return check_host(arguments),
    }
    Ok(ExitCode::SUCCESS)
}

fn list(json: bool) -> Outcome<()> {
    let mut output = io::stdout().lock();
    for case in catalogue() {
        if json {
            let line = serde_json::json!({
                "id": case.id, "number": case.number, "does": case.does, "moment": case.moment,
                "by_reading": case.by_reading, "in_host": case.in_host, "in_worker": case.in_worker,
            });
            writeln!(output, "{line}")?;
        } else {
            writeln!(output, "{:<28} {:<4} {}", case.id, case.number, case.does)?;
        }
    }
    Ok(())
}

/// The provider that is named, or one that cargo builds in the folder.
fn found(arguments: &ProviderArguments, folder: &std::path::Path) -> Outcome<Provider> {
    Ok(match &arguments.provider {
        Some(path) => Provider::read(path)?,
        None => Provider::build(&folder.join("target"))?,
    })
}

fn check_host(arguments: CheckArguments) -> Outcome<ExitCode> {
    let CheckArguments { provider, limit, says, only, command } = arguments;
    let limit = Duration::try_from_secs_f64(limit)?;
    let host = Host { command, limit, says };
    let folder = tempfile::tempdir()?;
    let corpus = folder.path().join("corpus");
    let is_asked = |id: &str| only.is_empty() || only.iter().any(|prefix| id.starts_with(prefix));
    let asked = catalogue().into_iter().filter(|case| is_asked(&case.id)).collect();
    let Index { cases, .. } = make(&found(&provider, folder.path())?, asked, &corpus)?;
    let homes = folder.path().join("homes");
    let (mut passed, mut failed) = (0, 0);
    for case in &cases {
        let checked = check(&host, &corpus, case, &homes)?;
        match checked.passed() {
            true => passed += 1,
            false => failed += 1,
        }
        println!("{} {}", if checked.passed() { "passed" } else { "FAILED" }, checked.id);
        for (what, why) in [("the host", checked.harm), ("the twin", checked.twin)] {
            if let Some(why) = why {
                println!("       {what}: {why}");
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    Ok(if failed == 0 && passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
