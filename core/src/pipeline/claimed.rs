//! Runs a request that somebody has decided to run, once, and keeps what came of it.

use serde_json::value::RawValue;

use crate::{
    approval::{ApprovalError, CallResult, Claim, Decider, Settled, StoredReply, StoredRequest},
    arguments::ValidCall,
    audit::{AuditError, AuditScope, DecisionKind, DecisionRecord},
    backend::RawReply,
    error::CallError,
    limiter::Permit,
    name::ApprovalId,
    pipeline::{Admitted, Decided, Pipeline, decide::store_failed},
    registry::Registry,
    reply::Reply,
    request::CallRequest,
};

/// A request that nobody else can decide about, with the decision to run it.
pub(super) struct Claimed<'a> {
    pub(super) claim: Box<dyn Claim + 'a>,
    pub(super) stored: StoredRequest,
    pub(super) decider: &'a Decider,
    pub(super) kind: DecisionKind,
    /// The right of its calls to run, where it is limited.
    pub(super) permit: Option<Permit<'a>>,
}

impl Pipeline {
    /// Records a decision about a request.
    pub(super) fn record(
        &self,
        stored: &StoredRequest,
        decider: &Decider,
        kind: DecisionKind,
        refused: Option<&str>,
    ) -> Result<(), AuditError> {
        let StoredRequest { id, request, .. } = stored;
        let tools: Vec<_> = request.calls.iter().map(|call| call.tool.as_str()).collect();
        self.config.sink.decide(&DecisionRecord {
            at: self.config.clock.now(),
            kind,
            subject: &tools.join(","),
            actor: &decider.actor().to_string(),
            approval: Some(id),
            owner: Some(&request.owner.actor.to_string()),
            agent: request.owner.agent.as_ref(),
            run: request.owner.run.as_ref(),
            refused,
            detail: None,
        })
    }

    /// Records a decision that was not carried out, where it was about a request that there is.
    pub(super) fn record_refusal<T>(
        &self,
        id: &ApprovalId,
        decider: &Decider,
        kind: DecisionKind,
        result: Result<T, ApprovalError>,
    ) -> Result<T, ApprovalError> {
        if let Err(error) = &result
            && let Ok(approvals) = self.approvals()
            && let Ok(Some(stored)) = approvals.store.get(id, self.config.clock.now())
        {
            // Nothing was done: a log that takes no record of it changes nothing.
            let _ = self.record(&stored, decider, kind, Some(error.code()));
        }
        result
    }

    /// Records the decision, puts up the fence, runs the calls and keeps what came of them.
    pub(super) fn run_claimed<'a>(
        &'a self,
        claimed: Claimed<'_>,
        requests: &'a [CallRequest<'a>],
        calls: Vec<Result<Admitted<'a>, CallError>>,
        registry: &'a Registry,
    ) -> Result<Decided, ApprovalError> {
        let Claimed { mut claim, stored, decider, kind, mut permit } = claimed;
        let id = &stored.id;
        if let Err(source) = self.record(&stored, decider, kind, None)
            && stored.request.writes()
        {
            return Err(ApprovalError::NotAuditable { id: id.clone(), source });
        }
        let by = decider.actor().to_string();
        claim.run(&by, self.config.clock.now()).map_err(store_failed(id))?;
        if let Some(permit) = &mut permit {
            permit.spend();
        }
        let mut decided = Decided { id: id.clone(), results: Vec::new() };
        let mut kept = Vec::new();
        let approved = kind == DecisionKind::Approve;
        for ((pending, request), call) in stored.request.calls.iter().zip(requests).zip(calls) {
            let mut audit = self.open(request, registry);
            audit.approved(id, &pending.arguments);
            if let Some(entry) = registry.get(request.tool()) {
                audit.found(entry);
            }
            let (result, keep) = self.run_approved(id, call, approved, audit);
            kept.push(keep);
            decided.results.push((pending.tool.clone(), result));
        }
        let now = self.config.clock.now();
        claim.settle(&by, now, Settled::done(kept)).map_err(store_failed(id))?;
        Ok(decided)
    }

    fn run_approved(
        &self,
        id: &ApprovalId,
        call: Result<Admitted<'_>, CallError>,
        approved: bool,
        mut audit: AuditScope<'_>,
    ) -> (Result<Reply, CallError>, CallResult) {
        if let Ok(call) = &call {
            audit.observed(call.authorized().observed());
        }
        let ready = call.and_then(|call| ready(call, approved)).and_then(|call| {
            // The calls before it belong to the history of the run since it was let through.
            self.judge(&call).map(|()| call)
        });
        let (result, raw) = match ready {
            Ok(call) => self.run_keeping(&call, id, &mut audit, |raw| self.keep(raw)),
            Err(error) => (Err(error), None),
        };
        let kept = match &result {
            Ok(reply) => CallResult::Reply(raw.unwrap_or_default().stored(reply)),
            Err(error) => CallResult::Refused {
                code: error.code().to_owned(),
                model_text: error.model_text(),
            },
        };
        audit.close(&result);
        (result, kept)
    }

    /// What of a reply is kept before it is bounded: what comes beside the text only as far as the limits would let it through anyway.
    fn keep(&self, raw: &RawReply) -> Kept {
        let limits = &self.config.limits;
        let limit = limits.media_bytes + limits.artifact_bytes + 4 * limits.text_bytes;
        let rest = (!raw.rest.is_empty() && raw.rest.len() <= limit)
            .then(|| serde_json::from_slice(&raw.rest).ok())
            .flatten();
        let text = (raw.text.len() <= limits.text_bytes)
            .then(|| String::from_utf8_lossy(&raw.text).into_owned());
        Kept { text, rest }
    }
}

/// A reply as it came, without what is too large to be kept.
#[derive(Default)]
struct Kept {
    text: Option<String>,
    rest: Option<Box<RawValue>>,
}

impl Kept {
    /// The reply in the form in which it is kept, so that it is once more what was made of it.
    fn stored(self, reply: &Reply) -> StoredReply {
        let Self { text, rest } = self;
        let text = match reply.content() {
            // What came beside the text is left to what the model read of it.
            _ if rest.is_none() => reply.model_text().into_owned(),
            None => reply.text().as_str().to_owned(),
            // A text that came with content blocks is the first of them.
            Some(blocks) => {
                text.or_else(|| blocks.first()?.as_text().map(str::to_owned)).unwrap_or_default()
            }
        };
        StoredReply { status: reply.status(), text, rest }
    }
}

/// The call of a request that was decided about, where nothing stands against it any more.
fn ready(call: Admitted<'_>, approved: bool) -> Result<ValidCall<'_>, CallError> {
    match call {
        Admitted::Ready(call) => Ok(call),
        Admitted::NeedsApproval(call) if approved => Ok(call),
        // An approval is no input, and an input no approval.
        Admitted::NeedsApproval(_) | Admitted::NeedsInput { .. } => {
            Err(CallError::ApprovalRequired { tool: call.entry().definition().name().clone() })
        }
    }
}
