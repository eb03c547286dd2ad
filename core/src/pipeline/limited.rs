//! Runs calls as far as the limits of their providers and tools allow.

use crate::{
    approval::{ApprovalError, StoredRequest},
    arguments::ValidCall,
    audit::AuditScope,
    backend::BackendError,
    error::CallError,
    gate,
    limiter::{Limiter, Patience, Permit},
    limits::LimitError,
    pipeline::{Pipeline, denied, run::no_result, suspend::alone},
    registry::Registry,
    reply::Reply,
};

impl Pipeline {
    /// Executes a call when it is its turn. What is refused here has not run, and belongs to no history.
    #[inline(never)]
    pub(super) fn run_limited(
        &self,
        limiter: &Limiter,
        call: &ValidCall<'_>,
        audit: &mut AuditScope<'_>,
    ) -> Result<Reply, CallError> {
        let entry = call.entry();
        let patience = Patience { deadline: call.deadline(), cancel: call.cancel() };
        let mut permit = limiter.admit([entry], patience).map_err(|source| match source {
            // As wherever else a call is cancelled.
            LimitError::Cancelled { .. } => no_result(entry, BackendError::Cancelled),
            source => CallError::Limit { tool: entry.definition().name().clone(), source },
        })?;
        let waited = permit.as_ref().and_then(Permit::waited);
        if waited.is_some() {
            self.still_permitted(call)?;
        }
        // It is held until the call is over, however that ends.
        if let Some(permit) = &mut permit {
            permit.spend();
        }
        let request = call.authorized().request().after(waited.unwrap_or_default());
        self.run_now(&call.in_time(&request), audit)
    }

    /// Asks the gates once more about a call that had to wait: somebody may have switched its tool off meanwhile.
    fn still_permitted(&self, call: &ValidCall<'_>) -> Result<(), CallError> {
        let registry = self.registry.load();
        let request = call.authorized().request();
        let entry = registry.get(request.tool()).map(|entry| &**entry);
        match gate::authorize(entry, request) {
            Err(reason) => Err(denied(reason, entry, request, &registry)),
            Ok(authorized) if authorized.entry().needs_person() => Err(alone(authorized.entry())),
            Ok(_) => Ok(()),
        }
    }

    /// Lets the calls of a request in, all together, before anybody claims it: one that can't run now is left as it is. Nobody learns from
    /// it how many calls there are who may not decide.
    pub(super) fn reserve(
        &self,
        opened: &StoredRequest,
        permitted: impl FnOnce(&Registry) -> Result<(), ApprovalError>,
    ) -> Result<Option<Permit<'_>>, ApprovalError> {
        let Some(limiter) = &self.limiter else { return Ok(None) };
        let registry = self.registry.load();
        permitted(&registry)?;
        let calls = &opened.request.calls;
        let entries = calls.iter().filter_map(|call| registry.get(call.tool.as_str()));
        let permit = limiter.admit(entries.map(|entry| &**entry), Patience::default());
        permit.map_err(|source| ApprovalError::Limit { id: opened.id.clone(), source })
    }
}
