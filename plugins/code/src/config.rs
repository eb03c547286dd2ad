//! The configuration: which folders may be searched, and how much work one call may do.

use std::{num::NonZeroU64, path::PathBuf, time::Duration};

use toolbay_plugin_api::config;

/// The configuration of the provider.
#[config]
pub struct Config {
    #[serde(default)]
    pub(crate) roots: Vec<RootConfig>,
    #[serde(default)]
    pub(crate) limits: Limits,
}

/// One folder: its absolute path, alone or with a name for the model to see.
#[config]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "expected an absolute path, or a table of `name` and `path`"
)]
pub(crate) enum RootConfig {
    Path(PathBuf),
    Named { name: String, path: PathBuf },
}

/// How much work one call may do.
#[config]
#[derive(Clone)]
#[serde(default)]
pub struct Limits {
    max_file_bytes: NonZeroU64,
    max_total_bytes: NonZeroU64,
    max_milliseconds: NonZeroU64,
}

impl Limits {
    /// The size in bytes above which a file is left out.
    pub fn file_bytes(&self) -> u64 {
        self.max_file_bytes.get()
    }

    /// The size in bytes of all files that one search may read.
    pub fn total_bytes(&self) -> u64 {
        self.max_total_bytes.get()
    }

    /// How long one search may take.
    pub fn time(&self) -> Duration {
        Duration::from_millis(self.max_milliseconds.get())
    }
}

impl Default for Limits {
    fn default() -> Self {
        const fn of(number: u64) -> NonZeroU64 {
            NonZeroU64::MIN.saturating_add(number - 1)
        }
        Self {
            max_file_bytes: of(2 << 20),
            max_total_bytes: of(512 << 20),
            max_milliseconds: of(20_000),
        }
    }
}
