//! What people see of a call, and no model does.

use serde_json::Value;

/// Something that a call left for people: in the view of a run and in its records.
#[derive(Debug, Clone, PartialEq)]
pub struct Artifact {
    /// What it is, in a few words.
    pub label: String,
    /// What it holds.
    pub body: ArtifactBody,
}

/// What an artifact holds.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ArtifactBody {
    /// Rows of values.
    Table {
        /// The columns' names.
        columns: Vec<String>,
        /// The rows, each as long as the tool made it.
        rows: Vec<Vec<Value>>,
    },
    /// Text.
    Text(String),
}
