//! The tool `catalogue_search`.

mod answer;
mod query;

use std::collections::BTreeMap;

use toolbay_plugin_api::prelude::*;

pub(crate) use self::answer::Found;
use self::query::{Closeness, Joined, Words};
use crate::{entries::Entries, fold::fold, provider::Catalogue, text::one_line};

/// What to look for.
#[arguments]
pub(crate) struct SearchArguments {
    /// Words to look for; they may be misspelt or cut off. Leave it out to list what the filters let through.
    #[serde(default)]
    #[schemars(length(max = 500))]
    query: String,
    /// Values that columns must have: in full, in any case.
    #[serde(default)]
    filters: BTreeMap<String, String>,
    /// How many entries to return at most.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 50))]
    limit: usize,
    /// How many entries to pass over, for the next page.
    #[serde(default)]
    offset: usize,
}

const fn default_limit() -> usize {
    10
}

/// Why there is nothing to search for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
enum SearchError {
    #[error("expected words in `query` or a value in `filters`, found neither")]
    Nothing,
    #[error("expected a column in `filters`: {columns}; found {found:?}")]
    UnknownColumn { columns: String, found: String },
}

impl From<SearchError> for Failure {
    fn from(error: SearchError) -> Self {
        Self::new(error.to_string())
    }
}

/// Searches a catalogue for words, and filters its entries by the values of their columns.
///
/// Words may be misspelt or cut off; accents and case don't matter. Entries with all the words come first, the best of them on top.
/// Get one entry in full with catalogue_entry.
#[tool(
    label = "Catalogue search",
    summary = "Searches a catalogue for words, also misspelt ones",
    group = "catalogue",
    effect = ReadOnly,
    data_class = PublicContent,
    egress = None,
    kind = Search,
    output = Found,
    enabled
)]
pub(crate) fn catalogue_search(
    catalogue: &Catalogue,
    arguments: SearchArguments,
    context: &Context<'_>,
) -> Result<Reply, Failure> {
    let entries = catalogue.entries()?;
    let filters = Filter::parse(entries, &arguments.filters)?;
    let words = Words::new(&arguments.query, entries.index().vocabulary());
    let passes = |number: usize| filters.iter().all(|filter| filter.passes(entries, number));
    let hits = match (words.is_empty(), filters.is_empty()) {
        (true, true) => return Err(SearchError::Nothing.into()),
        (true, false) => Hits::unranked((0..entries.len()).filter(|number| passes(*number))),
        (false, _) => Hits::find(entries, &words, passes, context)?,
    };
    let page = Page { limit: arguments.limit.clamp(1, 50), offset: arguments.offset };
    let unknown = if hits.list.is_empty() { unknown_values(entries, &filters) } else { Vec::new() };
    Ok(Found::new(entries, &hits, &page).into_reply(entries, &unknown))
}

/// Which of the entries to return.
struct Page {
    limit: usize,
    offset: usize,
}

/// A value that a column must have.
struct Filter {
    column: usize,
    asked: String,
    folded: String,
}

impl Filter {
    fn parse(
        entries: &Entries,
        filters: &BTreeMap<String, String>,
    ) -> Result<Vec<Self>, SearchError> {
        let filter = |(name, value): (&String, &String)| {
            let column =
                entries.columns().find(name).ok_or_else(|| SearchError::UnknownColumn {
                    columns: entries.columns().listed(),
                    found: name.clone(),
                })?;
            Ok(Self { column, asked: value.clone(), folded: fold(value.trim()) })
        };
        filters.iter().map(filter).collect()
    }

    fn passes(&self, entries: &Entries, number: usize) -> bool {
        let field = entries.fields(number).get(self.column);
        field.is_some_and(|field| fold(field.trim()) == self.folded)
    }
}

/// Words for the filters that no entry passes: they are why nothing is found, whatever the query is.
fn unknown_values(entries: &Entries, filters: &[Filter]) -> Vec<String> {
    let passed_by_none =
        |filter: &&Filter| !(0..entries.len()).any(|number| filter.passes(entries, number));
    let words = |filter: &Filter| {
        let (name, asked) =
            (&entries.columns().names()[filter.column], one_line(&filter.asked, 100));
        format!("No entry has {asked:?} as its {name}; it is {}.", entries.values(filter.column))
    };
    filters.iter().filter(passed_by_none).map(words).collect()
}

/// What was found, the best first.
struct Hits {
    list: Vec<Hit>,
    joined: Option<Joined>,
}

struct Hit {
    number: usize,
    closeness: Option<Closeness>,
}

impl Hits {
    fn unranked(numbers: impl Iterator<Item = usize>) -> Self {
        Self { list: numbers.map(|number| Hit { number, closeness: None }).collect(), joined: None }
    }

    /// Looks for all the words, and for some of them where no entry has all. What is nearer to the words comes before what is further.
    fn find(
        entries: &Entries,
        words: &Words,
        passes: impl Fn(usize) -> bool,
        context: &Context<'_>,
    ) -> Result<Self, Failure> {
        let mut list = Vec::new();
        let mut joined = Joined::All;
        let mut seen = vec![false; entries.len()];
        for expression in words.expressions() {
            if !list.is_empty() && joined != expression.joined {
                break;
            }
            joined = expression.joined;
            if context.is_cancelled() {
                return Err(Failure::cancelled());
            }
            let found = entries.index().find(&expression.text).map_err(|error| {
                Failure::with_cause("the catalogue can't be searched now", &error)
            })?;
            for number in found.into_iter().filter(|number| passes(*number)) {
                if seen.get_mut(number).is_some_and(|seen| !std::mem::replace(seen, true)) {
                    list.push(Hit { number, closeness: Some(expression.closeness) });
                }
            }
        }
        Ok(Self { list, joined: Some(joined) })
    }
}
