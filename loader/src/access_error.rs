//! Why a decision of an administrator was not made.

use thiserror::Error;
use toolbay_core::{AgentName, AuditError, Party, ToolName};

use crate::error::AccessFileError;

/// Why a decision of an administrator was not made. Nothing has changed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AccessError {
    /// Whoever wants it is no administrator.
    ///
    /// Resolution: ask one.
    #[error("{actor} may not do that: expected an administrator")]
    NotAdmin {
        /// Who wanted it.
        actor: String,
    },
    /// Nothing has the name.
    ///
    /// Resolution: use one of the nearest names, or install what has the name.
    #[error("{kind} {name:?} unknown{}", suggested(.nearest))]
    Unknown {
        /// What it should be, such as `tool`.
        kind: &'static str,
        /// The name.
        name: String,
        /// Names that are known and may be meant.
        nearest: Vec<String>,
    },
    /// There is an agent of this name already.
    ///
    /// Resolution: change that one, or choose another name.
    #[error("agent {agent} is there already: expected a new name")]
    AgentExists {
        /// The agent.
        agent: AgentName,
    },
    /// No loadout waits for a review.
    ///
    /// Resolution: none; somebody else has reviewed it, or nobody has proposed one.
    #[error("agent {agent} has no loadout that waits for a review")]
    NothingPending {
        /// The agent.
        agent: AgentName,
    },
    /// Whoever proposed a loadout wants to approve it.
    ///
    /// Resolution: let another administrator review it.
    #[error(
        "the loadout of agent {agent} was proposed by {actor}: expected another administrator to approve it"
    )]
    OwnProposal {
        /// The agent.
        agent: AgentName,
        /// Who proposed it.
        actor: String,
    },
    /// The agent has every enabled tool, so that there is no list to add to or to remove from.
    ///
    /// Resolution: give it a list.
    #[error(
        "agent {agent} has every enabled tool: expected an agent with a list that can be changed"
    )]
    NoList {
        /// The agent.
        agent: AgentName,
    },
    /// A tool that asks for an input would wait for a person twice.
    ///
    /// Resolution: switch the tool off, where an input is not enough.
    #[error(
        "calls of tool {tool} wait for an input: expected a tool that does not, for one decision can't be both"
    )]
    ApprovalAndInput {
        /// The tool.
        tool: ToolName,
    },
    /// The decision can't be recorded.
    ///
    /// Resolution: make the audit log writable.
    #[error("the decision can't be recorded, so it was not made")]
    NotAuditable(#[from] AuditError),
    /// The decision can't be kept.
    ///
    /// Resolution: as the source says.
    #[error("the decision can't be kept")]
    File(#[from] AccessFileError),
}

/// Whoever wants to decide something is no administrator.
#[derive(Debug)]
pub(crate) struct NotAdmin {
    /// Who wanted it.
    pub(crate) actor: String,
}

impl NotAdmin {
    /// The word by which programs know it, whatever it was that was to be decided.
    pub(crate) const CODE: &str = "not_admin";
}

impl From<NotAdmin> for AccessError {
    fn from(NotAdmin { actor }: NotAdmin) -> Self {
        Self::NotAdmin { actor }
    }
}

fn suggested(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!(": the nearest are {}", names.join(", ")),
    }
}

impl AccessError {
    /// Who can do something about it.
    pub fn party(&self) -> Party {
        match self {
            Self::NotAuditable(_) | Self::File(_) => Party::Environment,
            _ => Party::Caller,
        }
    }

    /// The word by which programs know the error. It never changes.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotAdmin { .. } => NotAdmin::CODE,
            Self::Unknown { .. } => "unknown",
            Self::AgentExists { .. } => "agent_exists",
            Self::NothingPending { .. } => "nothing_pending",
            Self::OwnProposal { .. } => "own_proposal",
            Self::NoList { .. } => "no_list",
            Self::ApprovalAndInput { .. } => "approval_and_input",
            Self::NotAuditable(_) => "not_auditable",
            Self::File(_) => "file",
        }
    }
}
