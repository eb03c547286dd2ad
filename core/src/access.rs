//! What administrators decide about tools, and what comes of it for each tool.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    definition::ToolDefinition,
    name::{GroupName, ProviderId, ToolName},
    pin::Pin,
};

/// What administrators have decided. A row is there only where somebody decided otherwise than the tools' code does.
///
/// A row whose tool, group or provider is gone stays and does nothing; it is in force again when that comes back. A tool's row may
/// stand under a former name of the tool.
///
/// ```
/// use toolbay_core::Access;
///
/// let mut access = Access::default();
/// access.groups.insert("content".parse()?, false); // also for tools of this group that come later
/// access.tools.insert("notes_read".parse()?, true); // never beats its disabled group
/// # Ok::<(), toolbay_core::NameError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Access {
    /// Whether every tool is off, whatever else is decided: what holds while nobody knows what was decided.
    pub closed: bool,
    /// Tools that are switched on or off.
    pub tools: BTreeMap<ToolName, bool>,
    /// Groups that are switched on or off. Without a row, a group is on.
    pub groups: BTreeMap<GroupName, bool>,
    /// Providers that are switched on or off. Without a row, a provider is on.
    pub providers: BTreeMap<ProviderId, bool>,
    /// Tools whose calls need a person's approval although their code does not ask for it. Nothing takes an approval away.
    pub approvals: BTreeSet<ToolName>,
    /// Each tool as it was when it was first enabled, or last reviewed.
    pub pins: BTreeMap<ToolName, Pin>,
}

/// Whether a tool is switched on, and by what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Availability {
    /// Whether its provider is on, and anything is.
    pub provider_enabled: bool,
    /// Whether its group is on, or it has none.
    pub group_enabled: bool,
    /// What an administrator has decided about the tool itself.
    pub tool_override: Option<bool>,
    /// What its code says where nobody has decided.
    pub default_enabled: bool,
    /// Whether it has changed since it was reviewed in a way that lets it do more.
    pub needs_review: bool,
    /// Whether an administrator wants its calls approved.
    pub approval_added: bool,
}

impl Availability {
    /// What an administrator or else the tool's code says of the tool alone.
    pub fn tool_enabled(&self) -> bool {
        self.tool_override.unwrap_or(self.default_enabled)
    }

    /// Whether the tool is on: everything that can switch it off must be on.
    pub fn is_enabled(&self) -> bool {
        self.provider_enabled && self.group_enabled && self.tool_enabled() && !self.needs_review
    }
}

impl Access {
    /// Whether this tool of this provider is on, known by these names, its own first.
    pub(crate) fn availability<'n>(
        &self,
        tool: &ToolDefinition,
        provider: &ProviderId,
        names: impl Iterator<Item = &'n ToolName> + Clone,
    ) -> Availability {
        let declared = tool.declarations();
        let pin = names.clone().find_map(|name| self.pins.get(name));
        Availability {
            provider_enabled: !self.closed && self.providers.get(provider).copied().unwrap_or(true),
            group_enabled: declared
                .group
                .as_ref()
                .is_none_or(|group| self.groups.get(group).copied().unwrap_or(true)),
            // A row under the tool's own name wins over those under former names, and of these the first alias's.
            tool_override: names.clone().find_map(|name| self.tools.get(name)).copied(),
            default_enabled: declared.enabled_by_default,
            needs_review: pin.is_some_and(|pin| pin.is_widened_by(tool, provider)),
            approval_added: names.clone().any(|name| self.approvals.contains(name)),
        }
    }
}
