//! The tool `code_read`.

use std::{fmt::Write, io};

use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkFinish, SinkMatch};
use toolbay_plugin_api::prelude::*;

use crate::{
    folder::{Folder, Kind, OpenError},
    provider::Code,
    text::{MAX_ANSWER, counted, searcher, shown},
    walk::Place,
};

/// The most bytes of one line that are shown.
const MAX_LINE: usize = 2000;

/// The most names that are told of a folder.
const MAX_NAMES: usize = 200;

/// Which lines of which file.
#[arguments]
pub(crate) struct ReadArguments {
    /// The file's path, as code_search writes it.
    #[schemars(length(min = 1, max = 1000))]
    path: String,
    /// The first line to read; lines count from 1.
    #[serde(default = "default_start_line")]
    #[schemars(range(min = 1))]
    start_line: u64,
    /// How many lines to read.
    #[serde(default = "default_line_count")]
    #[schemars(range(min = 1, max = 1000))]
    line_count: u64,
}

const fn default_start_line() -> u64 {
    1
}

const fn default_line_count() -> u64 {
    200
}

/// Why a file can't be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
enum ReadError {
    #[error("expected a file, found the folder {path:?} with {names}")]
    Folder { path: String, names: String },
    #[error("{path:?} can't be read")]
    Open {
        path: String,
        #[source]
        source: OpenError,
    },
    #[error("{path:?} can't be read to its end")]
    Interrupted {
        path: String,
        #[source]
        source: io::Error,
    },
    #[error("{path:?} is a binary file; only text can be read")]
    Binary { path: String },
    #[error("{path:?} has {lines}; `start_line` {start_line} is after its end")]
    AfterEnd { path: String, lines: String, start_line: u64 },
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        match &error {
            ReadError::Open { source: source @ OpenError::TooLarge { .. }, .. } => {
                Self::new(format!("{error}: {source}; code_search finds nothing in it either"))
            }
            ReadError::Open { source, .. } => Self::with_cause(error.to_string(), source),
            ReadError::Interrupted { source, .. } => Self::with_cause(error.to_string(), source),
            _ => Self::new(error.to_string()),
        }
    }
}

/// Lines of a file.
#[output]
pub(crate) struct Excerpt {
    path: String,
    start_line: u64,
    /// The last line in `text`; below `start_line` where there is none.
    end_line: u64,
    /// How many lines the file has.
    total_lines: u64,
    /// The lines, without numbers.
    text: String,
}

/// Reads lines of one source file, with their numbers.
///
/// Paths are those that code_search writes. Hidden files and what .gitignore and .ignore exclude can't be read. Of a folder it tells
/// what is in it.
#[tool(
    label = "Code reader",
    summary = "Reads lines of one source file",
    group = "code",
    effect = ReadOnly,
    data_class = SourceCode,
    egress = None,
    kind = Read,
    output = Excerpt,
    enabled
)]
pub(crate) fn code_read(
    code: &Code,
    arguments: ReadArguments,
    context: &Context<'_>,
) -> Result<Reply, Failure> {
    if context.is_cancelled() {
        return Err(Failure::cancelled());
    }
    let path = arguments.path.clone();
    let mut targets = code.roots().targets(&path)?;
    let (Some(target), None) = (targets.pop(), targets.pop()) else {
        let names = code.roots().prefixes().unwrap_or_default();
        return Err(ReadError::Folder { path, names }.into());
    };
    let file = match target.place()? {
        Place::File(file) => file,
        Place::Folder(folder) => {
            let names = names_in(&folder);
            return Err(ReadError::Folder { path, names }.into());
        }
    };
    let file = file
        .open(code.limits().file_bytes())
        .map_err(|source| ReadError::Open { path: path.clone(), source })?;
    let every_line = RegexMatcher::new_line_matcher("^")
        .map_err(|error| Failure::with_cause("the file can't be split into lines", &error))?;
    let mut sink = ExcerptSink::new(&arguments);
    searcher(0)
        .search_reader(every_line, file, &mut sink)
        .map_err(|source| ReadError::Interrupted { path, source })?;
    Ok(sink.into_excerpt(arguments)?.into_reply())
}

/// What is in the folder, in words.
fn names_in(folder: &Folder) -> String {
    let entries = folder.entries().unwrap_or_default();
    let mut names = entries
        .iter()
        .take(MAX_NAMES)
        .map(|(name, kind)| {
            let slash = if *kind == Kind::Folder { "/" } else { "" };
            format!("{}{slash}", name.to_string_lossy())
        })
        .collect::<Vec<_>>();
    match entries.len().saturating_sub(MAX_NAMES) {
        0 if names.is_empty() => return "nothing to read".to_owned(),
        0 => {}
        more => names.push(format!("{more} more")),
    }
    shown(names.join(", ").as_bytes(), 0..0, MAX_LINE)
}

/// Where a searcher delivers every line of a file.
struct ExcerptSink {
    start_line: u64,
    /// The line after the last one that is taken.
    end: u64,
    total_lines: u64,
    lines: Vec<String>,
    room: usize,
    binary: bool,
}

impl ExcerptSink {
    const fn new(arguments: &ReadArguments) -> Self {
        let start_line = if arguments.start_line == 0 { 1 } else { arguments.start_line };
        let line_count = if arguments.line_count > 1000 { 1000 } else { arguments.line_count };
        Self {
            start_line,
            end: start_line.saturating_add(line_count),
            total_lines: 0,
            lines: Vec::new(),
            room: MAX_ANSWER,
            binary: false,
        }
    }

    fn into_excerpt(self, arguments: ReadArguments) -> Result<Excerpt, ReadError> {
        let (path, start_line, total_lines) = (arguments.path, self.start_line, self.total_lines);
        if self.binary {
            return Err(ReadError::Binary { path });
        }
        if start_line > total_lines.max(1) {
            let lines = counted(total_lines, "line", "lines");
            return Err(ReadError::AfterEnd { path, lines, start_line });
        }
        let end_line = start_line + self.lines.len() as u64 - 1;
        Ok(Excerpt { path, start_line, end_line, total_lines, text: self.lines.join("\n") })
    }
}

impl Sink for ExcerptSink {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, line: &SinkMatch<'_>) -> io::Result<bool> {
        self.total_lines += 1;
        if self.total_lines < self.start_line || self.total_lines >= self.end {
            return Ok(true);
        }
        let text = shown(line.bytes(), 0..0, MAX_LINE);
        // Eight bytes are the number that the answer puts in front.
        match self.room.checked_sub(text.len() + 8) {
            Some(left) => {
                self.room = left;
                self.lines.push(text);
            }
            None => self.end = self.total_lines,
        }
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.binary = finish.binary_byte_offset().is_some();
        Ok(())
    }
}

impl Excerpt {
    fn into_reply(self) -> Reply {
        let Self { path, start_line, end_line, total_lines, text } = &self;
        let mut words = match total_lines {
            0 => format!("{path} is empty."),
            _ => format!("{path}, lines {start_line} to {end_line} of {total_lines}."),
        };
        if end_line < total_lines {
            let _ = write!(words, " Read on with `start_line` {}.", end_line + 1);
        }
        words.push('\n');
        for (number, line) in (*start_line..=*end_line).zip(text.split('\n')) {
            let _ = writeln!(words, "{number:>5}  {line}");
        }
        Reply::text(words).structured(self)
    }
}
