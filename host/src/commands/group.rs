//! `toolbay group`: what administrators decide about groups of tools.

use serde::Serialize;
use toolbay_loader::{AccessError, Actor, GroupState, Switch, Toolbay};

use crate::{
    commands::{row::listed, switched::Switched},
    output::Table,
};

#[derive(Serialize)]
pub(super) struct GroupRow {
    name: String,
    enabled: bool,
    /// Whether somebody decided that.
    overridden: bool,
    tools: Vec<String>,
}

impl From<GroupState> for GroupRow {
    fn from(group: GroupState) -> Self {
        Self {
            name: group.name.to_string(),
            enabled: group.enabled,
            overridden: group.overridden,
            tools: group.tools.iter().map(ToString::to_string).collect(),
        }
    }
}

impl GroupRow {
    fn state(&self) -> &'static str {
        match (self.enabled, self.overridden) {
            (true, false) => "on by default",
            (true, true) => "switched on",
            (false, _) => "switched off",
        }
    }
}

impl Switched for GroupRow {
    const LIST: &'static str = "groups";

    fn all(toolbay: &Toolbay) -> Vec<Self> {
        toolbay.groups().into_iter().map(Self::from).collect()
    }

    fn one(toolbay: &Toolbay, name: &str) -> Result<Self, AccessError> {
        toolbay.group(name).map(Self::from)
    }

    fn switch(toolbay: &Toolbay, name: &str, to: Switch, by: &Actor) -> Result<Self, AccessError> {
        toolbay.switch_group(name, to, by).map(Self::from)
    }

    fn table() -> Table {
        Table::new(["GROUP", "STATE", "TOOLS"])
    }

    fn add_to(&self, table: &mut Table) {
        table.row([&self.name, self.state(), &listed(&self.tools)]);
    }

    fn line(&self) -> String {
        format!("{}: {}; {}", self.name, self.state(), listed(&self.tools))
    }
}
