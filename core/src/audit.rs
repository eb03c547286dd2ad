//! Exactly one record for each call, whatever happens to it.

use std::{fmt, io, time::Duration};

use thiserror::Error;

use crate::{
    backend::{BackendError, ReplyStatus},
    declaration::Effect,
    error::CallError,
    gate::Reason,
    limits::LimitError,
    name::{AgentName, ApprovalId, ProviderId, RunId},
    registry::Entry,
    reply::Reply,
    request::CallRequest,
    vocabulary::vocabulary,
};

vocabulary! {
    /// How much a log keeps of a call.
    Privacy, "privacy" {
        /// Who, which tool, when and how it ended.
        None = "none",
        /// Sizes, the duration, the run and the generation too, and nothing of what went in or came out.
        Metadata = "metadata",
        /// What went in and came out too, with secrets masked.
        Redacted = "redacted",
        /// What went in and came out as it was.
        Full = "full",
    }
}

/// Tells the time to whoever records calls, or lets them wait.
pub trait Clock: Send + Sync {
    /// The time since the start of 1970, UTC. It should not go back; where it does, a duration is recorded as zero.
    fn now(&self) -> Duration;

    /// The time since some moment. It never goes back, nor does it jump where somebody sets the clock: limits count by it. By itself it is
    /// [`now`](Self::now).
    fn steady(&self) -> Duration {
        self.now()
    }
}

/// Takes the records of calls and decisions.
pub trait AuditSink: Send + Sync {
    /// Takes one record. Called once per call, on its thread, also while that thread panics: it must not panic itself.
    fn record(&self, record: &AuditRecord<'_>);

    /// Takes the record of a decision, and keeps it durably before it returns: what is decided is done only afterwards.
    ///
    /// # Errors
    ///
    /// [`AuditError`] where the record can't be kept.
    fn decide(&self, decision: &DecisionRecord<'_>) -> Result<(), AuditError>;
}

/// A record could not be kept.
///
/// Resolution: make the log writable.
#[derive(Debug, Error)]
#[error("the audit log takes no record")]
pub struct AuditError(#[from] io::Error);

/// What somebody decides that is no call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DecisionKind {
    /// A request was approved.
    Approve,
    /// A request was denied.
    Deny,
    /// What a request asked for was typed in.
    Submit,
    /// Something was switched on.
    Enable,
    /// Something was switched off.
    Disable,
    /// What its code says holds again.
    Reset,
    /// A tool was looked at as it is now.
    Review,
    /// An agent was made.
    CreateAgent,
    /// An agent was changed.
    ChangeAgent,
    /// An agent was removed.
    DeleteAgent,
    /// Another loadout was proposed, approved or rejected.
    ReviewLoadout,
    /// A plugin was installed.
    Install,
    /// A plugin was uninstalled.
    Uninstall,
    /// A key was trusted.
    TrustKey,
    /// A key was revoked.
    RevokeKey,
    /// A content that failed is to be tried again.
    Release,
}

impl DecisionKind {
    /// Every kind.
    pub const ALL: [Self; 16] = [
        Self::Approve,
        Self::Deny,
        Self::Submit,
        Self::Enable,
        Self::Disable,
        Self::Reset,
        Self::Review,
        Self::CreateAgent,
        Self::ChangeAgent,
        Self::DeleteAgent,
        Self::ReviewLoadout,
        Self::Install,
        Self::Uninstall,
        Self::TrustKey,
        Self::RevokeKey,
        Self::Release,
    ];

    /// The word that stands for it in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Deny => "deny",
            Self::Submit => "submit",
            Self::Enable => "enable",
            Self::Disable => "disable",
            Self::Reset => "reset",
            Self::Review => "review",
            Self::CreateAgent => "create_agent",
            Self::ChangeAgent => "change_agent",
            Self::DeleteAgent => "delete_agent",
            Self::ReviewLoadout => "review_loadout",
            Self::Install => "install",
            Self::Uninstall => "uninstall",
            Self::TrustKey => "trust_key",
            Self::RevokeKey => "revoke_key",
            Self::Release => "release",
        }
    }
}

/// What is recorded of a decision. It holds names and codes, never arguments, previews or what was typed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecisionRecord<'a> {
    /// When, as the time since the start of 1970, UTC.
    pub at: Duration,
    /// What.
    pub kind: DecisionKind,
    /// What about: a request's tools, a tool, a group, a provider, an agent.
    pub subject: &'a str,
    /// Who, such as `user:ada`.
    pub actor: &'a str,
    /// The request, where it is about one.
    pub approval: Option<&'a ApprovalId>,
    /// Who had asked, where it is about a request.
    pub owner: Option<&'a str>,
    /// The agent that it is about.
    pub agent: Option<&'a AgentName>,
    /// The run that it is about.
    pub run: Option<&'a RunId>,
    /// The code of the error, where it was not carried out.
    pub refused: Option<&'a str>,
    /// What changed, in names and values that are no secrets, where there is more to say.
    pub detail: Option<&'a str>,
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
    /// Nothing was run: a gate, a rule, the arguments or a denied approval stood against it.
    Refused,
    /// Nothing was run: a limit stood against it, for too many calls came, ran or waited.
    Limited,
    /// Nothing was run yet: a person must approve it, or type something in.
    Suspended,
    /// Nothing was run: what an approved call had given was handed out.
    Delivered,
    /// The tool's code could not be reached.
    Unavailable,
    /// The tool's code broke off or broke its contract.
    Fault,
    /// The process of the tool's code ended.
    Crashed,
    /// The time was over.
    TimedOut,
    /// The call never came back to the pipeline: a panic of the host's own code went through it.
    Aborted,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Self; 12] = [
        Self::Ok,
        Self::Failed,
        Self::Cancelled,
        Self::Refused,
        Self::Limited,
        Self::Suspended,
        Self::Delivered,
        Self::Unavailable,
        Self::Fault,
        Self::Crashed,
        Self::TimedOut,
        Self::Aborted,
    ];

    /// The word that stands for the outcome in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Refused => "refused",
            Self::Limited => "limited",
            Self::Suspended => "suspended",
            Self::Delivered => "delivered",
            Self::Unavailable => "unavailable",
            Self::Fault => "fault",
            Self::Crashed => "crashed",
            Self::TimedOut => "timed_out",
            Self::Aborted => "aborted",
        }
    }

    /// How a call with this result ended.
    pub fn of(result: Result<&Reply, &CallError>) -> Self {
        match result {
            Ok(reply) => match reply.status() {
                ReplyStatus::Ok => Self::Ok,
                ReplyStatus::Failed => Self::Failed,
                ReplyStatus::Cancelled => Self::Cancelled,
            },
            Err(CallError::Backend { source, .. }) => match source {
                BackendError::Fault { .. } => Self::Fault,
                BackendError::Crashed { .. } => Self::Crashed,
                BackendError::Unavailable { .. } => Self::Unavailable,
                BackendError::Cancelled => Self::Cancelled,
                BackendError::DeadlineExceeded => Self::TimedOut,
            },
            Err(CallError::Schema { .. } | CallError::Reply { .. }) => Self::Fault,
            Err(
                CallError::NotRegistered { .. }
                | CallError::Denied { .. }
                | CallError::Arguments { .. }
                | CallError::Rule { .. }
                | CallError::ApprovalRequired { .. }
                | CallError::ApprovalDenied { .. }
                | CallError::Interrupted { .. },
            ) => Self::Refused,
            Err(CallError::Limit { source, .. }) => match source {
                LimitError::Deadline { .. } => Self::TimedOut,
                LimitError::Cancelled { .. } => Self::Cancelled,
                _ => Self::Limited,
            },
            Err(CallError::Pending { .. }) => Self::Suspended,
            Err(CallError::Settled { .. }) => Self::Delivered,
            Err(CallError::Suspension { .. }) => Self::Unavailable,
        }
    }

    /// How a call ended that gave an error of this [code](CallError::code); `None` where it was not run.
    pub(crate) fn of_code(code: &str) -> Option<Self> {
        match code {
            "fault" | "malformed_reply" | "result_too_large" => Some(Self::Fault),
            "unavailable" => Some(Self::Unavailable),
            "cancelled" => Some(Self::Cancelled),
            "crashed" => Some(Self::Crashed),
            "deadline_exceeded" => Some(Self::TimedOut),
            _ => None,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What is recorded of a call. Arguments and reply are there for a sink that is told to keep them; most keep only how large they were.
#[derive(Debug, Clone, Copy)]
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
    /// Which gate refused it, where one did, or would have but only observes.
    pub reason: Option<Reason>,
    /// Whether that gate only observed.
    pub observed_only: bool,
    /// The request for approval that it belongs to.
    pub approval: Option<&'a ApprovalId>,
    /// The arguments, as requested; without what a person has typed in.
    pub arguments: &'a str,
    /// The reply, where there was one.
    pub reply: Option<&'a Reply>,
    /// The [code](CallError::code) of the error, where there was one.
    pub code: Option<&'static str>,
    /// When it began, as the time since the start of 1970, UTC.
    pub started: Duration,
    /// How long it took.
    pub duration: Duration,
    /// The bytes of these arguments.
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
    arguments: &'a str,
    generation: u64,
    started: Duration,
    entry: Option<&'a Entry>,
    reply_bytes: usize,
    outcome: Outcome,
    reason: Option<Reason>,
    observed_only: bool,
    code: Option<&'static str>,
    approval: Option<ApprovalId>,
    recorded: bool,
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
            arguments: request.arguments(),
            generation,
            started: clock.now(),
            entry: None,
            reply_bytes: 0,
            outcome: Outcome::Aborted,
            reason: None,
            observed_only: false,
            code: None,
            approval: None,
            recorded: false,
        }
    }

    /// The scope of something that is no call, and leaves no record.
    pub(crate) fn quiet(mut self) -> Self {
        self.recorded = true;
        self
    }

    pub(crate) fn found(&mut self, entry: &'a Entry) {
        self.entry = Some(entry);
    }

    /// A gate would have refused the call, but only observes.
    pub(crate) fn observed(&mut self, reason: Option<Reason>) {
        self.reason = reason;
        self.observed_only = reason.is_some();
    }

    /// The call belongs to this request, with these arguments of whoever asked: what a person has typed in since then is in no record.
    pub(crate) fn approved(&mut self, id: &ApprovalId, arguments: &'a str) {
        self.approval = Some(id.clone());
        self.arguments = arguments;
    }

    pub(crate) fn returned(&mut self, bytes: usize) {
        self.reply_bytes = bytes;
    }

    pub(crate) fn close(&mut self, result: &Result<Reply, CallError>) {
        self.outcome = Outcome::of(result.as_ref());
        self.end(result);
    }

    /// The call was not made: this is what it gave when it was approved, as this request.
    pub(crate) fn delivered(
        &mut self,
        result: &Result<Reply, CallError>,
        request: Option<&ApprovalId>,
    ) {
        self.approval = request.cloned();
        self.outcome = match result {
            Ok(_) => Outcome::Delivered,
            Err(_) => Outcome::of(result.as_ref()),
        };
        self.end(result);
    }

    fn end(&mut self, result: &Result<Reply, CallError>) {
        if let Err(error) = result {
            // What a gate observed of the call stands, whatever else became of it.
            if let Some(reason) = error.reason() {
                self.reason = Some(reason);
                self.observed_only = false;
            }
            self.code = Some(error.code());
            self.approval = error.approval().cloned().or(self.approval.take());
        }
        self.record(result.as_ref().ok());
    }

    fn record(&mut self, reply: Option<&Reply>) {
        self.recorded = true;
        let (tool, caller) = (self.request.tool(), self.request.caller());
        self.sink.record(&AuditRecord {
            tool: &tool[..tool.floor_char_boundary(Self::TOOL_BYTES)],
            provider: self.entry.map(Entry::provider),
            actor: caller.label(),
            agent: caller.agent().map(|agent| &agent.name),
            run: caller.run(),
            effect: self.entry.map(|entry| entry.definition().declarations().effect),
            outcome: self.outcome,
            reason: self.reason,
            observed_only: self.observed_only,
            approval: self.approval.as_ref(),
            arguments: self.arguments,
            reply,
            code: self.code,
            started: self.started,
            duration: self.clock.now().saturating_sub(self.started),
            argument_bytes: self.arguments.len(),
            reply_bytes: self.reply_bytes,
            generation: self.generation,
        });
    }
}

impl Drop for AuditScope<'_> {
    fn drop(&mut self) {
        if !self.recorded {
            self.record(None);
        }
    }
}
