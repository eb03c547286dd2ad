//! Records that wait for the thread that writes them, in memory that is used again and again.

use std::time::Duration;

use toolbay_core::{AuditRecord, Effect, Outcome, Reason, Reply, Write, WriteKind};

use super::{
    content::Content,
    line::{Line, Target},
};

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
    target: Option<(WriteKind, u32, u32)>,
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

/// What a call wrote to when it ran; whoever only gets its outcome handed out has written nothing.
fn written<'a>(record: &AuditRecord<'a>) -> Option<&'a Write> {
    record.reply.and_then(Reply::write).filter(|_| record.outcome == Outcome::Ok)
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
            target: written(record)
                .map(|Write { kind, target, .. }| (*kind, take(target.kind()), take(target.id()))),
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
                target: record.target.map(|(written, kind, id)| Target {
                    written,
                    kind: take(kind),
                    id: take(id),
                }),
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
