//! Why a call gave no reply, for the model, for programs and for the operator, each in their own words.

use std::sync::Arc;

use thiserror::Error;

use crate::{
    arguments::ArgumentsError,
    backend::BackendError,
    gate::Reason,
    name::{ProviderId, ToolName},
    reply::ReplyError,
    schema::SchemaError,
};

/// Who can do something about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Party {
    /// Whoever wrote the plugin.
    Plugin,
    /// Whoever wrote the host.
    Host,
    /// Whoever made the call.
    Caller,
    /// Whoever runs the system: a file, a right or memory is missing.
    Environment,
}

/// Why a call gave no reply.
///
/// `Display` and `source` are for the operator; a model gets [`CallError::model_text`], which holds nothing that a plugin wrote but
/// what its schema allows, cut short.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CallError {
    /// No tool has the name.
    ///
    /// Resolution: call one of the nearest, or install the plugin that has the tool.
    #[error("no tool is named {tool:?}")]
    NotRegistered {
        /// The name as requested, cut to 80 characters.
        tool: String,
        /// Names that the caller may use and may have meant.
        nearest: Vec<ToolName>,
    },
    /// The gate refused the caller.
    ///
    /// Resolution: an administrator switches the tool on, or calls it.
    #[error("tool {tool} denied: {reason}")]
    Denied {
        /// The tool.
        tool: ToolName,
        /// Which gate refused.
        reason: Reason,
    },
    /// The arguments were refused.
    ///
    /// Resolution: the source says what to change.
    #[error("arguments of tool {tool} refused")]
    Arguments {
        /// The tool.
        tool: ToolName,
        /// What is wrong with them.
        source: ArgumentsError,
    },
    /// The tool's schema does not compile, so that no arguments can be checked.
    ///
    /// Resolution: report it to the vendor.
    #[error("schema of tool {tool} of provider {provider} unusable")]
    Schema {
        /// The tool.
        tool: ToolName,
        /// Who contributed it.
        provider: ProviderId,
        /// What is wrong with it.
        source: Arc<SchemaError>,
    },
    /// A person must approve the call first. Nothing was run.
    ///
    /// Resolution: a person approves it.
    #[error("call of tool {tool} needs approval")]
    ApprovalRequired {
        /// The tool.
        tool: ToolName,
    },
    /// The tool's code gave no result.
    ///
    /// Resolution: the source says what to do.
    #[error("tool {tool} of provider {provider} gave no result")]
    Backend {
        /// The tool.
        tool: ToolName,
        /// Who contributed it.
        provider: ProviderId,
        /// Why not.
        source: BackendError,
    },
    /// The tool's code gave a result that breaks the contract.
    ///
    /// Resolution: report it to the vendor.
    #[error("reply of tool {tool} of provider {provider} unusable")]
    Reply {
        /// The tool.
        tool: ToolName,
        /// Who contributed it.
        provider: ProviderId,
        /// What is wrong with it.
        source: ReplyError,
    },
}

impl CallError {
    /// Who can do something about it.
    pub fn party(&self) -> Party {
        match self {
            Self::NotRegistered { .. }
            | Self::Denied { .. }
            | Self::Arguments { .. }
            | Self::ApprovalRequired { .. } => Party::Caller,
            Self::Schema { provider, .. } | Self::Reply { provider, .. } => author(provider),
            Self::Backend { provider, source, .. } => match source {
                BackendError::Fault { .. } | BackendError::DeadlineExceeded => author(provider),
                BackendError::Unavailable { party, .. } => *party,
                BackendError::Cancelled => Party::Caller,
            },
        }
    }

    /// The word by which programs know the error. It never changes.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotRegistered { .. } => "not_registered",
            Self::Denied { reason, .. } => match reason {
                Reason::NotRegistered => "not_registered",
                Reason::ToolDisabled => "tool_disabled",
                Reason::RequiresAdmin => "requires_admin",
            },
            Self::Arguments { .. } => "invalid_arguments",
            Self::Schema { .. } => "invalid_schema",
            Self::ApprovalRequired { .. } => "approval_required",
            Self::Backend { source, .. } => match source {
                BackendError::Fault { .. } => "fault",
                BackendError::Unavailable { .. } => "unavailable",
                BackendError::Cancelled => "cancelled",
                BackendError::DeadlineExceeded => "deadline_exceeded",
            },
            Self::Reply { .. } => "malformed_reply",
        }
    }

    /// The gate that refused the call, where one did.
    pub fn reason(&self) -> Option<Reason> {
        match self {
            Self::NotRegistered { .. } => Some(Reason::NotRegistered),
            Self::Denied { reason, .. } => Some(*reason),
            _ => None,
        }
    }

    /// What the model reads of it: what happened, and what it can do about it.
    pub fn model_text(&self) -> String {
        match self {
            Self::NotRegistered { tool, nearest } if nearest.is_empty() => {
                format!("There is no tool {tool:?}. Use one of the tools that were offered.")
            }
            Self::NotRegistered { tool, nearest } => {
                let names: Vec<String> =
                    nearest.iter().map(|name| format!("{:?}", name.as_str())).collect();
                format!("There is no tool {tool:?}. The nearest names are {}.", names.join(", "))
            }
            Self::Denied { tool, reason } => match reason {
                Reason::NotRegistered => format!("There is no tool \"{tool}\"."),
                Reason::ToolDisabled => {
                    format!(
                        "The tool \"{tool}\" is switched off. Nothing was run; go on without it."
                    )
                }
                Reason::RequiresAdmin => {
                    format!(
                        "The tool \"{tool}\" is for administrators. Nothing was run; go on without it."
                    )
                }
            },
            Self::Arguments { tool, source } => {
                format!(
                    "The tool \"{tool}\" was not run: {source}. Correct the arguments and call it again."
                )
            }
            Self::ApprovalRequired { tool } => {
                format!("The tool \"{tool}\" needs a person's approval. Nothing was run.")
            }
            Self::Schema { tool, .. } | Self::Reply { tool, .. } => broken(tool),
            Self::Backend { tool, source, .. } => match source {
                BackendError::Fault { .. } => broken(tool),
                BackendError::Unavailable { .. } => {
                    format!(
                        "The tool \"{tool}\" is out of order. Nothing was run; go on without it."
                    )
                }
                BackendError::Cancelled => {
                    format!("The call of the tool \"{tool}\" was cancelled.")
                }
                BackendError::DeadlineExceeded => format!(
                    "The tool \"{tool}\" did not finish in time. What it has done until then is unknown."
                ),
            },
        }
    }
}

fn author(provider: &ProviderId) -> Party {
    if provider.is_core() { Party::Host } else { Party::Plugin }
}

fn broken(tool: &ToolName) -> String {
    format!(
        "The tool \"{tool}\" is broken: it stopped because of an error of its own, not of the arguments. The operator has the \
         details; go on without it."
    )
}
