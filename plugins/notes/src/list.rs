//! The tool `notes_list`.

use std::fmt::Write;

use toolbay_plugin_api::prelude::*;
use unicode_normalization::UnicodeNormalization;

use crate::{
    folder::{Entry, Listing, MAX_NOTES},
    provider::Notes,
    text::counted,
};

/// Which notes to list.
#[arguments]
pub(crate) struct ListArguments {
    /// A part of their names, in any case. Leave it out to list all of them.
    #[serde(default)]
    #[schemars(length(max = 300))]
    query: Option<String>,
    /// How many to list at most.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
    /// How many to pass over, for the next page.
    #[serde(default)]
    offset: usize,
}

const fn default_limit() -> usize {
    50
}

/// Notes.
#[output]
pub(crate) struct Listed {
    /// How many notes there are that have the query in their names.
    total: usize,
    /// Those of this page, by name.
    notes: Vec<ListedNote>,
}

/// A note.
#[output]
struct ListedNote {
    name: String,
    bytes: u64,
    /// When it was last changed, such as 2026-07-30T12:00:00Z.
    changed: String,
}

/// Lists notes by name, with their sizes and the times of their last change.
///
/// Read one of them with notes_read.
#[tool(
    label = "List of notes",
    summary = "Lists notes by name",
    group = "notes",
    effect = ReadOnly,
    data_class = EditorContent,
    egress = None,
    kind = Search,
    output = Listed,
    enabled
)]
pub(crate) fn notes_list(
    notes: &Notes,
    arguments: ListArguments,
    context: &Context<'_>,
) -> Result<Reply, Failure> {
    let Listing { notes, left_out, more } = notes.folder()?.list(context)?;
    let asked = arguments.query.as_deref().unwrap_or_default().trim();
    let query = folded(asked);
    let found: Vec<&Entry> =
        notes.iter().filter(|note| folded(note.name.as_str()).contains(&query)).collect();
    let page = found.iter().skip(arguments.offset).take(arguments.limit.clamp(1, 100));
    let listed = Listed {
        total: found.len(),
        notes: page
            .map(|note| ListedNote {
                name: note.name.to_string(),
                bytes: note.bytes,
                changed: note.changed.to_string(),
            })
            .collect(),
    };

    let mut words = match (found.len(), query.is_empty()) {
        (0, true) => "There are no notes.".to_owned(),
        (0, false) => format!("No note has {asked:?} in its name, of {}.", notes.len()),
        (count, true) => format!("{}.", counted(count, "note")),
        (count, false) => {
            format!("{} of {} with {asked:?} in the name.", count, counted(notes.len(), "note"))
        }
    };
    let next = arguments.offset.saturating_add(listed.notes.len());
    let all_listed = arguments.offset == 0 && next >= found.len();
    if next < found.len() {
        let _ = write!(words, " List on with `offset` {next}.");
    }
    if more {
        let _ =
            write!(words, " There are more than {MAX_NOTES} notes; the others can't be listed.");
    }
    if left_out > 0 {
        let files = counted(left_out, "file");
        let _ = write!(words, " Left out: {files} of other kinds, or with names that no note has.");
    }
    words.push('\n');
    for note in &listed.notes {
        let _ = writeln!(words, "{}  {} bytes  {}", note.name, note.bytes, note.changed);
    }
    let reply = Reply::text(words).structured(listed);
    Ok(if all_listed && !more { reply.complete() } else { reply.partial() })
}

/// The text in the form in which names are compared.
fn folded(text: &str) -> String {
    text.nfc().collect::<String>().to_lowercase()
}
