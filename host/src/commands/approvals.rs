//! `toolbay approvals`: what waits for a person, and the decisions about it.

mod decide;
mod fields;
mod id;
mod list;
mod row;
mod show;

use std::fs::File;

use toolbay_loader::ApprovalError;

pub(crate) use self::id::RequestIdError;
use crate::{
    caller::decider,
    cli::{ApprovalsAction, ApprovalsArgs},
    commands::{CommandError, Opened, Setup},
    exit::Exit,
    output::Output,
};

pub(super) fn approvals(
    args: ApprovalsArgs,
    setup: Setup,
    input: File,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let ApprovalsArgs { action, user, json } = args;
    let opened = setup.open()?;
    let (Opened { toolbay, people, .. }, user) = (&opened, user.as_ref());
    let who = || decider(user, people);
    match action {
        ApprovalsAction::List { all } => list::list(toolbay, all, json, output),
        ApprovalsAction::Show { id } => {
            let (viewer, id) = (who()?, id::resolve(&id, toolbay)?);
            show::show(&id, &viewer, user, &opened, json, output)
        }
        ApprovalsAction::Approve { id, digest } => {
            let (decider, id) = (who()?, id::resolve(&id, toolbay)?);
            let decided = toolbay.approve(&id, &digest, &decider)?;
            decide::show(&decided, json, output)
        }
        ApprovalsAction::Deny { id, digest } => {
            let (decider, id) = (who()?, id::resolve(&id, toolbay)?);
            toolbay.deny(&id, &digest, &decider)?;
            decide::denied(&id, json, output)
        }
        ApprovalsAction::Submit { id, digest, input: words } => {
            let (decider, id) = (who()?, id::resolve(&id, toolbay)?);
            let typed = decide::typed(&id, &words, toolbay, input)?;
            let decided = toolbay.submit(&id, &digest, &decider, &typed)?;
            decide::show(&decided, json, output)
        }
    }
}

/// What to do about the error, where it does not say that itself.
pub(super) fn help(error: &ApprovalError) -> Option<String> {
    let look = |id| Some(format!("`toolbay approvals show {id} --as USER` shows it as it is now"));
    match error {
        ApprovalError::Stale { id, .. }
        | ApprovalError::PreviewChanged { id, .. }
        | ApprovalError::NotWaiting { id, .. }
        | ApprovalError::Taken { id }
        | ApprovalError::OtherNeed { id, .. } => look(id),
        ApprovalError::NotFound { .. } => {
            Some("`toolbay approvals list --all` shows the requests".to_owned())
        }
        ApprovalError::SecondPerson { .. } => {
            Some("nothing was run; denying needs no second person".to_owned())
        }
        _ => None,
    }
}
