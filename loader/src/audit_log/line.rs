//! One record as a line of JSON.
//!
//! A busy host writes a great many of them, so the fixed parts are copied as they are, and the texts, nearly all of which are names,
//! go without a serializer.

use std::{borrow::Cow, time::Duration};

use jiff::Timestamp;
use serde::Serialize;
use toolbay_core::{DecisionRecord, Effect, Outcome, Privacy, Reason, WriteKind, redact_text};

use super::content::{Content, cut};

/// The most bytes of what a decision is about, and of what is said beside it.
const MAX_DECISION_TEXT: usize = 4 * 1024;

/// What a line says of a call, as [`AuditRecord`](toolbay_core::AuditRecord) has it.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub(super) tool: &'a str,
    pub(super) actor: &'a str,
    pub(super) provider: Option<&'a str>,
    pub(super) agent: Option<&'a str>,
    pub(super) run: Option<&'a str>,
    pub(super) approval: Option<&'a str>,
    pub(super) target: Option<Target<'a>>,
    pub(super) effect: Option<Effect>,
    pub(super) outcome: Outcome,
    pub(super) reason: Option<Reason>,
    pub(super) observed_only: bool,
    pub(super) code: Option<&'static str>,
    pub(super) started: Duration,
    pub(super) duration: Duration,
    pub(super) argument_bytes: usize,
    pub(super) reply_bytes: usize,
    pub(super) generation: u64,
    pub(super) content: Option<&'a Content>,
}

/// What a call wrote to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) written: WriteKind,
    pub(super) kind: &'a str,
    pub(super) id: &'a str,
}

/// Writes lines, and keeps the text of the second that it wrote last.
#[derive(Debug)]
pub(super) struct Encoder {
    privacy: Privacy,
    second: u64,
    text: String,
}

impl Encoder {
    pub(super) fn new(privacy: Privacy) -> Self {
        Self { privacy, second: 0, text: String::new() }
    }

    /// Appends the line of a call.
    pub(super) fn call(&mut self, line: &Line<'_>, out: &mut Vec<u8>) {
        let measured = self.privacy != Privacy::None;
        self.time(line.started, out);
        let texts = [
            ("tool", Some(line.tool)),
            ("provider", line.provider),
            ("actor", Some(line.actor)),
            ("agent", line.agent),
            ("run", line.run.filter(|_| measured)),
            ("effect", line.effect.map(|effect| effect.as_str())),
            ("outcome", Some(line.outcome.as_str())),
            ("reason", line.reason.map(|reason| reason.as_str())),
        ];
        members(texts, out);
        if line.observed_only {
            begin("observed_only", out);
            out.extend_from_slice(b"true");
        }
        members([("code", line.code), ("approval", line.approval)], out);
        if let Some(Target { written, kind, id }) = line.target.filter(|_| measured) {
            // It may be an address, and have a key in it.
            let id = match self.privacy {
                Privacy::Full => Cow::Borrowed(id),
                _ => redact_text(id),
            };
            let texts = [("written", written.as_str()), ("target_type", kind), ("target", &*id)];
            members(texts.map(|(key, text)| (key, Some(text))), out);
        }
        if measured {
            let microseconds = u64::try_from(line.duration.as_micros()).unwrap_or(u64::MAX);
            for (key, value) in [
                ("duration_us", microseconds),
                ("argument_bytes", line.argument_bytes as u64),
                ("reply_bytes", line.reply_bytes as u64),
                ("generation", line.generation),
            ] {
                begin(key, out);
                number(value, out);
            }
        }
        if let Some(Content { arguments, reply, artifacts }) = line.content {
            members([("arguments", Some(arguments.as_str())), ("reply", reply.as_deref())], out);
            if !artifacts.is_empty() {
                begin("artifacts", out);
                json(artifacts, out);
            }
        }
        out.extend_from_slice(b"}\n");
    }

    /// Appends the line of a decision. It is the same at each level of privacy, but for the run.
    pub(super) fn decision(&mut self, decision: &DecisionRecord<'_>, out: &mut Vec<u8>) {
        let short = |text: &str| cut(text, MAX_DECISION_TEXT);
        let subject = short(decision.subject);
        let detail = decision.detail.map(|detail| short(&redact_text(detail)));
        let run = decision.run.filter(|_| self.privacy != Privacy::None);
        self.time(decision.at, out);
        let texts = [
            ("decision", Some(decision.kind.as_str())),
            ("subject", Some(&subject)),
            ("actor", Some(decision.actor)),
            ("approval", decision.approval.map(|id| id.as_str())),
            ("owner", decision.owner),
            ("agent", decision.agent.map(|agent| agent.as_str())),
            ("run", run.map(|run| run.as_str())),
            ("refused", decision.refused),
            ("detail", detail.as_deref()),
        ];
        members(texts, out);
        out.extend_from_slice(b"}\n");
    }

    /// Begins a line with the time: RFC 3339 in UTC, to the millisecond.
    fn time(&mut self, since_1970: Duration, out: &mut Vec<u8>) {
        let second = since_1970.as_secs();
        if second != self.second || self.text.is_empty() {
            self.second = second;
            self.text = date_and_time(second);
        }
        out.extend_from_slice(b"{\"time\":\"");
        out.extend_from_slice(self.text.as_bytes());
        let ms = since_1970.subsec_millis();
        let digit = |value: u32| b'0' + (value % 10) as u8;
        out.extend_from_slice(&[b'.', digit(ms / 100), digit(ms / 10), digit(ms), b'Z', b'"']);
    }
}

/// A clock that is set to after the year 9999 is recorded as that year's end.
fn date_and_time(second: u64) -> String {
    let time = i64::try_from(second).map(Timestamp::from_second);
    let mut text = time.ok().and_then(Result::ok).unwrap_or(Timestamp::MAX).to_string();
    text.truncate("2026-01-01T00:00:00".len());
    text
}

fn members<const N: usize>(texts: [(&str, Option<&str>); N], out: &mut Vec<u8>) {
    for (key, text) in texts {
        if let Some(text) = text {
            begin(key, out);
            string(text, out);
        }
    }
}

fn begin(key: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(b"\":");
}

fn number(value: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Names need no escapes; anything else is left to serde_json.
fn string(text: &str, out: &mut Vec<u8>) {
    let plain = text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\');
    if plain {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        json(text, out);
    }
}

fn json(value: &(impl Serialize + ?Sized), out: &mut Vec<u8>) {
    let start = out.len();
    if serde_json::to_writer(&mut *out, value).is_err() {
        // Texts can always be written; were it otherwise, the line must be one all the same.
        out.truncate(start);
        out.extend_from_slice(b"null");
    }
}
