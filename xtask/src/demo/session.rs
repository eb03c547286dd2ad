//! One MCP session: a client's requests to one host process, of which one makes a plugin panic.

use std::{
    io::{self, BufRead, BufReader, Write},
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use super::DemoError;

/// How long a reply may take. A call takes far less than a second; this only ends a demonstration that would hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// A message to the host.
#[derive(Debug)]
pub(super) struct Message {
    line: &'static str,
    /// Texts that the reply must have; none where the message is a notification, which has no reply.
    reply: Option<&'static [&'static str]>,
}

pub(super) const SESSION: &[Message] = &[
    Message {
        line: r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"demo","version":"1"}}}"#,
        reply: Some(&[r#""id":1"#, r#""tools""#]),
    },
    Message { line: r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, reply: None },
    Message {
        line: r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"misbehave","arguments":{"mode":"panic"}}}"#,
        reply: Some(&[r#""id":2"#, r#""isError":true"#]),
    },
    Message {
        line: r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"misbehave","arguments":{"mode":"none"}}}"#,
        reply: Some(&[r#""id":3"#, r#""isError":false"#]),
    },
    Message {
        line: r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"greet","arguments":{"language":"de"}}}"#,
        reply: Some(&[r#""id":4"#, "Hallo."]),
    },
];

/// What a session did instead of what it should.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BrokenSession {
    /// No reply came.
    #[error("expected a reply to {line} within {} s, found none", PATIENCE.as_secs())]
    NoReply {
        /// The request.
        line: &'static str,
    },
    /// A reply lacks a text.
    #[error("expected {expected} in the reply to {line}, found it nowhere")]
    Silence {
        /// The request.
        line: &'static str,
        /// The text.
        expected: &'static str,
    },
}

/// Sends the messages to one process, each after the reply to the one before, and writes both sides to `out`.
pub(super) fn play(
    messages: &[Message],
    host: &mut Command,
    out: &mut impl Write,
) -> Result<(), DemoError> {
    let program = host.get_program().to_string_lossy().into_owned();
    let run = |cause| DemoError::Run { path: program.clone().into(), cause };
    let mut process = host
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(run)?;
    let outcome = match (process.stdin.take(), process.stdout.take()) {
        (Some(to_host), Some(from_host)) => {
            let (sender, replies) = mpsc::channel();
            thread::spawn(move || {
                for line in BufReader::new(from_host).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        break;
                    }
                }
            });
            converse(messages, to_host, &replies, out)
        }
        _ => Err(run(io::ErrorKind::BrokenPipe.into())),
    };
    // Its input is closed now, which ends a host; one that hangs is ended.
    if outcome.is_err() {
        process.kill().map_err(run)?;
    }
    process.wait().map_err(run)?;
    outcome
}

fn converse(
    messages: &[Message],
    mut to_host: impl Write,
    replies: &mpsc::Receiver<String>,
    out: &mut impl Write,
) -> Result<(), DemoError> {
    for message in messages {
        writeln!(out, "> {}", message.line).map_err(DemoError::Output)?;
        let sent = writeln!(to_host, "{}", message.line).and_then(|()| to_host.flush());
        let Some(expected) = message.reply else { continue };
        let line = message.line;
        let reply = sent.ok().and_then(|()| replies.recv_timeout(PATIENCE).ok());
        let reply = reply.ok_or(BrokenSession::NoReply { line })?;
        writeln!(out, "< {reply}").map_err(DemoError::Output)?;
        if let Some(expected) = expected.iter().find(|text| !reply.contains(**text)) {
            return Err(BrokenSession::Silence { line, expected }.into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGES: &[Message] = &[
        Message { line: "hello", reply: Some(&["hello", "you"]) },
        Message { line: "note", reply: None },
        Message { line: "bye", reply: Some(&["bye"]) },
    ];

    /// Has the conversation with a shell script instead of the host.
    fn outcome(script: &str) -> (Option<BrokenSession>, String) {
        let mut out = Vec::new();
        let broken = match play(MESSAGES, Command::new("sh").args(["-c", script]), &mut out) {
            Ok(()) => None,
            Err(DemoError::Session(broken)) => Some(broken),
            Err(other) => panic!("{other:?}"),
        };
        (broken, String::from_utf8(out).unwrap())
    }

    #[test]
    fn both_sides_are_shown() {
        let script = "while read -r line; do [ \"$line\" = note ] || echo \"$line you\"; done";
        let (broken, shown) = outcome(script);
        assert_eq!(broken, None);
        assert_eq!(shown, "> hello\n< hello you\n> note\n> bye\n< bye you\n");
    }

    #[test]
    fn a_wrong_reply_and_a_dead_host_are_named() {
        use BrokenSession::{NoReply, Silence};
        for (script, expected) in [
            ("read -r line; echo $line; cat", Silence { line: "hello", expected: "you" }),
            ("read -r line; echo $line you", NoReply { line: "bye" }),
            ("exit 1", NoReply { line: "hello" }),
        ] {
            assert_eq!(outcome(script).0, Some(expected), "{script}");
        }
    }
}
