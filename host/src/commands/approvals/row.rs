//! A request as it is listed, under keys that never change.

use serde::Serialize;
use toolbay_loader::{
    AgentName, DecidedBy, Need, PendingRequest, RequestState, RunId, Settled, StoredRequest,
};

use crate::commands::time::timestamp;

#[derive(Serialize)]
pub(super) struct RequestRow<'a> {
    pub(super) id: &'a str,
    pub(super) state: &'static str,
    /// What it waits for, or has waited for.
    pub(super) need: &'static str,
    pub(super) owner: String,
    pub(super) agent: Option<&'a str>,
    pub(super) run: Option<&'a str>,
    pub(super) tools: Vec<&'a str>,
    pub(super) writes: bool,
    pub(super) requested: String,
    pub(super) expires: String,
    pub(super) decided_by: Option<&'a str>,
    pub(super) decided: Option<String>,
    /// Whether whoever asked has got the outcome.
    pub(super) delivered: bool,
}

impl<'a> From<&'a StoredRequest> for RequestRow<'a> {
    fn from(stored: &'a StoredRequest) -> Self {
        let StoredRequest { id, request, state } = stored;
        let PendingRequest { owner, calls, requested, expires, .. } = request;
        let (decided_by, decided) = match state {
            RequestState::Waiting { .. } => (None, None),
            RequestState::Claimed { by, at } | RequestState::Settled { by, at, .. } => {
                (Some(by.as_str()), Some(timestamp(*at)))
            }
        };
        Self {
            id: id.as_str(),
            state: state_word(state),
            need: match &request.need {
                Need::Approval => "approval",
                Need::Input { .. } => "input",
            },
            owner: owner.actor.to_string(),
            agent: owner.agent.as_ref().map(AgentName::as_str),
            run: owner.run.as_ref().map(RunId::as_str),
            tools: calls.iter().map(|call| call.tool.as_str()).collect(),
            writes: request.writes(),
            requested: timestamp(*requested),
            expires: timestamp(*expires),
            decided_by,
            decided,
            delivered: matches!(state, RequestState::Settled { delivered: true, .. }),
        }
    }
}

fn state_word(state: &RequestState) -> &'static str {
    match state {
        RequestState::Waiting { stale } if stale.is_empty() => "waiting",
        // Somebody wanted to approve it, and found that it would do something else by then.
        RequestState::Waiting { .. } => "changed",
        RequestState::Claimed { .. } => "running",
        RequestState::Settled { settled, .. } => match settled {
            Settled::Done { .. } => "done",
            Settled::Denied { by: DecidedBy::Nobody } => "expired",
            Settled::Denied { .. } => "denied",
            Settled::Interrupted => "interrupted",
        },
    }
}
