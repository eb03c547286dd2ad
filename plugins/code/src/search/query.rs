//! The arguments of a search as what is searched for: compiled, within the caps.

use std::path::Path;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use toolbay_plugin_api::Failure;

use super::{Case, SearchArguments};

/// What a pattern may take when it is compiled, in bytes.
const MAX_COMPILED: usize = 10 << 20;

/// Why there is nothing to search for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum QueryError {
    #[error("expected a pattern, found an empty one")]
    Empty,
    #[error(
        "the pattern is no regular expression; correct it, or set `literal` to find it as it is"
    )]
    Pattern(#[source] grep_regex::Error),
    #[error("the pattern can't be searched for as text")]
    Literal(#[source] grep_regex::Error),
    #[error("{glob:?} in `files` is no pattern of paths")]
    Files {
        glob: String,
        #[source]
        source: ignore::Error,
    },
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Self {
        // Only the cause says where the model's pattern is wrong.
        Self::new(match std::error::Error::source(&error) {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        })
    }
}

/// A search that can be run.
#[derive(Debug)]
pub(crate) struct Query {
    pub(crate) matcher: RegexMatcher,
    files: Override,
    pub(crate) context: usize,
    pub(crate) max_results: usize,
    pub(crate) max_per_file: usize,
}

impl Query {
    pub(crate) fn new(arguments: &SearchArguments) -> Result<Self, QueryError> {
        if arguments.pattern.is_empty() {
            return Err(QueryError::Empty);
        }
        let matcher = RegexMatcherBuilder::new()
            .case_smart(matches!(arguments.case, Case::Smart))
            .case_insensitive(matches!(arguments.case, Case::Insensitive))
            .fixed_strings(arguments.literal)
            .multi_line(true)
            .crlf(true)
            .size_limit(MAX_COMPILED)
            .dfa_size_limit(MAX_COMPILED)
            .build(&arguments.pattern)
            .map_err(match arguments.literal {
                true => QueryError::Literal,
                false => QueryError::Pattern,
            })?;
        Ok(Self {
            matcher,
            files: files(&arguments.files)?,
            context: arguments.context.min(10) as usize,
            max_results: arguments.max_results.clamp(1, 200) as usize,
            max_per_file: arguments.max_per_file.clamp(1, 200) as usize,
        })
    }

    /// Whether the patterns of paths let the file through. They only narrow: nothing that is hidden or ignored comes back by them.
    pub(crate) fn wants(&self, path: &Path) -> bool {
        !self.files.matched(path, false).is_ignore()
    }
}

fn files(globs: &[String]) -> Result<Override, QueryError> {
    let mut builder = OverrideBuilder::new("");
    for glob in globs {
        let wrong = |source| QueryError::Files { glob: glob.clone(), source };
        // Only files are matched, so a pattern of a folder means the files in it.
        let below = if glob.ends_with('/') { "**" } else { "" };
        builder.add(&format!("{glob}{below}")).map_err(wrong)?;
    }
    builder.build().map_err(|source| QueryError::Files { glob: globs.join(" "), source })
}
