//! The tool `notes_delete`.

use toolbay_plugin_api::prelude::*;

use crate::{
    change,
    order::{Order, OrderError},
    preview,
    provider::{Notes, may_read},
};

/// Which note to remove.
#[arguments]
pub(crate) struct DeleteArguments {
    /// The note's name, as notes_list writes it.
    #[schemars(length(min = 1, max = 300))]
    name: String,
}

impl TryFrom<DeleteArguments> for Order {
    type Error = OrderError;

    fn try_from(arguments: DeleteArguments) -> Result<Self, OrderError> {
        Self::delete(&arguments.name)
    }
}

/// Removes a note for good.
// Made twice, the second time changes nothing: it fails, because there is no such note any more.
#[tool(
    label = "Delete a note",
    summary = "Removes a note for good",
    group = "notes",
    effect = IdempotentWrite,
    data_class = EditorContent,
    egress = None,
    kind = Destructive,
    preview = preview::preview,
    may_viewer_read = may_read,
    enabled
)]
pub(crate) fn notes_delete(
    notes: &Notes,
    arguments: DeleteArguments,
    context: &Context<'_>,
) -> Result<Reply, Failure> {
    change::carry_out(notes, arguments.try_into()?, context)
}
