//! `cargo xtask bundle`: from a plugin's source to a signed bundle that a host is known to take.
//!
//! A vendor's workspace has the same command with a package `xtask` of its own, whose whole program is:
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     toolbay_xtask::bundle::main()
//! }
//! ```
//!
//! What is packed is said in the plugin's manifest, under `[package.metadata.toolbay]`. The library is built so that the same source
//! gives the same bytes wherever it lies; it is judged as a host judges it, by the same code; what it lists is learned in a process of
//! its own, since its code may do anything there; and what was packed is installed in a fresh home before it gets its name.

mod bundle_error;
mod compile;
mod draft;
mod key;
mod library;
mod pack;
mod packed;
mod plugin;
mod provider_settings;
mod remap;
mod settings;
mod this_program;
mod trial;

use std::{
    env,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, Parser, Subcommand};

pub use self::{
    bundle_error::BundleError,
    compile::CompileError,
    draft::DraftError,
    key::{KeyError, MadeKey, SigningKey, make_key},
    library::LibraryError,
    pack::Packer,
    packed::Packed,
    plugin::{Plugin, PluginError},
    provider_settings::{ProviderSettings, ProviderSettingsError},
    settings::{Settings, SettingsError},
    trial::TrialError,
};
use crate::checkout::Checkout;

/// The tasks of whoever packages plugins.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

/// A task of whoever packages plugins.
#[derive(Debug, Subcommand)]
pub enum Task {
    /// Build plugins, check them as a host does, and pack them into bundles.
    Bundle(BundleArguments),
    /// Make a key that bundles are signed with.
    BundleKey(KeyArguments),
}

/// What is packed, and how.
#[derive(Debug, Args)]
pub struct BundleArguments {
    /// The package to pack; without it, every member of the workspace with a `[package.metadata.toolbay]`
    #[arg(long = "package", short, value_name = "NAME")]
    packages: Vec<String>,
    /// The secret key of minisign that signs the bundle; its password is in TOOLBAY_KEY_PASSWORD, or asked for
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Where the bundles go, instead of target/bundle
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// JSON with the configuration of each provider by its id, under which it is tried as well
    #[arg(long, value_name = "FILE")]
    configuration: Option<PathBuf>,
    /// Pack this library of the one package, instead of building it
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
}

/// Which key is made.
#[derive(Debug, Args)]
pub struct KeyArguments {
    /// The file of the secret key, which must not be there; the public one is FILE.pub
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Write the secret key as it is, for machines that nobody can type a password at
    #[arg(long)]
    no_password: bool,
}

/// The whole program of a vendor's `xtask`: the tasks `bundle` and `bundle-key` in the workspace around the current folder.
#[must_use]
pub fn main() -> ExitCode {
    if let Some(code) = child() {
        return code;
    }
    match Arguments::parse().task.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {:#}", anyhow::Error::from(error));
            ExitCode::FAILURE
        }
    }
}

/// Does the work of a process that this program has started of itself, where it is one. A program that runs a [`Task`] calls it first.
#[must_use]
pub fn child() -> Option<ExitCode> {
    if let Some(job) = env::var_os(trial::VARIABLE) {
        return Some(trial::child(Path::new(&job)));
    }
    env::var_os(remap::VARIABLE).map(|prefixes| remap::child(&prefixes))
}

impl Task {
    /// Runs the task in the workspace around the current folder.
    ///
    /// # Errors
    ///
    /// [`BundleError`] where no key was made, or a package was not packed; those before it were.
    pub fn run(&self) -> Result<(), BundleError> {
        match self {
            Self::Bundle(arguments) => arguments.run(),
            Self::BundleKey(KeyArguments { file, no_password }) => {
                let made = make_key(file, *no_password)?;
                say(&made)
            }
        }
    }
}

impl BundleArguments {
    fn run(&self) -> Result<(), BundleError> {
        let checkout = Checkout::discover()?;
        let plugins = Plugin::choose(&checkout, &self.packages)?;
        if self.library.is_some() && plugins.len() != 1 {
            return Err(BundleError::OneLibrary { found: plugins.len() });
        }
        let settings = match &self.configuration {
            Some(file) => ProviderSettings::read(file)?,
            None => ProviderSettings::default(),
        };
        let key = self.key.as_deref().map(SigningKey::read).transpose()?;
        let mut packer = Packer::new(&checkout, plugins.len(), self.library.is_none());
        packer.settings = settings;
        packer.key = key;
        if let Some(output) = &self.output {
            packer.output.clone_from(output);
        }
        for plugin in &plugins {
            say(&packer.pack(plugin, self.library.as_deref())?)?;
        }
        Ok(())
    }
}

/// Prints what a task came to.
fn say(what: &impl std::fmt::Display) -> Result<(), BundleError> {
    writeln!(io::stdout(), "{what}").map_err(BundleError::Output)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_has_no_contradiction() {
        Arguments::command().debug_assert();
    }
}
