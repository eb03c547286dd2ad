//! The words for plugins: installing, trusting, locking, and what is loaded.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::ByArgs;

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// Bundles, folders with a toolbay.json, or single libraries where unsigned plugins may run
    #[arg(value_name = "BUNDLE|DIR|FILE", required = true)]
    pub(crate) sources: Vec<PathBuf>,
    /// Let an older version, or the plugin of another publisher, take the place of a signed one
    #[arg(long)]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(crate) by: ByArgs,
}

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// Files and folders to install whenever they change; otherwise the plugin directories are refreshed
    #[arg(value_name = "BUNDLE|DIR|FILE")]
    pub(crate) sources: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) by: ByArgs,
}

#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    /// The id of the provider
    pub(crate) provider: String,
    #[command(flatten)]
    pub(crate) by: ByArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    #[command(subcommand)]
    pub(crate) action: TrustAction,
    #[command(flatten)]
    pub(crate) by: ByArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TrustAction {
    /// Trust a publisher's key
    Add {
        /// The file that minisign wrote as the public key, or the key itself
        #[arg(value_name = "KEYFILE|KEY")]
        key: String,
        /// The publisher for whose bundles alone the key counts: the `vendor` of their manifests
        #[arg(long, value_name = "NAME")]
        publisher: String,
    },
    /// Show the keys
    List,
    /// End the trust in a key, for good
    Revoke {
        /// The key's id
        #[arg(value_name = "KEY_ID")]
        key: String,
        /// Why, for whoever meets it later
        #[arg(long, default_value = "no reason given")]
        reason: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct QuarantineArgs {
    #[command(subcommand)]
    pub(crate) action: QuarantineAction,
    #[command(flatten)]
    pub(crate) by: ByArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum QuarantineAction {
    /// Show what failed while its code ran, and when it is tried again
    List,
    /// Try it again as if it were new
    Release {
        /// The id of the provider, or the hash of one of its contents
        #[arg(value_name = "PROVIDER|CONTENT")]
        subject: String,
    },
}

/// A command that takes nothing but how it prints.
#[derive(Debug, Args)]
pub(crate) struct PlainArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GcArgs {
    /// Only tell what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
