//! What has become of a request, and what comes next.

use std::time::Duration;

use serde_json::value::RawValue;

use crate::{
    approval::{PendingRequest, Suspension},
    backend::ReplyStatus,
    name::ApprovalId,
};

/// What came of one call, in the form in which it is kept.
#[derive(Debug, Clone)]
pub enum CallResult {
    /// The tool answered.
    Reply(StoredReply),
    /// There was no reply.
    Refused {
        /// The [code](crate::CallError::code) of the error.
        code: String,
        /// What the model reads of it.
        model_text: String,
    },
}

/// A reply within the limits, as it was before it was read.
#[derive(Debug, Clone)]
pub struct StoredReply {
    /// How the call ended.
    pub status: ReplyStatus,
    /// The text for the model.
    pub text: String,
    /// What came beside the text, as a JSON object, where something did.
    pub rest: Option<Box<RawValue>>,
}

/// In which relation whoever decided stands to whoever asked: what a model may know of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecidedBy {
    /// The user in whose name the model works.
    Owner,
    /// Somebody else.
    Other,
    /// Nobody: the time was over.
    Nobody,
}

impl DecidedBy {
    /// The word that stands for it in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "run_owner",
            Self::Other => "other_user",
            Self::Nobody => "nobody",
        }
    }

    /// The same in a sentence, after "denied by".
    pub(crate) const fn in_words(self) -> &'static str {
        match self {
            Self::Owner => "whoever asked",
            Self::Other => "somebody else",
            Self::Nobody => "nobody: its time is over",
        }
    }
}

/// What a request ended with.
#[derive(Debug, Clone)]
pub enum Settled {
    /// It was approved and run: one result for each call.
    Done {
        /// The results, in the order of the calls.
        results: Vec<CallResult>,
    },
    /// It was denied; nothing was run.
    Denied {
        /// By whom.
        by: DecidedBy,
    },
    /// It was approved, and the process ended before it was known what came of it. It may have written, and is never repeated.
    Interrupted,
}

/// Where a request stands.
#[derive(Debug, Clone)]
pub enum RequestState {
    /// It waits for a decision.
    Waiting {
        /// The calls whose preview has changed since somebody wanted to approve it.
        stale: Vec<usize>,
    },
    /// Somebody has approved it, and it runs.
    Claimed {
        /// Who, as audit records name an actor.
        by: String,
        /// When.
        at: Duration,
    },
    /// It is over.
    Settled {
        /// Who decided, as audit records name an actor; `nobody` where the time was over.
        by: String,
        /// When.
        at: Duration,
        /// How.
        settled: Settled,
        /// Whether whoever asked has got the outcome: then the same call is a new request.
        delivered: bool,
    },
}

/// A request as a store keeps it.
#[derive(Debug, Clone)]
pub struct StoredRequest {
    /// Its id.
    pub id: ApprovalId,
    /// What was asked for.
    pub request: PendingRequest,
    /// Where it stands.
    pub state: RequestState,
}

impl StoredRequest {
    /// A request that begins to wait.
    pub fn new(id: ApprovalId, request: PendingRequest) -> Self {
        Self { id, request, state: RequestState::Waiting { stale: Vec::new() } }
    }

    /// Whether it waits for a decision that may still be made.
    pub fn is_waiting(&self, now: Duration) -> bool {
        matches!(self.state, RequestState::Waiting { .. }) && !self.request.is_expired(now)
    }

    /// Ends a request whose time is over, as denied by nobody. Returns whether that changed anything.
    pub fn expire(&mut self, now: Duration) -> bool {
        let over =
            matches!(self.state, RequestState::Waiting { .. }) && self.request.is_expired(now);
        if over {
            let at = self.request.expires;
            self.settle("nobody".to_owned(), at, Settled::Denied { by: DecidedBy::Nobody });
        }
        over
    }

    /// Settles a request that runs in a process that is no more: one that is safe to retry waits again, any other may have written and
    /// is never repeated. Returns whether that changed anything.
    pub fn recover(&mut self, now: Duration) -> bool {
        let RequestState::Claimed { by, .. } = &self.state else { return false };
        if self.request.safe_to_retry() {
            self.state = RequestState::Waiting { stale: Vec::new() };
        } else {
            self.settle(by.clone(), now, Settled::Interrupted);
        }
        true
    }

    /// Ends it.
    pub fn settle(&mut self, by: String, at: Duration, settled: Settled) {
        self.state = RequestState::Settled { by, at, settled, delivered: false };
    }

    /// What whoever makes the same call again gets; `None` where this request has nothing to do with it any more. An outcome is handed
    /// out once: it is marked as delivered, which the caller must keep before handing it out.
    pub fn answer(&mut self) -> Option<Suspension> {
        let id = self.id.clone();
        match &mut self.state {
            RequestState::Waiting { .. } => Some(Suspension::Waiting { id, new: false }),
            RequestState::Claimed { .. } => Some(Suspension::Running { id }),
            RequestState::Settled { delivered: true, .. } => None,
            RequestState::Settled { settled, delivered, .. } => {
                *delivered = true;
                Some(Suspension::Settled { id, settled: settled.clone() })
            }
        }
    }
}
