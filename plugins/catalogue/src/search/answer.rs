//! What a search has found, as text, as values and as a table.

use std::{collections::BTreeMap, fmt::Write};

use toolbay_plugin_api::{Artifact, Reply, output};

use super::{
    Hits, Page,
    query::{Closeness, Joined},
};
use crate::{
    entries::Entries,
    text::{entries as counted, one_line},
};

/// The most bytes of an entry's title, of one of its fields, and of all its fields in the text.
const MAX_TITLE: usize = 100;
const MAX_FIELD: usize = 100;
const MAX_FIELDS: usize = 540;

/// The most fields in an answer, and the bytes that they share in its values, and again in its table.
const MAX_CELLS: usize = 1000;
const MAX_VALUES: usize = 20_000;

/// What a search has found.
#[output]
pub(crate) struct Found {
    /// How many entries match in all.
    total: usize,
    /// How many of them were passed over.
    offset: usize,
    /// The offset of the next page; null after the last.
    next_offset: Option<usize>,
    /// How many of the words these entries have; null without words.
    words: Option<Joined>,
    /// The entries of this page, the best first.
    entries: Vec<FoundEntry>,
}

/// An entry that matches.
#[output]
struct FoundEntry {
    id: String,
    title: String,
    /// How near its words are to those that were looked for; null without words.
    closeness: Option<Closeness>,
    /// The columns and what the entry has in them; long fields are cut.
    fields: BTreeMap<String, String>,
    #[serde(skip)]
    number: usize,
}

impl Found {
    pub(super) fn new(entries: &Entries, hits: &Hits, page: &Page) -> Self {
        let total = hits.list.len();
        let columns = entries.columns().names().len();
        let limit = page.limit.min(MAX_CELLS / columns.max(1)).max(1);
        let shown = hits.list.iter().skip(page.offset).take(limit);
        let cell = cell(shown.len(), columns);
        let found = shown.map(|hit| FoundEntry {
            id: entries.id(hit.number),
            title: one_line(entries.title(hit.number), MAX_TITLE),
            closeness: hit.closeness,
            fields: entries
                .columns()
                .names()
                .iter()
                .zip(entries.fields(hit.number))
                .map(|(name, field)| (name.clone(), one_line(field, cell)))
                .collect(),
            number: hit.number,
        });
        let found = found.collect::<Vec<_>>();
        let next = page.offset.saturating_add(found.len());
        Self {
            total,
            offset: page.offset,
            next_offset: (next < total).then_some(next),
            words: hits.joined,
            entries: found,
        }
    }

    pub(super) fn into_reply(self, entries: &Entries, unknown_values: &[String]) -> Reply {
        let reply = Reply::text(self.text(entries, unknown_values)).artifact(self.table(entries));
        reply.structured(self)
    }

    fn text(&self, entries: &Entries, unknown_values: &[String]) -> String {
        let total = counted(self.total);
        let mut text = match (self.total, self.words) {
            (0, _) => "No entry matches.".to_owned(),
            (_, Some(Joined::Some)) => {
                format!("No entry has all the words; {total} with some of them.")
            }
            _ => format!("{total} found."),
        };
        for words in unknown_values {
            text.push(' ');
            text.push_str(words);
        }
        match (self.entries.len(), self.next_offset) {
            (0, _) if self.total > 0 => text.push_str(" `offset` is after the last of them."),
            (0, _) => {}
            (count, next) if count < self.total => {
                let (first, last) = (self.offset + 1, self.offset + count);
                let _ = write!(text, " Here are {first} to {last}.");
                if let Some(next) = next {
                    let _ = write!(text, " Go on with `offset` {next}.");
                }
            }
            _ => {}
        }
        text.push('\n');
        for (at, found) in self.entries.iter().enumerate() {
            found.write(&mut text, self.offset + at + 1, entries);
        }
        text
    }

    fn table(&self, entries: &Entries) -> Artifact {
        let columns = entries.columns().names();
        let cell = cell(self.entries.len(), columns.len());
        let row = |found: &FoundEntry| {
            entries.fields(found.number).iter().map(|field| one_line(field, cell)).collect()
        };
        Artifact::table(entries.name(), columns.to_vec(), self.entries.iter().map(row).collect())
    }
}

impl FoundEntry {
    fn write(&self, text: &mut String, place: usize, entries: &Entries) {
        let spelling = match self.closeness {
            Some(Closeness::Similar) => ", similar spelling",
            _ => "",
        };
        let id = one_line(&self.id, MAX_FIELD);
        let _ = writeln!(text, "{place}. {} [{id}]{spelling}", self.title);

        let columns = entries.columns();
        let told = [columns.id(), Some(columns.title())];
        let fields = columns.names().iter().zip(entries.fields(self.number)).enumerate();
        let fields =
            fields.filter(|(at, (_, field))| !told.contains(&Some(*at)) && !field.is_empty());
        let fields =
            fields.map(|(_, (name, field))| format!("{name}: {}", one_line(field, MAX_FIELD)));
        let fields = fields.collect::<Vec<_>>().join("; ");
        if !fields.is_empty() {
            let _ = writeln!(text, "   {}", one_line(&fields, MAX_FIELDS));
        }
    }
}

/// The bytes that one field may take.
fn cell(rows: usize, columns: usize) -> usize {
    (MAX_VALUES / (rows * columns).max(1)).min(2000)
}
