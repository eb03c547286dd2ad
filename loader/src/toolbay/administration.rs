//! What administrators decide about tools, groups and providers.

use std::collections::{BTreeMap, BTreeSet};

use toolbay_core::{
    Actor, Availability, Change, DecisionKind, Entry, GroupName, Pin, ProviderId, Registry,
    ToolName, similar,
};

use super::{Toolbay, view::View};
use crate::{
    access_error::AccessError,
    access_file::{Contents, Label},
    verify::DeclaredTool,
};

/// What to do with a tool, a group or a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// Switch it on.
    On,
    /// Switch it off.
    Off,
    /// Forget what was decided: what its code says holds again.
    Reset,
}

impl Switch {
    pub(super) fn kind(self) -> DecisionKind {
        match self {
            Self::On => DecisionKind::Enable,
            Self::Off => DecisionKind::Disable,
            Self::Reset => DecisionKind::Reset,
        }
    }

    pub(super) fn apply<K: Ord>(self, rows: &mut BTreeMap<K, bool>, key: K) {
        match self {
            Self::On => rows.insert(key, true),
            Self::Off => rows.insert(key, false),
            Self::Reset => rows.remove(&key),
        };
    }
}

/// A tool with everything that decides whether it is on.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolState {
    /// Its name.
    pub name: ToolName,
    /// Its name for people.
    pub label: String,
    /// One line for people.
    pub summary: String,
    /// Who contributes it.
    pub provider: ProviderId,
    /// The group that it is switched with.
    pub group: Option<GroupName>,
    /// What decides; `None` where its provider does not list it now.
    pub availability: Option<Availability>,
    /// Whether it was kept how the tool was when it was first on, or last reviewed.
    pub pinned: bool,
    /// In what it differs from that.
    pub changes: Vec<Change>,
}

/// A group with what was decided about it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GroupState {
    /// Its name.
    pub name: GroupName,
    /// Whether it is on.
    pub enabled: bool,
    /// Whether somebody decided that.
    pub overridden: bool,
    /// The tools of it that are registered.
    pub tools: Vec<ToolName>,
}

impl Toolbay {
    /// Switches a tool. Switching it on also says that it was looked at as it is now.
    ///
    /// # Errors
    ///
    /// [`AccessError`]: nothing has changed. An unknown name leaves no row.
    pub fn switch_tool(
        &self,
        name: &str,
        switch: Switch,
        by: &Actor,
    ) -> Result<ToolState, AccessError> {
        let view = self.view();
        let tool = known_tool(&view, name)?;
        let entry = view.registry.get(tool.as_str()).cloned();
        self.decide(by, switch.kind(), tool.as_str(), "tool", |contents| {
            if let Some(entry) = &entry {
                for alias in entry.names().skip(1) {
                    contents.access.tools.remove(alias);
                }
                if switch == Switch::On {
                    pin(contents, entry);
                }
            }
            switch.apply(&mut contents.access.tools, tool.clone());
            Ok(())
        })?;
        self.tool_state(tool.as_str())
    }

    /// Says that a tool was looked at as it is now, and lets it be used again where it waited for that.
    ///
    /// # Errors
    ///
    /// [`AccessError`]: nothing has changed.
    pub fn review_tool(&self, name: &str, by: &Actor) -> Result<ToolState, AccessError> {
        let view = self.view();
        let tool = known_tool(&view, name)?;
        let entry = view.registry.get(tool.as_str()).cloned();
        self.decide(by, DecisionKind::Review, tool.as_str(), "tool", |contents| {
            if let Some(entry) = &entry {
                pin(contents, entry);
            }
            Ok(())
        })?;
        self.tool_state(tool.as_str())
    }

    /// Says whether the calls of a tool need approval although its code does not ask for it. What the code asks for stays.
    ///
    /// # Errors
    ///
    /// [`AccessError`]: nothing has changed. A tool that asks for an input takes no approval on top.
    pub fn require_approval(
        &self,
        name: &str,
        required: bool,
        by: &Actor,
    ) -> Result<ToolState, AccessError> {
        let view = self.view();
        let tool = known_tool(&view, name)?;
        let asks = |declared: &&DeclaredTool| declared.declarations.input.is_some();
        if required && declared(&view, &tool).iter().any(asks) {
            return Err(AccessError::ApprovalAndInput { tool });
        }
        let kind = if required { DecisionKind::Enable } else { DecisionKind::Disable };
        let entry = view.registry.get(tool.as_str()).cloned();
        self.decide(by, kind, tool.as_str(), "approval", |contents| {
            for alias in entry.iter().flat_map(|entry| entry.names().skip(1)) {
                contents.access.approvals.remove(alias);
            }
            match required {
                true => contents.access.approvals.insert(tool.clone()),
                false => contents.access.approvals.remove(&tool),
            };
            Ok(())
        })?;
        self.tool_state(tool.as_str())
    }

    /// Switches a group, with all its tools, also those that come later.
    ///
    /// # Errors
    ///
    /// [`AccessError`]: nothing has changed. An unknown name leaves no row.
    pub fn switch_group(
        &self,
        name: &str,
        switch: Switch,
        by: &Actor,
    ) -> Result<GroupState, AccessError> {
        let group = self.group(name)?;
        self.decide(by, switch.kind(), name, "group", |contents| {
            switch.apply(&mut contents.access.groups, group.name.clone());
            Ok(())
        })?;
        let enabled = switch != Switch::Off;
        Ok(GroupState { enabled, overridden: switch != Switch::Reset, ..group })
    }

    /// A tool with everything that decides whether it is on.
    ///
    /// # Errors
    ///
    /// [`AccessError::Unknown`] where no provider has or declares it.
    pub fn tool_state(&self, name: &str) -> Result<ToolState, AccessError> {
        let view = self.view();
        let name = known_tool(&view, name)?;
        if let Some(entry) = view.registry.get(name.as_str()) {
            return Ok(registered(entry, &view));
        }
        let id = |tool: &DeclaredTool| view.provider_of(tool);
        match declared(&view, &name).first().and_then(|tool| Some((tool, id(tool)?))) {
            Some((tool, provider)) => Ok(ToolState {
                name: tool.name.clone(),
                label: tool.label.clone(),
                summary: tool.summary.clone(),
                provider,
                group: tool.declarations.group.clone(),
                availability: None,
                pinned: false,
                changes: Vec::new(),
            }),
            None => Err(unknown("tool", name.as_str(), std::iter::empty::<&ToolName>())),
        }
    }

    /// Every registered tool with what decides whether it is on, in the order of the registry.
    pub fn tool_states(&self) -> Vec<ToolState> {
        let view = self.view();
        view.registry.iter().map(|entry| registered(entry, &view)).collect()
    }

    /// Every group that a tool is in or that somebody has decided about, sorted.
    pub fn groups(&self) -> Vec<GroupState> {
        let view = self.view();
        let rows = &view.contents.access.groups;
        let declared = view.declared().filter_map(|tool| tool.declarations.group.clone());
        let registered = view.registry.iter();
        let registered =
            registered.filter_map(|entry| entry.definition().declarations().group.clone());
        // A row whose group is gone is inert, and no group.
        let names: BTreeSet<GroupName> = declared.chain(registered).collect();
        let state = |name: GroupName| GroupState {
            enabled: rows.get(&name).copied().unwrap_or(true),
            overridden: rows.contains_key(&name),
            tools: tools_of(&view.registry, &name),
            name,
        };
        names.into_iter().map(state).collect()
    }

    /// The group of this name.
    ///
    /// # Errors
    ///
    /// [`AccessError::Unknown`] where no tool is in it.
    pub fn group(&self, name: &str) -> Result<GroupState, AccessError> {
        let groups = self.groups();
        match groups.iter().find(|group| group.name.as_str() == name) {
            Some(group) => Ok(group.clone()),
            None => Err(unknown("group", name, groups.iter().map(|group| &group.name))),
        }
    }

    /// What is last known of a tool's name for people, also of one that is gone.
    pub fn label(&self, name: &ToolName) -> Option<Label> {
        let view = self.view();
        if let Some(entry) = view.registry.get(name.as_str()) {
            let definition = entry.definition();
            let (label, summary) = (definition.label().to_owned(), definition.summary().to_owned());
            return Some(Label { label, summary, provider: entry.provider().clone() });
        }
        view.contents.labels.get(name).cloned()
    }
}

fn tools_of(registry: &Registry, group: &GroupName) -> Vec<ToolName> {
    registry
        .iter()
        .map(|entry| entry.definition())
        .filter(|definition| definition.declarations().group.as_ref() == Some(group))
        .map(|definition| definition.name().clone())
        .collect()
}

fn registered(entry: &Entry, view: &View) -> ToolState {
    let definition = entry.definition();
    let pin = entry.names().find_map(|name| view.contents.access.pins.get(name));
    ToolState {
        name: definition.name().clone(),
        label: definition.label().to_owned(),
        summary: definition.summary().to_owned(),
        provider: entry.provider().clone(),
        group: definition.declarations().group.clone(),
        availability: Some(*entry.availability()),
        pinned: pin.is_some(),
        changes: pin.map(|pin| pin.all_changes(definition, entry.provider())).unwrap_or_default(),
    }
}

fn pin(contents: &mut Contents, entry: &Entry) {
    let definition = entry.definition();
    for alias in entry.names().skip(1) {
        contents.access.pins.remove(alias);
    }
    contents
        .access
        .pins
        .insert(definition.name().clone(), Pin::of(definition).from_provider(entry.provider()));
}

fn declared<'v>(view: &'v View, name: &ToolName) -> Vec<&'v DeclaredTool> {
    view.declared().filter(|tool| tool.name == *name).collect()
}

/// The tool's own name, where any provider has or declares one of this name or former name.
fn known_tool(view: &View, name: &str) -> Result<ToolName, AccessError> {
    if let Some(entry) = view.registry.get(name) {
        return Ok(entry.definition().name().clone());
    }
    if let Some(tool) = view.declared().find(|tool| tool.name.as_str() == name) {
        return Ok(tool.name.clone());
    }
    let names = view.registry.iter().map(|entry| entry.definition().name());
    Err(unknown("tool", name, names.chain(view.declared().map(|tool| &tool.name))))
}

pub(super) fn unknown<'n, N: AsRef<str> + Ord + 'n>(
    kind: &'static str,
    name: &str,
    known: impl Iterator<Item = &'n N>,
) -> AccessError {
    let known: BTreeSet<&N> = known.collect();
    let nearest = similar(name, known.into_iter(), 3);
    let nearest = nearest.into_iter().map(|name| name.as_ref().to_owned());
    AccessError::Unknown { kind, name: name.to_owned(), nearest: nearest.collect() }
}
