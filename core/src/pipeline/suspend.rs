//! Makes calls wait for a person, and hands out what came of them.

use crate::{
    approval::{
        CallResult, Need, Owner, PendingCall, PendingRequest, Preview, Settled, StoredReply,
        Suspension,
    },
    arguments::ValidCall,
    backend::{BackendError, RawReply},
    canonical::canonical,
    error::CallError,
    name::ApprovalId,
    pipeline::{Admitted, Approvals, Pipeline},
    registry::Entry,
    reply::Reply,
};
use bytes::Bytes;

impl Pipeline {
    /// Asks a person about the calls of one turn, or hands out what came of them where somebody has decided: one result for each, and
    /// the request that they belong to.
    pub(super) fn ask(
        &self,
        calls: Vec<Admitted<'_>>,
    ) -> (Vec<Result<Reply, CallError>>, Option<ApprovalId>) {
        let Some(approvals) = &self.config.approvals else {
            return (calls.iter().map(|call| Err(alone(call.entry()))).collect(), None);
        };
        // An approval comes first: the call that wants an input is refused once it is given, and can be made again.
        let approval = calls.iter().any(|call| matches!(call, Admitted::NeedsApproval(_)));
        match self.suspend(approvals, &calls, approval) {
            Err(source) => {
                // Each call tells it; the cause is told with the first.
                let mut source = Some(source);
                let refused = |call: &Admitted<'_>| {
                    let tool = call.entry().definition().name().clone();
                    Err(match source.take() {
                        Some(source) => CallError::Suspension { tool, source },
                        None => CallError::ApprovalRequired { tool },
                    })
                };
                (calls.iter().map(refused).collect(), None)
            }
            Ok(suspension) => {
                let id = suspension.id().clone();
                (self.answers(suspension, &calls, !approval), Some(id))
            }
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
                each(&|entry| CallError::Interrupted { tool: tool(entry), id: id.clone() })
            }
            Suspension::Settled { id, settled: Settled::Done { results } } => {
                let mut results = results.into_iter();
                let result = |call: &Admitted<'_>| match results.next() {
                    Some(result) => self.result(result, &id, call.entry()),
                    None => {
                        Err(CallError::Interrupted { tool: tool(call.entry()), id: id.clone() })
                    }
                };
                calls.iter().map(result).collect()
            }
        }
    }

    /// What an approved call gave, as whoever makes it again gets it.
    pub(super) fn result(
        &self,
        result: CallResult,
        id: &ApprovalId,
        entry: &Entry,
    ) -> Result<Reply, CallError> {
        match result {
            CallResult::Reply(StoredReply { status, text, rest }) => {
                let rest = rest.map(|rest| Bytes::from(Box::<str>::from(rest).into_string()));
                let rest = rest.unwrap_or_default();
                self.bounded(RawReply { status, text: text.into(), rest }, entry)
            }
            CallResult::Refused { code, model_text } => {
                let tool = entry.definition().name().clone();
                Err(CallError::Settled { tool, id: id.clone(), code, model_text })
            }
        }
    }
}

fn alone(entry: &Entry) -> CallError {
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

fn pending_call(call: &Admitted<'_>) -> PendingCall {
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
        BackendError::Unavailable { .. } => "unavailable",
        BackendError::Cancelled => "cancelled",
        BackendError::DeadlineExceeded => "deadline_exceeded",
    }
}
