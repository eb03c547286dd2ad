//! `toolbay agent loadout`: the tools of an agent, what is wrong with its list, and the list that waits for a review.

use std::collections::BTreeSet;

use serde::Serialize;
use toolbay_loader::{Actor, AgentProfile, Loadout, LoadoutChange, ToolName, Toolbay};

use super::row::PendingRow;
use crate::{
    cli::LoadoutArgs,
    commands::{CommandError, Opened, left_out::left_out, unknown::UnknownTool},
    exit::Exit,
    output::{Output, OutputError, Table},
    report,
};

#[derive(Serialize)]
struct LoadoutJson<'a> {
    agent: &'a str,
    /// What became of the change, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<&'static str>,
    every_enabled_tool: bool,
    entries: Vec<EntryRow>,
    pending: Option<ProposalJson<'a>>,
}

#[derive(Serialize)]
struct ProposalJson<'a> {
    #[serde(flatten)]
    pending: PendingRow<'a>,
    every_enabled_tool: bool,
    entries: Vec<EntryRow>,
    added: Vec<&'a str>,
    removed: Vec<&'a str>,
}

/// One tool of a loadout, whatever names it stands under.
#[derive(Serialize)]
struct EntryRow {
    tool: String,
    /// The names in the list, former ones of the tool too; none where a set brings the tool.
    names: Vec<String>,
    label: String,
    summary: String,
    provider: Option<String>,
    state: &'static str,
    /// What a set of tools does about it: `adds` or `removes` it.
    by_set: Option<&'static str>,
}

pub(super) fn loadout(
    args: LoadoutArgs,
    by: &Actor,
    opened: &Opened,
    json: bool,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let Opened { toolbay, people, program } = opened;
    let change = change(&args, by, toolbay)?;
    let profile = toolbay.agent(&args.name)?;
    if json {
        output.json(&json_of(&profile, change, toolbay)?)?;
    } else {
        show(&profile, toolbay, output)?;
    }
    if let Some(pending) = &profile.pending {
        let others = people.admins.iter().map(|admin| admin.as_str());
        let other = others.into_iter().find(|name| format!("user:{name}") != pending.by);
        let review = ["agent", "loadout", args.name.as_str(), "--approve", "--as"];
        let command = program.command(review.into_iter().chain([other.unwrap_or("ADMIN")]));
        report::note(&format!(
            "what {} proposes waits until another administrator approves it: `{command}`",
            pending.by
        ));
    }
    Ok(Exit::Done)
}

/// Makes the change that the command line asks for, if it asks for one.
fn change(
    args: &LoadoutArgs,
    by: &Actor,
    toolbay: &Toolbay,
) -> Result<Option<LoadoutChange>, CommandError> {
    let LoadoutArgs { name, set, every_enabled_tool, none, add, remove, approve, reject } = args;
    let empty = BTreeSet::new();
    for unknown in UnknownTool::among(set.iter().chain(add).flatten(), toolbay) {
        report::warning(&format!("the list has {unknown}"));
    }
    let change = if let Some(tools) = set {
        toolbay.assign(name, Some(tools.clone()), by)?
    } else if *every_enabled_tool {
        toolbay.assign(name, None, by)?
    } else if *none {
        toolbay.assign(name, Some(BTreeSet::new()), by)?
    } else if *approve || *reject {
        toolbay.review_loadout(name, *approve, by)?;
        LoadoutChange::InForce
    } else if add.is_some() || remove.is_some() {
        let (add, remove) = (add.as_ref().unwrap_or(&empty), remove.as_ref().unwrap_or(&empty));
        warn_about_absent(remove, &toolbay.agent(name)?);
        toolbay.edit_loadout(name, add, remove, by)?
    } else {
        return Ok(None);
    };
    Ok(Some(change))
}

/// Tells which names can't be removed, because they are not there.
fn warn_about_absent(remove: &BTreeSet<ToolName>, profile: &AgentProfile) {
    let pending = profile.pending.as_ref().and_then(|pending| pending.loadout.as_ref());
    let lists: Vec<_> = pending.into_iter().chain(&profile.loadout).collect();
    for name in remove.iter().filter(|name| !lists.iter().any(|list| list.contains(*name))) {
        report::warning(&format!("the list has no {:?}", name.as_str()));
    }
}

fn json_of<'a>(
    profile: &'a AgentProfile,
    change: Option<LoadoutChange>,
    toolbay: &Toolbay,
) -> Result<LoadoutJson<'a>, CommandError> {
    let proposal = profile.pending.as_ref().map(|pending| ProposalJson {
        every_enabled_tool: pending.loadout.is_none(),
        entries: entries(profile, Loadout::UnderReview, toolbay),
        added: difference(pending.loadout.as_ref(), profile.loadout.as_ref()),
        removed: difference(profile.loadout.as_ref(), pending.loadout.as_ref()),
        pending: PendingRow::of(pending),
    });
    Ok(LoadoutJson {
        agent: profile.name.as_str(),
        change: change.map(|change| match change {
            LoadoutChange::InForce => "in_force",
            LoadoutChange::Pending => "pending",
        }),
        every_enabled_tool: profile.loadout.is_none(),
        entries: entries(profile, Loadout::InForce, toolbay),
        pending: proposal,
    })
}

/// The names of one list that the other does not have. Every enabled tool is no list.
fn difference<'a>(
    one: Option<&'a BTreeSet<ToolName>>,
    other: Option<&'a BTreeSet<ToolName>>,
) -> Vec<&'a str> {
    let (Some(one), Some(other)) = (one, other) else { return Vec::new() };
    one.difference(other).map(ToolName::as_str).collect()
}

/// The tools of a list, each once, with what is known of those that are gone.
fn entries(profile: &AgentProfile, loadout: Loadout, toolbay: &Toolbay) -> Vec<EntryRow> {
    let sets = &toolbay.config().tool_sets;
    let pending = profile.pending.as_ref().map(|pending| &pending.loadout);
    let (stored, agent) = match (loadout, pending) {
        (Loadout::UnderReview, Some(pending)) => (pending, profile.agent_under_review(sets)),
        _ => (&profile.loadout, profile.agent(sets)),
    };
    let (Some(stored), Some(expanded)) = (stored, agent.loadout) else { return Vec::new() };
    let mut rows: Vec<EntryRow> = Vec::new();
    for name in stored.union(&expanded) {
        let by_set = match (stored.contains(name), expanded.contains(name)) {
            (true, false) => Some("removes"),
            (false, _) => Some("adds"),
            (true, true) => None,
        };
        let row = entry(name, by_set, toolbay);
        match rows.iter_mut().find(|there| there.tool == row.tool) {
            Some(there) => {
                there.names.extend(row.names);
                there.by_set = there.by_set.and(row.by_set);
            }
            None => rows.push(row),
        }
    }
    rows
}

fn entry(name: &ToolName, by_set: Option<&'static str>, toolbay: &Toolbay) -> EntryRow {
    let (registry, providers) = (toolbay.registry(), toolbay.providers());
    let names = match by_set {
        Some("adds") => Vec::new(),
        _ => vec![name.to_string()],
    };
    if let Some(entry) = registry.get(name.as_str()) {
        let definition = entry.definition();
        return EntryRow {
            tool: definition.name().to_string(),
            names,
            label: definition.label().to_owned(),
            summary: definition.summary().to_owned(),
            provider: Some(entry.provider().to_string()),
            state: if entry.availability().is_enabled() { "on" } else { "off" },
            by_set,
        };
    }
    let declared = left_out(&providers, &registry)
        .find(|out| out.tool.name == *name || out.tool.aliases.contains(name));
    if let Some(declared) = declared {
        return EntryRow {
            tool: declared.tool.name.to_string(),
            names,
            label: declared.tool.label.clone(),
            summary: declared.tool.summary.clone(),
            provider: Some(declared.provider.id.to_string()),
            state: "not_listed",
            by_set,
        };
    }
    let label = toolbay.label(name);
    EntryRow {
        tool: name.to_string(),
        names,
        label: label.as_ref().map_or_else(|| name.to_string(), |label| label.label.clone()),
        summary: label.as_ref().map(|label| label.summary.clone()).unwrap_or_default(),
        provider: label.map(|label| label.provider.to_string()),
        state: "stale",
        by_set,
    }
}

fn show(profile: &AgentProfile, toolbay: &Toolbay, output: &mut Output) -> Result<(), OutputError> {
    let name = &profile.name;
    match &profile.loadout {
        None => output.text(&format!("agent {name} has every enabled tool"))?,
        Some(_) => {
            output.text(&format!("agent {name} has these tools:"))?;
            table(&entries(profile, Loadout::InForce, toolbay), output)?;
        }
    }
    let Some(pending) = &profile.pending else { return Ok(()) };
    let PendingRow { by, at, .. } = PendingRow::of(pending);
    match &pending.loadout {
        None => output.text(&format!("\n{by} proposes every enabled tool, {at}"))?,
        Some(_) => {
            output.text(&format!("\n{by} proposes these, {at}:"))?;
            table(&entries(profile, Loadout::UnderReview, toolbay), output)?;
        }
    }
    Ok(())
}

fn table(entries: &[EntryRow], output: &mut Output) -> Result<(), OutputError> {
    if entries.is_empty() {
        return output.text("none");
    }
    let mut table = Table::new(["TOOL", "STATE", "LABEL", "NOTE"]);
    for entry in entries {
        table.row([&entry.tool, state(entry), &entry.label, &note(entry)]);
    }
    output.table(table)
}

fn state(entry: &EntryRow) -> &'static str {
    match entry.state {
        "not_listed" => "not listed",
        "stale" => "no tool now",
        state => state,
    }
}

fn note(entry: &EntryRow) -> String {
    let former: Vec<&str> =
        entry.names.iter().map(String::as_str).filter(|name| *name != entry.tool).collect();
    let mut notes = Vec::new();
    if !former.is_empty() {
        notes.push(format!("in the list as {}", former.join(", ")));
    }
    match entry.by_set {
        Some("adds") => notes.push("comes with its set of tools".to_owned()),
        Some(_) => notes.push("left out: its set is not for agents of this visibility".to_owned()),
        None => {}
    }
    if let ("stale", Some(provider)) = (entry.state, &entry.provider) {
        notes.push(format!("was a tool of provider {provider}"));
    }
    notes.join("; ")
}
