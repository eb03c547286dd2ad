//! Names that somebody has assigned to an agent and that no tool has, which is a plan or a typing mistake.

use std::fmt;

use toolbay_loader::{ProviderId, ToolName, Toolbay};

use crate::nearest::nearest;

/// A name that no tool has now.
#[derive(Debug)]
pub(super) struct UnknownTool {
    pub(super) name: ToolName,
    /// What it was when it was there: its name for people, and its provider.
    pub(super) last_known: Option<(String, ProviderId)>,
    /// The tool that may have been meant.
    pub(super) nearest: Option<String>,
}

impl UnknownTool {
    /// Those of these names that no provider has or declares, in their order.
    pub(super) fn among<'n>(
        names: impl IntoIterator<Item = &'n ToolName>,
        toolbay: &Toolbay,
    ) -> Vec<Self> {
        let (registry, providers) = (toolbay.registry(), toolbay.providers());
        let declared = || providers.iter().flat_map(|provider| &provider.declared);
        let is_known = |name: &ToolName| {
            registry.get(name.as_str()).is_some()
                || declared().any(|tool| tool.name == *name || tool.aliases.contains(name))
        };
        let unknown = names.into_iter().filter(|name| !is_known(name)).map(|name| {
            let last_known = toolbay.label(name).map(|label| (label.label, label.provider));
            let registered = registry.iter().map(|entry| entry.definition().name().as_str());
            let known = registered.chain(declared().map(|tool| tool.name.as_str()));
            let nearest = nearest(name.as_str(), known).map(str::to_owned);
            Self { name: name.clone(), last_known, nearest }
        });
        unknown.collect()
    }
}

impl fmt::Display for UnknownTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_str();
        match (&self.last_known, &self.nearest) {
            (Some((label, provider)), _) => {
                write!(f, "{name:?}, which is no tool now: it was {label:?} of provider {provider}")
            }
            (None, Some(near)) => write!(f, "{name:?}, which is no tool; did you mean {near:?}?"),
            (None, None) => write!(f, "{name:?}, which is no tool"),
        }
    }
}
