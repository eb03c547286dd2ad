//! `toolbay inspect`: what a plugin says about itself, and whether this host would take it. No code of the plugin runs.

mod file;
mod provider;

use std::path::Path;

use thiserror::Error;
use toolbay_loader::{ProviderId, Rejection};

use crate::{
    cli::InspectArgs,
    commands::{CommandError, Opened, Setup},
    exit::Exit,
    nearest::nearest,
    output::Output,
};

/// Why there is nothing to show.
#[derive(Debug, Error)]
#[non_exhaustive]
pub(crate) enum InspectError {
    /// The file can't be read, is damaged, or is something else.
    ///
    /// Resolution: as the source says.
    #[error("file can't be inspected")]
    Rejected(#[source] Box<Rejection>),
    /// It is neither a file nor a provider.
    ///
    /// Resolution: name one that is there.
    #[error("{name:?} is no file and no registered provider: expected {}", expected(.nearest.as_deref()))]
    Unknown {
        /// What was named.
        name: String,
        /// The provider that may have been meant.
        nearest: Option<String>,
    },
}

fn expected(nearest: Option<&str>) -> String {
    match nearest {
        Some(nearest) => format!("{nearest:?}"),
        None => {
            "the path of a bundle or library, or an id that `toolbay list --all` shows".to_owned()
        }
    }
}

impl InspectError {
    pub(super) fn exit(&self) -> Exit {
        match self {
            Self::Unknown { .. } => Exit::Refused,
            Self::Rejected(rejection) => match Exit::of_party(rejection.reason.party()) {
                Exit::Broken => Exit::Refused,
                exit => exit,
            },
        }
    }
}

/// A word with a slash in it, or the name of a file that is there, is a file; everything else is a provider.
pub(super) fn inspect(
    args: &InspectArgs,
    setup: Setup,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let InspectArgs { subject, json } = args;
    if is_path(subject) || subject.exists() {
        return file::inspect(subject, *json, &setup, output);
    }
    let Opened { toolbay, .. } = setup.open()?;
    let providers = toolbay.providers();
    let name = subject.to_string_lossy();
    let provider = providers.iter().find(|provider| provider.id.as_str() == name);
    let Some(provider) = provider else {
        let known = providers.iter().map(|provider| ProviderId::as_str(&provider.id));
        let nearest = nearest(&name, known).map(str::to_owned);
        return Err(InspectError::Unknown { name: name.into_owned(), nearest }.into());
    };
    provider::show(provider, &toolbay.registry(), *json, output)
}

fn is_path(subject: &Path) -> bool {
    subject.as_os_str().as_encoded_bytes().contains(&b'/')
}
