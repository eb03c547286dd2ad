//! How often tools were used, and calls denied.

use std::collections::BTreeMap;

use super::entry::{AuditCall, AuditDecision, AuditEntry, AuditEvent};

/// The most names that are counted apart in one table: whoever calls tools that do not exist chooses the names.
const MAX_NAMES: usize = 1_000;

/// Counts over records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditSummary {
    /// The time of the first record, as its line has it.
    pub first: Option<String>,
    /// The time of the last record.
    pub last: Option<String>,
    /// How many calls.
    pub calls: u64,
    /// How many decisions of each kind were carried out.
    pub decisions: BTreeMap<String, u64>,
    /// How many of each kind were not, because somebody may not decide that, or because something stood against it.
    pub attempts: BTreeMap<String, u64>,
    /// Usage by tool, and by provider where the tool had one.
    pub tools: BTreeMap<(String, Option<String>), ToolUsage>,
    /// The calls that were denied, by reason and tool.
    pub denials: BTreeMap<String, BTreeMap<String, u64>>,
    /// By who called or decided.
    pub actors: BTreeMap<String, ActorUsage>,
}

/// How a tool was used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolUsage {
    /// How many calls.
    pub calls: u64,
    /// How many of them ended in which way.
    pub outcomes: BTreeMap<String, u64>,
    /// How many of them failed, as [`AuditCall::is_failure`] has it.
    pub failures: u64,
    /// How many of them were denied, as [`AuditCall::denial`] has it.
    pub denials: u64,
    /// The bytes of their arguments, as far as they were recorded.
    pub argument_bytes: u64,
    /// The bytes that they returned, as far as they were recorded.
    pub reply_bytes: u64,
    /// How many microseconds they took together, as far as that was recorded.
    pub duration_us: u64,
}

/// What somebody did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActorUsage {
    /// How many calls.
    pub calls: u64,
    /// How many of them failed.
    pub failures: u64,
    /// How many of them were denied.
    pub denials: u64,
    /// How many decisions were carried out.
    pub decisions: u64,
}

impl AuditSummary {
    /// The name under which everything is counted that has no place of its own any more.
    pub const OTHERS: &str = "(others)";

    /// Counts a record.
    pub fn add(&mut self, entry: &AuditEntry) {
        if self.first.is_none() {
            self.first = Some(entry.time.clone());
        }
        self.last = Some(entry.time.clone());
        let actor = place(&mut self.actors, entry.actor.clone(), Self::OTHERS.to_owned());
        match &entry.event {
            AuditEvent::Call(call) => {
                actor.calls += 1;
                actor.failures += u64::from(call.is_failure());
                actor.denials += u64::from(call.denial().is_some());
                self.add_call(call);
            }
            AuditEvent::Decision(AuditDecision { kind, refused, .. }) => {
                let kinds = match refused {
                    None => {
                        actor.decisions += 1;
                        &mut self.decisions
                    }
                    Some(_) => &mut self.attempts,
                };
                *place(kinds, kind.clone(), Self::OTHERS.to_owned()) += 1;
            }
        }
    }

    fn add_call(&mut self, call: &AuditCall) {
        self.calls += 1;
        let others = || Self::OTHERS.to_owned();
        let key = (call.tool.clone(), call.provider.clone());
        let usage = place(&mut self.tools, key, (others(), None));
        usage.calls += 1;
        *place(&mut usage.outcomes, call.outcome.clone(), others()) += 1;
        usage.failures += u64::from(call.is_failure());
        usage.denials += u64::from(call.denial().is_some());
        for (sum, more) in [
            (&mut usage.argument_bytes, call.argument_bytes),
            (&mut usage.reply_bytes, call.reply_bytes),
            (
                &mut usage.duration_us,
                call.duration.and_then(|took| took.as_micros().try_into().ok()),
            ),
        ] {
            *sum = sum.saturating_add(more.unwrap_or_default());
        }
        if let Some(reason) = call.denial() {
            let tools = place(&mut self.denials, reason.to_owned(), others());
            *place(tools, call.tool.clone(), others()) += 1;
        }
    }
}

/// The place of a name in a table, or that of all others where the table is full.
fn place<K: Ord, V: Default>(table: &mut BTreeMap<K, V>, name: K, others: K) -> &mut V {
    let full = table.len() >= MAX_NAMES && !table.contains_key(&name);
    table.entry(if full { others } else { name }).or_default()
}
