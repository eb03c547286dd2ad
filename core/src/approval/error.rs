//! Why a decision was not made.

use std::{error::Error as StdError, io};

use thiserror::Error;

use crate::{
    approval::ClaimError,
    arguments::Violation,
    audit::AuditError,
    error::Party,
    limits::LimitError,
    name::{ApprovalId, ToolName},
};

/// Why a request could not be kept or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file or folder can't be read or written.
    ///
    /// Resolution: correct rights or space at the path.
    #[error("{path}: requests for approval can't be kept or read")]
    Io {
        /// Which one.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// A request is damaged. It stays as it is.
    ///
    /// Resolution: look at the file, and remove it where nobody needs it.
    #[error("{path}: no request for approval: {found}")]
    Damaged {
        /// The file.
        path: String,
        /// What was found.
        found: String,
    },
    /// Too many requests wait.
    ///
    /// Resolution: decide about some.
    #[error("too many requests wait for approval: expected at most {limit}")]
    Full {
        /// The number that may wait.
        limit: usize,
    },
    /// Too many requests of one owner wait. Others are not affected.
    ///
    /// Resolution: decide about some of them.
    #[error("too many requests of {owner} wait for a person: expected at most {limit}")]
    OwnerFull {
        /// Who asks too much.
        owner: String,
        /// The number that may wait.
        limit: usize,
    },
    /// The store failed otherwise.
    ///
    /// Resolution: the source says what to do.
    #[error("requests for approval can't be kept")]
    Other(#[source] Box<dyn StdError + Send + Sync>),
}

/// Why a decision about a request was not made. Unless it says otherwise, the request waits as before and nothing was run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ApprovalError {
    /// This host keeps no requests.
    ///
    /// Resolution: configure a store for them.
    #[error("this host keeps no requests for approval")]
    NoStore,
    /// No request has the id.
    ///
    /// Resolution: list the requests that wait.
    #[error("no request for approval has the id {id}")]
    NotFound {
        /// The id.
        id: ApprovalId,
    },
    /// The request does not wait any more.
    ///
    /// Resolution: look at what came of it.
    #[error("request {id} does not wait for a decision: it {found}")]
    NotWaiting {
        /// The id.
        id: ApprovalId,
        /// Where it stands, such as `was denied`.
        found: &'static str,
    },
    /// Somebody else is deciding about it at this moment.
    ///
    /// Resolution: look at what came of it.
    #[error("somebody else is deciding about request {id}")]
    Taken {
        /// The id.
        id: ApprovalId,
    },
    /// The request waits for something else.
    ///
    /// Resolution: approve it, or submit an input, as it says.
    #[error("request {id} waits for {expected}, not for {found}")]
    OtherNeed {
        /// The id.
        id: ApprovalId,
        /// What it waits for.
        expected: &'static str,
        /// What it was given.
        found: &'static str,
    },
    /// The decider may not decide about it.
    ///
    /// Resolution: ask an administrator, or somebody with the grant to approve.
    #[error(
        "{actor} may not decide about request {id}: expected an administrator, somebody with the grant or the scope \"approve\", or the owner"
    )]
    NotPermitted {
        /// The id.
        id: ApprovalId,
        /// Who wanted to.
        actor: String,
    },
    /// The agent wants another person to approve than the one in whose name the call was made.
    ///
    /// Resolution: ask a second person. Denying needs none.
    #[error("request {id} needs a second person: {actor} has started it")]
    SecondPerson {
        /// The id.
        id: ApprovalId,
        /// Who has started it.
        actor: String,
    },
    /// Whoever asked is no more, or the agent is.
    ///
    /// Resolution: deny the request.
    #[error("request {id} was made by {owner}, who is no more: it can only be denied")]
    OwnerGone {
        /// The id.
        id: ApprovalId,
        /// Who asked.
        owner: String,
    },
    /// What the decider saw is not what waits.
    ///
    /// Resolution: look at the request again, and decide about that.
    #[error(
        "request {id} is not what was shown: expected the digest of what waits now, its first twelve digits at least, found {found:?}"
    )]
    Stale {
        /// The id.
        id: ApprovalId,
        /// The digest of what waits. The message keeps it to itself: whoever decides takes it from what they have looked at.
        expected: String,
        /// What the decider gave, cut to 80 characters.
        found: String,
    },
    /// What the calls would do has changed since they were shown. The request waits with the new previews.
    ///
    /// Resolution: look at the request again, and decide about that.
    #[error("what {} would do has changed since it was shown: nothing was run, and request {id} waits with a new preview", named(.tools))]
    PreviewChanged {
        /// The id.
        id: ApprovalId,
        /// The tools whose preview has changed.
        tools: Vec<ToolName>,
    },
    /// Only a person who may use a tool can release a write of it, or type in what it asks for.
    ///
    /// Resolution: let somebody approve it who may use the tool.
    #[error("{actor} can't release a call of {tool}: expected a user who may use the tool")]
    MayNotRelease {
        /// The tool.
        tool: ToolName,
        /// Who wanted to.
        actor: String,
    },
    /// Too many calls of its tools came, run or wait.
    ///
    /// Resolution: decide again when the source says.
    #[error("request {id} was not let in")]
    Limit {
        /// The id.
        id: ApprovalId,
        /// Which limit, and whose.
        source: LimitError,
    },
    /// What was typed in does not fit.
    ///
    /// Resolution: change what each violation names.
    #[error("input refused: {}", .violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Input {
        /// In what it does not fit.
        violations: Vec<Violation>,
    },
    /// What was typed in is no JSON object.
    ///
    /// Resolution: give one.
    #[error("input refused: expected a JSON object, found {found}")]
    InputForm {
        /// What was found.
        found: String,
    },
    /// The decision can't be recorded, and the request writes: an unrecorded write never runs.
    ///
    /// Resolution: make the audit log writable, and decide again.
    #[error("the decision about request {id} can't be recorded, so its write was not run")]
    NotAuditable {
        /// The id.
        id: ApprovalId,
        /// Why not.
        source: AuditError,
    },
    /// The store failed. Where that was after the calls ran, the request counts as interrupted, and its writes are not repeated.
    ///
    /// Resolution: the source says what to do.
    #[error("request {id} can't be kept")]
    Store {
        /// The id.
        id: ApprovalId,
        /// Why not.
        source: StoreError,
    },
}

fn named(tools: &[ToolName]) -> String {
    tools.iter().map(ToolName::as_str).collect::<Vec<_>>().join(", ")
}

impl ApprovalError {
    /// The word by which programs know the error. It never changes.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoStore => "no_store",
            Self::NotFound { .. } => "not_found",
            Self::NotWaiting { .. } => "not_waiting",
            Self::Taken { .. } => "already_resuming",
            Self::OtherNeed { .. } => "other_need",
            Self::NotPermitted { .. } => "not_permitted",
            Self::SecondPerson { .. } => "second_person",
            Self::OwnerGone { .. } => "owner_gone",
            Self::Stale { .. } => "stale",
            Self::PreviewChanged { .. } => "preview_changed",
            Self::MayNotRelease { .. } => "may_not_release",
            Self::Limit { source, .. } => source.code(),
            Self::Input { .. } | Self::InputForm { .. } => "invalid_input",
            Self::NotAuditable { .. } => "not_auditable",
            Self::Store { .. } => "store",
        }
    }

    /// Who can do something about it.
    pub fn party(&self) -> Party {
        match self {
            Self::NoStore => Party::Host,
            Self::NotAuditable { .. } | Self::Store { .. } => Party::Environment,
            _ => Party::Caller,
        }
    }

    pub(crate) fn of_claim(id: &ApprovalId, error: ClaimError) -> Self {
        let id = id.clone();
        match error {
            ClaimError::NotWaiting => Self::NotWaiting { id, found: "has been decided about" },
            ClaimError::Taken => Self::Taken { id },
            ClaimError::Store(source) => Self::Store { id, source },
        }
    }
}
