//! Who may let the calls of a request run.

use crate::{
    approval::{ApprovalError, Decider, PendingCall, PendingRequest},
    caller::{Actor, Caller},
    gate::{self, Reason, Verdict},
    registry::Registry,
};

/// Only a user who may use a tool releases a write of it.
pub(super) fn may_release(
    request: &PendingRequest,
    decider: &Decider,
    registry: &Registry,
) -> Result<(), ApprovalError> {
    may_use(request.calls.iter().filter(|call| call.effect.is_write()), decider, registry)
}

/// Only a user who may use every tool of the request types something in for it.
pub(super) fn may_submit(
    request: &PendingRequest,
    decider: &Decider,
    registry: &Registry,
) -> Result<(), ApprovalError> {
    may_use(request.calls.iter(), decider, registry)
}

/// Whether the decider is a user who may use these tools. Whether they are on is asked of the owner's calls.
fn may_use<'a>(
    calls: impl Iterator<Item = &'a PendingCall>,
    decider: &Decider,
    registry: &Registry,
) -> Result<(), ApprovalError> {
    let as_decider = Caller::new(decider.actor().clone());
    let user = matches!(decider.actor(), Actor::User { .. });
    for call in calls {
        let axes = gate::axes(registry, &as_decider, call.tool.as_str());
        if !user || axes.contains(&(Reason::RequiresAdmin, Verdict::Failed)) {
            let actor = decider.actor().to_string();
            return Err(ApprovalError::MayNotRelease { tool: call.tool.clone(), actor });
        }
    }
    Ok(())
}
