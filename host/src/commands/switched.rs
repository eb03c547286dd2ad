//! What `toolbay group` and `toolbay provider` have in common: they list, show and switch.

use std::collections::BTreeMap;

use serde::Serialize;
use toolbay_loader::{AccessError, Actor, Switch, Toolbay};

use crate::{
    caller::administrator,
    cli::{SwitchAction, SwitchArgs},
    commands::{CommandError, Opened, Setup},
    exit::Exit,
    output::{Output, Table},
};

/// Something that an administrator switches with all its tools.
pub(super) trait Switched: Serialize + Sized {
    /// The key of the list, in JSON.
    const LIST: &'static str;

    fn all(toolbay: &Toolbay) -> Vec<Self>;
    fn one(toolbay: &Toolbay, name: &str) -> Result<Self, AccessError>;
    fn switch(toolbay: &Toolbay, name: &str, to: Switch, by: &Actor) -> Result<Self, AccessError>;
    /// The list for people, as yet without rows.
    fn table() -> Table;
    fn add_to(&self, table: &mut Table);
    fn line(&self) -> String;
}

/// Does what the command line says about one of them, or lists all.
pub(super) fn switched<S: Switched>(
    args: &SwitchArgs,
    setup: Setup,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let Opened { toolbay, people, .. } = setup.open()?;
    let by = administrator(args.by.user.as_ref(), &people)?;
    let row = match &args.action {
        SwitchAction::List => return list(&S::all(&toolbay), args.by.json, output),
        SwitchAction::Show { name } => S::one(&toolbay, name)?,
        SwitchAction::Enable { name } => S::switch(&toolbay, name, Switch::On, &by)?,
        SwitchAction::Disable { name } => S::switch(&toolbay, name, Switch::Off, &by)?,
        SwitchAction::Reset { name } => S::switch(&toolbay, name, Switch::Reset, &by)?,
    };
    match args.by.json {
        true => output.json(&row)?,
        false => output.text(&row.line())?,
    }
    Ok(Exit::Done)
}

fn list<S: Switched>(rows: &[S], json: bool, output: &mut Output) -> Result<Exit, CommandError> {
    if json {
        output.json(&BTreeMap::from([(S::LIST, rows)]))?;
    } else if !rows.is_empty() {
        let mut table = S::table();
        rows.iter().for_each(|row| row.add_to(&mut table));
        output.table(table)?;
    }
    Ok(Exit::Done)
}
