//! The tool `code_search`.

mod found;
mod query;
mod sink;

use std::time::Instant;

use grep_searcher::Searcher;
use toolbay_plugin_api::prelude::*;

pub(crate) use self::found::Found;
use self::{
    found::Stop,
    query::Query,
    sink::{FileSink, Outcome},
};
use crate::{
    config::Limits,
    folder::OpenError,
    provider::Code,
    roots::Target,
    text::searcher,
    walk::{FileEntry, Step, Walk},
};

/// What to find, and where.
#[arguments]
pub(crate) struct SearchArguments {
    /// What to find in a line: a regular expression in Rust's syntax, or the text itself where `literal` is true.
    #[schemars(length(min = 1, max = 1000))]
    pattern: String,
    /// Takes the pattern as plain text.
    #[serde(default)]
    literal: bool,
    /// Whether upper and lower case differ.
    #[serde(default)]
    case: Case,
    /// Patterns of paths as in .gitignore, such as `*.rs` or `src/**`; a `!` in front leaves files out.
    #[serde(default)]
    #[schemars(length(max = 20), inner(length(min = 1, max = 200)))]
    files: Vec<String>,
    /// The folder or file to search in; everything where it is left out.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    path: String,
    /// How many lines to show before and after each match.
    #[serde(default)]
    #[schemars(range(max = 10))]
    context: u32,
    /// How many matching lines to return at most.
    #[serde(default = "default_max_results")]
    #[schemars(range(min = 1, max = 200))]
    max_results: u32,
    /// How many matching lines of one file to return at most.
    #[serde(default = "default_max_per_file")]
    #[schemars(range(min = 1, max = 200))]
    max_per_file: u32,
}

const fn default_max_results() -> u32 {
    50
}

const fn default_max_per_file() -> u32 {
    20
}

/// How upper and lower case compare.
#[arguments]
#[derive(Clone, Copy, Default)]
#[serde(rename_all = "lowercase")]
enum Case {
    /// They differ where the pattern has an upper-case letter.
    #[default]
    Smart,
    /// They differ.
    Sensitive,
    /// They are the same.
    Insensitive,
}

/// Searches source code line by line, for a regular expression or a plain text.
///
/// Returns lines as `path:number: text`, grouped by file, and says what was left out. Hidden files, what .gitignore and .ignore exclude,
/// binary files and links are not searched. Read on around a match with code_read.
#[tool(
    label = "Code search",
    summary = "Searches source files with a regular expression or a plain text",
    group = "code",
    effect = ReadOnly,
    data_class = SourceCode,
    egress = None,
    kind = Search,
    output = Found,
    enabled
)]
pub(crate) fn code_search(
    code: &Code,
    arguments: SearchArguments,
    context: &Context<'_>,
) -> Result<Reply, Failure> {
    let targets = code.roots().targets(&arguments.path)?;
    let query = Query::new(&arguments)?;
    let mut search = Search::new(code, &query, context);
    for target in &targets {
        search.walk(target)?;
    }
    Ok(search.found.into_reply(&query, code.limits()))
}

/// When a search ends early.
struct Clock<'a, 'c> {
    context: &'a Context<'c>,
    /// None where the limit is longer than the clock can count.
    stop_at: Option<Instant>,
}

impl<'a, 'c> Clock<'a, 'c> {
    fn new(context: &'a Context<'c>, limits: &Limits) -> Self {
        let now = Instant::now();
        let mut time = limits.time();
        if let Some(deadline) = context.deadline() {
            // A fifth of the time is for the answer's way back: a part of it is better than none.
            time = time.min(deadline.saturating_duration_since(now) / 5 * 4);
        }
        Self { context, stop_at: now.checked_add(time) }
    }

    fn has_run_out(&self) -> bool {
        self.stop_at.is_some_and(|stop_at| stop_at <= Instant::now()) || self.context.is_cancelled()
    }
}

/// A search under way.
struct Search<'a, 'c> {
    code: &'a Code,
    query: &'a Query,
    clock: Clock<'a, 'c>,
    searcher: Searcher,
    bytes_read: u64,
    found: Found,
}

impl<'a, 'c> Search<'a, 'c> {
    fn new(code: &'a Code, query: &'a Query, context: &'a Context<'c>) -> Self {
        Self {
            code,
            query,
            clock: Clock::new(context, code.limits()),
            searcher: searcher(query.context),
            bytes_read: 0,
            found: Found::default(),
        }
    }

    fn walk(&mut self, target: &Target<'_>) -> Result<(), Failure> {
        for step in Walk::new(target.place()?) {
            if self.clock.has_run_out() {
                self.found.stop(Stop::Time);
            }
            if self.found.is_stopped() {
                break;
            }
            match step {
                Step::Entered => {}
                Step::Unreadable => self.found.skipped.unreadable += 1,
                Step::TooDeep => self.found.skipped.too_deep += 1,
                Step::File(file) => self.file(target, &file),
            }
        }
        if self.clock.context.is_cancelled() { Err(Failure::cancelled()) } else { Ok(()) }
    }

    fn file(&mut self, target: &Target<'_>, file: &FileEntry) {
        let path = file.path();
        if !self.query.wants(&path) {
            return;
        }
        let opened = match file.open(self.code.limits().file_bytes()) {
            Ok(opened) => opened,
            // It was swapped since its folder was listed, so it is no source file.
            Err(OpenError::NotRegular) => return,
            Err(OpenError::TooLarge { .. }) => return self.found.skipped.too_large += 1,
            Err(OpenError::Unreadable(_)) => return self.found.skipped.unreadable += 1,
        };
        self.bytes_read = self.bytes_read.saturating_add(opened.limit());
        if self.bytes_read > self.code.limits().total_bytes() {
            return self.found.stop(Stop::BytesRead);
        }
        let path = self.code.roots().shown(target, &path);
        let mut sink = FileSink::new(self.query, &self.clock, self.found.room(self.query), path);
        let read = self.searcher.search_reader(&self.query.matcher, opened, &mut sink);
        self.found.files_searched += 1;
        match read.map(|()| sink.into_outcome()) {
            Ok(Outcome::Binary) => self.found.skipped.binary += 1,
            Ok(Outcome::Text { file, stopped }) => self.found.add(file, stopped),
            Err(_) => self.found.skipped.unreadable += 1,
        }
        if self.found.files_searched.is_multiple_of(256) {
            let searched = self.found.files_searched;
            let words = format!("searched {searched} files");
            self.clock.context.progress(searched as f64, None, Some(&words));
        }
    }
}
