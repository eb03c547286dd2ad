//! What a writer shows to the people who decide about its call.

use toolbay_plugin_api::Context;

use crate::{
    change::{Change, ChangeError, Step},
    order::{Order, OrderError},
    provider::Notes,
    text::{counted, one_line},
};

/// The lines of a text that are shown; hosts show some twenty lines in all.
const MAX_LINES: usize = 15;

/// The bytes of a line that are shown.
const MAX_LINE: usize = 400;

/// What a call with these arguments would do, worked out as the call itself does it.
pub(crate) fn preview<A>(notes: &Notes, arguments: A, context: &Context<'_>) -> Option<Vec<String>>
where
    Order: TryFrom<A, Error = OrderError>,
{
    let order = Order::try_from(arguments).map_err(|error| error.to_string());
    let change =
        order.and_then(|order| planned(notes, order, context).map_err(|error| error.to_string()));
    Some(match change {
        Ok(change) => lines(&change),
        Err(error) => vec![format!("this call would fail: {error}")],
    })
}

fn planned(notes: &Notes, order: Order, context: &Context<'_>) -> Result<Change, ChangeError> {
    Change::new(order, &notes.folder()?, context)
}

fn lines(change: &Change) -> Vec<String> {
    let file = change.name.file();
    let bytes = |bytes: &[u8]| counted(bytes.len(), "byte");
    match &change.step {
        Step::Create(text) => {
            let size = bytes(text.as_bytes());
            with_text(format!("create {file}, {size}:"), '+', text.as_bytes())
        }
        Step::Append { before, text, after } => {
            let (size, changed) = (bytes(&before.bytes), before.changed);
            let heading = format!(
                "append to {file}, {size} before, last changed {changed}, {} afterwards:",
                bytes(after)
            );
            with_text(heading, '+', text.as_bytes())
        }
        Step::Delete(before) => {
            let (size, changed) = (bytes(&before.bytes), before.changed);
            let heading = format!(
                "delete {file}, {size}, last changed {changed}; this would be lost for good:"
            );
            with_text(heading, '-', &before.bytes)
        }
    }
}

/// A heading, and the first lines of a text.
fn with_text(heading: String, sign: char, text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let mut lines = vec![heading];
    let mut rest = text.lines();
    lines.extend(
        rest.by_ref().take(MAX_LINES).map(|line| format!("{sign} {}", one_line(line, MAX_LINE))),
    );
    match rest.count() {
        0 => {}
        more => lines.push(format!("and {} after them", counted(more, "line"))),
    }
    lines
}
