//! The tool `notes_read`.

use std::fmt::Write;

use toolbay_plugin_api::prelude::*;

use crate::{
    name::{NameError, NoteName},
    provider::Notes,
    text::counted,
};

/// The bytes of a note that one answer holds.
const MAX_ANSWER: usize = 36_000;

/// The bytes of a line that an answer holds.
const MAX_LINE: usize = 8_000;

/// Which lines of which note.
#[arguments]
pub(crate) struct ReadArguments {
    /// The note's name, as notes_list writes it.
    #[schemars(length(min = 1, max = 300))]
    name: String,
    /// The first line to read; lines count from 1.
    #[serde(default = "default_start_line")]
    #[schemars(range(min = 1))]
    start_line: usize,
    /// How many lines to read.
    #[serde(default = "default_line_count")]
    #[schemars(range(min = 1, max = 1000))]
    line_count: usize,
}

const fn default_start_line() -> usize {
    1
}

const fn default_line_count() -> usize {
    500
}

/// Why there is nothing to show of a note.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
enum ReadError {
    /// The name is none of a note.
    ///
    /// Resolution: that of the name's error.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The note has fewer lines.
    ///
    /// Resolution: begin further up.
    #[error("the note {name:?} has {lines}; `start_line` {start_line} is after its end")]
    AfterEnd {
        /// The name of the note.
        name: String,
        /// How many lines it has, in words.
        lines: String,
        /// The line that was asked for.
        start_line: usize,
    },
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Self::new(error.to_string())
    }
}

/// Reads a note, or some lines of it.
#[tool(
    label = "Note reader",
    summary = "Reads a note",
    group = "notes",
    effect = ReadOnly,
    data_class = EditorContent,
    egress = None,
    kind = Read,
    enabled
)]
pub(crate) fn notes_read(
    notes: &Notes,
    arguments: ReadArguments,
    context: &Context<'_>,
) -> Result<Reply, Failure> {
    if context.is_cancelled() {
        return Err(Failure::cancelled());
    }
    let name = NoteName::parse(&arguments.name).map_err(ReadError::from)?;
    let note = notes.folder()?.read(&name)?;
    let text = String::from_utf8_lossy(&note.bytes);
    let start_line = arguments.start_line.max(1);
    let excerpt = Excerpt::new(&text, start_line, arguments.line_count.clamp(1, 1000));
    if start_line > excerpt.total.max(1) {
        let lines = counted(excerpt.total, "line");
        return Err(ReadError::AfterEnd { name: name.to_string(), lines, start_line }.into());
    }
    Ok(excerpt.into_reply(&name, text.contains('\u{fffd}')))
}

/// Some lines of a text, within the room of an answer.
struct Excerpt {
    start_line: usize,
    lines: Vec<String>,
    /// How many lines the text has.
    total: usize,
    /// How many lines are cut.
    cut: usize,
}

impl Excerpt {
    fn new(text: &str, start_line: usize, line_count: usize) -> Self {
        let (mut lines, mut cut, mut room) = (Vec::new(), 0, MAX_ANSWER);
        for line in text.lines().skip(start_line - 1).take(line_count) {
            let shown = shown(line);
            // One byte is the line's end.
            let Some(left) = room.checked_sub(shown.len() + 1) else { break };
            room = left;
            cut += usize::from(line.len() > MAX_LINE);
            lines.push(shown);
        }
        Self { start_line, lines, total: text.lines().count(), cut }
    }

    fn into_reply(self, name: &NoteName, has_replacements: bool) -> Reply {
        let Self { start_line, lines, total, cut } = self;
        let end_line = start_line + lines.len() - 1;
        let whole = lines.len() == total && cut == 0;
        let mut words = match total {
            0 => format!("The note {:?} is empty.", name.as_str()),
            _ => format!("{}, lines {start_line} to {end_line} of {total}.", name.as_str()),
        };
        if end_line < total {
            let _ = write!(words, " Read on with `start_line` {}.", end_line + 1);
        }
        if cut > 0 {
            let lines = counted(cut, "line");
            let _ = write!(words, " {lines} cut after {MAX_LINE} bytes, where … stands.");
        }
        if has_replacements {
            words.push_str(" U+FFFD stands for what is no UTF-8.");
        }
        words.push_str("\n\n");
        for line in lines {
            words.push_str(&line);
            words.push('\n');
        }
        let reply = Reply::text(words);
        if whole { reply.complete() } else { reply.partial() }
    }
}

/// A line, cut and without control characters but tabs, which could steer a terminal.
fn shown(line: &str) -> String {
    let end = line.floor_char_boundary(MAX_LINE);
    let mut shown = line[..end]
        .replace(|character: char| character.is_control() && character != '\t', "\u{fffd}");
    if end < line.len() {
        shown.push('…');
    }
    shown
}
