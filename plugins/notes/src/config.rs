//! The configuration: where the notes are, and who may read what a change would show of them.

use std::path::PathBuf;

use toolbay_plugin_api::config;

/// The configuration of the provider.
#[config]
pub struct Config {
    pub(crate) folder: Option<PathBuf>,
    pub(crate) readers: Option<Vec<String>>,
}
