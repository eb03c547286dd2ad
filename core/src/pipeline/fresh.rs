//! What has changed of a request since it was shown: then it is shown again before anything of it runs.

use crate::{
    approval::{ApprovalError, Claim, Need, PendingCall, PendingRequest, StoredRequest},
    error::CallError,
    pipeline::{Admitted, suspend},
    registry::{Entry, Registry},
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

impl PendingCall {
    /// Whether the code is the one that was shown.
    fn is_of(&self, entry: &Entry) -> bool {
        self.content == entry.provider_content()
            && self.provider == *entry.provider()
            && self.tool == *entry.definition().name()
            && self.effect == entry.definition().declarations().effect
    }

    /// The same call of the code of now.
    fn follow(&mut self, entry: &Entry) {
        self.tool = entry.definition().name().clone();
        self.provider = entry.provider().clone();
        self.content = entry.provider_content().to_owned();
        self.effect = entry.definition().declarations().effect;
    }
}

/// The request with the code of now; `None` where it is the one that was shown.
pub(super) fn other_code(request: &PendingRequest, registry: &Registry) -> Option<Fresh> {
    let mut fresh = request.clone();
    let mut stale = Vec::new();
    for (at, pending) in fresh.calls.iter_mut().enumerate() {
        let Some(entry) = registry.get(pending.tool.as_str()) else { continue };
        if pending.is_of(entry) {
            continue;
        }
        stale.push(at);
        pending.follow(entry);
        if let Need::Input { call, schema } = &mut fresh.need
            && *call == at
            && let Some(input) = &entry.definition().declarations().input
        {
            schema.clone_from(input);
        }
    }
    (!stale.is_empty()).then_some((fresh, stale))
}

/// The request with the previews and the code of now; `None` where nothing differs from what was shown. A call that is not permitted any
/// more keeps what it has: it will not run.
pub(super) fn changed(
    request: &PendingRequest,
    calls: &[Result<Admitted<'_>, CallError>],
) -> Option<Fresh> {
    let mut fresh = request.clone();
    let mut stale = Vec::new();
    for (at, (pending, call)) in fresh.calls.iter_mut().zip(calls).enumerate() {
        let Ok(Admitted::Ready(call) | Admitted::NeedsApproval(call)) = call else { continue };
        let entry: &Entry = call.entry();
        let preview = suspend::preview(call);
        if pending.is_of(entry) && (!pending.preview.binds() || pending.preview == preview) {
            continue;
        }
        stale.push(at);
        pending.preview = preview;
        pending.follow(entry);
    }
    (!stale.is_empty()).then_some((fresh, stale))
}
