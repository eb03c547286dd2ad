//! What can be wrong with the configuration file, with the line it is in.

use std::{io, path::PathBuf};

use thiserror::Error;

use crate::nearest::{nearest, quoted};

/// Why the configuration can't be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file is there and can't be read.
    ///
    /// Resolution: correct its permissions; it must be UTF-8.
    #[error("configuration file {}: not readable", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A key is none that this host knows.
    ///
    /// Resolution: correct or remove the key.
    #[error(
        "configuration file {}, line {line}: unknown key {key:?}, expected {}",
        .path.display(),
        expected(.key, .known)
    )]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The key.
        key: String,
        /// The keys that could stand there.
        known: Vec<String>,
    },
    /// Agents stand in the file, as they did in former releases.
    ///
    /// Resolution: make the agents with `toolbay agent create`, and remove the table.
    #[error(
        "configuration file {}, line {line}: expected no table {key:?}, for agents are made with `toolbay agent create NAME`",
        .path.display()
    )]
    Agents {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The key.
        key: String,
    },
    /// The file is no TOML, or a value is not what its key needs.
    ///
    /// Resolution: correct the line.
    #[error("configuration file {}, line {line}: {problem}", .path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What was expected and found, in the parser's words.
        problem: String,
    },
}

impl ConfigError {
    pub(super) fn of_toml(path: PathBuf, text: &str, error: &toml::de::Error) -> Self {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        match unknown_key(error.message()) {
            Some((key, known)) if is_about_agents(&key, &known) => Self::Agents { path, line, key },
            Some((key, known)) => Self::UnknownKey { path, line, key, known },
            None => Self::Invalid { path, line, problem: error.message().to_owned() },
        }
    }
}

/// Whether the key is the table of a former release, and not a key within another table.
fn is_about_agents(key: &str, known: &[String]) -> bool {
    matches!(key, "agents" | "agent") && known.iter().any(|known| known == "tool_sets")
}

fn expected(key: &str, known: &[String]) -> String {
    let known = || known.iter().map(String::as_str);
    match (nearest(key, known()), known().len()) {
        (Some(near), _) => format!("{near:?}"),
        (None, 1) => quoted(known()),
        (None, _) => format!("one of {}", quoted(known())),
    }
}

/// The key and its alternatives in serde's sentence about an unknown field, which is the only place where the parser tells them.
fn unknown_key(message: &str) -> Option<(String, Vec<String>)> {
    let rest = message.strip_prefix("unknown field `")?;
    let (key, alternatives) = rest.split_once("`, expected ")?;
    let known = alternatives.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    Some((key.to_owned(), known))
}
