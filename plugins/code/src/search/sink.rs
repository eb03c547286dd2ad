//! Collects the lines of one file, within what is left of the answer.

use std::io;

use grep_matcher::Matcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkFinish, SinkMatch};

use super::{
    Clock,
    found::{FoundFile, FoundLine, Room, Stop},
    query::Query,
};
use crate::text::shown;

/// The most bytes of one line that are shown.
const MAX_LINE: usize = 240;

/// What a file gave.
pub(super) enum Outcome {
    Text { file: FoundFile, stopped: Option<Stop> },
    Binary,
}

/// Where a searcher delivers the lines of one file.
pub(super) struct FileSink<'a, 'c> {
    query: &'a Query,
    clock: &'a Clock<'a, 'c>,
    room: Room,
    /// Lines before a match that is still to come.
    before: Vec<FoundLine>,
    file: FoundFile,
    stopped: Option<Stop>,
    binary: bool,
}

impl<'a, 'c> FileSink<'a, 'c> {
    pub(super) fn new(
        query: &'a Query,
        clock: &'a Clock<'a, 'c>,
        room: Room,
        path: String,
    ) -> Self {
        Self {
            query,
            clock,
            room,
            before: Vec::new(),
            file: FoundFile::new(path),
            stopped: None,
            binary: false,
        }
    }

    pub(super) fn into_outcome(self) -> Outcome {
        if self.binary {
            // Also what was found before the zero byte is no line of text.
            return Outcome::Binary;
        }
        Outcome::Text { file: self.file, stopped: self.stopped }
    }

    /// Takes all the lines, or stops where the answer has no room for them.
    fn keep(&mut self, lines: Vec<FoundLine>) -> bool {
        let cost = lines.iter().map(|line| self.file.cost(line)).sum();
        match self.room.bytes.checked_sub(cost) {
            Some(left) => {
                self.room.bytes = left;
                self.file.lines.extend(lines);
                true
            }
            None => self.stop(Stop::AnswerFull),
        }
    }

    fn stop(&mut self, reason: Stop) -> bool {
        self.stopped = Some(reason);
        false
    }
}

impl Sink for FileSink<'_, '_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.clock.has_run_out() {
            return Ok(self.stop(Stop::Time));
        }
        let mut lines = std::mem::take(&mut self.before);
        if self.file.matches == self.query.max_per_file {
            self.file.more_matches += 1;
            return Ok(true);
        }
        // Only a match that there is no room for shows that there are more.
        if self.file.matches == self.room.matches {
            return Ok(self.stop(Stop::Matches));
        }
        let focus = self.query.matcher.find(found.bytes()).ok().flatten();
        let focus = focus.map_or(0..0, |focus| focus.start()..focus.end());
        lines.push(FoundLine {
            number: found.line_number().unwrap_or_default(),
            text: shown(found.bytes(), focus, MAX_LINE),
            matched: true,
        });
        let kept = self.keep(lines);
        self.file.matches += usize::from(kept);
        Ok(kept)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let line = FoundLine {
            number: context.line_number().unwrap_or_default(),
            text: shown(context.bytes(), 0..0, MAX_LINE),
            matched: false,
        };
        match context.kind() {
            // Whether they are taken depends on the match that follows.
            SinkContextKind::Before => self.before.push(line),
            SinkContextKind::After if self.file.more_matches == 0 => {
                return Ok(self.keep(vec![line]));
            }
            _ => {}
        }
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.binary = finish.binary_byte_offset().is_some();
        Ok(())
    }
}
