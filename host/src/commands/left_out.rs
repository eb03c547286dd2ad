//! Tools that a provider declares and that nobody can call under its name.

use toolbay_loader::{DeclaredTool, ProviderStatus, Registry};

/// Why a declared tool is not in the registry as its provider's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Absence {
    /// Its provider does not list it now.
    NotListed,
    /// Another provider has the name.
    NameTaken,
}

/// A declared tool that is not registered as its provider's own.
#[derive(Debug, Clone, Copy)]
pub(super) struct LeftOut<'a> {
    pub(super) provider: &'a ProviderStatus,
    pub(super) tool: &'a DeclaredTool,
    pub(super) absence: Absence,
}

/// All of them, by provider, in the order of the notes.
pub(super) fn left_out<'a>(
    providers: &'a [ProviderStatus],
    registry: &'a Registry,
) -> impl Iterator<Item = LeftOut<'a>> {
    let of_provider = move |provider: &'a ProviderStatus| {
        provider.declared.iter().filter_map(move |tool| {
            let is_own = registry.get(tool.name.as_str()).is_some_and(|entry| {
                *entry.definition().name() == tool.name && *entry.provider() == provider.id
            });
            let absence = match provider.tools.contains(&tool.name) {
                true => Absence::NameTaken,
                false => Absence::NotListed,
            };
            (!is_own).then_some(LeftOut { provider, tool, absence })
        })
    };
    providers.iter().flat_map(of_provider)
}
