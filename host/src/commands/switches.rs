//! What keeps a tool off, and what switches it on.

use serde::{Serialize, Serializer};
use toolbay_loader::{Availability, Effect, Entry, Origin};

use crate::program::Program;

/// One thing that keeps a tool off. All of them must go before it is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OffBy {
    /// Nobody can read what was decided, so everything is off.
    Unreadable,
    /// Its provider is switched off.
    Provider,
    /// Its group is switched off.
    Group,
    /// An administrator has switched it off.
    Decision,
    /// Its code says so, and nobody has decided otherwise.
    Default,
    /// It has changed since it was reviewed, in a way that lets it do more.
    Review,
}

impl OffBy {
    /// Everything that keeps a tool off, in the order in which a person looks into it.
    pub(super) fn of(availability: &Availability, unreadable: bool) -> Vec<Self> {
        let Availability { provider_enabled, group_enabled, tool_override, .. } = *availability;
        let tool = match tool_override {
            Some(_) => Self::Decision,
            None => Self::Default,
        };
        let causes = [
            (Self::Unreadable, unreadable),
            // While nobody can read it, every provider counts as off.
            (Self::Provider, !provider_enabled && !unreadable),
            (Self::Group, !group_enabled),
            (tool, !availability.tool_enabled()),
            (Self::Review, availability.needs_review),
        ];
        causes.into_iter().filter(|(_, is)| *is).map(|(cause, _)| cause).collect()
    }

    /// The word for programs.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::Provider => "provider",
            Self::Group => "group",
            Self::Decision => "decision",
            Self::Default => "default",
            Self::Review => "review",
        }
    }

    /// The words for people.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Unreadable => "off while nobody can read what was decided",
            Self::Provider => "off with its provider",
            Self::Group => "off with its group",
            Self::Decision => "switched off",
            Self::Default => "off by default",
            Self::Review => "waits for a review",
        }
    }

    /// The command that takes it away, where one does.
    pub(super) fn remedy(self, entry: &Entry, program: &Program) -> Option<String> {
        let tool = entry.definition();
        let words = match self {
            Self::Unreadable => return None,
            Self::Provider => ["provider", "enable", entry.provider().as_str()],
            Self::Group => ["group", "enable", tool.declarations().group.as_ref()?.as_str()],
            Self::Decision | Self::Default => ["tool", "enable", tool.name().as_str()],
            Self::Review => ["tool", "review", tool.name().as_str()],
        };
        Some(program.command(words))
    }
}

impl Serialize for OffBy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Why each call of a tool needs a person's approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ApprovalReason {
    /// It writes.
    Writes,
    /// Its code asks for it.
    Declared,
    /// An administrator wants it.
    Administrator,
}

impl ApprovalReason {
    /// Why, where it needs one at all.
    pub(super) fn of(entry: &Entry) -> Option<Self> {
        let declared = entry.definition().declarations();
        let writes = declared.effect != Effect::ReadOnly && entry.origin() == Origin::Local;
        match (entry.needs_approval(), writes, declared.needs_approval(entry.origin())) {
            (false, ..) => None,
            (true, true, _) => Some(Self::Writes),
            (true, false, true) => Some(Self::Declared),
            (true, false, false) => Some(Self::Administrator),
        }
    }

    /// The word for programs.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Writes => "writes",
            Self::Declared => "declared",
            Self::Administrator => "administrator",
        }
    }

    /// The words for people.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Writes => "because it writes",
            Self::Declared => "because its code asks for that",
            Self::Administrator => "because an administrator wants that",
        }
    }
}

impl Serialize for ApprovalReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
