//! Exactly one record for each call, whatever happens to it.

use std::{fmt, time::Duration};

use crate::{
    backend::{BackendError, ReplyStatus},
    declaration::Effect,
    error::CallError,
    gate::Reason,
    name::{AgentName, ProviderId, RunId},
    registry::Entry,
    reply::Reply,
    request::CallRequest,
};

/// Tells the time to whoever records calls.
pub trait Clock: Send + Sync {
    /// The time since the start of 1970, UTC. It should not go back; where it does, a duration is recorded as zero.
    fn now(&self) -> Duration;
}

/// Takes the records of calls.
pub trait AuditSink: Send + Sync {
    /// Takes one record. Called once per call, on its thread, also while that thread panics: it must not panic itself.
    fn record(&self, record: &AuditRecord<'_>);
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// The tool did what was asked.
    Ok,
    /// The tool ran and said that it could not.
    Failed,
    /// The call was cancelled.
    Cancelled,
    /// Nothing was run: a gate, the arguments or a missing approval stood against it.
    Refused,
    /// The tool's code could not be reached.
    Unavailable,
    /// The tool's code broke off or broke its contract.
    Fault,
    /// The time was over.
    TimedOut,
    /// The call never came back to the pipeline: a panic of the host's own code went through it.
    Aborted,
}

impl Outcome {
    /// The word that stands for the outcome in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Refused => "refused",
            Self::Unavailable => "unavailable",
            Self::Fault => "fault",
            Self::TimedOut => "timed_out",
            Self::Aborted => "aborted",
        }
    }

    /// How a call with this result ended.
    pub fn of(result: &Result<Reply, CallError>) -> Self {
        match result {
            Ok(reply) => match reply.status() {
                ReplyStatus::Ok => Self::Ok,
                ReplyStatus::Failed => Self::Failed,
                ReplyStatus::Cancelled => Self::Cancelled,
            },
            Err(CallError::Backend { source, .. }) => match source {
                BackendError::Fault { .. } => Self::Fault,
                BackendError::Unavailable { .. } => Self::Unavailable,
                BackendError::Cancelled => Self::Cancelled,
                BackendError::DeadlineExceeded => Self::TimedOut,
            },
            Err(CallError::Schema { .. } | CallError::Reply { .. }) => Self::Fault,
            Err(
                CallError::NotRegistered { .. }
                | CallError::Denied { .. }
                | CallError::Arguments { .. }
                | CallError::ApprovalRequired { .. },
            ) => Self::Refused,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What is recorded of a call. It holds neither arguments nor results, only how large they were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditRecord<'a> {
    /// The tool as requested, cut to 80 bytes, which are more than a name can have.
    pub tool: &'a str,
    /// Who contributed the tool, where there is one of the name.
    pub provider: Option<&'a ProviderId>,
    /// On whose authority, such as `user:ada`.
    pub actor: &'a str,
    /// The agent, where one called.
    pub agent: Option<&'a AgentName>,
    /// The run that the call belongs to.
    pub run: Option<&'a RunId>,
    /// What a call of the tool does to the world, where there is one of the name.
    pub effect: Option<Effect>,
    /// How it ended.
    pub outcome: Outcome,
    /// Which gate refused it, where one did.
    pub reason: Option<Reason>,
    /// The [code](CallError::code) of the error, where there was one.
    pub code: Option<&'static str>,
    /// When it began, as the time since the start of 1970, UTC.
    pub started: Duration,
    /// How long it took.
    pub duration: Duration,
    /// The bytes of the arguments, as requested.
    pub argument_bytes: usize,
    /// The bytes that the tool's code returned, before anything was cut.
    pub reply_bytes: usize,
    /// Which registry decided it.
    pub generation: u64,
}

/// A call that is being recorded. It records the call when it goes out of scope, so that no way out of a call leaves none.
///
/// It keeps what it learns and makes the record of it at the end, which is one copy of each part less on the way of every call.
pub(crate) struct AuditScope<'a> {
    sink: &'a dyn AuditSink,
    clock: &'a dyn Clock,
    request: &'a CallRequest<'a>,
    generation: u64,
    started: Duration,
    entry: Option<&'a Entry>,
    reply_bytes: usize,
    outcome: Outcome,
    reason: Option<Reason>,
    code: Option<&'static str>,
}

impl<'a> AuditScope<'a> {
    /// The most bytes of a requested name that are recorded.
    const TOOL_BYTES: usize = 80;

    pub(crate) fn open(
        sink: &'a dyn AuditSink,
        clock: &'a dyn Clock,
        request: &'a CallRequest<'a>,
        generation: u64,
    ) -> Self {
        Self {
            sink,
            clock,
            request,
            generation,
            started: clock.now(),
            entry: None,
            reply_bytes: 0,
            outcome: Outcome::Aborted,
            reason: None,
            code: None,
        }
    }

    pub(crate) fn found(&mut self, entry: &'a Entry) {
        self.entry = Some(entry);
    }

    pub(crate) fn returned(&mut self, bytes: usize) {
        self.reply_bytes = bytes;
    }

    pub(crate) fn close(mut self, result: &Result<Reply, CallError>) {
        self.outcome = Outcome::of(result);
        if let Err(error) = result {
            self.reason = error.reason();
            self.code = Some(error.code());
        }
    }
}

impl Drop for AuditScope<'_> {
    fn drop(&mut self) {
        let (tool, caller) = (self.request.tool(), self.request.caller());
        self.sink.record(&AuditRecord {
            tool: &tool[..tool.floor_char_boundary(Self::TOOL_BYTES)],
            provider: self.entry.map(Entry::provider),
            actor: caller.label(),
            agent: caller.agent().map(|agent| agent.name()),
            run: caller.run(),
            effect: self.entry.map(|entry| entry.definition().declarations().effect),
            outcome: self.outcome,
            reason: self.reason,
            code: self.code,
            started: self.started,
            duration: self.clock.now().saturating_sub(self.started),
            argument_bytes: self.request.arguments().len(),
            reply_bytes: self.reply_bytes,
            generation: self.generation,
        });
    }
}
