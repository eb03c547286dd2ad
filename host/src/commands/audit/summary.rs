//! Counts of records, for people and for programs.

use std::{cmp::Reverse, collections::BTreeMap, time::Duration};

use serde::Serialize;
use toolbay_loader::{ActorUsage, AuditSummary, ToolUsage};

use super::{records::Records, took};
use crate::{
    commands::CommandError,
    output::{Output, Table, grouped},
};

/// The counts with the number of lines that could not be counted.
pub(super) struct Summary {
    counts: AuditSummary,
    damaged: u64,
}

#[derive(Serialize)]
struct SummaryJson<'a> {
    first: Option<&'a str>,
    last: Option<&'a str>,
    calls: u64,
    decisions: &'a BTreeMap<String, u64>,
    /// Decisions that were not carried out.
    attempts: &'a BTreeMap<String, u64>,
    tools: Vec<ToolRow<'a>>,
    denials: Vec<DenialRow<'a>>,
    actors: Vec<ActorRow<'a>>,
    damaged: u64,
}

#[derive(Serialize)]
struct ToolRow<'a> {
    tool: &'a str,
    provider: Option<&'a str>,
    calls: u64,
    outcomes: &'a BTreeMap<String, u64>,
    failures: u64,
    denials: u64,
    argument_bytes: u64,
    reply_bytes: u64,
    duration_us: u64,
}

#[derive(Serialize)]
struct DenialRow<'a> {
    reason: &'a str,
    tool: &'a str,
    calls: u64,
}

#[derive(Serialize)]
struct ActorRow<'a> {
    actor: &'a str,
    calls: u64,
    failures: u64,
    denials: u64,
    decisions: u64,
}

impl Summary {
    pub(super) fn of(records: &mut Records) -> Result<Self, CommandError> {
        let mut counts = AuditSummary::default();
        records.each(|entry| {
            counts.add(entry);
            Ok(())
        })?;
        Ok(Self { counts, damaged: records.damaged() })
    }

    pub(super) fn json(&self, output: &mut Output) -> Result<(), CommandError> {
        let AuditSummary { first, last, calls, decisions, attempts, .. } = &self.counts;
        Ok(output.json(&SummaryJson {
            first: first.as_deref(),
            last: last.as_deref(),
            calls: *calls,
            decisions,
            attempts,
            tools: self.tools(),
            denials: self.denials(),
            actors: self.actors(),
            damaged: self.damaged,
        })?)
    }

    pub(super) fn tables(&self, output: &mut Output) -> Result<(), CommandError> {
        let AuditSummary {
            first: Some(first), last: Some(last), calls, decisions, attempts, ..
        } = &self.counts
        else {
            return Ok(());
        };
        let decided = decisions.values().sum();
        output.text(&format!(
            "calls: {}, decisions: {}, {first} to {last}",
            grouped(*calls),
            grouped(decided)
        ))?;
        let tools = Table::new([
            "TOOL",
            "PROVIDER",
            "CALLS",
            "FAILED",
            "DENIED",
            "OUTCOMES",
            "ARGUMENTS",
            "REPLIES",
            "TIME",
        ]);
        section(output, tools, self.tools(), |table, row| {
            let time = Some(row.duration_us).filter(|time| *time > 0);
            let time = time.map(|time| took(Duration::from_micros(time))).unwrap_or_default();
            table.row([
                row.tool,
                row.provider.unwrap_or_default(),
                &grouped(row.calls),
                &grouped(row.failures),
                &grouped(row.denials),
                &counted(row.outcomes),
                &grouped(row.argument_bytes),
                &grouped(row.reply_bytes),
                &time,
            ]);
        })?;
        let denials = Table::new(["DENIED FOR", "TOOL", "CALLS"]);
        section(output, denials, self.denials(), |table, row| {
            table.row([row.reason, row.tool, &grouped(row.calls)]);
        })?;
        let actors = Table::new(["ACTOR", "CALLS", "FAILED", "DENIED", "DECISIONS"]);
        section(output, actors, self.actors(), |table, row| {
            let ActorRow { actor, calls, failures, denials, decisions } = row;
            let counts = [calls, failures, denials, decisions].map(grouped);
            let [calls, failures, denials, decisions] = &counts;
            table.row([actor, calls, failures, denials, decisions]);
        })?;
        let made = Table::new(["DECISION", "COUNT"]);
        section(output, made, decisions.iter().collect(), |table, (kind, count)| {
            table.row([kind, &grouped(*count)]);
        })?;
        let not_made = Table::new(["NOT DONE", "COUNT"]);
        section(output, not_made, attempts.iter().collect(), |table, (kind, count)| {
            table.row([kind, &grouped(*count)]);
        })
    }

    /// The most used first.
    fn tools(&self) -> Vec<ToolRow<'_>> {
        let mut rows: Vec<_> = self.counts.tools.iter().map(tool_row).collect();
        rows.sort_by_key(|row| Reverse(row.calls));
        rows
    }

    /// The most frequent first.
    fn denials(&self) -> Vec<DenialRow<'_>> {
        let mut rows: Vec<_> = self
            .counts
            .denials
            .iter()
            .flat_map(|(reason, tools)| {
                tools.iter().map(move |(tool, calls)| DenialRow { reason, tool, calls: *calls })
            })
            .collect();
        rows.sort_by_key(|row| Reverse(row.calls));
        rows
    }

    /// The busiest first.
    fn actors(&self) -> Vec<ActorRow<'_>> {
        let mut rows: Vec<_> = self.counts.actors.iter().map(actor_row).collect();
        rows.sort_by_key(|row| Reverse(row.calls + row.decisions));
        rows
    }
}

fn tool_row<'a>(
    ((tool, provider), usage): (&'a (String, Option<String>), &'a ToolUsage),
) -> ToolRow<'a> {
    ToolRow {
        tool,
        provider: provider.as_deref(),
        calls: usage.calls,
        outcomes: &usage.outcomes,
        failures: usage.failures,
        denials: usage.denials,
        argument_bytes: usage.argument_bytes,
        reply_bytes: usage.reply_bytes,
        duration_us: usage.duration_us,
    }
}

fn actor_row<'a>((actor, usage): (&'a String, &'a ActorUsage)) -> ActorRow<'a> {
    let ActorUsage { calls, failures, denials, decisions, .. } = *usage;
    ActorRow { actor, calls, failures, denials, decisions }
}

/// Prints a table with an empty line before it, unless it would be empty.
fn section<R>(
    output: &mut Output,
    mut table: Table,
    rows: Vec<R>,
    mut show: impl FnMut(&mut Table, R),
) -> Result<(), CommandError> {
    if rows.is_empty() {
        return Ok(());
    }
    for row in rows {
        show(&mut table, row);
    }
    output.raw("\n")?;
    Ok(output.table(table)?)
}

fn counted(outcomes: &BTreeMap<String, u64>) -> String {
    let counts: Vec<_> =
        outcomes.iter().map(|(outcome, count)| format!("{} {outcome}", grouped(*count))).collect();
    counts.join(", ")
}
