//! Prints the result of a call, for `toolbay call` and for whatever else makes calls run.

mod json;
mod shown;

use toolbay_loader::Reply;

pub(super) use self::json::ReplyJson;
use crate::{
    output::{Output, OutputError},
    report,
};

/// Prints a reply for a person: what a model reads, and what there is beside it.
pub(super) fn show(reply: &Reply, output: &mut Output) -> Result<(), OutputError> {
    output.text(&shown::reply(reply))?;
    match reply.artifacts().len() {
        0 => {}
        1 => report::note("one more result, for people alone, is shown by --json"),
        count => {
            report::note(&format!("{count} more results, for people alone, are shown by --json"))
        }
    }
    Ok(())
}
