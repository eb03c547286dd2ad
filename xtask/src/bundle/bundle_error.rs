//! Why a bundle was not made: one cause for each stage.

use std::{io, path::PathBuf};

use super::{
    CompileError, DraftError, KeyError, LibraryError, PluginError, ProviderSettingsError,
    TrialError,
};
use crate::checkout::CheckoutError;

/// Why a bundle was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// There is no workspace here.
    #[error(transparent)]
    Checkout(#[from] CheckoutError),
    /// It can't be said what is to be packed.
    #[error(transparent)]
    Plugin(#[from] PluginError),
    /// One library was named for several packages.
    ///
    /// Resolution: name its package.
    #[error(
        "--library: expected --package with the one package that it is of, found {found} packages"
    )]
    OneLibrary {
        /// How many packages would be packed.
        found: usize,
    },
    /// The providers' configuration can't be read.
    #[error(transparent)]
    ProviderSettings(#[from] ProviderSettingsError),
    /// There is no key to sign with.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The library can't be built.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The library is none that a host takes.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The plugin did not come through a trial.
    #[error(transparent)]
    Trial(#[from] TrialError),
    /// The manifest can't be made.
    #[error(transparent)]
    Draft(#[from] DraftError),
    /// The bundle can't be written.
    ///
    /// Resolution: free space, or correct the permissions.
    #[error("{} can't be written", .path.display())]
    Write {
        /// The bundle, or its folder.
        path: PathBuf,
        /// What the system says.
        #[source]
        cause: io::Error,
    },
    /// What happened can't be told.
    #[error("the output can't be written")]
    Output(#[source] io::Error),
}
