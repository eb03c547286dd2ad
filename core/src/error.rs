//! Why a call gave no reply, for the model, for programs and for the operator, each in their own words.

use std::{sync::Arc, time::Duration};

use thiserror::Error;

use crate::{
    approval::{DecidedBy, StoreError},
    arguments::ArgumentsError,
    backend::BackendError,
    gate::Reason,
    limits::LimitError,
    name::{ApprovalId, ProviderId, ToolName},
    reply::ReplyError,
    rules::RuleDenial,
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
    /// A rule of the host refused the call.
    ///
    /// Resolution: whatever the rule demands.
    #[error("call of tool {tool} refused")]
    Rule {
        /// The tool.
        tool: ToolName,
        /// Which rule, and why.
        source: RuleDenial,
    },
    /// Too many calls came, run or wait. Nothing was run.
    ///
    /// Resolution: the source says when to call again.
    #[error("call of tool {tool} not let in")]
    Limit {
        /// The tool.
        tool: ToolName,
        /// Which limit, and whose.
        source: LimitError,
    },
    /// A person must approve the call or type something in first, and there is no way to ask one here. Nothing was run.
    ///
    /// Resolution: make the call alone, at a host that keeps requests for approval.
    #[error("call of tool {tool} needs a person")]
    ApprovalRequired {
        /// The tool.
        tool: ToolName,
    },
    /// The call waits for a person. Nothing was run yet.
    ///
    /// Resolution: a person decides about the request; then the same call gives what came of it.
    #[error("call of tool {tool} waits as request {id}")]
    Pending {
        /// The tool.
        tool: ToolName,
        /// The request.
        id: ApprovalId,
        /// Whether it has been approved and runs at this moment.
        running: bool,
        /// Whether it waits for an input and not for an approval.
        input: bool,
    },
    /// The request was denied. Nothing was run.
    ///
    /// Resolution: none; somebody has decided that.
    #[error("request {id} for tool {tool} was denied by {}", .by.in_words())]
    ApprovalDenied {
        /// The tool.
        tool: ToolName,
        /// The request.
        id: ApprovalId,
        /// By whom, as far as a model may know.
        by: DecidedBy,
    },
    /// The request was approved, and the process that ran it ended on the way. It is not repeated.
    ///
    /// Resolution: look at what the tool has done, and make another request where it is needed.
    #[error("request {id} for tool {tool} was interrupted: what it has done is unknown")]
    Interrupted {
        /// The tool.
        tool: ToolName,
        /// The request.
        id: ApprovalId,
    },
    /// The request was approved, and its call gave no reply when it ran.
    ///
    /// Resolution: the record of that call says why.
    #[error("request {id} for tool {tool} gave no reply when it ran: {code}")]
    Settled {
        /// The tool.
        tool: ToolName,
        /// The request.
        id: ApprovalId,
        /// The code of the error.
        code: String,
        /// What the model reads of it.
        model_text: String,
    },
    /// The request can't be kept. Nothing was run.
    ///
    /// Resolution: the source says what to do.
    #[error("call of tool {tool} needs a person, and its request can't be kept")]
    Suspension {
        /// The tool.
        tool: ToolName,
        /// Why not.
        source: StoreError,
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
            | Self::Rule { .. }
            | Self::Limit { .. }
            | Self::ApprovalRequired { .. }
            | Self::Pending { .. }
            | Self::ApprovalDenied { .. }
            | Self::Settled { .. } => Party::Caller,
            Self::Interrupted { .. } | Self::Suspension { .. } => Party::Environment,
            // The limit is an operator's.
            Self::Reply { source: ReplyError::OverLimit { .. }, .. } => Party::Environment,
            Self::Schema { provider, .. } | Self::Reply { provider, .. } => author(provider),
            Self::Backend { provider, source, .. } => match source {
                BackendError::Fault { .. }
                | BackendError::Crashed { .. }
                | BackendError::DeadlineExceeded => author(provider),
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
                Reason::ConfigurationGroup => "configuration_group",
                Reason::TrustZone => "trust_zone",
            },
            Self::Arguments { .. } => "invalid_arguments",
            Self::Rule { .. } => "invocation_denied",
            Self::Limit { source, .. } => source.code(),
            Self::Schema { .. } => "invalid_schema",
            Self::ApprovalRequired { .. } => "approval_required",
            Self::Pending { input: false, .. } => "approval_pending",
            Self::Pending { input: true, .. } => "input_pending",
            Self::ApprovalDenied { .. } => "approval_denied",
            Self::Interrupted { .. } => "interrupted",
            Self::Settled { .. } => "settled",
            Self::Suspension { .. } => "suspend_failed",
            Self::Backend { source, .. } => match source {
                BackendError::Fault { .. } => "fault",
                BackendError::Crashed { .. } => "crashed",
                BackendError::Unavailable { .. } => "unavailable",
                BackendError::Cancelled => "cancelled",
                BackendError::DeadlineExceeded => "deadline_exceeded",
            },
            Self::Reply { source: ReplyError::OverLimit { .. }, .. } => "result_too_large",
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

    /// The request for approval that it is about, where it is about one.
    pub fn approval(&self) -> Option<&ApprovalId> {
        match self {
            Self::Pending { id, .. }
            | Self::ApprovalDenied { id, .. }
            | Self::Interrupted { id, .. }
            | Self::Settled { id, .. } => Some(id),
            _ => None,
        }
    }

    /// After how long the same call can be made again, where that is known, in whole milliseconds.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Limit { source, .. } => source.retry_after(),
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
                Reason::ConfigurationGroup => {
                    format!(
                        "The tool \"{tool}\" is not permitted here. Nothing was run; go on without it."
                    )
                }
                Reason::TrustZone => {
                    format!(
                        "The results of the tool \"{tool}\" may not leave for where this model runs. Nothing was run; go on \
                         without it."
                    )
                }
            },
            Self::Rule { tool, source } => {
                format!(
                    "The tool \"{tool}\" was not run: rule {} refused it ({}).",
                    source.rule, source.code
                )
            }
            Self::Arguments { tool, source } => {
                format!(
                    "The tool \"{tool}\" was not run: {source}. Correct the arguments and call it again."
                )
            }
            Self::Limit { tool, source } => format!("The tool \"{tool}\" was not run: {source}."),
            Self::ApprovalRequired { tool } => {
                format!("The tool \"{tool}\" needs a person's approval. Nothing was run.")
            }
            Self::Pending { tool, id, running: true, .. } => {
                format!(
                    "The tool \"{tool}\" runs now, as request {id}. Make the same call again later to get its result."
                )
            }
            Self::Pending { tool, id, input, .. } => {
                let what = if *input { "input" } else { "approval" };
                format!(
                    "The tool \"{tool}\" waits for a person's {what}, as request {id}. Nothing was run yet. Tell the user, and make \
                     the same call again after the decision to get its result."
                )
            }
            Self::ApprovalDenied { tool, by, .. } => match by {
                DecidedBy::Owner => format!(
                    "The user denied this call of the tool \"{tool}\". Nothing was run; do not make it again unless the user asks."
                ),
                DecidedBy::Other => format!(
                    "This call of the tool \"{tool}\" was denied by somebody other than the user. Nothing was run; go on without it."
                ),
                DecidedBy::Nobody => format!(
                    "Nobody decided about this call of the tool \"{tool}\" in time. Nothing was run."
                ),
            },
            Self::Interrupted { tool, .. } => format!(
                "The approved call of the tool \"{tool}\" broke off. What it has done until then is unknown, and it is not repeated: \
                 look before you ask for it again."
            ),
            Self::Settled { model_text, .. } => model_text.clone(),
            Self::Suspension { tool, .. } => format!(
                "The tool \"{tool}\" needs a person's approval, and this host can't ask for it now. Nothing was run."
            ),
            Self::Reply { tool, source: ReplyError::OverLimit { limit, found, .. }, .. } => {
                format!(
                    "The tool \"{tool}\" has run, and its result is too large to be handed out: it has {found} bytes, the limit is {limit}. \
                 What it has done is done; ask it for less."
                )
            }
            Self::Schema { tool, .. } | Self::Reply { tool, .. } => broken(tool),
            Self::Backend { tool, source, .. } => match source {
                BackendError::Fault { .. } => broken(tool),
                BackendError::Crashed { .. } => format!(
                    "The tool \"{tool}\" broke off: its process ended. What it has done until then is unknown; the operator has the details."
                ),
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
