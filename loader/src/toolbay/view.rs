//! One consistent look at what is registered and what was decided.

use std::sync::Arc;

use toolbay_core::{ProviderId, Registry};

use super::{ProviderStatus, Toolbay};
use crate::{access_file::Contents, verify::DeclaredTool};

pub(super) struct View {
    pub(super) registry: Arc<Registry>,
    pub(super) contents: Arc<Contents>,
    pub(super) providers: Vec<ProviderStatus>,
}

impl Toolbay {
    pub(super) fn view(&self) -> View {
        let (registry, contents) = {
            let state = self.state.lock();
            (self.registry(), Arc::clone(&state.contents))
        };
        View { registry, contents, providers: self.providers() }
    }
}

impl View {
    /// Every tool that a note declares, listed now or not.
    pub(super) fn declared(&self) -> impl Iterator<Item = &DeclaredTool> {
        self.providers.iter().flat_map(|provider| &provider.declared)
    }

    pub(super) fn provider_of(&self, tool: &DeclaredTool) -> Option<ProviderId> {
        let has = |provider: &&ProviderStatus| provider.declared.contains(tool);
        self.providers.iter().find(has).map(|provider| provider.id.clone())
    }
}
