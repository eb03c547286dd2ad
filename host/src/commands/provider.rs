//! `toolbay provider`: what administrators decide about providers.

use serde::Serialize;
use toolbay_loader::{AccessError, Actor, ProviderState, Switch, Toolbay};

use crate::{
    commands::{row::listed, switched::Switched},
    output::Table,
};

#[derive(Serialize)]
pub(super) struct ProviderRow {
    id: String,
    /// None of a provider that is not there now.
    version: Option<String>,
    enabled: bool,
    /// Whether somebody decided that.
    overridden: bool,
    tools: Vec<String>,
}

impl From<ProviderState> for ProviderRow {
    fn from(provider: ProviderState) -> Self {
        Self {
            id: provider.id.to_string(),
            version: provider.version,
            enabled: provider.enabled,
            overridden: provider.overridden,
            tools: provider.tools.iter().map(ToString::to_string).collect(),
        }
    }
}

impl ProviderRow {
    fn state(&self) -> &'static str {
        match (&self.version, self.enabled, self.overridden) {
            (None, true, _) => "not there, switched on",
            (None, false, _) => "not there, switched off",
            (_, true, false) => "on by default",
            (_, true, true) => "switched on",
            (_, false, _) => "switched off",
        }
    }
}

impl Switched for ProviderRow {
    const LIST: &'static str = "providers";

    fn all(toolbay: &Toolbay) -> Vec<Self> {
        toolbay.provider_states().into_iter().map(Self::from).collect()
    }

    fn one(toolbay: &Toolbay, id: &str) -> Result<Self, AccessError> {
        toolbay.provider_state(id).map(Self::from)
    }

    fn switch(toolbay: &Toolbay, id: &str, to: Switch, by: &Actor) -> Result<Self, AccessError> {
        toolbay.switch_provider(id, to, by).map(Self::from)
    }

    fn table() -> Table {
        Table::new(["PROVIDER", "VERSION", "STATE", "TOOLS"])
    }

    fn add_to(&self, table: &mut Table) {
        let version = self.version.as_deref().unwrap_or("-");
        table.row([&self.id, version, self.state(), &listed(&self.tools)]);
    }

    fn line(&self) -> String {
        format!("{}: {}; {}", self.id, self.state(), listed(&self.tools))
    }
}
