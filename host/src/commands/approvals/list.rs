//! `toolbay approvals list`: the requests that wait, and with `--all` those that are over.

use serde::Serialize;
use toolbay_loader::{RequestState, StoredRequest, Toolbay};

use super::row::RequestRow;
use crate::{
    commands::{
        CommandError,
        row::listed,
        time::{ago, ahead, now},
    },
    exit::Exit,
    output::{Output, OutputError, Table},
    report,
};

#[derive(Serialize)]
struct ListJson<'a> {
    requests: Vec<RequestRow<'a>>,
    /// What can't be read.
    problems: Vec<String>,
}

/// That some requests can't be read must not look as if nothing waited.
pub(super) fn list(
    toolbay: &Toolbay,
    all: bool,
    json: bool,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let (mut requests, problems) = toolbay.approvals();
    let is_open = |stored: &StoredRequest| !matches!(stored.state, RequestState::Settled { .. });
    requests.retain(|stored| all || is_open(stored));
    // Each half in the order in which it was asked for.
    requests.sort_by_key(|stored| !is_open(stored));
    let problems: Vec<String> = problems.iter().map(|problem| report::chain(problem)).collect();
    for problem in &problems {
        report::warning(problem);
    }
    let readable = problems.is_empty();
    let nothing = requests.is_empty();
    if json {
        let requests = requests.iter().map(RequestRow::from).collect();
        output.json(&ListJson { requests, problems })?;
    } else {
        show(&requests, output)?;
    }
    if nothing && readable && !json {
        report::note(if all { "there are no requests" } else { "nothing waits for a person" });
    }
    Ok(if readable { Exit::Done } else { Exit::Unavailable })
}

fn show(requests: &[StoredRequest], output: &mut Output) -> Result<(), OutputError> {
    if requests.is_empty() {
        return Ok(());
    }
    let now = now();
    let mut table = Table::new(["REQUEST", "STATE", "TOOLS", "ASKED BY", "ASKED", "ENDS"]);
    for stored in requests {
        let row = RequestRow::from(stored);
        let state = match row.state {
            "waiting" => format!("waits for {}", row.need),
            "changed" => format!("changed, waits for {}", row.need),
            state => state.to_owned(),
        };
        let writes = if row.writes { " (writes)" } else { "" };
        let tools = format!("{}{writes}", listed(&row.tools));
        let agent = row.agent.map(|agent| format!(", agent {agent}")).unwrap_or_default();
        let ends = match stored.state {
            RequestState::Waiting { .. } => ahead(stored.request.expires, now),
            RequestState::Claimed { at, .. } | RequestState::Settled { at, .. } => {
                format!("{}, {}", ago(at, now), row.decided_by.unwrap_or_default())
            }
        };
        let asked = ago(stored.request.requested, now);
        table.row([row.id, &state, &tools, &format!("{}{agent}", row.owner), &asked, &ends]);
    }
    output.table(table)
}
