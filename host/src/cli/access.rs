//! The words for switching tools, groups and providers.

use clap::{Args, Subcommand};

use crate::caller::Named;

/// Who decides, and how it is printed.
#[derive(Debug, Args)]
pub(crate) struct ByArgs {
    /// Decide as this user, with that user's rights; otherwise as the operator of the host
    #[arg(long = "as", value_name = "USER", global = true)]
    pub(crate) user: Option<Named>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ToolArgs {
    #[command(subcommand)]
    pub(crate) action: ToolAction,
    #[command(flatten)]
    pub(crate) by: ByArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolAction {
    /// Show the tools, and whether each is on
    List,
    /// Show everything that decides about a tool
    Show {
        /// The name of the tool
        name: String,
    },
    /// Switch a tool on, as it is now
    Enable {
        /// The name of the tool
        name: String,
    },
    /// Switch a tool off
    Disable {
        /// The name of the tool
        name: String,
    },
    /// Forget whether a tool was switched on or off: its own default holds again
    Reset {
        /// The name of the tool
        name: String,
    },
    /// Say that a changed tool was looked at, and may be used as it is now
    Review {
        /// The name of the tool
        name: String,
    },
    /// Let each call of a tool wait for a person's approval, also where its code does not ask for that
    RequireApproval {
        /// The name of the tool
        name: String,
        /// Ask for no more than the tool's code does
        #[arg(long)]
        off: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct SwitchArgs {
    #[command(subcommand)]
    pub(crate) action: SwitchAction,
    #[command(flatten)]
    pub(crate) by: ByArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SwitchAction {
    /// Show them all
    List,
    /// Show one with its tools
    Show {
        /// Its name
        name: String,
    },
    /// Switch one on; each of its tools is then as it was left
    Enable {
        /// Its name
        name: String,
    },
    /// Switch one off, with all its tools, also those that come later
    Disable {
        /// Its name
        name: String,
    },
    /// Forget what was decided about it: it is on
    Reset {
        /// Its name
        name: String,
    },
}
