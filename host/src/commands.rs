//! What each command does.

mod audit;
mod call;
mod completions;
mod inspect;
mod list;
mod refresh;
mod row;
mod serve;

use std::{ffi::OsString, fs::File, path::PathBuf, process::ExitCode};

use clap::Parser;
use log::LevelFilter;
use thiserror::Error;
use toolbay_loader::{CallError, Caller, Config, OpenError, RefreshError, ToolName, Toolbay};

use crate::{
    arguments::ArgumentsError,
    caller::UnknownAgent,
    cli::{Cli, Command},
    commands::{audit::AuditError, call::InterruptError, inspect::InspectError},
    config::{self, ConfigError, DEFAULT_PLUGIN_DIRECTORY, HostConfig},
    exit::Exit,
    home::{self, HomeError},
    mcp::ServeError,
    nearest::nearest,
    output::{Output, OutputError},
    report,
    stdio::Stdio,
};

/// The environment variable that says which log records are shown, in the syntax of `env_logger`.
const LOG_VARIABLE: &str = "TOOLBAY_LOG";

/// Why a command was not carried out.
#[derive(Debug, Error)]
enum CommandError {
    #[error(transparent)]
    Home(#[from] HomeError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Agent(#[from] UnknownAgent),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Refresh(#[from] RefreshError),
    #[error(transparent)]
    Inspect(#[from] InspectError),
    #[error(transparent)]
    Arguments(#[from] ArgumentsError),
    #[error(transparent)]
    Interrupt(#[from] InterruptError),
    #[error(transparent)]
    Call(Box<CallError>),
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error(transparent)]
    Audit(#[from] AuditError),
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl CommandError {
    fn exit(&self) -> Exit {
        match self {
            Self::Output(error) if error.is_broken_pipe() => Exit::Done,
            Self::Home(_) | Self::Config(_) | Self::Refresh(_) | Self::Output(_) => {
                Exit::Unavailable
            }
            Self::Open(error) => Exit::of_party(error.party()),
            Self::Agent(_) => Exit::Refused,
            Self::Inspect(error) => error.exit(),
            Self::Arguments(ArgumentsError::Input(_)) => Exit::Unavailable,
            Self::Arguments(_) => Exit::Usage,
            Self::Interrupt(error) => error.exit(),
            Self::Call(error) => Exit::of_call_error(error),
            Self::Serve(ServeError::BrokenOff(_)) => Exit::Broken,
            Self::Serve(_) => Exit::Unavailable,
            Self::Audit(error) => error.exit(),
        }
    }

    /// What to do, where the error itself does not say it.
    fn help(&self) -> Option<String> {
        match self {
            Self::Call(error) => call::help(error),
            _ => None,
        }
    }
}

/// Does what the command line says, and returns the program's exit code. The first argument is the program's own name.
pub fn run(arguments: impl IntoIterator<Item = OsString>, stdio: Stdio) -> ExitCode {
    let Stdio { input, output } = stdio;
    let mut output = Output::new(output);
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return usage(&error, &mut output).into(),
    };
    let exit = execute(cli, input, output).unwrap_or_else(|error| {
        let exit = error.exit();
        // Whoever read the output has gone on: nothing to tell.
        if exit != Exit::Done {
            report::failure(&error, error.help().as_deref());
        }
        exit
    });
    exit.into()
}

/// Prints what clap has to say: help and version are results, everything else is a mistake.
fn usage(error: &clap::Error, output: &mut Output) -> Exit {
    if error.use_stderr() {
        // Nobody is left to tell where standard error can't be written to.
        let _ = error.print();
        return Exit::Usage;
    }
    match output.raw(&error.render().to_string()) {
        Err(error) if !error.is_broken_pipe() => {
            report::failure(&error, None);
            Exit::Unavailable
        }
        _ => Exit::Done,
    }
}

fn execute(cli: Cli, input: File, mut output: Output) -> Result<Exit, CommandError> {
    let Cli { home, command } = cli;
    let resolve = || home::resolve(home.clone());
    let load = || {
        let config = HostConfig::load(&resolve()?)?;
        show_log(config.log_level);
        Ok::<_, CommandError>(config)
    };
    match command {
        Command::Refresh(args) => refresh::refresh(&args, load()?, &mut output),
        Command::List(args) => list::list(&args, load()?, &mut output),
        Command::Inspect(args) => inspect::inspect(&args, load, &mut output),
        Command::Call(args) => call::call(args, load()?, input, &mut output),
        Command::Serve(args) => serve::serve(&args, load()?, input, output),
        Command::Audit(args) => audit::audit(&args, &resolve()?, &mut output),
        Command::Completions(args) => completions::completions(&args, &mut output),
    }
}

/// Sends log records to standard error, those of plugins too.
fn show_log(level: LevelFilter) {
    let environment = env_logger::Env::new().filter(LOG_VARIABLE);
    let builder = &mut env_logger::Builder::new();
    // A logger is there already where the library is used inside another program.
    let _ = builder.filter_level(level).parse_env(environment).try_init();
}

/// Opens the home, and tells what is wrong with its registry.
fn open(config: Config) -> Result<Toolbay, OpenError> {
    let toolbay = Toolbay::open(config)?;
    if let Some(problem) = toolbay.registry_problem() {
        report::warning(&report::chain(&*problem));
    }
    Ok(toolbay)
}

/// Tells which settings of the caller's agent are for tools that no provider has.
fn warn_about_agent(caller: &Caller, toolbay: &Toolbay) {
    let Some(agent) = caller.agent() else { return };
    let (registry, providers) = (toolbay.registry(), toolbay.providers());
    let declared = || providers.iter().flat_map(|provider| &provider.declared);
    let known = |name: &ToolName| {
        registry.get(name.as_str()).is_some() || declared().any(|tool| tool.name == *name)
    };
    for name in agent.tool_config.keys().filter(|name| !known(name)) {
        let near = nearest(name.as_str(), declared().map(|tool| tool.name.as_str()));
        let near = near.map(|near| format!("; did you mean {near:?}?")).unwrap_or_default();
        report::warning(&format!(
            "{} sets {:?} for agent {:?}, which is no tool{near}",
            config::FILE_NAME,
            name.as_str(),
            agent.name.as_str()
        ));
    }
}

/// Tells somebody without any tools how to come by some.
fn suggest_refresh(config: &Config) {
    let default = [config.home.join(DEFAULT_PLUGIN_DIRECTORY)];
    let directories: &[PathBuf] = match config.plugin_directories.as_slice() {
        [] => &default,
        configured => configured,
    };
    let directories: Vec<_> = directories.iter().map(|path| path.display().to_string()).collect();
    report::note(&format!(
        "no plugins are registered; put some into {}, then run `toolbay refresh`, which says what it does not take",
        directories.join(" or ")
    ));
}
