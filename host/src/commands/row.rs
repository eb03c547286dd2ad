//! What several commands show of tools and of what was not taken, under keys that never change.

use std::path::Path;

use serde::{Serialize, Serializer};
use toolbay_loader::{
    Change, Declarations, DeclaredTool, Effect, Origin, Party, RejectionReason, ToolName,
    loop_budget,
};

/// What a tool's code declares.
#[derive(Serialize)]
pub(super) struct DeclarationsRow<'a> {
    #[serde(serialize_with = "word")]
    pub(super) effect: Effect,
    pub(super) data_class: &'static str,
    group: Option<&'a str>,
    pub(super) requires_admin: bool,
    enabled_by_default: bool,
    needs_approval: bool,
    pub(super) egress: &'static str,
    pub(super) kind: &'static str,
    /// How often the same call may follow itself.
    pub(super) loop_budget: u8,
    needs_input: bool,
}

fn word<S: Serializer>(effect: &Effect, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(effect.as_str())
}

impl<'a> From<&'a Declarations> for DeclarationsRow<'a> {
    fn from(declarations: &'a Declarations) -> Self {
        Self {
            effect: declarations.effect,
            data_class: declarations.data_class.as_str(),
            group: declarations.group.as_ref().map(|group| group.as_str()),
            requires_admin: declarations.requires_admin,
            enabled_by_default: declarations.enabled_by_default,
            needs_approval: declarations.needs_approval(Origin::Local),
            egress: declarations.egress.as_str(),
            kind: declarations.kind.as_str(),
            loop_budget: loop_budget(declarations),
            needs_input: declarations.input.is_some(),
        }
    }
}

/// A tool as its note declares it.
#[derive(Serialize)]
pub(super) struct DeclaredRow<'a> {
    name: &'a str,
    aliases: Vec<&'a str>,
    label: &'a str,
    summary: &'a str,
    declarations: DeclarationsRow<'a>,
}

impl<'a> From<&'a DeclaredTool> for DeclaredRow<'a> {
    fn from(tool: &'a DeclaredTool) -> Self {
        Self {
            name: tool.name.as_str(),
            aliases: tool.aliases.iter().map(ToolName::as_str).collect(),
            label: &tool.label,
            summary: &tool.summary,
            declarations: DeclarationsRow::from(&tool.declarations),
        }
    }
}

/// Why a file, or a tool of it, is not taken.
#[derive(Serialize)]
pub(super) struct ReasonRow<'a> {
    stage: &'static str,
    code: &'static str,
    expected: &'a str,
    found: &'a str,
    remedy: &'a str,
    party: &'static str,
}

impl<'a> ReasonRow<'a> {
    pub(super) fn of(reason: &'a RejectionReason) -> Self {
        let RejectionReason { stage, code, expected, found, remedy, .. } = reason;
        let party = party_word(reason.party());
        Self { stage: stage.as_str(), code, expected, found, remedy, party }
    }
}

/// The lines that tell a person why something is not taken.
pub(super) fn reason_lines(reason: &RejectionReason) -> String {
    let RejectionReason { stage, code, expected, found, remedy, .. } = reason;
    format!(
        "  {code} ({})\n    expected  {expected}\n    found     {found}\n    remedy    {remedy}\n",
        stage.as_str()
    )
}

/// Where a file is, as text.
pub(super) fn path_text(path: &Path) -> String {
    path.display().to_string()
}

/// The word that stands for a party.
pub(super) fn party_word(party: Party) -> &'static str {
    match party {
        Party::Plugin => "plugin",
        Party::Host => "host",
        Party::Caller => "caller",
        Party::Environment => "environment",
    }
}

/// In what a tool differs from what was reviewed.
#[derive(Serialize)]
pub(super) struct ChangeRow<'a> {
    pub(super) field: &'static str,
    pub(super) before: &'a str,
    pub(super) after: &'a str,
    /// Whether the tool may do more by it.
    pub(super) widens: bool,
}

impl<'a> From<&'a Change> for ChangeRow<'a> {
    fn from(change: &'a Change) -> Self {
        let Change { field, before, after, widens } = change;
        Self { field, before, after, widens: *widens }
    }
}

/// What a tool does to the world, for people.
pub(super) fn effect_words(effect: Effect, needs_approval: bool) -> String {
    let effect = match effect {
        Effect::ReadOnly => "reads",
        Effect::IdempotentWrite => "writes, repeatable",
        Effect::NonIdempotentWrite => "writes",
    };
    let approval = if needs_approval { ", after approval" } else { "" };
    format!("{effect}{approval}")
}

/// The same of what its code declares alone.
pub(super) fn declared_effect(declarations: &Declarations) -> String {
    effect_words(declarations.effect, declarations.needs_approval(Origin::Local))
}

/// Names in one line.
pub(super) fn listed<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| name.as_ref().to_owned()).collect();
    match names.is_empty() {
        true => "none".to_owned(),
        false => names.join(", "),
    }
}
