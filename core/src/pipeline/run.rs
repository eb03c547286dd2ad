//! Executes a call, and bounds what comes back.

use crate::{
    arguments::ValidCall,
    audit::{AuditScope, Outcome},
    backend::{BackendError, RawReply, ReplyStatus},
    bound::bound,
    definition::ToolDefinition,
    error::CallError,
    excerpt::excerpt,
    history::PastCall,
    limiter::Limiter,
    name::ApprovalId,
    pipeline::{Pipeline, named},
    registry::Entry,
    reply::{Reply, ReplyError},
    written::Written,
};

impl Pipeline {
    /// Executes a call that everything has let through, when it is its turn.
    #[inline]
    pub(super) fn run(
        &self,
        call: &ValidCall<'_>,
        audit: &mut AuditScope<'_>,
    ) -> Result<Reply, CallError> {
        match &self.limiter {
            None => self.run_now(call, audit),
            Some(limiter) => self.run_limited(limiter, call, audit),
        }
    }

    /// Executes it at once, whatever else runs. Inlined, for most calls come this way, and one more step can be measured.
    #[inline(always)]
    pub(super) fn run_now(
        &self,
        call: &ValidCall<'_>,
        audit: &mut AuditScope<'_>,
    ) -> Result<Reply, CallError> {
        let result = self.invoke(call, audit).and_then(|raw| self.bounded(raw, call.entry()));
        self.finished(call, None, &result);
        result
    }

    /// Executes a call of the request that was approved, whose calls were let in together, with what `keep` takes of the reply before it
    /// is bounded, where there was one.
    pub(super) fn run_keeping<T>(
        &self,
        call: &ValidCall<'_>,
        approval: &ApprovalId,
        audit: &mut AuditScope<'_>,
        keep: impl FnOnce(&RawReply) -> T,
    ) -> (Result<Reply, CallError>, Option<T>) {
        let raw = self.invoke(call, audit);
        let kept = raw.as_ref().ok().map(keep);
        let result = raw.and_then(|raw| self.bounded(raw, call.entry()));
        self.finished(call, Some(approval), &result);
        (result, kept)
    }

    /// Tells whoever listens of a write that has landed, and the run of a call that is over.
    #[inline]
    fn finished(
        &self,
        call: &ValidCall<'_>,
        approval: Option<&ApprovalId>,
        result: &Result<Reply, CallError>,
    ) {
        if let (Ok(reply), true) = (result, call.definition().declarations().effect.is_write())
            && reply.status() == ReplyStatus::Ok
        {
            self.tell(call, approval, reply);
        }
        if let Some(history) = call.history() {
            let target = result.as_ref().ok().and_then(Reply::write);
            let target = target.map(|write| write.target.clone());
            let tool = call.definition().name().clone();
            history.add(PastCall { tool, outcome: Outcome::of(result.as_ref()), target });
        }
    }

    /// Calls the backend, unless nobody wants the call any more.
    #[inline]
    fn invoke(
        &self,
        call: &ValidCall<'_>,
        audit: &mut AuditScope<'_>,
    ) -> Result<RawReply, CallError> {
        if call.is_cancelled() {
            return Err(no_result(call.entry(), BackendError::Cancelled));
        }
        match call.entry().backend().invoke(call) {
            Ok(raw) => {
                audit.returned(raw.text.len() + raw.rest.len());
                Ok(raw)
            }
            Err(source) => Err(no_result(call.entry(), source)),
        }
    }

    /// A backend's reply within the limits, as the tool's schema promises it.
    #[inline]
    fn bounded(&self, raw: RawReply, entry: &Entry) -> Result<Reply, CallError> {
        let unusable = |source| {
            let (tool, provider) = named(entry);
            CallError::Reply { tool, provider, source }
        };
        if let Some(limiter) = &self.limiter
            && let Some(source) = over_limit(limiter, &raw, entry)
        {
            return Err(unusable(source));
        }
        match bound(raw, &self.config.limits) {
            Ok(reply) => match promised(&reply, entry.definition()) {
                Ok(()) => Ok(reply),
                Err(source) => Err(unusable(source)),
            },
            Err(source) => Err(unusable(source)),
        }
    }

    fn tell(&self, call: &ValidCall<'_>, approval: Option<&ApprovalId>, reply: &Reply) {
        let written = Written {
            tool: call.definition().name(),
            provider: call.provider(),
            caller: call.caller(),
            approval,
            write: reply.write(),
        };
        for listener in &self.config.listeners {
            listener.written(&written);
        }
    }
}

#[cold]
pub(super) fn no_result(entry: &Entry, source: BackendError) -> CallError {
    let (tool, provider) = named(entry);
    CallError::Backend { tool, provider, source }
}

/// Why a reply is more than an operator allows, where it is.
fn over_limit(limiter: &Limiter, raw: &RawReply, entry: &Entry) -> Option<ReplyError> {
    let (limit, scope) = limiter.result_bytes(entry)?;
    let found = raw.text.len() + raw.rest.len();
    (found > limit).then_some(ReplyError::OverLimit { scope, limit, found })
}

/// Holds a reply to the output schema of its tool: clients refuse a result that does not keep the promise. A structured result that was
/// left out for its size is no fault of the tool.
fn promised(reply: &Reply, tool: &ToolDefinition) -> Result<(), ReplyError> {
    let broken =
        |problem: String| ReplyError::Output { problem: excerpt(&problem, 200).into_owned() };
    let validator = tool.output_validator().map_err(|error| broken(error.to_string()))?;
    let (Some(validator), ReplyStatus::Ok) = (validator, reply.status()) else { return Ok(()) };
    let problem = match reply.structured() {
        None if reply.truncated() => return Ok(()),
        None => Some("expected one, found none".to_owned()),
        Some(structured) => match serde_json::from_str(structured.get()) {
            Ok(value) => validator.first_error(&value).map(|error| error.to_string()),
            Err(error) => Some(error.to_string()),
        },
    };
    problem.map_or(Ok(()), |problem| Err(broken(problem)))
}
