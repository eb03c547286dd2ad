//! One record as a line of JSON.
//!
//! A busy host writes a great many of them, so the fixed parts are copied as they are, and the texts, nearly all of which are names,
//! go without a serializer.

use std::{io::Write, time::Duration};

use toolbay_core::{Effect, Outcome, Reason};

/// What a line says, as [`AuditRecord`](toolbay_core::AuditRecord) has it.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub(super) tool: &'a str,
    pub(super) actor: &'a str,
    pub(super) provider: Option<&'a str>,
    pub(super) agent: Option<&'a str>,
    pub(super) run: Option<&'a str>,
    pub(super) effect: Option<Effect>,
    pub(super) outcome: Outcome,
    pub(super) reason: Option<Reason>,
    pub(super) code: Option<&'static str>,
    pub(super) started: Duration,
    pub(super) duration: Duration,
    pub(super) argument_bytes: usize,
    pub(super) reply_bytes: usize,
    pub(super) generation: u64,
}

/// Writes lines, and keeps the text of the second that it wrote last.
#[derive(Debug, Default)]
pub(super) struct Encoder {
    second: u64,
    text: String,
}

impl Encoder {
    /// Appends a line.
    pub(super) fn encode(&mut self, line: &Line<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"time\":\"");
        self.time(line.started, out);
        out.extend_from_slice(b"\",\"tool\":");
        string(line.tool, out);
        let texts = [
            ("provider", line.provider),
            ("actor", Some(line.actor)),
            ("agent", line.agent),
            ("run", line.run),
            ("effect", line.effect.map(|effect| effect.as_str())),
            ("outcome", Some(line.outcome.as_str())),
            ("reason", line.reason.map(|reason| reason.as_str())),
            ("code", line.code),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                begin(key, out);
                string(text, out);
            }
        }
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
        out.extend_from_slice(b"}\n");
    }

    /// RFC 3339 in UTC, to the millisecond.
    fn time(&mut self, since_1970: Duration, out: &mut Vec<u8>) {
        let second = since_1970.as_secs();
        if second != self.second || self.text.is_empty() {
            self.second = second;
            self.text = date_and_time(second);
        }
        out.extend_from_slice(self.text.as_bytes());
        let ms = since_1970.subsec_millis();
        let digit = |value: u32| b'0' + (value % 10) as u8;
        out.extend_from_slice(&[b'.', digit(ms / 100), digit(ms / 10), digit(ms), b'Z']);
    }
}

fn date_and_time(second: u64) -> String {
    let time = std::time::UNIX_EPOCH + Duration::from_secs(second);
    let mut text = humantime::format_rfc3339_seconds(time).to_string();
    text.pop();
    text
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
    } else if let Ok(quoted) = serde_json::to_string(text) {
        let _ = out.write_all(quoted.as_bytes());
    }
}
