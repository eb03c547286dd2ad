//! Who may see what a call that waits would do.

use crate::{
    approval::{Decider, PendingCall, PendingRequest},
    caller::Caller,
    pipeline::{Admitted, Pipeline, decide},
    registry::Registry,
    request::CallRequest,
};

impl Pipeline {
    /// Whether this viewer may read the preview of each call of a request, in their order. Whoever asked may; of others the tool decides,
    /// and of a tool that does not say, or that can't be asked any more, an administrator may.
    ///
    /// `owner` is whoever asked, with the agent as it is now; `None` where that is no more.
    pub fn may_read(
        &self,
        request: &PendingRequest,
        viewer: &Decider,
        owner: Option<&Caller>,
    ) -> Vec<bool> {
        if viewer.is(&request.owner) {
            return vec![true; request.calls.len()];
        }
        let registry = self.registry().load();
        let history = decide::history_of(request);
        let as_viewer = Caller::new(viewer.actor().clone());
        let admin = viewer.actor().is_admin();
        let may_read = |call: &PendingCall| {
            let Some(owner) = owner else { return admin };
            let asked = decide::request(call, owner, &history);
            self.ask_tool(&asked, &registry, &as_viewer).unwrap_or(admin)
        };
        request.calls.iter().map(may_read).collect()
    }

    /// What the tool says; `None` where it does not. A tool that breaks off over the question has not said yes.
    fn ask_tool(
        &self,
        request: &CallRequest<'_>,
        registry: &Registry,
        viewer: &Caller,
    ) -> Option<bool> {
        let scope = &mut self.open(request, registry).quiet();
        match self.admit(request, registry, scope).ok()? {
            Admitted::Ready(call) | Admitted::NeedsApproval(call) => {
                call.entry().backend().may_viewer_read(&call, viewer).unwrap_or(Some(false))
            }
            Admitted::NeedsInput { .. } => None,
        }
    }
}
