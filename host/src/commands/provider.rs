//! `toolbay provider`: what administrators decide about providers.

use serde::Serialize;
use toolbay_loader::{ProviderState, Switch, ToolName};

use crate::{
    caller::administrator,
    cli::{SwitchAction, SwitchArgs},
    commands::{CommandError, Opened, Setup, row::listed},
    exit::Exit,
    output::{Output, Table},
};

#[derive(Serialize)]
struct ListJson<'a> {
    providers: Vec<ProviderRow<'a>>,
}

#[derive(Serialize)]
struct ProviderRow<'a> {
    id: &'a str,
    /// None of a provider that is not there now.
    version: Option<&'a str>,
    enabled: bool,
    /// Whether somebody decided that.
    overridden: bool,
    tools: Vec<&'a str>,
}

impl<'a> From<&'a ProviderState> for ProviderRow<'a> {
    fn from(provider: &'a ProviderState) -> Self {
        Self {
            id: provider.id.as_str(),
            version: provider.version.as_deref(),
            enabled: provider.enabled,
            overridden: provider.overridden,
            tools: provider.tools.iter().map(ToolName::as_str).collect(),
        }
    }
}

pub(super) fn provider(
    args: &SwitchArgs,
    setup: Setup,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let Opened { toolbay, people, .. } = setup.open()?;
    let by = administrator(args.by.user.as_ref(), &people)?;
    let decided = match &args.action {
        SwitchAction::List => {
            list(&toolbay.provider_states(), args.by.json, output)?;
            return Ok(Exit::Done);
        }
        SwitchAction::Show { name } => toolbay.provider_state(name)?,
        SwitchAction::Enable { name } => toolbay.switch_provider(name, Switch::On, &by)?,
        SwitchAction::Disable { name } => toolbay.switch_provider(name, Switch::Off, &by)?,
        SwitchAction::Reset { name } => toolbay.switch_provider(name, Switch::Reset, &by)?,
    };
    let row = ProviderRow::from(&decided);
    match args.by.json {
        true => output.json(&row)?,
        false => output.text(&format!("{}: {}; {}", row.id, state(&row), listed(&row.tools)))?,
    }
    Ok(Exit::Done)
}

fn list(providers: &[ProviderState], json: bool, output: &mut Output) -> Result<(), CommandError> {
    let providers: Vec<ProviderRow<'_>> = providers.iter().map(ProviderRow::from).collect();
    if json {
        return Ok(output.json(&ListJson { providers })?);
    }
    if providers.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(["PROVIDER", "VERSION", "STATE", "TOOLS"]);
    for row in &providers {
        table.row([row.id, row.version.unwrap_or("-"), state(row), &listed(&row.tools)]);
    }
    Ok(output.table(table)?)
}

fn state(row: &ProviderRow<'_>) -> &'static str {
    match (row.version, row.enabled, row.overridden) {
        (None, true, _) => "not there, switched on",
        (None, false, _) => "not there, switched off",
        (_, true, false) => "on by default",
        (_, true, true) => "switched on",
        (_, false, _) => "switched off",
    }
}
