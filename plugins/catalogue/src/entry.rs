//! The tool `catalogue_entry`.

use std::{collections::BTreeMap, fmt::Write};

use strsim::osa_distance;
use toolbay_plugin_api::prelude::*;

use crate::{
    entries::{Entries, id_key},
    provider::Catalogue,
    text::{many_lines, one_line},
};

/// The bytes that all fields of an entry share in the answer.
const MAX_ENTRY: usize = 32_000;

/// How many ids are proposed for an unknown one.
const MAX_PROPOSALS: usize = 3;

/// Which entry.
#[arguments]
pub(crate) struct EntryArguments {
    /// The entry's id, as catalogue_search writes it in brackets.
    #[schemars(length(min = 1, max = 200))]
    id: String,
}

/// Why there is no entry.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
enum EntryError {
    #[error("no entry has the id {id:?}; find it with catalogue_search")]
    Unknown { id: String },
    #[error("no entry has the id {id:?}; the nearest are {proposals}")]
    Misspelt { id: String, proposals: String },
}

impl From<EntryError> for Failure {
    fn from(error: EntryError) -> Self {
        Self::new(error.to_string())
    }
}

/// An entry of the catalogue.
#[output]
pub(crate) struct Entry {
    id: String,
    title: String,
    /// The columns and what the entry has in them.
    fields: BTreeMap<String, String>,
}

/// Gets one entry of a catalogue in full, by its id.
#[tool(
    label = "Catalogue entry",
    summary = "Gets one entry of a catalogue in full",
    group = "catalogue",
    effect = ReadOnly,
    data_class = PublicContent,
    egress = None,
    kind = Read,
    output = Entry,
    enabled
)]
pub(crate) fn catalogue_entry(
    catalogue: &Catalogue,
    arguments: EntryArguments,
    context: &Context<'_>,
) -> Result<Reply, Failure> {
    if context.is_cancelled() {
        return Err(Failure::cancelled());
    }
    let entries = catalogue.entries()?;
    let number = entries.by_id(&arguments.id).ok_or_else(|| unknown(entries, &arguments.id))?;

    let mut text = String::new();
    let mut fields = BTreeMap::new();
    let mut room = MAX_ENTRY;
    for (name, field) in entries.columns().names().iter().zip(entries.fields(number)) {
        let field = many_lines(field, room);
        room = room.saturating_sub(field.len());
        let _ = writeln!(text, "{name}: {field}");
        fields.insert(name.clone(), field);
    }
    let entry =
        Entry { id: entries.id(number), title: one_line(entries.title(number), MAX_ENTRY), fields };
    Ok(Reply::text(text).structured(entry))
}

fn unknown(entries: &Entries, id: &str) -> EntryError {
    let (id, key) = (one_line(id, 200), id_key(id));
    let near = |other: &&str| other.len().abs_diff(key.len()) <= 2;
    let distances = entries.id_keys().filter(near).map(|other| (osa_distance(&key, other), other));
    let mut nearest = distances.filter(|(distance, _)| *distance <= 2).collect::<Vec<_>>();
    nearest.sort_unstable();
    let proposals = nearest.iter().take(MAX_PROPOSALS);
    let proposals = proposals.filter_map(|(_, key)| entries.by_id(key));
    let proposals = proposals.map(|number| one_line(&entries.id(number), 200)).collect::<Vec<_>>();
    match proposals.as_slice() {
        [] => EntryError::Unknown { id },
        some => EntryError::Misspelt { id, proposals: some.join(", ") },
    }
}
