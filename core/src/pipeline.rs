//! The one way from a request to a reply.

use std::sync::Arc;

use crate::{
    arguments::{self, ArgumentsError, ValidCall},
    audit::{AuditScope, AuditSink, Clock},
    backend::{BackendError, RawReply, ReplyStatus},
    bound::bound,
    definition::ToolDefinition,
    error::CallError,
    excerpt::excerpt,
    gate::{self, Authorized, Reason},
    limits::Limits,
    name::{ProviderId, ToolName},
    registry::{Entry, Registry, RegistryCell},
    reply::{Reply, ReplyError},
    request::CallRequest,
};

/// What a pipeline needs of its host.
pub struct PipelineConfig {
    /// Where the record of each call goes.
    pub sink: Arc<dyn AuditSink>,
    /// What tells the time of each call.
    pub clock: Arc<dyn Clock>,
    /// How large arguments and replies may be.
    pub limits: Limits,
}

/// Executes calls of the tools in its registry.
///
/// There is no other way to a tool: its backend takes a [`ValidCall`], which only the gates and the validation make.
pub struct Pipeline {
    registry: RegistryCell,
    sink: Arc<dyn AuditSink>,
    clock: Arc<dyn Clock>,
    limits: Limits,
}

impl Pipeline {
    /// A pipeline with an empty registry.
    pub fn new(config: PipelineConfig) -> Self {
        let PipelineConfig { sink, clock, limits } = config;
        Self { registry: RegistryCell::default(), sink, clock, limits }
    }

    /// The registry whose tools it calls.
    pub fn registry(&self) -> &RegistryCell {
        &self.registry
    }

    /// Executes a call on this thread: gates, validation, approval, invocation, bounding. Exactly one record of it goes to the
    /// audit sink, even where a panic of the host's own code goes through it.
    ///
    /// # Errors
    ///
    /// [`CallError`] where there is no reply. A tool that ran and failed is a reply with
    /// [`ReplyStatus::Failed`](crate::ReplyStatus::Failed).
    pub fn call(&self, request: &CallRequest<'_>) -> Result<Reply, CallError> {
        let registry = self.registry.load();
        let mut audit = AuditScope::open(&*self.sink, &*self.clock, request, registry.generation());
        let result = self.execute(request, &registry, &mut audit);
        audit.close(&result);
        result
    }

    fn execute<'a>(
        &self,
        request: &'a CallRequest<'a>,
        registry: &'a Registry,
        audit: &mut AuditScope<'a>,
    ) -> Result<Reply, CallError> {
        let entry = registry.get(request.tool()).map(|entry| &**entry);
        if let Some(entry) = entry {
            audit.found(entry);
        }
        let authorized = gate::authorize(entry, request)
            .map_err(|reason| denied(reason, entry, request, registry))?;
        let call = validate(authorized, &self.limits)?;
        approve(&call)?;
        let raw = invoke(&call)?;
        audit.returned(raw.text.len() + raw.rest.len());
        let bounded = bound(raw, &self.limits).and_then(|reply| promised(reply, call.definition()));
        bounded.map_err(|source| {
            let (tool, provider) = named(call.entry());
            CallError::Reply { tool, provider, source }
        })
    }
}

/// Holds a reply to the output schema of its tool: clients refuse a result that does not keep the promise. A structured result that was
/// left out for its size is no fault of the tool.
fn promised(reply: Reply, tool: &ToolDefinition) -> Result<Reply, ReplyError> {
    let broken =
        |problem: String| ReplyError::Output { problem: excerpt(&problem, 200).into_owned() };
    let validator = tool.output_validator().map_err(|error| broken(error.to_string()))?;
    let (Some(validator), ReplyStatus::Ok) = (validator, reply.status()) else { return Ok(reply) };
    let problem = match reply.structured() {
        None if reply.truncated() => return Ok(reply),
        None => Some("expected one, found none".to_owned()),
        Some(structured) => match serde_json::from_str(structured.get()) {
            Ok(value) => validator.first_error(&value).map(|error| error.to_string()),
            Err(error) => Some(error.to_string()),
        },
    };
    problem.map_or(Ok(reply), |problem| Err(broken(problem)))
}

fn denied(
    reason: Reason,
    entry: Option<&Entry>,
    request: &CallRequest<'_>,
    registry: &Registry,
) -> CallError {
    match entry {
        Some(entry) => CallError::Denied { tool: entry.definition().name().clone(), reason },
        None => {
            let tool = excerpt(request.tool(), 80).into_owned();
            let nearest = gate::nearest(registry, request.caller(), &tool);
            CallError::NotRegistered { tool, nearest }
        }
    }
}

fn validate<'a>(authorized: Authorized<'a>, limits: &Limits) -> Result<ValidCall<'a>, CallError> {
    arguments::validate(authorized, limits.argument_bytes).map_err(|error| {
        let (tool, provider) = named(authorized.entry());
        match error {
            ArgumentsError::Schema(source) => CallError::Schema { tool, provider, source },
            source => CallError::Arguments { tool, source },
        }
    })
}

/// Refuses what a person must approve first.
fn approve(call: &ValidCall<'_>) -> Result<(), CallError> {
    if call.definition().declarations().needs_approval() {
        return Err(CallError::ApprovalRequired { tool: call.definition().name().clone() });
    }
    Ok(())
}

/// Executes the call, unless nobody wants it any more.
fn invoke(call: &ValidCall<'_>) -> Result<RawReply, CallError> {
    let result = match call.is_cancelled() {
        true => Err(BackendError::Cancelled),
        false => call.entry().backend().invoke(call),
    };
    result.map_err(|source| {
        let (tool, provider) = named(call.entry());
        CallError::Backend { tool, provider, source }
    })
}

fn named(entry: &Entry) -> (ToolName, ProviderId) {
    (entry.definition().name().clone(), entry.provider().clone())
}
