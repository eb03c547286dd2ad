//! What a person decides about calls that wait, and what is done then.

use serde_json::Value;

use crate::{
    approval::{
        ApprovalError, Claim, DecidedBy, Decider, Need, Owner, PendingCall, PendingRequest,
        RequestState, Settled, StoreError, StoredRequest,
    },
    arguments::{self, ArgumentsError},
    audit::DecisionKind,
    caller::{Actor, Caller},
    canonical::canonical,
    error::CallError,
    excerpt::excerpt,
    history::RunHistory,
    name::{ApprovalId, ToolName},
    pipeline::{Admitted, Approvals, Pipeline, claimed::Claimed, fresh, permitted},
    registry::Registry,
    reply::Reply,
    request::CallRequest,
};

/// What came of a request that was approved: one result for each of its calls.
#[derive(Debug)]
pub struct Decided {
    /// The request.
    pub id: ApprovalId,
    /// Each call's tool with its result.
    pub results: Vec<(ToolName, Result<Reply, CallError>)>,
}

/// Who has asked, as the host knows them now: `None` where they or their agent are no more.
type OwnerOf<'a> = &'a dyn Fn(&Owner) -> Option<Caller>;

impl Pipeline {
    /// Approves a request, and runs its calls under the identity of whoever asked.
    ///
    /// `seen` is the [digest](PendingRequest::digest) of what the decider has seen, or at least twelve of its first digits. `owner` makes
    /// the caller again from the request, with its agent as it is now. In this order: the decider may decide about the request, and is
    /// another person where the agent wants that; there is room for the calls within the limits, for which this thread waits as for any
    /// call; the request is claimed, so that of any number of approvals one goes on; it is what the
    /// decider saw; the decider may use every tool that writes; the tools' code, their previews and the calls themselves are as they
    /// were shown; the decision is recorded; then the calls run. A call that is not permitted any more is not run.
    ///
    /// # Errors
    ///
    /// [`ApprovalError`]: the request waits as before, unless the error says otherwise.
    pub fn approve(
        &self,
        id: &ApprovalId,
        seen: &str,
        decider: &Decider,
        owner: OwnerOf<'_>,
    ) -> Result<Decided, ApprovalError> {
        let approved = self.try_approve(id, seen, decider, owner);
        self.record_refusal(id, decider, DecisionKind::Approve, approved)
    }

    fn try_approve(
        &self,
        id: &ApprovalId,
        seen: &str,
        decider: &Decider,
        owner: OwnerOf<'_>,
    ) -> Result<Decided, ApprovalError> {
        let opened = self.open_request(id, decider)?;
        if !matches!(opened.request.need, Need::Approval) {
            return Err(other_need(id, "an input", "an approval"));
        }
        let owner = owner_now(&opened, owner)?;
        let service = matches!(decider.actor(), Actor::ServiceAccount { .. });
        let four_eyes = owner.agent().is_some_and(|agent| agent.four_eyes);
        if four_eyes && !service && decider.is(&opened.request.owner) {
            let actor = decider.actor().to_string();
            return Err(ApprovalError::SecondPerson { id: id.clone(), actor });
        }
        let permit = self.reserve(&opened, |registry| {
            permitted::may_release(&opened.request, decider, registry)
        })?;
        let claim = self.claim(id, seen)?;
        let stored = claim.request().clone();
        let registry = self.registry().load();
        permitted::may_release(&stored.request, decider, &registry)?;
        let history = history_of(&stored.request);
        let requests = requests(&stored.request.calls, &owner, &history);
        let calls = self.admit_again(&requests, &registry);
        if let Some(now) = fresh::changed(&stored.request, &calls) {
            return Err(fresh::show_again(claim, &stored, now));
        }
        let kind = DecisionKind::Approve;
        let claimed = Claimed { claim, stored: stored.clone(), decider, kind, permit };
        self.run_claimed(claimed, &requests, calls, &registry)
    }

    /// Denies a request: nothing of it runs, and whoever asked is told so.
    ///
    /// # Errors
    ///
    /// [`ApprovalError`]: the request waits as before.
    pub fn deny(
        &self,
        id: &ApprovalId,
        seen: &str,
        decider: &Decider,
    ) -> Result<(), ApprovalError> {
        let denied = self.try_deny(id, seen, decider);
        self.record_refusal(id, decider, DecisionKind::Deny, denied)
    }

    fn try_deny(
        &self,
        id: &ApprovalId,
        seen: &str,
        decider: &Decider,
    ) -> Result<(), ApprovalError> {
        self.open_request(id, decider)?;
        let claim = self.claim(id, seen)?;
        let stored = claim.request().clone();
        // Nothing runs, so that a log that takes no record is no reason to leave the request open.
        let _ = self.record(&stored, decider, DecisionKind::Deny, None);
        let by = match decider.is(&stored.request.owner) {
            true => DecidedBy::Owner,
            false => DecidedBy::Other,
        };
        let now = self.config.clock.now();
        let who = decider.actor().to_string();
        claim.settle(&who, now, Settled::Denied { by }).map_err(store_failed(id))
    }

    /// Types in what a request waits for, and runs its calls under the identity of whoever asked.
    ///
    /// `typed` is a JSON object. Of it, only what the input's schema declares is taken, and of that nothing is taken from the agent. An
    /// input that does not fit is refused before anything else happens, and the request waits on. It goes to no other code than the one
    /// that asked for it.
    ///
    /// # Errors
    ///
    /// [`ApprovalError`]: the request waits as before.
    pub fn submit(
        &self,
        id: &ApprovalId,
        seen: &str,
        decider: &Decider,
        typed: &str,
        owner: OwnerOf<'_>,
    ) -> Result<Decided, ApprovalError> {
        let submitted = self.try_submit(id, seen, decider, typed, owner);
        self.record_refusal(id, decider, DecisionKind::Submit, submitted)
    }

    fn try_submit(
        &self,
        id: &ApprovalId,
        seen: &str,
        decider: &Decider,
        typed: &str,
        owner: OwnerOf<'_>,
    ) -> Result<Decided, ApprovalError> {
        let opened = self.open_request(id, decider)?;
        let Need::Input { call, schema } = opened.request.need.clone() else {
            return Err(other_need(id, "an approval", "an input"));
        };
        let owner = owner_now(&opened, owner)?;
        let typed: Value = serde_json::from_str(typed)
            .map_err(|error| ApprovalError::InputForm { found: error.to_string() })?;
        let overlay = |pending: &PendingCall| {
            let given = serde_json::from_str(&pending.arguments).unwrap_or_default();
            arguments::with_input(given, typed.clone(), &schema).map_err(input_refused)
        };
        if let Some(pending) = opened.request.calls.get(call) {
            self.check_completed(pending, &overlay(pending)?, &owner)?;
        }

        let permit = self.reserve(&opened, |registry| {
            permitted::may_submit(&opened.request, decider, registry)
        })?;
        let claim = self.claim(id, seen)?;
        let stored = claim.request().clone();
        let registry = self.registry().load();
        permitted::may_submit(&stored.request, decider, &registry)?;
        let history = history_of(&stored.request);
        let shown = requests(&stored.request.calls, &owner, &history);
        if let Some(now) = fresh::changed(&stored.request, &self.admit_again(&shown, &registry)) {
            return Err(fresh::show_again(claim, &stored, now));
        }
        let mut calls = stored.request.calls.clone();
        if let Some(pending) = calls.get_mut(call) {
            pending.arguments = canonical(&overlay(pending)?);
        }
        let requests = requests(&calls, &owner, &history);
        let mut admitted = self.admit_again(&requests, &registry);
        if let (Some(admitted), Some(request)) = (admitted.get_mut(call), requests.get(call)) {
            *admitted = self.completed(request, &registry);
        }
        let kind = DecisionKind::Submit;
        let claimed = Claimed { claim, stored: stored.clone(), decider, kind, permit };
        self.run_claimed(claimed, &requests, admitted, &registry)
    }

    /// Refuses an input with which the tool's own arguments do not fit, while the request still waits. Whatever else may stand against the
    /// call is asked when it is decided about.
    fn check_completed(
        &self,
        pending: &PendingCall,
        arguments: &Value,
        owner: &Caller,
    ) -> Result<(), ApprovalError> {
        let registry = self.registry().load();
        let arguments = canonical(arguments);
        let request = CallRequest::new(pending.tool.as_str(), &arguments, owner);
        match self.completed(&request, &registry) {
            Err(CallError::Arguments { source, .. }) => Err(input_refused(source)),
            _ => Ok(()),
        }
    }

    pub(super) fn approvals(&self) -> Result<&Approvals, ApprovalError> {
        self.config.approvals.as_ref().ok_or(ApprovalError::NoStore)
    }

    /// The request, where it waits and the decider may decide about it.
    fn open_request(
        &self,
        id: &ApprovalId,
        decider: &Decider,
    ) -> Result<StoredRequest, ApprovalError> {
        let now = self.config.clock.now();
        let stored = self.approvals()?.store.get(id, now).map_err(store_failed(id))?;
        let stored = stored.ok_or_else(|| ApprovalError::NotFound { id: id.clone() })?;
        if !stored.is_waiting(now) {
            return Err(ApprovalError::NotWaiting { id: id.clone(), found: found(&stored.state) });
        }
        if !decider.may_decide(&stored.request.owner) {
            let actor = decider.actor().to_string();
            return Err(ApprovalError::NotPermitted { id: id.clone(), actor });
        }
        Ok(stored)
    }

    /// The claim on the request, where it is the one that was seen.
    fn claim(&self, id: &ApprovalId, seen: &str) -> Result<Box<dyn Claim + '_>, ApprovalError> {
        let now = self.config.clock.now();
        let claimed = self.approvals()?.store.claim(id, now);
        let claim = claimed.map_err(|error| ApprovalError::of_claim(id, error))?;
        let digest = claim.request().request.digest();
        if digest.is_named_by(seen) {
            return Ok(claim);
        }
        let (expected, found) = (digest.to_string(), excerpt(seen, 80).into_owned());
        Err(ApprovalError::Stale { id: id.clone(), expected, found })
    }

    /// Takes the calls through gates, validation and rules once more.
    fn admit_again<'a>(
        &'a self,
        requests: &'a [CallRequest<'a>],
        registry: &'a Registry,
    ) -> Vec<Result<Admitted<'a>, CallError>> {
        let admit =
            |request| self.admit(request, registry, &mut self.open(request, registry).quiet());
        requests.iter().map(admit).collect()
    }

    /// A call whose input is there now: with it, nothing else may be missing.
    fn completed<'a>(
        &'a self,
        request: &'a CallRequest<'a>,
        registry: &'a Registry,
    ) -> Result<Admitted<'a>, CallError> {
        let scope = &mut self.open(request, registry).quiet();
        match self.admit(request, registry, scope)? {
            Admitted::NeedsInput { authorized, .. } => {
                let entry = authorized.entry();
                let call = arguments::validate(authorized, self.argument_bytes(entry))
                    .map_err(|error| self.arguments_refused(error, entry))?;
                self.judge(&call)?;
                Ok(Admitted::Ready(call))
            }
            // An administrator wants approvals of it since then: nobody has given one.
            other => {
                Err(CallError::ApprovalRequired { tool: other.entry().definition().name().clone() })
            }
        }
    }
}

fn owner_now(stored: &StoredRequest, owner: OwnerOf<'_>) -> Result<Caller, ApprovalError> {
    let asked = &stored.request.owner;
    owner(asked)
        .ok_or_else(|| ApprovalError::OwnerGone { id: stored.id.clone(), owner: asked.to_string() })
}

pub(super) fn history_of(request: &PendingRequest) -> RunHistory {
    request.history.clone().map_or_else(RunHistory::incomplete, RunHistory::of)
}

fn requests<'a>(
    calls: &'a [PendingCall],
    owner: &'a Caller,
    history: &'a RunHistory,
) -> Vec<CallRequest<'a>> {
    calls.iter().map(|call| request(call, owner, history)).collect()
}

pub(super) fn request<'a>(
    call: &'a PendingCall,
    owner: &'a Caller,
    history: &'a RunHistory,
) -> CallRequest<'a> {
    CallRequest::new(call.tool.as_str(), &call.arguments, owner).with_history(history)
}

fn found(state: &RequestState) -> &'static str {
    match state {
        RequestState::Waiting { .. } => "has expired",
        RequestState::Claimed { .. } => "runs at this moment",
        RequestState::Settled { settled, .. } => match settled {
            Settled::Done { .. } => "is done already",
            Settled::Denied { by: DecidedBy::Nobody } => "has expired",
            Settled::Denied { .. } => "was denied",
            Settled::Interrupted => "was interrupted while it ran",
        },
    }
}

fn other_need(id: &ApprovalId, expected: &'static str, found: &'static str) -> ApprovalError {
    ApprovalError::OtherNeed { id: id.clone(), expected, found }
}

fn input_refused(error: ArgumentsError) -> ApprovalError {
    match error {
        ArgumentsError::Invalid { violations } => ApprovalError::Input { violations },
        other => ApprovalError::InputForm { found: other.to_string() },
    }
}

pub(super) fn store_failed(id: &ApprovalId) -> impl FnOnce(StoreError) -> ApprovalError {
    let id = id.clone();
    move |source| ApprovalError::Store { id, source }
}
