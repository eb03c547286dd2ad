//! What the tools share: the folder, without which none is offered, and its readers.

use std::{fs, path::PathBuf};

use toolbay_plugin_api::{
    ConfigError, ConfiguredPath, Context, State, ToolDefinition, wire::Actor,
};

use crate::{
    config::Config,
    folder::{Folder, FolderError},
};

/// What the tools share.
#[derive(Debug)]
pub struct Notes {
    folder: Option<PathBuf>,
    /// Who may read previews beside the administrators; every user with a name where it is absent.
    readers: Option<Vec<String>>,
}

impl Notes {
    /// Opens the folder, anew for each call: the operator may have put another in its place.
    pub(crate) fn folder(&self) -> Result<Folder, FolderError> {
        Folder::open(self.folder.as_ref().ok_or(FolderError::Unconfigured)?)
    }
}

/// Whether somebody may read what a change would show of a note. It is the same for all notes, and whatever was asked.
pub(crate) fn may_read<A>(notes: &Notes, _: A, viewer: &Context<'_>) -> bool {
    let Actor::User { name, admin } = viewer.actor() else { return false };
    let listed = |readers: &Vec<String>| readers.iter().any(|reader| reader == name);
    *admin || !name.is_empty() && notes.readers.as_ref().is_none_or(listed)
}

impl State for Notes {
    type Config = Config;

    const PATHS: &'static [ConfiguredPath] = &[ConfiguredPath::write("folder")];

    fn create(config: Config) -> Result<Self, ConfigError> {
        let Config { folder, readers } = config;
        if let Some(path) = &folder {
            let shown = path.display();
            if !path.is_absolute() {
                let problem = format!("expected an absolute path, found {shown}");
                return Err(ConfigError::at("folder", problem));
            }
            let found = match fs::metadata(path) {
                Ok(metadata) if metadata.is_dir() => None,
                Ok(_) => Some("something else".to_owned()),
                Err(error) => Some(error.to_string()),
            };
            if let Some(found) = found {
                let problem = format!("expected a folder at {shown}, found {found}");
                return Err(ConfigError::at("folder", problem));
            }
        }
        if let Some(at) = readers.iter().flatten().position(|reader| reader.trim().is_empty()) {
            let problem = "expected a user's name, found nothing";
            return Err(ConfigError::at(format!("readers[{at}]"), problem));
        }
        Ok(Self { folder, readers })
    }

    fn list(&self, tools: Vec<ToolDefinition>) -> Vec<ToolDefinition> {
        if self.folder.is_some() { tools } else { Vec::new() }
    }
}
