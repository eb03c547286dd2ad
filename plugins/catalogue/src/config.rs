//! The configuration: which file, what its columns are, and how much of it is taken.

use std::{num::NonZeroU64, path::PathBuf};

use toolbay_plugin_api::config;

/// The configuration of the provider.
#[config]
pub struct Config {
    pub(crate) file: Option<PathBuf>,
    pub(crate) format: Option<Format>,
    pub(crate) delimiter: Option<char>,
    pub(crate) id: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) search: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) limits: Limits,
}

/// How the file is written.
#[config]
#[derive(Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Format {
    Csv,
    JsonLines,
}

/// How much of the file is taken.
#[config]
#[derive(Clone)]
#[serde(default)]
pub struct Limits {
    max_file_bytes: NonZeroU64,
    max_rows: NonZeroU64,
    max_field_bytes: NonZeroU64,
}

impl Limits {
    /// The size in bytes above which the file is refused.
    pub fn file_bytes(&self) -> u64 {
        self.max_file_bytes.get()
    }

    /// The number of rows above which the file is refused.
    pub fn rows(&self) -> u64 {
        self.max_rows.get()
    }

    /// The size in bytes of a field above which its row is left out.
    pub fn field_bytes(&self) -> u64 {
        self.max_field_bytes.get()
    }
}

impl Default for Limits {
    fn default() -> Self {
        const fn of(number: u64) -> NonZeroU64 {
            NonZeroU64::MIN.saturating_add(number - 1)
        }
        Self { max_file_bytes: of(64 << 20), max_rows: of(200_000), max_field_bytes: of(32 << 10) }
    }
}
