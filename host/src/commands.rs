//! What each command does.

mod agent;
mod approvals;
mod audit;
mod call;
mod completions;
mod doctor;
mod explain;
mod failure;
mod gc;
mod group;
mod inspect;
mod install;
mod left_out;
mod list;
mod lock;
mod provider;
mod quarantine;
mod refresh;
mod reply;
mod row;
mod serve;
mod simulate;
mod status;
mod switched;
mod switches;
mod time;
mod tool;
mod trust;
mod unknown;
mod watch;

use std::{cell::Cell, ffi::OsString, fs::File, io, path::PathBuf};

use clap::Parser;
use env_logger::Target;
use log::LevelFilter;
use thiserror::Error;
use toolbay_loader::{
    AccessError, ApprovalError, CallError, Caller, Config, GcError, HomeFileError, InstallError,
    OpenError, PluginsLockError, QuarantineError, RefreshError, ToolName, Toolbay, TrustError,
};

use crate::{
    arguments::ArgumentsError,
    caller::CallerError,
    cli::{Cli, Command},
    commands::{
        approvals::RequestIdError, audit::AuditError, call::InterruptError, failure::Failure,
        group::GroupRow, inspect::InspectError, provider::ProviderRow, switched::switched,
        unknown::UnknownTool, watch::WatchError,
    },
    config::{self, ConfigError, DEFAULT_PLUGIN_DIRECTORY, HostConfig, People},
    exit::Exit,
    home::{self, HomeError},
    mcp::ServeError,
    output::{Output, OutputError},
    program::Program,
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
    Caller(#[from] CallerError),
    #[error(transparent)]
    Access(#[from] AccessError),
    #[error(transparent)]
    RequestId(#[from] RequestIdError),
    #[error(transparent)]
    Approval(#[from] ApprovalError),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Refresh(#[from] RefreshError),
    #[error(transparent)]
    Install(#[from] InstallError),
    #[error(transparent)]
    Trust(#[from] TrustError),
    #[error(transparent)]
    Quarantine(#[from] QuarantineError),
    #[error(transparent)]
    Lock(#[from] PluginsLockError),
    #[error(transparent)]
    HomeFile(#[from] HomeFileError),
    #[error("which processes run can't be told")]
    Running(#[from] io::Error),
    #[error(transparent)]
    Gc(#[from] GcError),
    #[error(transparent)]
    Inspect(#[from] InspectError),
    #[error(transparent)]
    Arguments(#[from] ArgumentsError),
    #[error(transparent)]
    Interrupt(#[from] InterruptError),
    #[error(transparent)]
    Call(Box<CallError>),
    #[error(transparent)]
    Watch(#[from] WatchError),
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
            Self::Home(_)
            | Self::Config(_)
            | Self::Refresh(_)
            | Self::Lock(_)
            | Self::HomeFile(_)
            | Self::Running(_)
            | Self::Gc(_)
            | Self::Watch(_)
            | Self::Output(_) => Exit::Unavailable,
            Self::Install(error) => Exit::of_party(error.party()),
            Self::Trust(error) => Exit::of_party(error.party()),
            Self::Quarantine(error) => Exit::of_party(error.party()),
            Self::Open(error) => Exit::of_party(error.party()),
            Self::Caller(CallerError::Nobody) => Exit::Usage,
            Self::Caller(CallerError::Agent(error)) | Self::Access(error) => {
                Exit::of_party(error.party())
            }
            Self::Caller(_) | Self::RequestId(_) => Exit::Refused,
            Self::Approval(error) => Exit::of_party(error.party()),
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
            Self::Caller(CallerError::Agent(AccessError::Unknown { nearest, .. }))
                if nearest.is_empty() =>
            {
                Some(
                    "`toolbay agent list` shows the agents, and `toolbay agent create` makes one"
                        .to_owned(),
                )
            }
            Self::Access(AccessError::NotAdmin { .. }) => Some(format!(
                "[users] in {} names the administrators; without --as, the operator decides",
                config::FILE_NAME
            )),
            Self::Approval(error) => approvals::help(error),
            _ => None,
        }
    }
}

impl From<CallError> for CommandError {
    fn from(error: CallError) -> Self {
        Self::Call(Box::new(error))
    }
}

/// What a command starts from.
struct Setup {
    config: HostConfig,
    program: Program,
}

/// The home, opened for a command.
struct Opened {
    toolbay: Toolbay,
    people: People,
    program: Program,
}

impl Setup {
    /// Opens the home, and tells what is wrong with its files.
    fn open(self) -> Result<Opened, OpenError> {
        let opened = self.open_quietly()?;
        if let Some(problem) = opened.toolbay.registry_problem() {
            report::warning(&report::chain(&*problem));
        }
        warn_about_access(&opened.toolbay);
        Ok(opened)
    }

    /// Opens the home for a command that tells itself what is wrong with it.
    fn open_quietly(self) -> Result<Opened, OpenError> {
        let Self { config: HostConfig { loader, people, .. }, program } = self;
        Ok(Opened { toolbay: Toolbay::open(loader)?, people, program })
    }
}

/// Does what the command line says, and tells how it ended. The first argument is the program's own name.
pub fn run(arguments: impl IntoIterator<Item = OsString>, stdio: Stdio) -> Exit {
    let Stdio { input, output, log } = stdio;
    let mut output = Output::new(output);
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return usage(&error, &mut output),
    };
    execute(cli, input, output, log).unwrap_or_else(|error| {
        let exit = error.exit();
        // Whoever read the output has gone on: nothing to tell.
        if exit != Exit::Done {
            report::failure(&error, error.help().as_deref());
        }
        exit
    })
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

fn execute(cli: Cli, input: File, mut output: Output, log: File) -> Result<Exit, CommandError> {
    let Cli { home, locked, command } = cli;
    let resolve = || home::resolve(home.clone());
    // A process has one logger, also where a command reads what is configured again.
    let log = Cell::new(Some(log));
    let setup = || {
        let mut config = HostConfig::load(&resolve()?)?;
        // The command line can only make the policy stricter.
        config.loader.policy.locked |= locked;
        // Only plugins write to descriptors 1 and 2 while one is loaded: the output and the log are elsewhere.
        config.loader.owns_output = true;
        if let Some(log) = log.take() {
            show_log(config.log_level, log);
        }
        Ok::<_, CommandError>(Setup { config, program: Program::new(home.as_deref()) })
    };
    let json = command.json();
    let out = &mut output;
    let result = match command {
        Command::Install(args) => install::install(&args, setup()?, out),
        Command::Uninstall(args) => install::uninstall(&args, setup()?, out),
        Command::Trust(args) => trust::trust(&args, setup()?, out),
        Command::Quarantine(args) => quarantine::quarantine(&args, setup()?, out),
        Command::Lock(args) => lock::lock(&args, setup()?, out),
        Command::Status(args) => status::status(&args, setup()?, out),
        Command::Gc(args) => gc::gc(&args, setup()?, out),
        Command::Doctor(args) => doctor::doctor(&args, setup()?, out),
        Command::Refresh(args) => refresh::refresh(&args, setup()?, out),
        Command::Watch(args) => watch::watch(args, setup, out),
        Command::List(args) => list::list(&args, setup()?, out),
        Command::Inspect(args) => inspect::inspect(&args, setup()?, out),
        Command::Call(args) => call::call(args, setup()?, input, out),
        Command::Serve(args) => return serve::serve(&args, setup()?, input, output),
        Command::Tool(args) => tool::tool(&args, setup()?, out),
        Command::Group(args) => switched::<GroupRow>(&args, setup()?, out),
        Command::Provider(args) => switched::<ProviderRow>(&args, setup()?, out),
        Command::Agent(args) => agent::agent(args, setup()?, out),
        Command::Approvals(args) => approvals::approvals(args, setup()?, input, out),
        Command::Simulate(args) => simulate::simulate(args, setup()?, input, out),
        Command::Explain(args) => explain::explain(&args, setup()?, out),
        Command::Audit(args) => audit::audit(&args, &resolve()?, out),
        Command::Completions(args) => completions::completions(&args, out),
    };
    match result {
        // A program is told, too, why a command failed, where it is something that programs tell apart.
        Err(error) if json => match Failure::of(&error) {
            Some(failure) => {
                output.json(&failure)?;
                Ok(error.exit())
            }
            None => Err(error),
        },
        result => result,
    }
}

/// Sends log records to standard error, those of plugins too.
fn show_log(level: LevelFilter, log: File) {
    let environment = env_logger::Env::new().filter(LOG_VARIABLE);
    let builder = &mut env_logger::Builder::new();
    // A logger is there already where the library is used inside another program.
    let builder = builder.target(Target::Pipe(Box::new(log)));
    let _ = builder.filter_level(level).parse_env(environment).try_init();
}

/// Tells that nothing may be used, because nobody can read what was decided.
fn warn_about_access(toolbay: &Toolbay) {
    if let Some(problem) = toolbay.access_problem() {
        let problem = report::chain(&*problem);
        report::warning(&format!(
            "every tool is off until what was decided can be read: {problem}"
        ));
    }
}

/// Tells which settings of the caller's agent are for tools that no provider has.
fn warn_about_agent(caller: &Caller, toolbay: &Toolbay) {
    if let Some(agent) = caller.agent() {
        warn_about_settings(agent.name.as_str(), agent.tool_config.keys(), toolbay);
    }
}

/// Tells which of these tools, for which an agent has settings, no provider has.
fn warn_about_settings<'t>(
    agent: &str,
    tools: impl Iterator<Item = &'t ToolName>,
    toolbay: &Toolbay,
) {
    for unknown in UnknownTool::among(tools, toolbay) {
        report::warning(&format!("agent {agent:?} has settings for {unknown}"));
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
        "no plugins are registered; `toolbay install BUNDLE` installs one, and `toolbay refresh` takes what is in {}",
        directories.join(" or ")
    ));
}
