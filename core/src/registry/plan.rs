//! From what providers offer to a registry: everything is decided in the plan, and its commit can't fail.

use std::{cmp::Ordering, fmt, sync::Arc};

use foldhash::HashMap;
use thiserror::Error;

use crate::{
    access::Access,
    backend::ToolBackend,
    declaration::Origin,
    definition::ToolDefinition,
    name::{ProviderId, ToolName},
    registry::{Entry, Provider, Registry},
};

/// The tools that one provider offers, in its own order.
#[derive(Debug, Clone)]
pub struct Offer {
    /// Who offers them.
    pub provider: ProviderId,
    /// The provider's version.
    pub version: String,
    /// What identifies the provider's code, such as its hash; the version where there is nothing better.
    pub content: String,
    /// Where the code comes from, in the host's judgement.
    pub origin: Origin,
    /// The tools.
    pub tools: Vec<OfferedTool>,
}

impl Offer {
    /// An offer of the host's own code, or of a plugin, whose version says which code it is.
    ///
    /// ```
    /// use toolbay_core::{Offer, Origin, ProviderId};
    ///
    /// let offer = Offer::new(ProviderId::core(), "1.2.3", Vec::new());
    /// assert_eq!((offer.content.as_str(), offer.origin), ("1.2.3", Origin::Local));
    /// ```
    pub fn new(provider: ProviderId, version: impl Into<String>, tools: Vec<OfferedTool>) -> Self {
        let version = version.into();
        Self { provider, content: version.clone(), version, origin: Origin::Local, tools }
    }
}

/// A tool and what executes it.
#[derive(Clone)]
pub struct OfferedTool {
    /// The tool.
    pub definition: Arc<ToolDefinition>,
    /// What executes it.
    pub backend: Arc<dyn ToolBackend>,
}

impl fmt::Debug for OfferedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OfferedTool").field("definition", &self.definition).finish_non_exhaustive()
    }
}

/// Why there can be no plan: the host's own tools contradict each other. The host must not start.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Two tools of the core provider have one name or alias.
    ///
    /// Resolution: rename one of them, or drop the alias.
    #[error(
        "the core provider uses the name {name} twice, in its tools {first} and {second}: rename one"
    )]
    DuplicateCoreName {
        /// The name or alias.
        name: ToolName,
        /// The tool that has it.
        first: ToolName,
        /// The tool that claims it, too.
        second: ToolName,
    },
    /// The core offer comes from somebody else.
    ///
    /// Resolution: make the offer with [`ProviderId::core`].
    #[error("the host's own offer must come from the provider core, found {found}")]
    NotCore {
        /// The provider of the offer.
        found: ProviderId,
    },
}

/// Something that a plugin offered and that was left out, for the operator. The rest of the offer stays.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Error)]
#[non_exhaustive]
pub enum Collision {
    /// A plugin calls itself core; none of its tools is registered.
    #[error(
        "plugin of version {version} calls itself core, which is the host's own provider: it must choose another id"
    )]
    ReservedProvider {
        /// The plugin's version.
        version: String,
    },
    /// Two plugins have one id; none of the second one's tools is registered.
    #[error(
        "provider {provider} is there twice: version {kept} is used and version {skipped} is not; remove one of them"
    )]
    Provider {
        /// The id.
        provider: ProviderId,
        /// The version whose tools are registered.
        kept: String,
        /// The version whose tools are not.
        skipped: String,
    },
    /// A tool's name is taken; the tool is not registered.
    #[error(
        "tool {tool} of provider {skipped} is skipped, because provider {kept} has the name: rename the tool or remove one provider"
    )]
    Tool {
        /// The name.
        tool: ToolName,
        /// The provider that has the name.
        kept: ProviderId,
        /// The provider whose tool is skipped.
        skipped: ProviderId,
    },
    /// An alias is taken; the tool is registered without it.
    #[error(
        "alias {alias} of tool {tool} of provider {skipped} is skipped, because tool {owner} of provider {kept} has the name: remove the alias"
    )]
    Alias {
        /// The alias.
        alias: ToolName,
        /// The tool that claims it.
        tool: ToolName,
        /// The provider of that tool.
        skipped: ProviderId,
        /// The tool that has the name or alias.
        owner: ToolName,
        /// The provider of that tool.
        kept: ProviderId,
    },
}

/// A registry that is decided but not yet in force.
///
/// The order in which plugins are handed in changes nothing: the core provider comes first and reserves its names and aliases,
/// enabled or not; plugins follow by provider id, and the first to claim a name has it. Every name is taken before any plugin's
/// alias is.
#[derive(Debug)]
pub struct Plan {
    entries: Vec<Planned>,
    /// Every name and alias that is taken, with the place of the tool that it leads to.
    names: HashMap<ToolName, usize>,
}

#[derive(Debug)]
struct Planned {
    entry: Entry,
    aliases: Vec<ToolName>,
}

impl Plan {
    /// Decides what of the offers is registered, and says what is not.
    ///
    /// # Errors
    ///
    /// [`PlanError`] where the core offer contradicts itself. Plugins can't make a plan fail.
    pub fn new(core: Offer, plugins: Vec<Offer>) -> Result<(Self, Vec<Collision>), PlanError> {
        if !core.provider.is_core() {
            return Err(PlanError::NotCore { found: core.provider });
        }
        let mut plan = Self { entries: Vec::new(), names: HashMap::default() };
        plan.register_core(core)?;
        let reserved = plan.entries.len();

        let mut collisions = Vec::new();
        for offer in distinct(plugins, &mut collisions) {
            plan.register_plugin(offer, &mut collisions);
        }
        plan.register_aliases(reserved, &mut collisions);
        Ok((plan, collisions))
    }

    /// Makes the registry of this generation, with the tools on and off as administrators decided.
    pub fn commit(self, generation: u64, access: &Access) -> Registry {
        let entries = self
            .entries
            .into_iter()
            .map(|Planned { entry, aliases }| Entry { aliases: aliases.into(), ..entry });
        Registry::new(generation, entries, access)
    }

    fn register_core(&mut self, core: Offer) -> Result<(), PlanError> {
        for entry in entries(core) {
            let tool = entry.definition().name().clone();
            let aliases = entry.definition().aliases().to_vec();
            for name in std::iter::once(&tool).chain(&aliases) {
                if let Some(owner) = self.names.insert(name.clone(), self.entries.len()) {
                    let first = self.entries.get(owner).map(|planned| &planned.entry);
                    let first = first.unwrap_or(&entry).definition().name().clone();
                    let name = name.clone();
                    return Err(PlanError::DuplicateCoreName { name, first, second: tool });
                }
            }
            self.entries.push(Planned { entry, aliases });
        }
        Ok(())
    }

    fn register_plugin(&mut self, offer: Offer, collisions: &mut Vec<Collision>) {
        for entry in entries(offer) {
            let tool = entry.definition().name();
            if let Some(&owner) = self.names.get(tool) {
                collisions.push(Collision::Tool {
                    tool: tool.clone(),
                    kept: self.entries[owner].entry.provider().clone(),
                    skipped: entry.provider().clone(),
                });
                continue;
            }
            self.names.insert(tool.clone(), self.entries.len());
            self.entries.push(Planned { entry, aliases: Vec::new() });
        }
    }

    /// Adds the aliases of the plugins' tools, which stand after the first `reserved`.
    fn register_aliases(&mut self, reserved: usize, collisions: &mut Vec<Collision>) {
        for at in reserved..self.entries.len() {
            let entry = self.entries[at].entry.clone();
            for alias in entry.definition().aliases() {
                match self.names.get(alias) {
                    None => {
                        self.names.insert(alias.clone(), at);
                        self.entries[at].aliases.push(alias.clone());
                    }
                    Some(&owner) => {
                        let owner = &self.entries[owner].entry;
                        collisions.push(Collision::Alias {
                            alias: alias.clone(),
                            tool: entry.definition().name().clone(),
                            skipped: entry.provider().clone(),
                            owner: owner.definition().name().clone(),
                            kept: owner.provider().clone(),
                        });
                    }
                }
            }
        }
    }
}

/// The offers by provider id, with one for each and none that claims to be core.
fn distinct(mut offers: Vec<Offer>, collisions: &mut Vec<Collision>) -> Vec<Offer> {
    offers.sort_by(by_identity);
    let mut kept: Vec<Offer> = Vec::with_capacity(offers.len());
    for offer in offers {
        match kept.last() {
            _ if offer.provider.is_core() => {
                collisions.push(Collision::ReservedProvider { version: offer.version });
            }
            Some(first) if first.provider == offer.provider => {
                collisions.push(Collision::Provider {
                    provider: offer.provider,
                    kept: first.version.clone(),
                    skipped: offer.version,
                });
            }
            _ => kept.push(offer),
        }
    }
    kept
}

/// Orders offers by what is known of them, so that no two that differ in anything but their backends are ever equal.
fn by_identity(one: &Offer, other: &Offer) -> Ordering {
    fn definitions(offer: &Offer) -> impl Iterator<Item = &ToolDefinition> {
        offer.tools.iter().map(|tool| &*tool.definition)
    }
    (one.provider.cmp(&other.provider))
        .then_with(|| one.version.cmp(&other.version))
        .then_with(|| definitions(one).cmp(definitions(other)))
        .then_with(|| one.content.cmp(&other.content))
        .then_with(|| one.origin.cmp(&other.origin))
}

fn entries(offer: Offer) -> impl Iterator<Item = Entry> {
    let Offer { provider, version, content, origin, tools } = offer;
    let provider = Arc::new(Provider { id: provider, version, content, origin });
    tools.into_iter().map(move |OfferedTool { definition, backend }| {
        let availability =
            Access::default().availability(&definition, &provider.id, std::iter::empty());
        let provider = Arc::clone(&provider);
        Entry { definition, provider, aliases: Arc::default(), availability, backend }
    })
}
