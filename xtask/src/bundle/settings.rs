//! What a plugin's manifest says about its bundle, under `[package.metadata.toolbay]`.

use cargo_metadata::{camino::Utf8PathBuf, semver::Version};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use toolbay_loader::{ToolName, similar};

/// What a plugin's manifest says about its bundle. Paths are relative to the package.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// Who publishes the plugin: the name that operators trust a key for.
    pub vendor: String,
    /// The oldest host that takes it; 0.1.0.
    pub minimum_host: Version,
    /// A text for people, which is packed under `docs/`.
    pub documentation: Option<Utf8PathBuf>,
    /// A picture, which is packed under `icons/`.
    pub icon: Option<Utf8PathBuf>,
    /// Other files, which keep their paths.
    pub files: Vec<Utf8PathBuf>,
    /// Private libraries, which are packed beside the plugin's own.
    pub companions: Vec<Utf8PathBuf>,
    /// The tools whose definitions depend on the configuration, so that the manifest promises none.
    pub configured: Vec<ToolName>,
}

/// Why a manifest does not say what its bundle needs.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// There are no settings.
    ///
    /// Resolution: write them.
    #[error("expected [package.metadata.toolbay] with vendor = \"NAME\", found no such table")]
    Missing,
    /// They are no table.
    ///
    /// Resolution: make them one.
    #[error("expected [package.metadata.toolbay] to be a table, found another value")]
    NoTable,
    /// A key is not known.
    ///
    /// Resolution: use the one that was meant, or take it out.
    #[error("[package.metadata.toolbay]: unknown key {key:?}, expected {expected}")]
    UnknownKey {
        /// The key.
        key: String,
        /// The similar one, or all of them.
        expected: String,
    },
    /// A key that is needed is not there.
    ///
    /// Resolution: write it.
    #[error("[package.metadata.toolbay]: expected {key} = \"NAME\", found none")]
    MissingKey {
        /// The key.
        key: &'static str,
    },
    /// A key has a value that it can't have.
    ///
    /// Resolution: write one of the kind that is expected.
    #[error("[package.metadata.toolbay]: {key}: expected {expected}, found {found}")]
    Value {
        /// The key.
        key: &'static str,
        /// What it takes.
        expected: &'static str,
        /// What it has.
        found: String,
    },
}

/// Every key with what it takes.
const KEYS: [(&str, &str); 7] = [
    ("vendor", "a text"),
    ("minimum_host", "a version such as \"0.1.0\""),
    ("documentation", "the path of a file"),
    ("icon", "the path of a file"),
    ("files", "a list of paths"),
    ("companions", "a list of paths"),
    ("configured", "a list of names of tools"),
];

impl Settings {
    /// Reads the settings in a package's metadata.
    ///
    /// # Errors
    ///
    /// [`SettingsError`], also for a key that is not known: it is more often a typing mistake than a wish of a later release.
    pub fn of(metadata: &Value) -> Result<Self, SettingsError> {
        let table = match metadata.get("toolbay") {
            None => return Err(SettingsError::Missing),
            Some(Value::Object(table)) => table,
            Some(_) => return Err(SettingsError::NoTable),
        };
        let known = || KEYS.iter().map(|(key, _)| *key);
        if let Some(key) = table.keys().find(|key| !known().any(|known| known == *key)) {
            let expected = match similar(key, known(), 1).pop() {
                Some(nearest) => format!("{nearest:?}"),
                None => format!("one of {}", known().collect::<Vec<_>>().join(", ")),
            };
            return Err(SettingsError::UnknownKey { key: key.clone(), expected });
        }
        let vendor = value(table, "vendor")?;
        Ok(Self {
            vendor: vendor.ok_or(SettingsError::MissingKey { key: "vendor" })?,
            minimum_host: value(table, "minimum_host")?.unwrap_or(Version::new(0, 1, 0)),
            documentation: value(table, "documentation")?,
            icon: value(table, "icon")?,
            files: value(table, "files")?.unwrap_or_default(),
            companions: value(table, "companions")?.unwrap_or_default(),
            configured: names(table)?,
        })
    }
}

fn value<T: DeserializeOwned>(
    table: &Map<String, Value>,
    key: &'static str,
) -> Result<Option<T>, SettingsError> {
    let Some(found) = table.get(key) else { return Ok(None) };
    T::deserialize(found).map(Some).map_err(|_| mistaken(key, found))
}

fn names(table: &Map<String, Value>) -> Result<Vec<ToolName>, SettingsError> {
    let key = "configured";
    let names: Vec<String> = value(table, key)?.unwrap_or_default();
    let parsed = |name: String| name.parse().map_err(|_| mistaken(key, &Value::from(name)));
    names.into_iter().map(parsed).collect()
}

fn mistaken(key: &'static str, found: &Value) -> SettingsError {
    let expected =
        KEYS.iter().find(|(known, _)| *known == key).map_or("", |(_, expected)| expected);
    SettingsError::Value { key, expected, found: found.to_string() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_key_arrives() {
        let settings = Settings::of(&json!({ "other": 1, "toolbay": {
            "vendor": "Example Ltd",
            "minimum_host": "0.2.0",
            "documentation": "README.md",
            "icon": "art/icon.png",
            "files": ["LICENSE"],
            "companions": ["lib/libfast.so"],
            "configured": ["search"],
        }}));
        let expected = Settings {
            vendor: "Example Ltd".to_owned(),
            minimum_host: Version::new(0, 2, 0),
            documentation: Some("README.md".into()),
            icon: Some("art/icon.png".into()),
            files: vec!["LICENSE".into()],
            companions: vec!["lib/libfast.so".into()],
            configured: vec!["search".parse().unwrap()],
        };
        assert_eq!(settings, Ok(expected));
        let least = Settings::of(&json!({ "toolbay": { "vendor": "A" } })).unwrap();
        assert_eq!(least.minimum_host, Version::new(0, 1, 0));
        assert!(least.documentation.is_none() && least.files.is_empty());
    }

    #[test]
    fn a_mistake_is_told_with_what_was_expected() {
        let here = "[package.metadata.toolbay]: ";
        let cases = [
            (
                json!(null),
                "expected [package.metadata.toolbay] with vendor = \"NAME\", found no such table"
                    .to_owned(),
            ),
            (
                json!({ "toolbay": 3 }),
                "expected [package.metadata.toolbay] to be a table, found another value".to_owned(),
            ),
            (json!({ "toolbay": {} }), format!("{here}expected vendor = \"NAME\", found none")),
            (
                json!({ "toolbay": { "vendro": "A" } }),
                format!("{here}unknown key \"vendro\", expected \"vendor\""),
            ),
            (
                json!({ "toolbay": { "vendor": "A", "x": 1 } }),
                format!(
                    "{here}unknown key \"x\", expected one of vendor, minimum_host, documentation, icon, files, companions, configured"
                ),
            ),
            (
                json!({ "toolbay": { "vendor": 1 } }),
                format!("{here}vendor: expected a text, found 1"),
            ),
            (
                json!({ "toolbay": { "vendor": "A", "minimum_host": "1" } }),
                format!("{here}minimum_host: expected a version such as \"0.1.0\", found \"1\""),
            ),
            (
                json!({ "toolbay": { "vendor": "A", "files": "LICENSE" } }),
                format!("{here}files: expected a list of paths, found \"LICENSE\""),
            ),
            (
                json!({ "toolbay": { "vendor": "A", "configured": ["a b"] } }),
                format!("{here}configured: expected a list of names of tools, found \"a b\""),
            ),
        ];
        for (metadata, expected) in cases {
            assert_eq!(Settings::of(&metadata).unwrap_err().to_string(), expected, "{metadata}");
        }
    }
}
