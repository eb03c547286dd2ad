//! `toolbay agent`: the agents as which models work.

mod loadout;
mod row;
mod settings;

use serde::Serialize;
use toolbay_loader::{AccessError, Actor, AgentName, AgentProfile, RequestState, Toolbay};

pub(super) use self::row::held_back;
use self::{row::AgentRow, settings::Mentioned};
use crate::{
    caller::administrator,
    cli::{AgentAction, AgentArgs},
    commands::{CommandError, Setup},
    exit::Exit,
    output::Output,
    report,
};

#[derive(Serialize)]
struct DeletedJson<'a> {
    deleted: &'a str,
}

pub(super) fn agent(
    args: AgentArgs,
    setup: Setup,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let opened = setup.open()?;
    let (toolbay, json) = (&opened.toolbay, args.by.json);
    let by = administrator(args.by.user.as_ref(), &opened.people)?;
    let profile = match args.action {
        AgentAction::List => {
            row::list(toolbay, json, output)?;
            return Ok(Exit::Done);
        }
        AgentAction::Loadout(args) => return loadout::loadout(args, &by, &opened, json, output),
        AgentAction::Delete { name } => return delete(&name, &by, toolbay, json, output),
        AgentAction::Show { name, config_values } => {
            // Whoever may not change an agent may know its tools, and not what it gives them.
            if config_values && !by.is_admin() {
                return Err(AccessError::NotAdmin { actor: by.to_string() }.into());
            }
            let profile = toolbay.agent(&name)?;
            row::show(&AgentRow::new(&profile, toolbay, config_values), json, output)?;
            return Ok(Exit::Done);
        }
        AgentAction::Create(settings) => {
            Mentioned::of(&settings).warn(toolbay);
            let mut profile = AgentProfile::new(settings.name.clone());
            settings.apply(&mut profile);
            toolbay.create_agent(profile.clone(), &by)?;
            profile
        }
        AgentAction::Set(settings) => {
            Mentioned::of(&settings).warn(toolbay);
            let name = settings.name.clone();
            toolbay.change_agent(&name, &by, |profile| settings.apply(profile))?
        }
    };
    row::show(&AgentRow::new(&profile, toolbay, false), json, output)?;
    Ok(Exit::Done)
}

fn delete(
    name: &AgentName,
    by: &Actor,
    toolbay: &Toolbay,
    json: bool,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    toolbay.delete_agent(name, by)?;
    match json {
        true => output.json(&DeletedJson { deleted: name.as_str() })?,
        false if name.as_str() == Toolbay::DEFAULT_AGENT => {
            output.text(&format!("agent {name} is again as nobody has made it"))?
        }
        false => output.text(&format!("agent {name} is no more"))?,
    }
    if name.as_str() == Toolbay::DEFAULT_AGENT {
        report::note("whoever works that names no agent has every enabled tool from now on");
        return Ok(Exit::Done);
    }
    let (requests, _) = toolbay.approvals();
    let waits = requests.iter().filter(|stored| {
        let waiting = matches!(stored.state, RequestState::Waiting { .. });
        waiting && stored.request.owner.agent.as_ref() == Some(name)
    });
    match waits.count() {
        0 => {}
        count => {
            report::note(&format!("requests of it that wait and can only be denied now: {count}"))
        }
    }
    Ok(Exit::Done)
}
