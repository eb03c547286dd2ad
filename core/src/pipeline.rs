//! The one way from a request to a reply.

mod claimed;
mod decide;
mod fresh;
mod limited;
mod permitted;
mod run;
mod show;
mod simulate;
mod suspend;

use std::{ptr, sync::Arc, time::Duration};

use self::suspend::Answers;
pub use self::{
    decide::Decided,
    simulate::{Simulation, SimulationVerdict},
};
use crate::{
    approval::ApprovalStore,
    arguments::{self, ArgumentsError, ValidCall},
    audit::{AuditScope, AuditSink, Clock},
    error::CallError,
    excerpt::excerpt,
    gate::{self, Authorized, Reason},
    limiter::{LimitUse, Limiter},
    limits::Limits,
    name::{ProviderId, ToolName},
    registry::{Entry, Registry, RegistryCell},
    reply::Reply,
    request::CallRequest,
    rules::Rules,
    written::WriteListener,
};

/// What a pipeline needs of the world.
pub struct PipelineConfig {
    /// Where the records of calls go.
    pub sink: Arc<dyn AuditSink>,
    /// What tells the time of each call.
    pub clock: Arc<dyn Clock>,
    /// How large arguments and replies may be, and how many calls there may be.
    pub limits: Limits,
    /// The host's own rules about calls.
    pub rules: Rules,
    /// Where calls wait for a person. Without it, a call that needs one is refused.
    pub approvals: Option<Approvals>,
    /// Who hears of writes.
    pub listeners: Vec<Arc<dyn WriteListener>>,
}

impl PipelineConfig {
    /// A pipeline with the default limits that keeps no requests for approval, and that nobody listens to.
    pub fn new(sink: Arc<dyn AuditSink>, clock: Arc<dyn Clock>) -> Self {
        Self {
            sink,
            clock,
            limits: Limits::default(),
            rules: Rules::default(),
            approvals: None,
            listeners: Vec::new(),
        }
    }
}

/// How calls wait for a person.
#[derive(Clone)]
pub struct Approvals {
    /// What keeps the requests.
    pub store: Arc<dyn ApprovalStore>,
    /// How long a request waits before it ends as denied by nobody.
    pub expire_after: Duration,
}

/// Executes calls of the tools in its registry.
///
/// There is no other way to a tool: its backend takes a [`ValidCall`], which only the gates and the validation make.
pub struct Pipeline {
    registry: RegistryCell,
    config: PipelineConfig,
    /// What keeps to the limits of single providers and tools, where there are any: a call elsewhere asks no more than whether.
    limiter: Option<Limiter>,
}

impl Pipeline {
    /// A pipeline with an empty registry.
    pub fn new(config: PipelineConfig) -> Self {
        let limiter = Limiter::new(&config.limits, &config.clock);
        Self { registry: RegistryCell::default(), config, limiter }
    }

    /// The registry whose tools it calls.
    pub fn registry(&self) -> &RegistryCell {
        &self.registry
    }

    /// The limits that hold for a tool because of its provider or of itself, and what is counted for them.
    pub fn limits(&self, entry: &Entry) -> Vec<LimitUse> {
        self.limiter.as_ref().map(|limiter| limiter.uses(entry)).unwrap_or_default()
    }

    /// Executes a call on this thread: gates, validation, rules, approval, limits, invocation, bounding. Exactly one record of it goes to the
    /// audit sink, even where a panic of the host's own code goes through it.
    ///
    /// A call that needs a person is not run: it waits, and the same call gets what came of it once somebody has decided. Where as many
    /// calls run as may, it waits on this thread for its turn, as long as the limit, its deadline and its cancellation let it, and the gates
    /// are asked once more then.
    ///
    /// # Errors
    ///
    /// [`CallError`] where there is no reply. A tool that ran and failed is a reply with
    /// [`ReplyStatus::Failed`](crate::ReplyStatus::Failed).
    pub fn call(&self, request: &CallRequest<'_>) -> Result<Reply, CallError> {
        let registry = self.registry.load();
        let mut audit = self.open(request, &registry);
        let authorized = match self.authorize(request, &registry, &mut audit) {
            Ok(authorized) if authorized.entry().needs_person() => {
                return self.wait(authorized, &mut audit);
            }
            authorized => authorized,
        };
        // Most calls come this way, and each value that is handed on whole is copied: so it goes straight from one step to the next.
        let result = authorized.and_then(|authorized| {
            let call = self.valid(authorized)?;
            self.run(&call, &mut audit)
        });
        audit.close(&result);
        result
    }

    /// Lets a single call wait for a person, or hands out what came of it.
    #[cold]
    fn wait(
        &self,
        authorized: Authorized<'_>,
        audit: &mut AuditScope<'_>,
    ) -> Result<Reply, CallError> {
        let call = match self.check(authorized) {
            Ok(call) => call,
            Err(error) => {
                let result = Err(error);
                audit.close(&result);
                return result;
            }
        };
        let tool = call.entry().definition().name().clone();
        let Answers { request, mut results } = self.ask(&[call]);
        let result = results.pop().unwrap_or(Err(CallError::ApprovalRequired { tool }));
        audit.delivered(&result, request.as_ref());
        result
    }

    /// Executes the calls of one turn of a model, in their order, with one result for each. Where any of them needs a person, none of
    /// them runs before a decision, and one decision covers them all; only those that are refused anyway are refused at once. Each call is
    /// judged once more before it runs, now that those before it belong to the history of the run.
    ///
    /// A turn has one caller. Calls of several are no turn: each is made on its own.
    pub fn turn(&self, requests: &[CallRequest<'_>]) -> Vec<Result<Reply, CallError>> {
        let one = requests.first().map(CallRequest::caller);
        let same =
            |request: &CallRequest<'_>| one.is_some_and(|one| ptr::eq(one, request.caller()));
        if !requests.iter().all(same) {
            return requests.iter().map(|request| self.call(request)).collect();
        }
        let registry = self.registry.load();
        let mut scopes: Vec<_> =
            requests.iter().map(|request| Some(self.open(request, &registry))).collect();
        let mut admitted = Vec::new();
        let mut results: Vec<Option<Result<Reply, CallError>>> = Vec::new();
        for (request, scope) in requests.iter().zip(&mut scopes) {
            let Some(audit) = scope else { continue };
            match self.admit(request, &registry, audit) {
                Ok(call) => {
                    admitted.push(call);
                    results.push(None);
                }
                Err(error) => results.push(Some(Err(error))),
            }
        }
        let ready = admitted.iter().all(|call| matches!(call, Admitted::Ready(_)));
        let answers = (!ready).then(|| self.ask(&admitted));
        let Answers { request: asked, results: answers } = answers.unwrap_or_default();
        let mut answers = answers.into_iter();
        let mut admitted = admitted.into_iter().enumerate();
        let end = |(result, scope): (&mut Option<_>, &mut Option<AuditScope<'_>>)| {
            let Some(mut audit) = scope.take() else { return };
            match (&result, ready) {
                (Some(refused), _) => audit.close(refused),
                (None, true) => {
                    if let Some((at, Admitted::Ready(call))) = admitted.next() {
                        let judged = if at > 0 { self.judge(&call) } else { Ok(()) };
                        let ran = judged.and_then(|()| self.run(&call, &mut audit));
                        audit.close(&ran);
                        *result = Some(ran);
                    }
                }
                (None, false) => {
                    if let Some(answer) = answers.next() {
                        audit.delivered(&answer, asked.as_ref());
                        *result = Some(answer);
                    }
                }
            }
        };
        results.iter_mut().zip(&mut scopes).for_each(end);
        results.into_iter().flatten().collect()
    }

    fn open<'a>(&'a self, request: &'a CallRequest<'a>, registry: &Registry) -> AuditScope<'a> {
        let PipelineConfig { sink, clock, .. } = &self.config;
        AuditScope::open(&**sink, &**clock, request, registry.generation())
    }

    /// Takes a call through gates, validation and rules, and says whether it can run or needs a person.
    fn admit<'a>(
        &self,
        request: &'a CallRequest<'a>,
        registry: &'a Registry,
        audit: &mut AuditScope<'a>,
    ) -> Result<Admitted<'a>, CallError> {
        self.check(self.authorize(request, registry, audit)?)
    }

    /// Takes a call through the gates.
    fn authorize<'a>(
        &self,
        request: &'a CallRequest<'a>,
        registry: &'a Registry,
        audit: &mut AuditScope<'a>,
    ) -> Result<Authorized<'a>, CallError> {
        let entry = registry.get(request.tool()).map(|entry| &**entry);
        if let Some(entry) = entry {
            audit.found(entry);
        }
        match gate::authorize(entry, request) {
            Ok(authorized) => {
                audit.observed(authorized.observed());
                Ok(authorized)
            }
            Err(reason) => Err(denied(reason, entry, request, registry)),
        }
    }

    /// What is left of admitting a call once the gates have let it through.
    fn check<'a>(&self, authorized: Authorized<'a>) -> Result<Admitted<'a>, CallError> {
        let entry = authorized.entry();
        if let Some(input) = &entry.definition().declarations().input {
            if entry.needs_approval() {
                // The agent would give what a person must type in, and a person approve it: nobody has said that this may be.
                let tool = entry.definition().name().clone();
                return Err(CallError::ApprovalRequired { tool });
            }
            let given = arguments::before_input(authorized, self.argument_bytes(entry), input)
                .map_err(|error| self.arguments_refused(error, entry))?;
            return Ok(Admitted::NeedsInput { authorized, given });
        }
        let call = self.valid(authorized)?;
        Ok(if entry.needs_approval() {
            Admitted::NeedsApproval(call)
        } else {
            Admitted::Ready(call)
        })
    }

    /// Takes a call with its final arguments through validation and rules.
    fn valid<'a>(&self, authorized: Authorized<'a>) -> Result<ValidCall<'a>, CallError> {
        let limit = self.argument_bytes(authorized.entry());
        match arguments::validate(authorized, limit) {
            Ok(call) => self.judge(&call).map(|()| call),
            Err(error) => Err(self.arguments_refused(error, authorized.entry())),
        }
    }

    /// The bytes that the arguments of a tool may have.
    #[inline]
    fn argument_bytes(&self, entry: &Entry) -> usize {
        match &self.limiter {
            None => self.config.limits.argument_bytes,
            Some(limiter) => limiter.argument_bytes(entry).0,
        }
    }

    #[cold]
    fn arguments_refused(&self, error: ArgumentsError, entry: &Entry) -> CallError {
        let (tool, provider) = named(entry);
        match error {
            ArgumentsError::Schema(source) => CallError::Schema { tool, provider, source },
            ArgumentsError::TooLarge { limit, found, .. } => {
                let limiter = self.limiter.as_ref();
                let scope = limiter.and_then(|limiter| limiter.argument_bytes(entry).1);
                CallError::Arguments {
                    tool,
                    source: ArgumentsError::TooLarge { limit, scope, found },
                }
            }
            source => CallError::Arguments { tool, source },
        }
    }

    /// Asks the host's rules about the final arguments of a call.
    fn judge(&self, call: &ValidCall<'_>) -> Result<(), CallError> {
        self.config.rules.judge(call).map_err(|source| {
            let tool = call.definition().name().clone();
            CallError::Rule { tool, source }
        })
    }
}

/// A call that nothing refuses.
#[derive(Clone)]
enum Admitted<'a> {
    /// It can run.
    Ready(ValidCall<'a>),
    /// A person must approve it.
    NeedsApproval(ValidCall<'a>),
    /// A person must type the rest of its arguments in; this is what the agent gave.
    NeedsInput { authorized: Authorized<'a>, given: serde_json::Value },
}

impl<'a> Admitted<'a> {
    fn authorized(&self) -> Authorized<'a> {
        match self {
            Self::Ready(call) | Self::NeedsApproval(call) => call.authorized(),
            Self::NeedsInput { authorized, .. } => *authorized,
        }
    }

    fn entry(&self) -> &'a Entry {
        self.authorized().entry()
    }
}

#[cold]
fn denied(
    reason: Reason,
    entry: Option<&Entry>,
    request: &CallRequest<'_>,
    registry: &Registry,
) -> CallError {
    match entry {
        Some(entry) => CallError::Denied { tool: entry.definition().name().clone(), reason },
        None => not_registered(request, registry),
    }
}

fn not_registered(request: &CallRequest<'_>, registry: &Registry) -> CallError {
    let tool = excerpt(request.tool(), 80).into_owned();
    let nearest = gate::nearest(registry, request.caller(), &tool);
    CallError::NotRegistered { tool, nearest }
}

fn named(entry: &Entry) -> (ToolName, ProviderId) {
    (entry.definition().name().clone(), entry.provider().clone())
}
