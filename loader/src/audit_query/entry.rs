//! A record as it stands in the log.

use std::time::Duration;

use jiff::Timestamp;
use serde::Deserialize;
use toolbay_core::{Effect, Outcome};

/// A record of the audit log. Words are texts here, so that a log of another release can be read too.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditEntry {
    /// When, as the time since the start of 1970, UTC.
    pub at: Duration,
    /// When, as the line says it: RFC 3339 in UTC.
    pub time: String,
    /// Who called or decided, such as `user:ada`.
    pub actor: String,
    /// The agent that called, or that a decision is about.
    pub agent: Option<String>,
    /// The run that it belongs to.
    pub run: Option<String>,
    /// The request for approval that it belongs to.
    pub approval: Option<String>,
    /// What happened.
    pub event: AuditEvent,
    /// The line itself, a JSON object.
    pub line: String,
}

/// What a record is about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuditEvent {
    /// Somebody called a tool.
    Call(AuditCall),
    /// Somebody decided something.
    Decision(AuditDecision),
}

/// A call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditCall {
    /// The tool as requested.
    pub tool: String,
    /// Who contributed it, where there was one of the name.
    pub provider: Option<String>,
    /// What a call of the tool does to the world.
    pub effect: Option<String>,
    /// How it ended.
    pub outcome: String,
    /// The gate that refused it, or that would have but only observed.
    pub reason: Option<String>,
    /// Whether that gate only observed.
    pub observed_only: bool,
    /// The code of the error, where there was one.
    pub code: Option<String>,
    /// How long it took.
    pub duration: Option<Duration>,
    /// The bytes of the arguments.
    pub argument_bytes: Option<u64>,
    /// The bytes that the tool returned.
    pub reply_bytes: Option<u64>,
    /// What it wrote to.
    pub write: Option<Box<AuditWrite>>,
    /// Which registry decided it.
    pub generation: Option<u64>,
    /// The arguments, where the log keeps them.
    pub arguments: Option<String>,
    /// What a model read of the reply, where the log keeps it.
    pub reply: Option<String>,
    /// The names of its artifacts, where the log keeps them.
    pub artifacts: Vec<String>,
}

/// What a call wrote to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditWrite {
    /// What became of it, such as `deleted`.
    pub written: String,
    /// What it is, such as `note`.
    pub target_type: String,
    /// Which one it is.
    pub target: String,
}

/// A decision.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditDecision {
    /// What was decided.
    pub kind: String,
    /// What about: the tools of a request with commas between them, or whatever else it was.
    pub subject: String,
    /// Who had asked.
    pub owner: Option<String>,
    /// The code of the error, where it was not carried out.
    pub refused: Option<String>,
    /// What changed.
    pub detail: Option<String>,
}

/// The members that a line may have. Others are passed over: a later release may write more.
#[derive(Deserialize)]
struct Members {
    time: String,
    actor: String,
    agent: Option<String>,
    run: Option<String>,
    approval: Option<String>,
    tool: Option<String>,
    provider: Option<String>,
    effect: Option<String>,
    outcome: Option<String>,
    reason: Option<String>,
    #[serde(default)]
    observed_only: bool,
    code: Option<String>,
    duration_us: Option<u64>,
    argument_bytes: Option<u64>,
    reply_bytes: Option<u64>,
    written: Option<String>,
    target_type: Option<String>,
    target: Option<String>,
    generation: Option<u64>,
    arguments: Option<String>,
    reply: Option<String>,
    #[serde(default)]
    artifacts: Vec<String>,
    decision: Option<String>,
    subject: Option<String>,
    owner: Option<String>,
    refused: Option<String>,
    detail: Option<String>,
}

impl AuditEntry {
    /// The record of a line without its end; `None` where the line is none that the log writes.
    pub fn parse(line: &[u8]) -> Option<Self> {
        let line = str::from_utf8(line).ok()?;
        let members: Members = serde_json::from_str(line).ok()?;
        let since_1970 = members.time.parse::<Timestamp>().ok()?.as_duration();
        let write = match (members.written, members.target_type, members.target) {
            (Some(written), Some(target_type), Some(target)) => {
                Some(Box::new(AuditWrite { written, target_type, target }))
            }
            _ => None,
        };
        let event = match (members.tool, members.outcome, members.decision, members.subject) {
            (Some(tool), Some(outcome), None, None) => AuditEvent::Call(AuditCall {
                tool,
                provider: members.provider,
                effect: members.effect,
                outcome,
                reason: members.reason,
                observed_only: members.observed_only,
                code: members.code,
                duration: members.duration_us.map(Duration::from_micros),
                argument_bytes: members.argument_bytes,
                reply_bytes: members.reply_bytes,
                write,
                generation: members.generation,
                arguments: members.arguments,
                reply: members.reply,
                artifacts: members.artifacts,
            }),
            (None, None, Some(kind), Some(subject)) => AuditEvent::Decision(AuditDecision {
                kind,
                subject,
                owner: members.owner,
                refused: members.refused,
                detail: members.detail,
            }),
            _ => return None,
        };
        Some(Self {
            at: since_1970.try_into().ok()?,
            time: members.time,
            actor: members.actor,
            agent: members.agent,
            run: members.run,
            approval: members.approval,
            event,
            line: line.to_owned(),
        })
    }

    /// The call, where it is one.
    pub fn call(&self) -> Option<&AuditCall> {
        match &self.event {
            AuditEvent::Call(call) => Some(call),
            AuditEvent::Decision(_) => None,
        }
    }

    /// The decision, where it is one.
    pub fn decision(&self) -> Option<&AuditDecision> {
        match &self.event {
            AuditEvent::Call(_) => None,
            AuditEvent::Decision(decision) => Some(decision),
        }
    }

    /// Whether it did not come to what was asked for: a call that was refused or failed, a decision that was not carried out. A call that
    /// was cancelled did.
    pub fn is_error(&self) -> bool {
        match &self.event {
            AuditEvent::Call(call) => call.is_failure() || call.was_kept_out(),
            AuditEvent::Decision(decision) => decision.refused.is_some(),
        }
    }
}

impl AuditCall {
    /// The calls that were refused for what they were, and not because somebody may not make them.
    const NO_DENIALS: [&str; 2] = ["invalid_arguments", "interrupted"];

    /// Whether it was let through, or had its arguments taken, and then came to nothing. A call that was refused, was cancelled or waits
    /// for somebody is no failure.
    pub fn is_failure(&self) -> bool {
        let fine = [
            Outcome::Ok,
            Outcome::Cancelled,
            Outcome::Refused,
            Outcome::Limited,
            Outcome::Suspended,
            Outcome::Delivered,
        ];
        !fine.iter().any(|outcome| self.outcome == outcome.as_str())
    }

    /// Why the call was denied: the gate's reason, or else the code of the error. `None` where it was not denied, whatever a gate has
    /// observed of it; arguments that do not fit are no denial.
    pub fn denial(&self) -> Option<&str> {
        if !self.was_kept_out() {
            return None;
        }
        let reason = self.reason.as_deref().filter(|_| !self.observed_only);
        reason.or(self.code.as_deref().filter(|code| !Self::NO_DENIALS.contains(code)))
    }

    /// Whether nothing of it was run, because something stood against it.
    fn was_kept_out(&self) -> bool {
        [Outcome::Refused, Outcome::Limited].iter().any(|outcome| self.outcome == outcome.as_str())
    }

    /// Whether it is a call of a tool that writes.
    pub fn is_write(&self) -> bool {
        self.effect.as_deref().is_some_and(|effect| effect != Effect::ReadOnly.as_str())
    }

    /// Why it ended as it did, in one word, where there is one: the reason of a gate, also of one that only observed, or the code.
    pub fn why(&self) -> Option<&str> {
        self.reason.as_deref().or(self.code.as_deref())
    }
}
