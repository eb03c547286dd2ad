//! Which tools there are: an immutable table that is replaced as a whole.

mod cell;
mod plan;

use std::{fmt, sync::Arc};

use foldhash::HashMap;

pub use self::{
    cell::RegistryCell,
    plan::{Collision, Offer, OfferedTool, Plan, PlanError},
};
use crate::{
    backend::ToolBackend,
    definition::ToolDefinition,
    name::{ProviderId, ToolName},
};

/// A registered tool: what it is, who contributed it and what executes it.
pub struct Entry {
    definition: Arc<ToolDefinition>,
    provider: ProviderId,
    provider_version: Arc<str>,
    backend: Arc<dyn ToolBackend>,
}

impl Entry {
    /// The tool.
    pub fn definition(&self) -> &Arc<ToolDefinition> {
        &self.definition
    }

    /// Who contributed it.
    pub fn provider(&self) -> &ProviderId {
        &self.provider
    }

    /// The version of the provider.
    pub fn provider_version(&self) -> &str {
        &self.provider_version
    }

    /// What executes it. Calls go through a [`Pipeline`](crate::Pipeline), which alone can make the argument.
    pub fn backend(&self) -> &dyn ToolBackend {
        &*self.backend
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("definition", &self.definition)
            .field("provider", &self.provider)
            .field("provider_version", &self.provider_version)
            .finish_non_exhaustive()
    }
}

/// Every registered tool under its name and its aliases. Made by [`Plan::commit`], never changed.
#[derive(Debug, Default)]
pub struct Registry {
    generation: u64,
    entries: Vec<Arc<Entry>>,
    by_name: HashMap<ToolName, Arc<Entry>>,
}

impl Registry {
    /// The tool of this name or alias.
    pub fn get(&self, name: &str) -> Option<&Arc<Entry>> {
        self.by_name.get(name)
    }

    /// Every tool once: the core provider's first, then each plugin's by provider id, in the provider's own order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<Entry>> {
        self.entries.iter()
    }

    /// The names of the table that are not a tool's own, each with the tool that it leads to, in no order.
    pub fn aliases(&self) -> impl Iterator<Item = (&ToolName, &Arc<Entry>)> {
        self.by_name.iter().filter(|(name, entry)| *name != entry.definition.name())
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no tool.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Which registry it is, counted up by whoever commits.
    pub fn generation(&self) -> u64 {
        self.generation
    }
}
