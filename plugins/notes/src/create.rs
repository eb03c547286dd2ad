//! The tool `notes_create`.

use toolbay_plugin_api::prelude::*;

use crate::{
    change,
    order::{Order, OrderError},
    preview,
    provider::{Notes, may_read},
};

/// Which note to make.
#[arguments]
pub(crate) struct CreateArguments {
    /// The note's name: letters, digits, spaces and _ - . only, at most 100 characters.
    #[schemars(length(min = 1, max = 300))]
    name: String,
    /// The note's text, in Markdown, at most 1 MiB.
    #[schemars(length(min = 1, max = 1_048_576))]
    text: String,
}

impl TryFrom<CreateArguments> for Order {
    type Error = OrderError;

    fn try_from(arguments: CreateArguments) -> Result<Self, OrderError> {
        Self::create(&arguments.name, arguments.text)
    }
}

/// Makes a new note.
///
/// It never replaces one: where there is a note of that name already, nothing is changed. Add to a note with notes_append.
// Made twice, the second time changes nothing: the note is there, as the first time left it.
#[tool(
    label = "New note",
    summary = "Makes a new note",
    group = "notes",
    effect = IdempotentWrite,
    data_class = EditorContent,
    egress = None,
    kind = Write,
    preview = preview::preview,
    may_viewer_read = may_read,
    enabled
)]
pub(crate) fn notes_create(
    notes: &Notes,
    arguments: CreateArguments,
    context: &Context<'_>,
) -> Result<Reply, Failure> {
    change::carry_out(notes, arguments.try_into()?, context)
}
