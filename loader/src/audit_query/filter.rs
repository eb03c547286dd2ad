//! Which records somebody wants to see.

use std::time::Duration;

use super::entry::{AuditCall, AuditDecision, AuditEntry, AuditEvent};

/// What a record must be. A list names what it may be, and an empty one admits everything; what is said of calls alone, such as an
/// outcome, admits no decision, and the other way round.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Not before this time since the start of 1970, UTC.
    pub since: Option<Duration>,
    /// Before this time since the start of 1970, UTC.
    pub until: Option<Duration>,
    /// Calls of these tools, and decisions about them.
    pub tools: Vec<String>,
    /// Calls of these providers' tools.
    pub providers: Vec<String>,
    /// These actors called or decided: `user:ada`, or `ada` alone.
    pub actors: Vec<String>,
    /// These agents called, or were decided about.
    pub agents: Vec<String>,
    /// Of these runs.
    pub runs: Vec<String>,
    /// Of these requests for approval, each by its id or the beginning of it.
    pub approvals: Vec<String>,
    /// Calls that ended so.
    pub outcomes: Vec<String>,
    /// Calls with these reasons or codes, also with reasons that were only observed; decisions that were refused with these codes.
    pub reasons: Vec<String>,
    /// Decisions of these kinds.
    pub decisions: Vec<String>,
    /// Decisions of any kind.
    pub only_decisions: bool,
    /// What did not come to what was asked for, as [`AuditEntry::is_error`] has it.
    pub only_errors: bool,
    /// Calls of tools that write.
    pub only_writes: bool,
    /// This text stands in one of the record's texts, in upper or lower case.
    pub text: Option<String>,
}

impl AuditFilter {
    /// Whether the record is wanted.
    pub fn admits(&self, entry: &AuditEntry) -> bool {
        self.admits_time(entry.at)
            && (self.actors.is_empty()
                || self.actors.iter().any(|name| is_actor(&entry.actor, name)))
            && among(&self.agents, entry.agent.as_deref())
            && among(&self.runs, entry.run.as_deref())
            && begins(&self.approvals, entry.approval.as_deref())
            && match &entry.event {
                AuditEvent::Call(call) => self.admits_call(call),
                AuditEvent::Decision(decision) => self.admits_decision(decision),
            }
            && (!self.only_errors || entry.is_error())
            && self.text.as_deref().is_none_or(|text| holds(entry, text))
    }

    fn admits_time(&self, at: Duration) -> bool {
        self.since.is_none_or(|since| at >= since) && self.until.is_none_or(|until| at < until)
    }

    fn admits_call(&self, call: &AuditCall) -> bool {
        let reasons = [call.reason.as_deref(), call.code.as_deref()];
        among(&self.tools, Some(&call.tool))
            && among(&self.providers, call.provider.as_deref())
            && among(&self.outcomes, Some(&call.outcome))
            && (self.reasons.is_empty() || reasons.iter().any(|word| among(&self.reasons, *word)))
            && self.decisions.is_empty()
            && !self.only_decisions
            && (!self.only_writes || call.is_write())
    }

    fn admits_decision(&self, decision: &AuditDecision) -> bool {
        let mut subjects = decision.subject.split(',');
        (self.tools.is_empty() || subjects.any(|tool| among(&self.tools, Some(tool))))
            && self.providers.is_empty()
            && self.outcomes.is_empty()
            && among(&self.reasons, decision.refused.as_deref())
            && among(&self.decisions, Some(&decision.kind))
            && !self.only_writes
    }
}

fn among(wanted: &[String], found: Option<&str>) -> bool {
    wanted.is_empty() || found.is_some_and(|found| wanted.iter().any(|wanted| wanted == found))
}

fn is_actor(actor: &str, wanted: &str) -> bool {
    actor == wanted || actor.split_once(':').is_some_and(|(_, name)| name == wanted)
}

/// Whether a text begins like one of these, or none is asked for.
fn begins(beginnings: &[String], text: Option<&str>) -> bool {
    beginnings.is_empty()
        || text.is_some_and(|text| beginnings.iter().any(|beginning| text.starts_with(beginning)))
}

fn holds(entry: &AuditEntry, text: &str) -> bool {
    let text = text.to_lowercase();
    texts(entry).any(|found| found.to_lowercase().contains(&text))
}

fn texts(entry: &AuditEntry) -> impl Iterator<Item = &str> {
    let AuditEntry { actor, agent, run, approval, event, at: _, time: _, line: _ } = entry;
    let (fixed, optional, more): ([&str; 3], _, &[String]) = match event {
        AuditEvent::Call(call) => (
            [actor, &call.tool, &call.outcome],
            [&call.provider, &call.effect, &call.reason, &call.code, &call.arguments, &call.reply],
            &call.artifacts,
        ),
        AuditEvent::Decision(decision) => (
            [actor, &decision.kind, &decision.subject],
            [&decision.owner, &decision.refused, &decision.detail, &None, &None, &None],
            &[],
        ),
    };
    let written = match event {
        AuditEvent::Call(call) => call.write.as_deref(),
        AuditEvent::Decision(_) => None,
    };
    let written = written.map(|write| [&write.written, &write.target_type, &write.target]);
    let optional = [agent, run, approval].into_iter().chain(optional);
    fixed
        .into_iter()
        .chain(optional.flatten().map(String::as_str))
        .chain(more.iter().map(String::as_str))
        .chain(written.into_iter().flatten().map(String::as_str))
}
