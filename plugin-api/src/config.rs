//! A provider's configuration: JSON, typed by serde, refused with the place that is wrong.

use serde::{Deserialize, de::DeserializeOwned};
use toolbay_abi::wire::Fault;

/// Why a configuration was refused.
///
/// ```
/// use toolbay_plugin_api::ConfigError;
///
/// let error = ConfigError::at("roots[1]", "expected a folder, found a file: /etc/passwd");
/// assert_eq!(error.to_string(), "roots[1]: expected a folder, found a file: /etc/passwd");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct ConfigError {
    path: String,
    problem: String,
}

impl ConfigError {
    /// A refusal of the value at a JSON path such as `roots[1]`: say what was expected and what was found.
    pub fn at(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { path: path.into(), problem: problem.into() }
    }

    /// Where in the configuration; `.` is the whole of it.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is wrong there.
    pub fn problem(&self) -> &str {
        &self.problem
    }
}

impl From<ConfigError> for Fault {
    fn from(error: ConfigError) -> Self {
        Self::Config { path: error.path, problem: error.problem }
    }
}

/// The configuration of a provider that has none: an empty object, or nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoConfig {}

/// Parses a configuration; `null`, which a host sends where nothing is configured, reads as an empty object.
pub(crate) fn parse<T: DeserializeOwned>(json: &[u8]) -> Result<T, ConfigError> {
    let json = if json.trim_ascii() == b"null" || json.is_empty() { b"{}" } else { json };
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let config = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        // What it says of a text that ends in the middle.
        let path = if path == "?" { ".".to_owned() } else { path };
        ConfigError { path, problem: without_position(&error.into_inner()) }
    })?;
    deserializer.end().map_err(|error| ConfigError::at(".", without_position(&error)))?;
    Ok(config)
}

/// The message of a JSON error without "at line 1 column 9": the path says where, and people don't see the text that was parsed.
pub(crate) fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        #[serde(default)]
        roots: Vec<Root>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Root {
        depth: u8,
    }

    #[test]
    fn a_wrong_configuration_is_refused_with_its_path() {
        let cases = [
            (r#"{"roots":[{"depth":1},{"depth":"x"}]}"#, "roots[1].depth", "expected u8"),
            (r#"{"roots":[{}]}"#, "roots[0]", "missing field `depth`"),
            (r#"{"rots":[]}"#, "rots", "unknown field `rots`, expected `roots`"),
            ("[]]", ".", "trailing characters"),
            ("{", ".", "EOF"),
        ];
        for (json, path, problem) in cases {
            let error = parse::<Sample>(json.as_bytes()).unwrap_err();
            assert_eq!(error.path(), path, "{json}");
            assert!(error.problem().contains(problem), "{json}: {error}");
            assert!(!error.problem().contains(" at line "), "{error}");
        }
    }

    #[test]
    fn nothing_is_an_empty_object() {
        for json in ["null", " null\n", "", "{}"] {
            assert_eq!(
                parse::<Sample>(json.as_bytes()),
                Ok(Sample { roots: Vec::new() }),
                "{json:?}"
            );
            assert_eq!(parse::<NoConfig>(json.as_bytes()), Ok(NoConfig {}), "{json:?}");
        }
    }
}
