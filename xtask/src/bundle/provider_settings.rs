//! The configuration under which providers are tried: what an operator would write for them.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::value::RawValue;
use toolbay_loader::ProviderId;

/// The configuration of each provider, by its id.
#[derive(Debug, Default)]
pub struct ProviderSettings(BTreeMap<String, Box<RawValue>>);

/// Why the configuration can't be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderSettingsError {
    /// The file can't be read.
    ///
    /// Resolution: name one that can.
    #[error("configuration {} can't be read", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        cause: io::Error,
    },
    /// It says something else.
    ///
    /// Resolution: write JSON such as `{"code": {"roots": ["/srv/project"]}}`.
    #[error("configuration {}: expected JSON with an object for each provider, by its id", .path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        cause: serde_json::Error,
    },
}

impl ProviderSettings {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`ProviderSettingsError`] where it can't be read, or is no JSON object.
    pub fn read(path: &Path) -> Result<Self, ProviderSettingsError> {
        let path = || path.to_owned();
        let text = fs::read(path())
            .map_err(|cause| ProviderSettingsError::Read { path: path(), cause })?;
        serde_json::from_slice(&text)
            .map(Self)
            .map_err(|cause| ProviderSettingsError::Json { path: path(), cause })
    }

    /// What it says for a provider.
    pub(super) fn of(&self, id: &ProviderId) -> Option<&RawValue> {
        self.0.get(id.as_str()).map(|raw| &**raw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_it_for_each_provider() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.json");
        fs::write(&file, r#"{"code": {"roots": ["/a"]}}"#).unwrap();
        let settings = ProviderSettings::read(&file).unwrap();
        let said = |id: &str| settings.of(&id.parse().unwrap()).map(RawValue::get);
        assert_eq!((said("code"), said("notes")), (Some(r#"{"roots": ["/a"]}"#), None));

        fs::write(&file, "[]").unwrap();
        assert!(matches!(ProviderSettings::read(&file), Err(ProviderSettingsError::Json { .. })));
        let missing = ProviderSettings::read(&folder.path().join("b.json"));
        assert!(matches!(missing, Err(ProviderSettingsError::Read { .. })));
    }
}
