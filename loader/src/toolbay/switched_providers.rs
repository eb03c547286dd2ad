//! What administrators decide about providers.

use std::collections::BTreeSet;

use toolbay_core::{Actor, ProviderId, ToolName};

use super::{Switch, Toolbay, administration::unknown, view::View};
use crate::access_error::AccessError;

/// A provider with what was decided about it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProviderState {
    /// Its id.
    pub id: ProviderId,
    /// Its version; `None` where it is not registered now.
    pub version: Option<String>,
    /// Whether it is on.
    pub enabled: bool,
    /// Whether somebody decided that.
    pub overridden: bool,
    /// The tools of it that are registered.
    pub tools: Vec<ToolName>,
}

impl Toolbay {
    /// Switches a provider, with all its tools.
    ///
    /// # Errors
    ///
    /// [`AccessError`]: nothing has changed. An unknown id leaves no row.
    pub fn switch_provider(
        &self,
        id: &str,
        switch: Switch,
        by: &Actor,
    ) -> Result<ProviderState, AccessError> {
        let provider = self.provider_state(id)?;
        self.decide(by, switch.kind(), id, "provider", |contents| {
            switch.apply(&mut contents.access.providers, provider.id.clone());
            Ok(())
        })?;
        let (enabled, overridden) = (switch != Switch::Off, switch != Switch::Reset);
        Ok(ProviderState { enabled, overridden, ..provider })
    }

    /// Every provider that is registered or that somebody has decided about, sorted by id.
    pub fn provider_states(&self) -> Vec<ProviderState> {
        let view = self.view();
        let entries = view.registry.iter().map(|entry| entry.provider());
        let ids: BTreeSet<&ProviderId> = entries
            .chain(view.providers.iter().map(|provider| &provider.id))
            .chain(view.contents.access.providers.keys())
            .collect();
        ids.into_iter().map(|id| state(id, &view)).collect()
    }

    /// The provider of this id.
    ///
    /// # Errors
    ///
    /// [`AccessError::Unknown`] where none is registered, and nobody has decided about one.
    pub fn provider_state(&self, id: &str) -> Result<ProviderState, AccessError> {
        let states = self.provider_states();
        match states.iter().find(|state| state.id.as_str() == id) {
            Some(state) => Ok(state.clone()),
            None => Err(unknown("provider", id, states.iter().map(|state| &state.id))),
        }
    }
}

fn state(id: &ProviderId, view: &View) -> ProviderState {
    let decided = view.contents.access.providers.get(id).copied();
    let own = || view.registry.iter().filter(|entry| entry.provider() == id);
    let listed = view.providers.iter().find(|provider| provider.id == *id);
    let version = listed.map(|provider| provider.version.clone());
    ProviderState {
        id: id.clone(),
        version: version.or_else(|| own().next().map(|entry| entry.provider_version().to_owned())),
        enabled: decided.unwrap_or(true),
        overridden: decided.is_some(),
        tools: own().map(|entry| entry.definition().name().clone()).collect(),
    }
}
