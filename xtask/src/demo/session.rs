//! One MCP session: a client's requests to one host process, of which one makes a plugin panic.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    process::{Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver, TryRecvError},
    thread,
    time::Duration,
};

use super::DemoError;

/// How long a host may take for a reply. A call takes far less than a second; this only ends a demonstration that would hang.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

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
        line: r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"misbehave","arguments":{"mode":"well"}}}"#,
        reply: Some(&[r#""id":3"#, r#""text":"well""#]),
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
    /// No reply came in time, or the host ended.
    #[error("expected a reply to {line}, found none")]
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
    /// The host did not end well when its client left.
    #[error("expected the host to end with exit code 0 when its client leaves, found {found}")]
    End {
        /// How it ended.
        found: ExitStatus,
    },
}

/// Sends the messages to one process, each after the reply to the one before, and writes both sides to `out`.
pub(super) fn play(
    messages: &[Message],
    patience: Duration,
    host: &mut Command,
    out: &mut impl Write,
) -> Result<(), DemoError> {
    let program = host.get_program().to_string_lossy().into_owned();
    let run = |cause| DemoError::Run { path: program.clone().into(), cause };
    let streams = host.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut process = streams.spawn().map_err(run)?;
    let (Some(to_host), Some(from_host)) = (process.stdin.take(), process.stdout.take()) else {
        return Err(run(io::ErrorKind::BrokenPipe.into()));
    };
    let replies = lines_of(from_host);
    let outcome = converse(messages, patience, to_host, &replies, out);
    // Its input is closed now. A host that keeps its output open does not leave, and is ended.
    while outcome.is_ok() && replies.recv_timeout(patience).is_ok() {}
    if outcome.is_err() || replies.try_recv() == Err(TryRecvError::Empty) {
        process.kill().map_err(run)?;
    }
    let found = process.wait().map_err(run)?;
    outcome?;
    if found.success() { Ok(()) } else { Err(BrokenSession::End { found }.into()) }
}

/// The lines of a stream as they come; the channel closes with the stream.
fn lines_of(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    lines
}

fn converse(
    messages: &[Message],
    patience: Duration,
    mut to_host: impl Write,
    replies: &Receiver<String>,
    out: &mut impl Write,
) -> Result<(), DemoError> {
    for Message { line, reply } in messages {
        writeln!(out, "> {line}").map_err(DemoError::Output)?;
        let sent = writeln!(to_host, "{line}").and_then(|()| to_host.flush());
        let Some(texts) = reply else { continue };
        let reply = sent.ok().and_then(|()| replies.recv_timeout(patience).ok());
        let reply = reply.ok_or(BrokenSession::NoReply { line })?;
        writeln!(out, "< {reply}").map_err(DemoError::Output)?;
        if let Some(expected) = texts.iter().find(|text| !reply.contains(**text)) {
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

    /// Has the conversation with a shell script instead of the host: what broke, and what was shown.
    fn outcome(script: &str, patience: Duration) -> (Option<String>, String) {
        let mut out = Vec::new();
        let mut host = Command::new("sh");
        let broken = match play(MESSAGES, patience, host.args(["-c", script]), &mut out) {
            Ok(()) => None,
            Err(DemoError::Session(broken)) => Some(broken.to_string()),
            Err(other) => panic!("{other:?}"),
        };
        (broken, String::from_utf8(out).unwrap())
    }

    const ANSWERS: &str = "while read -r line; do [ \"$line\" = note ] || echo \"$line you\"; done";

    #[test]
    fn both_sides_are_shown() {
        let (broken, shown) = outcome(ANSWERS, PATIENCE);
        assert_eq!(broken, None);
        assert_eq!(shown, "> hello\n< hello you\n> note\n> bye\n< bye you\n");
    }

    #[test]
    fn what_the_host_does_wrong_is_named() {
        let hangs = "exec tail -f /dev/null";
        let no_reply = |line| format!("expected a reply to {line}, found none");
        let silence = "expected you in the reply to hello, found it nowhere".to_owned();
        let end = |found| {
            format!(
                "expected the host to end with exit code 0 when its client leaves, found {found}"
            )
        };
        for (script, expected) in [
            (format!("echo hello; {hangs}"), silence),
            ("read -r line; echo $line you".to_owned(), no_reply("bye")),
            (hangs.to_owned(), no_reply("hello")),
            ("exit 1".to_owned(), no_reply("hello")),
            (format!("{ANSWERS}; exit 3"), end("exit status: 3")),
            (format!("{ANSWERS}; {hangs}"), end("signal: 9 (SIGKILL)")),
        ] {
            let patience = Duration::from_secs(if script.contains(hangs) { 3 } else { 60 });
            assert_eq!(outcome(&script, patience).0, Some(expected), "{script}");
        }
    }
}
