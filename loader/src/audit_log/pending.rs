//! Records that wait for the thread that writes them, in memory that is used again and again.

use std::time::Duration;

use toolbay_core::{AuditRecord, Effect, Outcome, Reason};

use super::{content::Content, line::Line};

/// Records in the order of their calls.
#[derive(Debug, Default)]
pub(super) struct Pending {
    records: Vec<Record>,
    /// The texts of all records, one after the other.
    texts: Vec<u8>,
    /// The bytes of the records' content.
    content_bytes: usize,
}

/// A record whose texts stand in [`Pending::texts`], in the order of the lengths here.
#[derive(Debug)]
struct Record {
    tool: u32,
    actor: u32,
    provider: Option<u32>,
    agent: Option<u32>,
    run: Option<u32>,
    approval: Option<u32>,
    effect: Option<Effect>,
    outcome: Outcome,
    reason: Option<Reason>,
    observed_only: bool,
    code: Option<&'static str>,
    started: Duration,
    duration: Duration,
    argument_bytes: usize,
    reply_bytes: usize,
    generation: u64,
    content: Option<Box<Content>>,
}

impl Pending {
    pub(super) fn push(&mut self, record: &AuditRecord<'_>, content: Option<Box<Content>>) {
        self.content_bytes += content.as_deref().map_or(0, Content::bytes);
        let mut take = |text: &str| {
            self.texts.extend_from_slice(text.as_bytes());
            text.len() as u32
        };
        let record = Record {
            tool: take(record.tool),
            actor: take(record.actor),
            provider: record.provider.map(|name| take(name.as_str())),
            agent: record.agent.map(|name| take(name.as_str())),
            run: record.run.map(|name| take(name.as_str())),
            approval: record.approval.map(|name| take(name.as_str())),
            effect: record.effect,
            outcome: record.outcome,
            reason: record.reason,
            observed_only: record.observed_only,
            code: record.code,
            started: record.started,
            duration: record.duration,
            argument_bytes: record.argument_bytes,
            reply_bytes: record.reply_bytes,
            generation: record.generation,
            content,
        };
        self.records.push(record);
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// How much memory the content of the records takes, about.
    pub(super) fn content_bytes(&self) -> usize {
        self.content_bytes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.records.clear();
        self.texts.clear();
        self.content_bytes = 0;
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Line<'_>> {
        let mut rest = &self.texts[..];
        self.records.iter().map(move |record| {
            let mut take = |len: u32| {
                let (text, after) = rest.split_at(len as usize);
                rest = after;
                // They were taken from strings, so this is never empty by mistake.
                str::from_utf8(text).unwrap_or_default()
            };
            Line {
                tool: take(record.tool),
                actor: take(record.actor),
                provider: record.provider.map(&mut take),
                agent: record.agent.map(&mut take),
                run: record.run.map(&mut take),
                approval: record.approval.map(&mut take),
                effect: record.effect,
                outcome: record.outcome,
                reason: record.reason,
                observed_only: record.observed_only,
                code: record.code,
                started: record.started,
                duration: record.duration,
                argument_bytes: record.argument_bytes,
                reply_bytes: record.reply_bytes,
                generation: record.generation,
                content: record.content.as_deref(),
            }
        })
    }
}
