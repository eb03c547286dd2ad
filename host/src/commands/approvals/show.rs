//! `toolbay approvals show`: what a request would do, and the command lines that decide about exactly that.

use serde::Serialize;
use serde_json::value::RawValue;
use toolbay_loader::{
    Actor, ApprovalError, ApprovalId, CallResult, Decider, Need, PendingCall, PendingRequest,
    Preview, ReplyStatus, RequestState, Settled, StoredRequest, Toolbay,
};

use super::{
    fields::{Field, fields},
    row::RequestRow,
};
use crate::{
    caller::Named,
    commands::{
        CommandError, Opened,
        row::effect_words,
        time::{ago, ahead, now},
    },
    config::People,
    exit::Exit,
    json_text::lay_out,
    output::{Facts, Output, OutputError, visible},
    program::Program,
};

/// The most lines of arguments that are shown; `--json` has all of them.
const MAX_ARGUMENT_LINES: usize = 60;

/// The most characters of such a line.
const MAX_LINE_CHARACTERS: usize = 400;

#[derive(Serialize)]
struct ShowJson<'a> {
    #[serde(flatten)]
    request: RequestRow<'a>,
    digest: String,
    calls: Vec<CallRow<'a>>,
    /// What a person types in, where it waits for that.
    input: Option<InputRow<'a>>,
    /// Why the viewer can't release it, where that is known.
    obstacle: Option<String>,
    commands: CommandsRow,
}

#[derive(Serialize)]
struct CallRow<'a> {
    tool: &'a str,
    provider: &'a str,
    effect: &'static str,
    /// Whether there is a tool of that name now.
    registered: bool,
    arguments: Option<&'a RawValue>,
    preview: PreviewRow<'a>,
    /// Whether it would do something else by now than when somebody first looked at it.
    changed: bool,
    /// What came of it, where it has run.
    outcome: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
enum PreviewRow<'a> {
    Lines {
        lines: &'a [String],
    },
    None,
    Failed {
        class: &'a str,
    },
    /// The viewer may not read what the call is about.
    Withheld,
}

#[derive(Serialize)]
struct InputRow<'a> {
    /// For which call, counted from 0.
    call: usize,
    fields: Vec<Field>,
    schema: &'a RawValue,
}

/// The command lines that decide about what is shown; none where it does not wait, or the viewer can't.
#[derive(Default, Serialize)]
struct CommandsRow {
    approve: Option<String>,
    submit: Option<String>,
    deny: Option<String>,
}

pub(super) fn show(
    id: &ApprovalId,
    viewer: &Decider,
    named: Option<&Named>,
    Opened { toolbay, people, program }: &Opened,
    json: bool,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let stored = toolbay.approval(id)?;
    if !viewer.may_decide(&stored.request.owner) {
        let actor = viewer.actor().to_string();
        return Err(ApprovalError::NotPermitted { id: id.clone(), actor }.into());
    }
    let obstacle = obstacle(&stored.request, viewer, people, toolbay);
    let digest = stored.request.digest().to_string();
    let waits = matches!(stored.state, RequestState::Waiting { .. });
    let commands = match (waits, named) {
        (true, Some(named)) => commands(&stored, &digest, named, obstacle.is_none(), program),
        _ => CommandsRow::default(),
    };
    let row = ShowJson {
        request: RequestRow::from(&stored),
        calls: calls(&stored, viewer, toolbay),
        input: input(&stored.request.need),
        obstacle: obstacle.filter(|_| waits),
        digest,
        commands,
    };
    match json {
        true => output.json(&row)?,
        false => print(&row, &stored, output)?,
    }
    Ok(Exit::Done)
}

/// Why the viewer could not release the request, as far as that can be known before trying.
fn obstacle(
    request: &PendingRequest,
    viewer: &Decider,
    people: &People,
    toolbay: &Toolbay,
) -> Option<String> {
    if people.now(&request.owner.actor).is_none() {
        return Some(format!("{} is no more: it can only be denied", request.owner.actor));
    }
    let service = matches!(viewer.actor(), Actor::ServiceAccount { .. });
    let input = matches!(request.need, Need::Input { .. });
    let agent = request.owner.agent.as_ref();
    if let Some(name) = agent {
        match toolbay.agent(name) {
            Err(_) => return Some(format!("agent {name} is no more: it can only be denied")),
            Ok(agent) if agent.four_eyes && viewer.is(&request.owner) && !service && !input => {
                return Some(format!("agent {name} needs a second person to approve it"));
            }
            Ok(_) => {}
        }
    }
    if service && (request.writes() || input) {
        return Some("a service account releases neither writes nor inputs".to_owned());
    }
    let registry = toolbay.registry();
    let for_admins = |call: &&PendingCall| {
        let entry = registry.get(call.tool.as_str());
        (call.effect.is_write() || input)
            && entry.is_some_and(|entry| entry.definition().declarations().requires_admin)
    };
    let for_admins = request.calls.iter().find(for_admins);
    for_admins
        .filter(|_| !viewer.actor().is_admin())
        .map(|call| format!("tool {} is for administrators, and so is its release", call.tool))
}

fn commands(
    stored: &StoredRequest,
    digest: &str,
    named: &Named,
    releases: bool,
    program: &Program,
) -> CommandsRow {
    let command = |verb: &str, more: &[String]| {
        let named = named.to_string();
        let id = stored.id.as_str();
        let words = ["approvals", verb, id, "--digest", digest, "--as", &named];
        program.command(words.into_iter().chain(more.iter().map(String::as_str)))
    };
    let deny = Some(command("deny", &[]));
    match &stored.request.need {
        _ if !releases => CommandsRow { deny, ..CommandsRow::default() },
        Need::Approval => {
            CommandsRow { approve: Some(command("approve", &[])), submit: None, deny }
        }
        Need::Input { schema, .. } => {
            let fields = fields(schema).into_iter().filter(|field| field.required);
            let pairs: Vec<String> = fields.map(|field| format!("{}=...", field.name)).collect();
            CommandsRow { approve: None, submit: Some(command("submit", &pairs)), deny }
        }
    }
}

fn calls<'a>(stored: &'a StoredRequest, viewer: &Decider, toolbay: &Toolbay) -> Vec<CallRow<'a>> {
    let registry = toolbay.registry();
    let may_read = toolbay.may_read(&stored.request, viewer);
    let calls = stored.request.calls.iter().zip(may_read).enumerate();
    let row = |(at, (call, may_read)): (usize, (&'a PendingCall, bool))| CallRow {
        tool: call.tool.as_str(),
        provider: call.provider.as_str(),
        effect: call.effect.as_str(),
        registered: registry.get(call.tool.as_str()).is_some(),
        arguments: serde_json::from_str(&call.arguments).ok(),
        preview: match &call.preview {
            Preview::Absent => PreviewRow::None,
            _ if !may_read => PreviewRow::Withheld,
            Preview::Lines(lines) => PreviewRow::Lines { lines },
            Preview::Failed(class) => PreviewRow::Failed { class },
        },
        changed: matches!(&stored.state, RequestState::Waiting { stale } if stale.contains(&at)),
        outcome: outcome(&stored.state, at),
    };
    calls.map(row).collect()
}

fn outcome(state: &RequestState, at: usize) -> Option<&str> {
    let RequestState::Settled { settled: Settled::Done { results }, .. } = state else {
        return None;
    };
    results.get(at).map(|result| match result {
        CallResult::Reply(reply) => match reply.status {
            ReplyStatus::Ok => "ok",
            ReplyStatus::Failed => "failed",
            ReplyStatus::Cancelled => "cancelled",
        },
        CallResult::Refused { code, .. } => code.as_str(),
    })
}

fn input(need: &Need) -> Option<InputRow<'_>> {
    match need {
        Need::Approval => None,
        Need::Input { call, schema } => {
            Some(InputRow { call: *call, fields: fields(schema), schema: schema.as_raw() })
        }
    }
}

fn print(
    row: &ShowJson<'_>,
    stored: &StoredRequest,
    output: &mut Output,
) -> Result<(), OutputError> {
    let (request, now) = (&row.request, now());
    let mut facts = Facts::new();
    facts.add("request", request.id);
    facts.add("state", state(row, stored, now));
    let agent = request.agent.map(|agent| format!(", as agent {agent}")).unwrap_or_default();
    let run = request.run.map(|run| format!(", in run {run}")).unwrap_or_default();
    let asked = ago(stored.request.requested, now);
    facts.add("asked by", format!("{}{agent}{run}, {asked}", request.owner));
    for (call, pending) in row.calls.iter().zip(&stored.request.calls) {
        let gone = if call.registered { "" } else { "; there is no such tool now" };
        let effect = effect_words(pending.effect, false);
        facts.add("call", format!("{} of provider {}, {effect}{gone}", call.tool, call.provider));
        facts.add("  arguments", arguments(&pending.arguments));
        let changed = if call.changed { "changed since it was first shown:\n" } else { "" };
        facts.add("  preview", format!("{changed}{}", preview(&call.preview)));
        if let Some(outcome) = call.outcome {
            facts.add("  outcome", outcome);
        }
    }
    for field in row.input.iter().flat_map(|input| &input.fields) {
        let optional = if field.required { "" } else { ", optional" };
        let description = field.description.as_deref().unwrap_or_default();
        facts.add(
            format!("field {}", field.name),
            format!("{}{optional}\n{description}", field.takes),
        );
    }
    facts.add("digest", &row.digest);
    if let Some(obstacle) = &row.obstacle {
        facts.add("you can't", obstacle);
    }
    let CommandsRow { approve, submit, deny } = &row.commands;
    for (name, command) in [("to approve", approve), ("to type in", submit), ("to deny", deny)] {
        if let Some(command) = command {
            facts.add(name, command);
        }
    }
    // Also where no terminal reads it: what is approved is what can be seen.
    output.text(&visible(&facts.render()))
}

fn state(row: &ShowJson<'_>, stored: &StoredRequest, now: std::time::Duration) -> String {
    let request = &row.request;
    match &stored.state {
        RequestState::Waiting { .. } => {
            format!("waits for {}, ends {}", request.need, ahead(stored.request.expires, now))
        }
        RequestState::Claimed { by, at } | RequestState::Settled { by, at, .. } => {
            format!("{}, by {by} {}", request.state, ago(*at, now))
        }
    }
}

/// The arguments, laid out and cut.
fn arguments(text: &str) -> String {
    let text = lay_out(text);
    let cut = |line: &str| match line.char_indices().nth(MAX_LINE_CHARACTERS) {
        Some((at, _)) => format!("{} [cut; --json has all of it]", &line[..at]),
        None => line.to_owned(),
    };
    let mut lines: Vec<String> = text.lines().take(MAX_ARGUMENT_LINES).map(cut).collect();
    let more = text.lines().count().saturating_sub(MAX_ARGUMENT_LINES);
    if more > 0 {
        lines.push(format!("[{more} more lines; --json has all of it]"));
    }
    lines.join("\n")
}

fn preview(preview: &PreviewRow<'_>) -> String {
    match preview {
        PreviewRow::Lines { lines } => lines.join("\n"),
        PreviewRow::None => "none: the tool does not tell what it would do".to_owned(),
        PreviewRow::Failed { class } => format!("failed ({class})"),
        PreviewRow::Withheld => "withheld: you may not read what it is about".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_arguments_are_cut_and_say_so() {
        let short = arguments(r#"{"b":1,"a":"x"}"#);
        assert_eq!(short, "{\n  \"b\": 1,\n  \"a\": \"x\"\n}");
        let list: Vec<usize> = (0..100).collect();
        let long = arguments(&serde_json::to_string(&list).unwrap());
        assert_eq!(long.lines().count(), MAX_ARGUMENT_LINES + 1);
        assert!(long.ends_with("[42 more lines; --json has all of it]"), "{long}");
        let wide = arguments(&format!("[\"{}\"]", "é".repeat(1000)));
        assert!(wide.contains("[cut; --json has all of it]"), "{wide}");
    }
}
