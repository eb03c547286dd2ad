//! `toolbay tool`: what administrators decide about tools.

mod row;
mod shown;

use toolbay_loader::Switch;

use self::row::Look;
pub(super) use self::shown::change_lines;
use crate::{
    caller::administrator,
    cli::{ToolAction, ToolArgs},
    commands::{CommandError, Opened, Setup, suggest_refresh},
    exit::Exit,
    output::Output,
};

pub(super) fn tool(
    args: &ToolArgs,
    setup: Setup,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let Opened { toolbay, people, program } = setup.open()?;
    let json = args.by.json;
    let by = administrator(args.by.user.as_ref(), &people)?;
    let decided = match &args.action {
        ToolAction::List => {
            let look = Look::at(&toolbay);
            match json {
                true => output.json(&look)?,
                false => shown::list(&look, output)?,
            }
            if toolbay.providers().is_empty() {
                suggest_refresh(toolbay.config());
            }
            return Ok(Exit::Done);
        }
        ToolAction::Show { name } => toolbay.tool_state(name)?,
        ToolAction::Enable { name } => toolbay.switch_tool(name, Switch::On, &by)?,
        ToolAction::Disable { name } => toolbay.switch_tool(name, Switch::Off, &by)?,
        ToolAction::Reset { name } => toolbay.switch_tool(name, Switch::Reset, &by)?,
        ToolAction::Review { name } => toolbay.review_tool(name, &by)?,
        ToolAction::RequireApproval { name, off } => toolbay.require_approval(name, !off, &by)?,
    };
    let look = Look::at(&toolbay);
    // What was decided about is there, or the decision would have been refused.
    let Some(row) = look.row(&decided.name) else { return Ok(Exit::Done) };
    match (json, &args.action) {
        (true, _) => output.json(&row)?,
        (false, ToolAction::Show { .. }) => shown::tool(&row, output)?,
        (false, _) => shown::decided(&row, &program, output)?,
    }
    Ok(Exit::Done)
}
