//! An agent with what was decided about it, under keys that never change.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::value::RawValue;
use toolbay_loader::{AgentProfile, PendingLoadout, ToolName, Toolbay, TrustZone};

use crate::{
    cli::Fallback,
    commands::{row::listed, time::timestamp},
    output::{Facts, Output, OutputError, Table},
};

#[derive(Serialize)]
struct ListJson<'a> {
    agents: Vec<AgentRow<'a>>,
}

#[derive(Serialize)]
pub(super) struct AgentRow<'a> {
    name: &'a str,
    /// Where its model runs.
    zone: &'static str,
    /// Where those run that stand in for it.
    fallbacks: Vec<&'static str>,
    /// The least trusted of them.
    effective_zone: &'static str,
    /// The highest class of data that may go there.
    ceiling: &'static str,
    enforcement: &'static str,
    four_eyes: bool,
    visibility: &'static str,
    /// None where it may use any group.
    groups: Option<Vec<&'a str>>,
    /// None for a skill that does not say which tools it needs.
    skills: BTreeMap<&'a str, Option<Vec<&'a str>>>,
    /// None where it has every enabled tool.
    loadout: Option<Vec<&'a str>>,
    pending: Option<PendingRow<'a>>,
    /// The tools that have settings for this agent.
    configured_tools: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<BTreeMap<&'a str, &'a RawValue>>,
    /// Tools that are on, and whose results may not go to where its model runs.
    held_back_by_zone: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct PendingRow<'a> {
    pub(super) by: &'a str,
    pub(super) at: String,
    loadout: Option<Vec<&'a str>>,
}

impl<'a> PendingRow<'a> {
    pub(super) fn of(pending: &'a PendingLoadout) -> Self {
        Self {
            by: &pending.by,
            at: timestamp(pending.at),
            loadout: pending.loadout.as_ref().map(texts),
        }
    }
}

pub(super) fn texts<N: AsRef<str>>(names: &BTreeSet<N>) -> Vec<&str> {
    names.iter().map(AsRef::as_ref).collect()
}

impl<'a> AgentRow<'a> {
    pub(super) fn new(profile: &'a AgentProfile, toolbay: &Toolbay, values: bool) -> Self {
        let fallback = |zone: &Option<TrustZone>| Fallback(*zone).as_str();
        let zone = TrustZone::with_fallbacks(profile.zone, profile.fallbacks.iter().copied());
        let skills = profile.skills.iter();
        let config = profile.tool_config.iter();
        Self {
            name: profile.name.as_str(),
            zone: profile.zone.as_str(),
            fallbacks: profile.fallbacks.iter().map(fallback).collect(),
            effective_zone: zone.as_str(),
            ceiling: zone.ceiling().as_str(),
            enforcement: profile.enforcement.as_str(),
            four_eyes: profile.four_eyes,
            visibility: profile.visibility.as_str(),
            groups: profile.groups.as_ref().map(texts),
            skills: skills
                .map(|(name, tools)| (name.as_str(), tools.as_ref().map(texts)))
                .collect(),
            loadout: profile.loadout.as_ref().map(texts),
            pending: profile.pending.as_ref().map(PendingRow::of),
            configured_tools: profile.tool_config.keys().map(ToolName::as_str).collect(),
            tool_config: values
                .then(|| config.map(|(tool, values)| (tool.as_str(), &**values)).collect()),
            held_back_by_zone: held_back(zone, toolbay),
        }
    }
}

/// The tools that are on, and whose results may not go to a model there.
pub(in crate::commands) fn held_back(zone: TrustZone, toolbay: &Toolbay) -> Vec<String> {
    let registry = toolbay.registry();
    let on = registry.iter().filter(|entry| entry.availability().is_enabled());
    on.map(|entry| entry.definition())
        .filter(|definition| !zone.permits(definition.declarations().data_class))
        .map(|definition| definition.name().to_string())
        .collect()
}

pub(super) fn list(toolbay: &Toolbay, json: bool, output: &mut Output) -> Result<(), OutputError> {
    let agents = toolbay.agents();
    let agents: Vec<_> =
        agents.iter().map(|profile| AgentRow::new(profile, toolbay, false)).collect();
    if json {
        return output.json(&ListJson { agents });
    }
    if agents.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(["AGENT", "ZONE", "VISIBILITY", "TOOLS", "WAITS"]);
    for row in &agents {
        let pending = row.pending.as_ref().map(|pending| format!("a loadout of {}", pending.by));
        let pending = pending.unwrap_or_default();
        let tools = tools(row.loadout.as_deref());
        table.row([row.name, row.effective_zone, row.visibility, &tools, &pending]);
    }
    output.table(table)
}

/// A loadout in words.
fn tools(loadout: Option<&[&str]>) -> String {
    match loadout {
        None => "every enabled tool".to_owned(),
        Some(tools) => listed(tools),
    }
}

pub(super) fn show(row: &AgentRow<'_>, json: bool, output: &mut Output) -> Result<(), OutputError> {
    if json {
        return output.json(row);
    }
    let mut facts = Facts::new();
    facts.add("agent", row.name);
    facts.add("tools", tools(row.loadout.as_deref()));
    if let Some(PendingRow { by, at, loadout }) = &row.pending {
        facts.add("  proposed", format!("{} by {by}, {at}", tools(loadout.as_deref())));
    }
    facts.add("groups", row.groups.as_ref().map_or_else(|| "any".to_owned(), listed));
    for (name, tools) in &row.skills {
        let tools = tools.as_ref().map_or_else(|| "does not say which tools".to_owned(), listed);
        facts.add(format!("skill {name}"), tools);
    }
    let zone = format!("{}, so data up to class {}", row.effective_zone, row.ceiling);
    facts.add("zone", zone);
    if !row.fallbacks.is_empty() {
        facts.add("  own", row.zone);
        facts.add("  fallbacks", listed(&row.fallbacks));
    }
    facts.add("  holds back", listed(&row.held_back_by_zone));
    facts.add("enforcement", row.enforcement);
    facts.add("four eyes", if row.four_eyes { "yes" } else { "no" });
    facts.add("visibility", row.visibility);
    match &row.tool_config {
        None => facts.add("settings for", listed(&row.configured_tools)),
        Some(config) => {
            for (tool, settings) in config {
                facts.add(format!("settings {tool}"), settings.get());
            }
        }
    }
    output.facts(&facts)
}
