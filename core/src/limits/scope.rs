//! Whose limit it is.

use std::fmt;

use crate::name::{ProviderId, ToolName};

/// Whose calls a limit is about. As text it is `provider code` or `tool code_search`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LimitScope {
    /// All calls of one provider's tools together.
    Provider(ProviderId),
    /// All calls of one tool, under the name that its limits have.
    Tool(ToolName),
}

impl fmt::Display for LimitScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Provider(provider) => write!(f, "provider {provider}"),
            Self::Tool(tool) => write!(f, "tool {tool}"),
        }
    }
}
