//! Who may let the calls of a request run.

use crate::{
    approval::{ApprovalError, Decider, PendingCall, PendingRequest},
    caller::{Actor, Caller},
    gate::{self, Reason, Verdict},
    registry::Registry,
};

/// Only a user who may use a tool releases a write of it. Whether the tool is on is asked of the owner's call.
pub(super) fn may_release(
    request: &PendingRequest,
    decider: &Decider,
    registry: &Registry,
) -> Result<(), ApprovalError> {
    let as_decider = Caller::new(decider.actor().clone());
    let user = matches!(decider.actor(), Actor::User { .. });
    for call in request.calls.iter().filter(|call| call.effect.is_write()) {
        let axes = gate::axes(registry, &as_decider, call.tool.as_str());
        if !user || axes.contains(&(Reason::RequiresAdmin, Verdict::Failed)) {
            let actor = decider.actor().to_string();
            return Err(ApprovalError::MayNotRelease { tool: call.tool.clone(), actor });
        }
    }
    Ok(())
}

/// Only a user who may use every tool of the request types something in for it.
pub(super) fn may_submit(
    request: &PendingRequest,
    decider: &Decider,
    registry: &Registry,
) -> Result<(), ApprovalError> {
    let as_decider = Caller::new(decider.actor().clone());
    let user = matches!(decider.actor(), Actor::User { .. });
    let permitted = |call: &&PendingCall| {
        user && gate::decide(registry, &as_decider, call.tool.as_str()).allowed
    };
    match request.calls.iter().find(|call| !permitted(call)) {
        None => Ok(()),
        Some(call) => {
            let actor = decider.actor().to_string();
            Err(ApprovalError::MayNotRelease { tool: call.tool.clone(), actor })
        }
    }
}
