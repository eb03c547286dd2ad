//! Which tools there are, and which of them are on: an immutable table that is replaced as a whole.

mod cell;
mod plan;

use std::{fmt, iter, sync::Arc};

use foldhash::HashMap;

pub use self::{
    cell::RegistryCell,
    plan::{Collision, Offer, OfferedTool, Plan, PlanError},
};
use crate::{
    access::{Access, Availability},
    backend::ToolBackend,
    declaration::Origin,
    definition::ToolDefinition,
    name::{ProviderId, ToolName},
};

/// A registered tool: what it is, who contributed it, whether it is on, and what executes it.
#[derive(Clone)]
pub struct Entry {
    definition: Arc<ToolDefinition>,
    provider: Arc<Provider>,
    aliases: Arc<[ToolName]>,
    availability: Availability,
    backend: Arc<dyn ToolBackend>,
}

/// What the entries of one provider share.
#[derive(Debug)]
struct Provider {
    id: ProviderId,
    version: String,
    content: String,
    origin: Origin,
}

impl Entry {
    /// The tool.
    pub fn definition(&self) -> &Arc<ToolDefinition> {
        &self.definition
    }

    /// Who contributed it.
    pub fn provider(&self) -> &ProviderId {
        &self.provider.id
    }

    /// The version of the provider.
    pub fn provider_version(&self) -> &str {
        &self.provider.version
    }

    /// What identifies the provider's code, such as its hash: an approval holds for this content alone.
    pub fn provider_content(&self) -> &str {
        &self.provider.content
    }

    /// Where its code comes from.
    pub fn origin(&self) -> Origin {
        self.provider.origin
    }

    /// Its name, then the former names that lead to it.
    pub fn names(&self) -> impl Iterator<Item = &ToolName> + Clone {
        iter::once(self.definition.name()).chain(&*self.aliases)
    }

    /// Whether it is on, and by what.
    pub fn availability(&self) -> &Availability {
        &self.availability
    }

    /// The one approval predicate: whether a person must approve each call, because the tool asks for it, writes, or an administrator
    /// wants it.
    pub fn needs_approval(&self) -> bool {
        self.availability.approval_added
            || self.definition.declarations().needs_approval(self.origin())
    }

    /// Whether each call waits for a person, who approves it or types something in.
    pub fn needs_person(&self) -> bool {
        self.definition.declarations().input.is_some() || self.needs_approval()
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
            .field("aliases", &self.aliases)
            .field("availability", &self.availability)
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
    /// The tools of this generation, switched on and off as administrators decided.
    fn new(generation: u64, entries: impl Iterator<Item = Entry>, access: &Access) -> Self {
        let entries: Vec<Arc<Entry>> = entries
            .map(|entry| {
                let availability =
                    access.availability(&entry.definition, &entry.provider.id, entry.names());
                Arc::new(Entry { availability, ..entry })
            })
            .collect();
        let by_name = entries
            .iter()
            .flat_map(|entry| entry.names().map(|name| (name.clone(), Arc::clone(entry))))
            .collect();
        Self { generation, entries, by_name }
    }

    /// The same tools under other decisions of administrators.
    pub fn with_access(&self, access: &Access) -> Self {
        Self::new(self.generation, self.entries.iter().map(|entry| Entry::clone(entry)), access)
    }

    /// The same tools as another generation.
    #[must_use]
    pub fn of_generation(self, generation: u64) -> Self {
        Self { generation, ..self }
    }

    /// The tool of this name or alias.
    pub fn get(&self, name: &str) -> Option<&Arc<Entry>> {
        self.by_name.get(name)
    }

    /// Every tool once: the core provider's first, then each provider's by its id, in the provider's own order.
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
