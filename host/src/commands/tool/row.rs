//! A tool with everything that decides whether it is on, under keys that never change.

use std::{collections::BTreeMap, sync::Arc};

use serde::Serialize;
use toolbay_loader::{
    Availability, Entry, ProviderStatus, Registry, Schema, ToolName, ToolState, Toolbay,
};

use crate::commands::{
    left_out::{Absence, LeftOut, left_out},
    row::{ChangeRow, DeclarationsRow},
    switches::{ApprovalReason, OffBy},
};

/// One consistent look at all tools.
pub(super) struct Look {
    registry: Arc<Registry>,
    providers: Vec<ProviderStatus>,
    states: BTreeMap<ToolName, ToolState>,
    unreadable: bool,
}

#[derive(Serialize)]
pub(super) struct ToolRow<'a> {
    pub(super) name: &'a str,
    pub(super) label: &'a str,
    pub(super) summary: &'a str,
    /// What a model reads; nothing is known of it where the tool is not registered.
    pub(super) description: Option<&'a str>,
    pub(super) provider: &'a str,
    pub(super) provider_version: &'a str,
    pub(super) group: Option<&'a str>,
    /// Former names that lead to the tool.
    pub(super) aliases: Vec<&'a str>,
    pub(super) state: &'static str,
    pub(super) enabled: bool,
    /// Everything that keeps it off.
    pub(super) off_by: Vec<OffBy>,
    #[serde(flatten)]
    pub(super) switches: Option<SwitchesRow>,
    pub(super) needs_approval: bool,
    pub(super) approval_because: Option<ApprovalReason>,
    /// The arguments that a person types in before each call.
    pub(super) input: Vec<String>,
    pub(super) declarations: DeclarationsRow<'a>,
    pub(super) changes: Vec<ChangeRow<'a>>,
    #[serde(skip)]
    pub(super) entry: Option<&'a Entry>,
}

#[derive(Serialize)]
pub(super) struct SwitchesRow {
    provider_enabled: bool,
    pub(super) group_enabled: bool,
    pub(super) tool_enabled: bool,
    default_enabled: bool,
    /// Whether an administrator has switched the tool itself.
    pub(super) overridden: bool,
    pub(super) needs_review: bool,
    /// Whether it was kept how the tool was when it was first on or last reviewed.
    pub(super) pinned: bool,
    approval_added: bool,
}

impl Look {
    pub(super) fn at(toolbay: &Toolbay) -> Self {
        let states = toolbay.tool_states().into_iter();
        Self {
            registry: toolbay.registry(),
            providers: toolbay.providers(),
            states: states.map(|state| (state.name.clone(), state)).collect(),
            unreadable: toolbay.access_problem().is_some(),
        }
    }

    /// Every tool: the registered ones in the order of the registry, then those that are left out.
    pub(super) fn rows(&self) -> impl Iterator<Item = ToolRow<'_>> {
        let registered = self.registry.iter().map(|entry| self.registered(entry));
        let left_out = left_out(&self.providers, &self.registry).map(declared);
        registered.chain(left_out)
    }

    /// The tool of this name, as it is registered or else as it is declared.
    pub(super) fn row(&self, name: &ToolName) -> Option<ToolRow<'_>> {
        self.rows().find(|row| row.name == name.as_str())
    }

    fn registered<'a>(&'a self, entry: &'a Entry) -> ToolRow<'a> {
        let definition = entry.definition();
        let (availability, declared) = (entry.availability(), definition.declarations());
        let off_by = OffBy::of(availability, self.unreadable);
        let state = self.states.get(definition.name());
        let changes = state.map(|state| state.changes.as_slice()).unwrap_or_default();
        let pinned = state.is_some_and(|state| state.pinned);
        ToolRow {
            name: definition.name().as_str(),
            label: definition.label(),
            summary: definition.summary(),
            description: Some(definition.description()),
            provider: entry.provider().as_str(),
            provider_version: entry.provider_version(),
            group: declared.group.as_ref().map(|group| group.as_str()),
            aliases: entry.names().skip(1).map(ToolName::as_str).collect(),
            state: match off_by.as_slice() {
                [] => "on",
                [OffBy::Review] => "needs_review",
                _ => "off",
            },
            enabled: off_by.is_empty(),
            off_by,
            switches: Some(SwitchesRow::new(availability, pinned)),
            needs_approval: entry.needs_approval(),
            approval_because: ApprovalReason::of(entry),
            input: input(declared.input.as_ref()),
            declarations: DeclarationsRow::from(declared),
            changes: changes.iter().map(ChangeRow::from).collect(),
            entry: Some(entry),
        }
    }
}

impl Serialize for Look {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct List<'a> {
            generation: u64,
            tools: Vec<ToolRow<'a>>,
        }
        let tools = self.rows().collect();
        List { generation: self.registry.generation(), tools }.serialize(serializer)
    }
}

impl SwitchesRow {
    fn new(availability: &Availability, pinned: bool) -> Self {
        Self {
            provider_enabled: availability.provider_enabled,
            group_enabled: availability.group_enabled,
            tool_enabled: availability.tool_enabled(),
            default_enabled: availability.default_enabled,
            overridden: availability.tool_override.is_some(),
            needs_review: availability.needs_review,
            pinned,
            approval_added: availability.approval_added,
        }
    }
}

fn declared(left_out: LeftOut<'_>) -> ToolRow<'_> {
    let LeftOut { provider, tool, absence } = left_out;
    let declared = &tool.declarations;
    ToolRow {
        name: tool.name.as_str(),
        label: &tool.label,
        summary: &tool.summary,
        description: None,
        provider: provider.id.as_str(),
        provider_version: &provider.version,
        group: declared.group.as_ref().map(|group| group.as_str()),
        aliases: Vec::new(),
        state: match absence {
            Absence::NotListed => "not_listed",
            Absence::NameTaken => "name_taken",
        },
        enabled: false,
        off_by: Vec::new(),
        switches: None,
        needs_approval: declared.needs_approval(toolbay_loader::Origin::Local),
        approval_because: None,
        input: input(declared.input.as_ref()),
        declarations: DeclarationsRow::from(declared),
        changes: Vec::new(),
        entry: None,
    }
}

fn input(schema: Option<&Schema>) -> Vec<String> {
    schema.map(|schema| schema.properties().into_iter().collect()).unwrap_or_default()
}
