//! `toolbay group`: what administrators decide about groups of tools.

use serde::Serialize;
use toolbay_loader::{GroupState, Switch, ToolName};

use crate::{
    caller::administrator,
    cli::{SwitchAction, SwitchArgs},
    commands::{CommandError, Opened, Setup, row::listed},
    exit::Exit,
    output::{Output, Table},
};

#[derive(Serialize)]
struct ListJson<'a> {
    groups: Vec<GroupRow<'a>>,
}

#[derive(Serialize)]
struct GroupRow<'a> {
    name: &'a str,
    enabled: bool,
    /// Whether somebody decided that.
    overridden: bool,
    tools: Vec<&'a str>,
}

impl<'a> From<&'a GroupState> for GroupRow<'a> {
    fn from(group: &'a GroupState) -> Self {
        Self {
            name: group.name.as_str(),
            enabled: group.enabled,
            overridden: group.overridden,
            tools: group.tools.iter().map(ToolName::as_str).collect(),
        }
    }
}

pub(super) fn group(
    args: &SwitchArgs,
    setup: Setup,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let Opened { toolbay, people, .. } = setup.open()?;
    let by = administrator(args.by.user.as_ref(), &people)?;
    let decided = match &args.action {
        SwitchAction::List => {
            list(&toolbay.groups(), args.by.json, output)?;
            return Ok(Exit::Done);
        }
        SwitchAction::Show { name } => toolbay.group(name)?,
        SwitchAction::Enable { name } => toolbay.switch_group(name, Switch::On, &by)?,
        SwitchAction::Disable { name } => toolbay.switch_group(name, Switch::Off, &by)?,
        SwitchAction::Reset { name } => toolbay.switch_group(name, Switch::Reset, &by)?,
    };
    let row = GroupRow::from(&decided);
    match args.by.json {
        true => output.json(&row)?,
        false => output.text(&format!("{}: {}; {}", row.name, state(&row), listed(&row.tools)))?,
    }
    Ok(Exit::Done)
}

fn list(groups: &[GroupState], json: bool, output: &mut Output) -> Result<(), CommandError> {
    let groups: Vec<GroupRow<'_>> = groups.iter().map(GroupRow::from).collect();
    if json {
        return Ok(output.json(&ListJson { groups })?);
    }
    if groups.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(["GROUP", "STATE", "TOOLS"]);
    for row in &groups {
        table.row([row.name, state(row), &listed(&row.tools)]);
    }
    Ok(output.table(table)?)
}

fn state(row: &GroupRow<'_>) -> &'static str {
    match (row.enabled, row.overridden) {
        (true, false) => "on by default",
        (true, true) => "switched on",
        (false, _) => "switched off",
    }
}
