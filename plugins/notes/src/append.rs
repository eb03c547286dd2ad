//! The tool `notes_append`.

use toolbay_plugin_api::prelude::*;

use crate::{
    change,
    order::{Order, OrderError},
    preview,
    provider::{Notes, may_read},
};

/// What to add to which note.
#[arguments]
pub(crate) struct AppendArguments {
    /// The note's name, as notes_list writes it.
    #[schemars(length(min = 1, max = 300))]
    name: String,
    /// The text to add, in Markdown, at most 64 KiB. It begins on a line of its own.
    #[schemars(length(min = 1, max = 65_536))]
    text: String,
}

impl TryFrom<AppendArguments> for Order {
    type Error = OrderError;

    fn try_from(arguments: AppendArguments) -> Result<Self, OrderError> {
        Self::append(&arguments.name, arguments.text)
    }
}

/// Adds a text to the end of a note.
///
/// The note must be there; make a new one with notes_create.
#[tool(
    label = "Add to a note",
    summary = "Adds a text to the end of a note",
    group = "notes",
    effect = NonIdempotentWrite,
    data_class = EditorContent,
    egress = None,
    kind = Write,
    preview = preview::preview,
    may_viewer_read = may_read,
    enabled
)]
pub(crate) fn notes_append(
    notes: &Notes,
    arguments: AppendArguments,
    context: &Context<'_>,
) -> Result<Reply, Failure> {
    change::carry_out(notes, arguments.try_into()?, context)
}
