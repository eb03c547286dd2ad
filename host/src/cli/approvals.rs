//! The words for deciding about calls that wait.

use clap::{Args, Subcommand};

use crate::caller::Named;

#[derive(Debug, Args)]
pub(crate) struct ApprovalsArgs {
    #[command(subcommand)]
    pub(crate) action: ApprovalsAction,
    /// Who looks or decides: a user, or service:NAME
    #[arg(long = "as", value_name = "USER", global = true)]
    pub(crate) user: Option<Named>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsAction {
    /// Show the requests that wait
    List {
        /// Show those that are over, too
        #[arg(long)]
        all: bool,
    },
    /// Show what a request would do, and how to decide about it
    Show {
        /// The id of the request, or enough of its beginning
        id: String,
    },
    /// Approve a request, and run its calls under the identity of whoever asked
    Approve {
        /// The id of the request, or enough of its beginning
        id: String,
        /// What was shown: the digest of it, or at least the first twelve digits
        #[arg(long)]
        digest: String,
    },
    /// Deny a request: nothing of it runs
    Deny {
        /// The id of the request, or enough of its beginning
        id: String,
        /// What was shown: the digest of it, or at least the first twelve digits
        #[arg(long)]
        digest: String,
    },
    /// Type in what a request waits for, and run its calls
    Submit {
        /// The id of the request, or enough of its beginning
        id: String,
        /// What was shown: the digest of it, or at least the first twelve digits
        #[arg(long)]
        digest: String,
        /// The input: a JSON object, `-` for one on standard input, or pairs, as `toolbay call` takes them
        #[arg(value_name = "JSON|KEY=VALUE")]
        input: Vec<String>,
    },
}
