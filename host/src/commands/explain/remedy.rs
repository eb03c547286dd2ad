//! What somebody can do about a gate that fails.

use serde::Serialize;

#[derive(Debug, Serialize)]
pub(super) struct Remedy {
    /// What it does, or what has to be done where no command does it.
    pub(super) text: String,
    /// The command line, as a shell takes it.
    pub(super) command: Option<String>,
}

impl Remedy {
    pub(super) fn command(text: impl Into<String>, command: String) -> Self {
        Self { text: text.into(), command: Some(command) }
    }

    /// One that no command does.
    pub(super) fn by_hand(text: impl Into<String>) -> Self {
        Self { text: text.into(), command: None }
    }

    /// The lines for people.
    pub(super) fn lines(&self) -> String {
        match &self.command {
            Some(command) => format!("{}:\n  {command}", self.text),
            None => self.text.clone(),
        }
    }
}
