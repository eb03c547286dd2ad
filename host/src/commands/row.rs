//! What several commands show of tools and of what was not taken, under keys that never change.

use std::path::Path;

use serde::Serialize;
use toolbay_loader::{
    Declarations, DeclaredTool, Effect, Origin, Party, RejectionReason, ToolName,
};

/// What a tool's code declares.
#[derive(Serialize)]
pub(super) struct DeclarationsRow<'a> {
    effect: &'static str,
    data_class: &'static str,
    group: Option<&'a str>,
    requires_admin: bool,
    enabled_by_default: bool,
    needs_approval: bool,
    egress: &'static str,
    kind: &'static str,
}

impl<'a> From<&'a Declarations> for DeclarationsRow<'a> {
    fn from(declarations: &'a Declarations) -> Self {
        Self {
            effect: declarations.effect.as_str(),
            data_class: declarations.data_class.as_str(),
            group: declarations.group.as_ref().map(|group| group.as_str()),
            requires_admin: declarations.requires_admin,
            enabled_by_default: declarations.enabled_by_default,
            needs_approval: declarations.needs_approval(Origin::Local),
            egress: declarations.egress.as_str(),
            kind: declarations.kind.as_str(),
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

/// What a tool does to the world, for people.
pub(super) fn effect_words(declarations: &Declarations) -> String {
    let effect = match declarations.effect {
        Effect::ReadOnly => "reads",
        Effect::IdempotentWrite => "writes, repeatable",
        Effect::NonIdempotentWrite => "writes",
    };
    let approval = if declarations.needs_approval(Origin::Local) { ", after approval" } else { "" };
    format!("{effect}{approval}")
}
