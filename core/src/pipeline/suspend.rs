//! Makes calls wait for a person, and hands out what came of them.

use bytes::Bytes;

use crate::{
    approval::{
        CallResult, Need, Owner, PendingCall, PendingRequest, Preview, Settled, StoredReply,
        Suspension,
    },
    arguments::ValidCall,
    audit::Outcome,
    backend::{BackendError, RawReply},
    bound::bound,
    canonical::canonical,
    error::CallError,
    history::PastCall,
    name::ApprovalId,
    pipeline::{Admitted, Approvals, Pipeline, named},
    registry::Entry,
    reply::{Reply, WriteTarget},
};

/// What calls that need a person get: one result for each, and the request that they are, where they are one.
#[derive(Default)]
pub(super) struct Answers {
    pub(super) request: Option<ApprovalId>,
    pub(super) results: Vec<Result<Reply, CallError>>,
}

impl Answers {
    /// Without a request.
    fn none(results: impl Iterator<Item = CallError>) -> Self {
        Self { request: None, results: results.map(Err).collect() }
    }
}

impl Pipeline {
    /// Asks a person about the calls of one turn, or hands out what came of them where somebody has decided.
    pub(super) fn ask(&self, calls: &[Admitted<'_>]) -> Answers {
        if calls.iter().any(|call| call.authorized().request().is_cancelled()) {
            return Answers::none(calls.iter().map(|call| cancelled(call.entry())));
        }
        let Some(approvals) = &self.config.approvals else {
            return Answers::none(calls.iter().map(|call| alone(call.entry())));
        };
        // An approval comes first: the call that wants an input is refused once it is given, and can be made again.
        let approval = calls.iter().any(|call| matches!(call, Admitted::NeedsApproval(_)));
        match self.suspend(approvals, calls, approval) {
            Err(source) => {
                // Each call tells it; the cause is told with the first.
                let mut source = Some(source);
                let refused = |call: &Admitted<'_>| {
                    let tool = call.entry().definition().name().clone();
                    match source.take() {
                        Some(source) => CallError::Suspension { tool, source },
                        None => CallError::ApprovalRequired { tool },
                    }
                };
                Answers::none(calls.iter().map(refused))
            }
            Ok(suspension) => Answers {
                request: Some(suspension.id().clone()),
                results: self.answers(suspension, calls, !approval),
            },
        }
    }

    fn suspend(
        &self,
        approvals: &Approvals,
        calls: &[Admitted<'_>],
        approval: bool,
    ) -> Result<Suspension, crate::approval::StoreError> {
        let now = self.config.clock.now();
        let Some(mut request) = pending(calls, approval) else {
            return Err(crate::approval::StoreError::Full { limit: 0 });
        };
        if !self.config.rules.need_history() {
            // Nobody would read it, and a long run's is large.
            request.history = None;
        }
        request.requested = now;
        request.expires = now.saturating_add(approvals.expire_after);
        // A call that is made again while it waits costs no preview.
        if let Some(answer) = approvals.store.answer(&request.key(), now)? {
            return Ok(answer);
        }
        for (call, pending) in calls.iter().zip(&mut request.calls) {
            if let Admitted::NeedsApproval(call) | Admitted::Ready(call) = call {
                pending.preview = preview(call);
            }
        }
        approvals.store.suspend(request, now)
    }

    fn answers(
        &self,
        suspension: Suspension,
        calls: &[Admitted<'_>],
        input: bool,
    ) -> Vec<Result<Reply, CallError>> {
        let each = |answer: &dyn Fn(&Entry) -> CallError| {
            calls.iter().map(|call| Err(answer(call.entry()))).collect()
        };
        let tool = |entry: &Entry| entry.definition().name().clone();
        match suspension {
            Suspension::Waiting { id, .. } => each(&|entry| CallError::Pending {
                tool: tool(entry),
                id: id.clone(),
                running: false,
                input,
            }),
            Suspension::Running { id } => each(&|entry| CallError::Pending {
                tool: tool(entry),
                id: id.clone(),
                running: true,
                input,
            }),
            Suspension::Settled { id, settled: Settled::Denied { by } } => {
                each(&|entry| CallError::ApprovalDenied { tool: tool(entry), id: id.clone(), by })
            }
            Suspension::Settled { id, settled: Settled::Interrupted } => {
                // Nobody knows how far it came: for the history, as far as it could.
                calls.iter().for_each(|call| remember(call, Some(Outcome::Aborted), None));
                each(&|entry| CallError::Interrupted { tool: tool(entry), id: id.clone() })
            }
            Suspension::Settled { id, settled: Settled::Done { results } } => {
                let mut results = results.into_iter();
                let result = |call: &Admitted<'_>| match results.next() {
                    Some(result) => self.result(result, &id, call),
                    None => {
                        Err(CallError::Interrupted { tool: tool(call.entry()), id: id.clone() })
                    }
                };
                calls.iter().map(result).collect()
            }
        }
    }

    /// What an approved call gave, as whoever makes it again gets it. It belongs to the history of their run from now on.
    fn result(
        &self,
        result: CallResult,
        id: &ApprovalId,
        call: &Admitted<'_>,
    ) -> Result<Reply, CallError> {
        let entry = call.entry();
        match result {
            CallResult::Reply(StoredReply { status, text, rest }) => {
                let rest = rest.map(|rest| Bytes::from(Box::<str>::from(rest).into_string()));
                let rest = rest.unwrap_or_default();
                // It kept what the tool's schema promises when it came; what was left out since then is no fault of the tool.
                let reply =
                    bound(RawReply { status, text: text.into(), rest }, &self.config.limits);
                let result = reply.map_err(|source| {
                    let (tool, provider) = named(entry);
                    CallError::Reply { tool, provider, source }
                });
                let write = result.as_ref().ok().and_then(Reply::write);
                let target = write.map(|write| write.target.clone());
                remember(call, Some(Outcome::of(result.as_ref())), target);
                result
            }
            CallResult::Refused { code, model_text } => {
                remember(call, Outcome::of_code(&code), None);
                let tool = entry.definition().name().clone();
                Err(CallError::Settled { tool, id: id.clone(), code, model_text })
            }
        }
    }
}

/// What nobody wants any more neither waits nor takes an outcome that somebody else waits for.
fn cancelled(entry: &Entry) -> CallError {
    let (tool, provider) = named(entry);
    CallError::Backend { tool, provider, source: BackendError::Cancelled }
}

/// Adds a call that ran to the history of the run that gets what came of it.
fn remember(call: &Admitted<'_>, outcome: Option<Outcome>, target: Option<WriteTarget>) {
    if let (Some(history), Some(outcome)) = (call.authorized().request().history(), outcome) {
        let tool = call.entry().definition().name().clone();
        history.add(PastCall { tool, outcome, target });
    }
}

/// There is nobody to ask.
pub(super) fn alone(entry: &Entry) -> CallError {
    CallError::ApprovalRequired { tool: entry.definition().name().clone() }
}

/// The request for these calls, as yet without previews and times; `None` for no calls.
fn pending(calls: &[Admitted<'_>], approval: bool) -> Option<PendingRequest> {
    let request = calls.first()?.authorized().request();
    let need = match approval {
        true => Need::Approval,
        false => calls.iter().enumerate().find_map(|(call, admitted)| match admitted {
            Admitted::NeedsInput { authorized, .. } => {
                let schema = authorized.entry().definition().declarations().input.clone()?;
                Some(Need::Input { call, schema })
            }
            _ => None,
        })?,
    };
    Some(PendingRequest {
        owner: Owner::of(request.caller()),
        calls: calls.iter().map(pending_call).collect(),
        need,
        history: request.history().and_then(|history| history.calls()),
        requested: Default::default(),
        expires: Default::default(),
    })
}

pub(super) fn pending_call(call: &Admitted<'_>) -> PendingCall {
    let arguments = match call {
        Admitted::Ready(call) | Admitted::NeedsApproval(call) => call.arguments().to_owned(),
        Admitted::NeedsInput { given, .. } => canonical(given),
    };
    let entry = call.entry();
    PendingCall {
        tool: entry.definition().name().clone(),
        provider: entry.provider().clone(),
        content: entry.provider_content().to_owned(),
        effect: entry.definition().declarations().effect,
        arguments,
        preview: Preview::Absent,
    }
}

/// What a call would do, as its tool says it now.
pub(super) fn preview(call: &ValidCall<'_>) -> Preview {
    match call.entry().backend().preview(call) {
        Ok(None) => Preview::Absent,
        Ok(Some(lines)) => Preview::of_lines(&lines),
        Err(error) => Preview::Failed(class(&error).to_owned()),
    }
}

/// Which kind of error kept a tool from telling, and nothing of its text.
fn class(error: &BackendError) -> &'static str {
    match error {
        BackendError::Fault { .. } => "fault",
        BackendError::Crashed { .. } => "crashed",
        BackendError::Unavailable { .. } => "unavailable",
        BackendError::Cancelled => "cancelled",
        BackendError::DeadlineExceeded => "deadline_exceeded",
    }
}
