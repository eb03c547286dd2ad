//! What came of a decision.

use std::io::Read;

use serde::Serialize;
use toolbay_loader::{ApprovalId, Decided, Need, Toolbay};

use crate::{
    arguments::Given,
    commands::{
        CommandError, call,
        failure::FailureRow,
        reply::{self, ReplyJson},
    },
    exit::Exit,
    output::Output,
    report,
};

#[derive(Serialize)]
struct DecidedJson<'a> {
    id: &'a str,
    results: Vec<ResultJson<'a>>,
}

#[derive(Serialize)]
struct ResultJson<'a> {
    tool: &'a str,
    #[serde(flatten)]
    reply: Option<ReplyJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<FailureRow<'a>>,
}

#[derive(Serialize)]
struct DeniedJson<'a> {
    id: &'a str,
    denied: bool,
}

/// What a person types in, as JSON, typed by the schema of the input.
pub(super) fn typed(
    id: &ApprovalId,
    words: &[String],
    toolbay: &Toolbay,
    input: impl Read,
) -> Result<String, CommandError> {
    let given = Given::parse(words)?;
    let stored = toolbay.approval(id)?;
    let schema = match &stored.request.need {
        Need::Input { schema, .. } => Some(schema),
        Need::Approval => None,
    };
    let json = given.into_json(schema, input, toolbay.config().limits.argument_bytes)?;
    // No words are an input in which everything is left out.
    Ok(if json.trim().is_empty() { "{}".to_owned() } else { json })
}

/// Prints what came of each call. The exit code is that of the first that did not succeed.
pub(super) fn show(
    decided: &Decided,
    json: bool,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    if json {
        let results = decided.results.iter().map(|(tool, result)| ResultJson {
            tool: tool.as_str(),
            reply: result.as_ref().ok().map(ReplyJson::from),
            error: result.as_ref().err().map(FailureRow::from),
        });
        output.json(&DecidedJson { id: decided.id.as_str(), results: results.collect() })?;
    } else {
        let several = decided.results.len() > 1;
        for (tool, result) in &decided.results {
            if several {
                output.text(&format!("{tool}:"))?;
            }
            match result {
                Ok(reply) => reply::show(reply, output)?,
                Err(error) => report::failure(error, call::help(error).as_deref()),
            }
        }
    }
    let exits = decided.results.iter().map(|(_, result)| match result {
        Ok(reply) => Exit::of_reply(reply.status()),
        Err(error) => Exit::of_call_error(error),
    });
    Ok(exits.into_iter().find(|exit| *exit != Exit::Done).unwrap_or(Exit::Done))
}

/// Tells that nothing was run.
pub(super) fn denied(
    id: &ApprovalId,
    json: bool,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    match json {
        true => output.json(&DeniedJson { id: id.as_str(), denied: true })?,
        false => output.text(&format!("request {id} is denied: nothing of it was run"))?,
    }
    Ok(Exit::Done)
}
