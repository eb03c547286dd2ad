//! What a plugin's file says, read without running it.

use std::{fs, path::Path};

use serde::Serialize;
use toolbay_loader::{
    Candidate, ContentHash, Inspected, Inspection, LibraryFacts, Note, NoteTool, RejectionReason,
    RootSymbol, problems,
};

use super::InspectError;
use crate::{
    commands::{
        CommandError,
        row::{ReasonRow, path_text, reason_lines},
    },
    exit::Exit,
    output::{Output, Table, grouped},
};

#[derive(Serialize)]
struct FileJson<'a> {
    path: String,
    bytes: u64,
    hash: Option<String>,
    /// Whether this host would take it.
    accepted: bool,
    problems: Vec<ReasonRow<'a>>,
    note: &'a Note,
    library: LibraryJson,
}

#[derive(Serialize)]
struct LibraryJson {
    machine: &'static str,
    unwinds: bool,
    root_module: &'static str,
}

pub(super) fn inspect(path: &Path, json: bool, output: &mut Output) -> Result<Exit, CommandError> {
    let plugin = match toolbay_loader::inspect(&Candidate::at(path)) {
        Ok(Inspection::Plugin(plugin)) => *plugin,
        Ok(Inspection::NotAPlugin(found)) => {
            return Err(InspectError::NotAPlugin { path: path.to_owned(), found }.into());
        }
        Err(rejection) => return Err(InspectError::Rejected(Box::new(rejection)).into()),
    };
    let problems = problems(&plugin);
    // The loader has bounded the file's size.
    let hash = fs::read(path).ok().map(|content| ContentHash::of(&content).to_string());
    if json {
        output.json(&FileJson {
            path: path_text(path),
            bytes: plugin.identity().len,
            hash,
            accepted: problems.is_empty(),
            problems: problems.iter().map(ReasonRow::of).collect(),
            note: plugin.note(),
            library: LibraryJson::from(plugin.facts()),
        })?;
    } else {
        show(&plugin, hash.as_deref(), &problems, output)?;
    }
    Ok(if problems.is_empty() { Exit::Done } else { Exit::Refused })
}

fn show(
    plugin: &Inspected,
    hash: Option<&str>,
    problems: &[RejectionReason],
    output: &mut Output,
) -> Result<(), CommandError> {
    let Note { epoch, digest, id, version, panic, target, tools, .. } = plugin.note();
    let root = root_module(plugin.facts());
    output.text(&format!(
        "provider     {id} {version}\n\
         file         {}, {} bytes\n\
         sha256       {}\n\
         interface    {epoch}, digest {digest}\n\
         system       {target}\n\
         panic        {panic}\n\
         root module  {root}\n\
         accepted     {}",
        plugin.path().display(),
        grouped(plugin.identity().len),
        hash.unwrap_or("not readable any more"),
        if problems.is_empty() { "yes" } else { "no" },
    ))?;
    for problem in problems {
        output.text(&reason_lines(problem))?;
    }
    if !tools.is_empty() {
        output.raw("\n")?;
        output.table(table(tools))?;
    }
    Ok(())
}

/// The tools in the note's own words: nothing of it has been checked.
fn table(tools: &[NoteTool]) -> Table {
    let mut table = Table::new(["TOOL", "EFFECT", "ON", "APPROVAL", "LABEL", "SUMMARY"]);
    for tool in tools {
        let effect = tool.effect.as_deref().unwrap_or("not declared");
        let approval = match (tool.approval, tool.effect.as_deref()) {
            (true, _) => "asked for",
            (false, Some("read_only")) => "no",
            (false, _) => "as a write",
        };
        table.row([
            &tool.name,
            effect,
            if tool.enabled { "yes" } else { "no" },
            approval,
            &tool.label,
            &tool.summary,
        ]);
    }
    table
}

impl From<&LibraryFacts> for LibraryJson {
    fn from(facts: &LibraryFacts) -> Self {
        let LibraryFacts { machine, unwinds, .. } = *facts;
        Self { machine, unwinds, root_module: root_module(facts) }
    }
}

fn root_module(facts: &LibraryFacts) -> &'static str {
    match facts.root {
        RootSymbol::Defined { .. } => "defined",
        RootSymbol::Malformed(_) => "malformed",
        RootSymbol::Missing => "missing",
    }
}
