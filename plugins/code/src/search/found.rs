//! What a search has found, as it grows and as it is told.

use std::fmt::Write;

use toolbay_plugin_api::{Reply, output};

use super::query::Query;
use crate::{
    config::Limits,
    text::{MAX_ANSWER, counted},
};

/// What a search has found.
#[output]
#[derive(Default)]
pub(crate) struct Found {
    /// The files with matches, in the order of their paths.
    files: Vec<FoundFile>,
    /// How many matching lines are in `files`.
    matches: usize,
    /// How many files were searched.
    pub(super) files_searched: u64,
    /// What was not searched.
    pub(super) skipped: Skipped,
    /// Why the search ended before its end; null where it did not.
    stopped: Option<Stop>,
    #[serde(skip)]
    bytes: usize,
}

/// A file with matches.
#[output]
pub(super) struct FoundFile {
    path: String,
    pub(super) lines: Vec<FoundLine>,
    /// Matching lines above the cap for one file.
    pub(super) more_matches: u64,
    #[serde(skip)]
    pub(super) matches: usize,
}

/// A line of a file.
#[output]
pub(super) struct FoundLine {
    pub(super) number: u64,
    pub(super) text: String,
    /// Whether it matches; else it stands near a line that does.
    pub(super) matched: bool,
}

/// How many files and folders were left out.
#[output]
#[derive(Default)]
pub(super) struct Skipped {
    pub(super) binary: u64,
    pub(super) too_large: u64,
    pub(super) unreadable: u64,
    pub(super) too_deep: u64,
}

/// Why a search ends early.
#[output]
#[derive(Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stop {
    Matches,
    AnswerFull,
    BytesRead,
    Time,
}

/// What the answer still takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    pub(super) matches: usize,
    pub(super) bytes: usize,
}

impl FoundFile {
    pub(super) const fn new(path: String) -> Self {
        Self { path, lines: Vec::new(), more_matches: 0, matches: 0 }
    }

    /// What a line takes of the answer in bytes, as text with its path or as JSON.
    pub(super) fn cost(&self, line: &FoundLine) -> usize {
        line.text.len() + self.path.len().max(40) + 12
    }
}

impl Found {
    pub(super) const fn room(&self, query: &Query) -> Room {
        Room {
            matches: query.max_results.saturating_sub(self.matches),
            bytes: MAX_ANSWER.saturating_sub(self.bytes),
        }
    }

    pub(super) fn add(&mut self, file: FoundFile, stopped: Option<Stop>) {
        self.stopped = self.stopped.or(stopped);
        if file.matches == 0 {
            return;
        }
        self.matches += file.matches;
        self.bytes += file.lines.iter().map(|line| file.cost(line)).sum::<usize>();
        self.files.push(file);
    }

    pub(super) fn stop(&mut self, reason: Stop) {
        self.stopped = self.stopped.or(Some(reason));
    }

    pub(super) const fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    pub(super) fn into_reply(self, query: &Query, limits: &Limits) -> Reply {
        let text = self.text(query, limits);
        Reply::text(text).structured(self)
    }

    fn text(&self, query: &Query, limits: &Limits) -> String {
        let mut text = match self.matches {
            0 => format!("No match in {}.", counted(self.files_searched, "file", "files")),
            matches => format!(
                "{} in {}, of {} searched.",
                counted(matches as u64, "matching line", "matching lines"),
                counted(self.files.len() as u64, "file", "files"),
                self.files_searched,
            ),
        };
        if let Some(stop) = self.stopped {
            text.push_str(" There may be more: ");
            text.push_str(&stop.words(query, limits));
            text.push_str(". Narrow it with `path`, `files` or a more exact pattern.");
        }
        if let Some(skipped) = self.skipped.words(limits) {
            let _ = write!(text, " Left out: {skipped}.");
        }
        text.push('\n');
        for file in &self.files {
            text.push('\n');
            file.write(&mut text, query.context > 0);
        }
        text
    }
}

impl FoundFile {
    /// As grep writes it: `:` around a number for a match, `-` for a line near one, `--` for a gap.
    fn write(&self, text: &mut String, with_gaps: bool) {
        let mut next = None;
        for line in &self.lines {
            if with_gaps && next.is_some_and(|next| next != line.number) {
                text.push_str("--\n");
            }
            next = Some(line.number + 1);
            let mark = if line.matched { ':' } else { '-' };
            let _ = writeln!(text, "{}{mark}{}{mark} {}", self.path, line.number, line.text);
        }
        if self.more_matches > 0 {
            let more = counted(self.more_matches, "more matching line", "more matching lines");
            let _ = writeln!(text, "{}: {more}; raise `max_per_file` to see them", self.path);
        }
    }
}

impl Stop {
    fn words(self, query: &Query, limits: &Limits) -> String {
        match self {
            Self::Matches => format!("`max_results` is {}", query.max_results),
            Self::AnswerFull => "the answer is full".to_owned(),
            Self::BytesRead => format!("{} bytes were read", limits.total_bytes()),
            Self::Time => "the time was up".to_owned(),
        }
    }
}

impl Skipped {
    fn words(&self, limits: &Limits) -> Option<String> {
        let large = format!("larger than {} bytes", limits.file_bytes());
        let parts = [
            (self.binary, "binary"),
            (self.too_large, large.as_str()),
            (self.unreadable, "unreadable"),
            (self.too_deep, "too deep in folders"),
        ];
        let parts = parts.iter().filter(|(number, _)| *number > 0);
        let words = parts.map(|(number, what)| format!("{number} {what}")).collect::<Vec<_>>();
        (!words.is_empty()).then(|| words.join(", "))
    }
}
