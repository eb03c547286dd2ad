//! From what providers offer to a registry: everything is decided in the plan, and its commit can't fail.

use std::{cmp::Ordering, fmt, sync::Arc};

use thiserror::Error;

use crate::{
    backend::ToolBackend,
    definition::ToolDefinition,
    name::{ProviderId, ToolName},
    registry::{Entry, Registry},
};

/// The tools that one provider offers, in its own order.
#[derive(Debug, Clone)]
pub struct Offer {
    /// Who offers them.
    pub provider: ProviderId,
    /// The provider's version.
    pub version: String,
    /// The tools.
    pub tools: Vec<OfferedTool>,
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
    registry: Registry,
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
        let mut registry = Registry::default();
        register_core(&mut registry, core)?;
        let reserved = registry.len();

        let mut collisions = Vec::new();
        for offer in distinct(plugins, &mut collisions) {
            register_plugin(&mut registry, offer, &mut collisions);
        }
        register_aliases(&mut registry, reserved, &mut collisions);
        Ok((Self { registry }, collisions))
    }

    /// Makes the registry of this generation.
    pub fn commit(self, generation: u64) -> Registry {
        Registry { generation, ..self.registry }
    }
}

fn register_core(registry: &mut Registry, core: Offer) -> Result<(), PlanError> {
    for entry in entries(core) {
        let tool = entry.definition().name();
        for name in std::iter::once(tool).chain(entry.definition().aliases()) {
            if let Some(owner) = registry.by_name.insert(name.clone(), Arc::clone(&entry)) {
                return Err(PlanError::DuplicateCoreName {
                    name: name.clone(),
                    first: owner.definition().name().clone(),
                    second: tool.clone(),
                });
            }
        }
        registry.entries.push(entry);
    }
    Ok(())
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

/// Orders offers by what they say, so that no two that differ are ever equal.
fn by_identity(one: &Offer, other: &Offer) -> Ordering {
    fn definitions(offer: &Offer) -> impl Iterator<Item = &ToolDefinition> {
        offer.tools.iter().map(|tool| &*tool.definition)
    }
    (one.provider.cmp(&other.provider))
        .then_with(|| one.version.cmp(&other.version))
        .then_with(|| definitions(one).cmp(definitions(other)))
}

fn register_plugin(registry: &mut Registry, offer: Offer, collisions: &mut Vec<Collision>) {
    for entry in entries(offer) {
        let tool = entry.definition().name();
        if let Some(owner) = registry.by_name.get(tool) {
            collisions.push(Collision::Tool {
                tool: tool.clone(),
                kept: owner.provider().clone(),
                skipped: entry.provider().clone(),
            });
            continue;
        }
        registry.by_name.insert(tool.clone(), Arc::clone(&entry));
        registry.entries.push(entry);
    }
}

/// Adds the aliases of the plugins' tools, which stand after the first `reserved`.
fn register_aliases(registry: &mut Registry, reserved: usize, collisions: &mut Vec<Collision>) {
    for entry in registry.entries.iter().skip(reserved) {
        for alias in entry.definition().aliases() {
            match registry.by_name.get(alias) {
                None => {
                    registry.by_name.insert(alias.clone(), Arc::clone(entry));
                }
                Some(owner) => collisions.push(Collision::Alias {
                    alias: alias.clone(),
                    tool: entry.definition().name().clone(),
                    skipped: entry.provider().clone(),
                    owner: owner.definition().name().clone(),
                    kept: owner.provider().clone(),
                }),
            }
        }
    }
}

fn entries(offer: Offer) -> impl Iterator<Item = Arc<Entry>> {
    let Offer { provider, version, tools } = offer;
    let version: Arc<str> = Arc::from(version);
    tools.into_iter().map(move |OfferedTool { definition, backend }| {
        Arc::new(Entry {
            definition,
            provider: provider.clone(),
            provider_version: Arc::clone(&version),
            backend,
        })
    })
}
