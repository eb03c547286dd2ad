//! The command line.

mod access;
mod agent;
mod approvals;
mod audit;
mod plugins;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use toolbay_loader::{AgentName, Toolbay};

pub(crate) use self::{
    access::{ByArgs, SwitchAction, SwitchArgs, ToolAction, ToolArgs},
    agent::{AgentAction, AgentArgs, Fallback, LoadoutArgs, SettingsArgs, Skill, ToolSetting},
    approvals::{ApprovalsAction, ApprovalsArgs},
    audit::AuditArgs,
    plugins::{
        GcArgs, InstallArgs, PlainArgs, QuarantineAction, QuarantineArgs, TrustAction, TrustArgs,
        UninstallArgs, WatchArgs,
    },
};
use crate::{caller::Named, exit::Exit};

/// Lets language models use tools from native plugins
#[derive(Debug, Parser)]
#[command(name = "toolbay", version, after_help = Exit::HELP)]
pub(crate) struct Cli {
    /// The home folder: configuration, plugins, registry and audit log [default: $TOOLBAY_HOME, or toolbay in the data folder]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Run only plugins that plugins.lock has
    #[arg(long, global = true)]
    pub(crate) locked: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Verify plugins, keep a copy of them and register their tools
    Install(InstallArgs),
    /// Forget an installed plugin
    Uninstall(UninstallArgs),
    /// Decide whose plugins may run
    Trust(TrustArgs),
    /// Find the plugins and register their tools
    Refresh(RefreshArgs),
    /// Register plugins whenever their files change, until it is ended: for whoever writes one
    Watch(WatchArgs),
    /// Show the tools
    List(ListArgs),
    /// Show what a bundle, a library or a provider says about itself, without running it
    Inspect(InspectArgs),
    /// Call a tool
    Call(CallArgs),
    /// Offer the tools to a client of the Model Context Protocol
    Serve(ServeArgs),
    /// Decide about tools: switch them on and off, review what changed
    Tool(ToolArgs),
    /// Decide about groups of tools
    Group(SwitchArgs),
    /// Decide about providers
    Provider(SwitchArgs),
    /// Make and change the agents as which models work
    Agent(AgentArgs),
    /// Decide about calls that wait for a person
    Approvals(ApprovalsArgs),
    /// Say what would become of a call, and change nothing
    Simulate(SimulateArgs),
    /// Say why a tool can or can't be used, or a provider is there or not, and what to do about it
    Explain(ExplainArgs),
    /// Show the plugins that failed while their code ran, and let them be tried again
    Quarantine(QuarantineArgs),
    /// Write down which plugins are registered, for --locked
    Lock(PlainArgs),
    /// Show what is really loaded, in which process
    Status(PlainArgs),
    /// Remove copies of plugins that nobody uses any more
    Gc(GcArgs),
    /// Check that the home and this machine are fit for running plugins
    Doctor(PlainArgs),
    /// Show what was called and decided
    Audit(Box<AuditArgs>),
    /// Print a script that completes commands in a shell
    Completions(CompletionsArgs),
}

impl Command {
    /// Whether it prints JSON.
    pub(crate) fn json(&self) -> bool {
        match self {
            Self::Install(args) => args.by.json,
            Self::Uninstall(args) => args.by.json,
            Self::Trust(args) => args.by.json,
            Self::Quarantine(args) => args.by.json,
            Self::Lock(args) | Self::Status(args) | Self::Doctor(args) => args.json,
            Self::Gc(args) => args.json,
            Self::Refresh(args) => args.json,
            Self::Watch(args) => args.by.json,
            Self::List(args) => args.json,
            Self::Inspect(args) => args.json,
            Self::Call(args) => args.json,
            Self::Tool(args) => args.by.json,
            Self::Group(args) | Self::Provider(args) => args.by.json,
            Self::Agent(args) => args.by.json,
            Self::Approvals(args) => args.json,
            Self::Simulate(args) => args.json,
            Self::Explain(args) => args.json,
            Self::Audit(args) => args.json,
            Self::Serve(_) | Self::Completions(_) => false,
        }
    }
}

/// Who calls.
#[derive(Debug, Args)]
pub(crate) struct CallerArgs {
    /// The agent to work as, one that `toolbay agent` knows
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<AgentName>,
    /// The user to call as, or service:NAME; otherwise the call is anonymous
    #[arg(long = "as", value_name = "USER")]
    pub(crate) user: Option<Named>,
    /// Work with the agent's loadout that waits for a review, where one does; for administrators
    #[arg(long, requires = "agent")]
    pub(crate) pending: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RefreshArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Show the files that are no plugins, too
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Let an older version, or the plugin of another publisher, take the place of a signed one
    #[arg(long)]
    pub(crate) replace: bool,
    /// Try again what failed before
    #[arg(long)]
    pub(crate) retry: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Show the tools that can't be used too, with the reason
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) caller: CallerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// A bundle, a plugin's file, or the id of a registered provider
    #[arg(value_name = "BUNDLE|FILE|PROVIDER")]
    pub(crate) subject: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// The name of the tool
    pub(crate) tool: String,
    /// A JSON object, `-` for one on standard input, or pairs
    ///
    /// The tool's schema says what the value in key=value is: a text stays a text, numbers and true or false are read as such, and
    /// a list is given by repeating its key. In key:=JSON the value is JSON whatever the schema says.
    #[arg(value_name = "JSON|KEY=VALUE")]
    pub(crate) arguments: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) caller: CallerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SimulateArgs {
    /// The name of the tool
    pub(crate) tool: String,
    /// The arguments, as `toolbay call` takes them
    #[arg(value_name = "JSON|KEY=VALUE")]
    pub(crate) arguments: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) caller: CallerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The name of a tool, or the id of a provider
    #[arg(value_name = "TOOL|PROVIDER")]
    pub(crate) tool: String,
    /// It is a provider, where a tool has the same name
    #[arg(long, conflicts_with_all = ["agent", "user", "pending"])]
    pub(crate) provider: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) caller: CallerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Speak the protocol on standard input and output
    #[arg(long, required = true)]
    pub(crate) stdio: bool,
    /// The agent to work as, one that `toolbay agent` knows
    #[arg(long, value_name = "NAME", default_value = Toolbay::DEFAULT_AGENT)]
    pub(crate) agent: AgentName,
    /// The user to call as, or service:NAME; otherwise the calls are anonymous
    #[arg(long = "as", value_name = "USER")]
    pub(crate) user: Option<Named>,
    /// Work with the agent's loadout that waits for a review, where one does; for administrators
    #[arg(long)]
    pub(crate) pending: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_has_no_contradiction() {
        Cli::command().debug_assert();
    }
}
