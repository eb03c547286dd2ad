//! What has changed of a request since it was shown: then it is shown again before anything of it runs.

use crate::{
    approval::{ApprovalError, Claim, Need, PendingCall, PendingRequest, StoredRequest},
    error::CallError,
    pipeline::{Admitted, suspend},
};

/// A request as it is now, and the calls that differ from what was shown.
pub(super) type Fresh = (PendingRequest, Vec<usize>);

/// Leaves a request waiting as it is now, for whoever decides to look at it again.
pub(super) fn show_again(
    claim: Box<dyn Claim + '_>,
    stored: &StoredRequest,
    fresh: Fresh,
) -> ApprovalError {
    let (request, stale) = fresh;
    let named = |at: &usize| stored.request.calls.get(*at).map(|call| call.tool.clone());
    let tools = stale.iter().filter_map(named).collect();
    let id = stored.id.clone();
    match claim.restate(request, stale) {
        Ok(()) => ApprovalError::PreviewChanged { id, tools },
        Err(source) => ApprovalError::Store { id, source },
    }
}

/// The request as its calls are now: their code, their arguments as that reads them, and their previews; `None` where nothing differs from
/// what was shown. A call that is not permitted any more keeps what it has: it will not run.
pub(super) fn changed(
    request: &PendingRequest,
    calls: &[Result<Admitted<'_>, CallError>],
) -> Option<Fresh> {
    let mut fresh = request.clone();
    let mut stale = Vec::new();
    for (at, (pending, call)) in fresh.calls.iter_mut().zip(calls).enumerate() {
        let Ok(call) = call else { continue };
        let preview = match call {
            Admitted::Ready(call) | Admitted::NeedsApproval(call) => suspend::preview(call),
            // An approval is no input: it will not run.
            Admitted::NeedsInput { .. } if request.need == Need::Approval => continue,
            Admitted::NeedsInput { .. } => pending.preview.clone(),
        };
        let now = PendingCall { preview, ..suspend::pending_call(call) };
        // What showed nothing may show anything now.
        let shown = match pending.preview.binds() {
            true => pending.preview.clone(),
            false => now.preview.clone(),
        };
        if now == (PendingCall { preview: shown, ..pending.clone() }) {
            continue;
        }
        stale.push(at);
        *pending = now;
        if let (Need::Input { call: asked, schema }, Admitted::NeedsInput { authorized, .. }) =
            (&mut fresh.need, call)
            && *asked == at
            && let Some(input) = &authorized.entry().definition().declarations().input
        {
            schema.clone_from(input);
        }
    }
    (!stale.is_empty()).then_some((fresh, stale))
}
