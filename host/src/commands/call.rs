//! `toolbay call`: calls one tool and prints its reply.

mod interrupt;

use std::{fs::File, sync::Arc};

use toolbay_loader::{CallError, CallRequest, CancelToken, ProviderStatus, ReplyError, Toolbay};

pub(super) use self::interrupt::InterruptError;
use crate::{
    arguments::Given,
    caller::{Named, caller},
    cli::CallArgs,
    commands::{
        CommandError, Opened, Setup,
        reply::{self, ReplyJson},
        suggest_refresh, warn_about_agent,
    },
    config,
    exit::Exit,
    output::Output,
    program::Program,
    report,
};

pub(super) fn call(
    args: CallArgs,
    setup: Setup,
    input: File,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let CallArgs { tool, arguments, json, caller: who } = args;
    let given = Given::parse(&arguments)?;
    let Opened { toolbay, people, program } = setup.open()?;
    let toolbay = Arc::new(toolbay);
    let caller = caller(&who, &people, &toolbay)?;
    warn_about_agent(&caller, &toolbay);
    let arguments = given.for_tool(&tool, &toolbay, input)?;

    let result = interrupt::until_interrupted({
        let (toolbay, tool, caller) = (Arc::clone(&toolbay), tool.clone(), caller.clone());
        move |cancel: &CancelToken| {
            let request = CallRequest::new(&tool, &arguments, &caller).with_cancel(cancel);
            toolbay.call(&request)
        }
    })?;
    if toolbay.providers().is_empty() {
        suggest_refresh(toolbay.config());
    }
    match result {
        Ok(reply) if json => {
            output.json(&ReplyJson::from(&reply))?;
            Ok(Exit::of_reply(reply.status()))
        }
        Ok(reply) => {
            reply::show(&reply, output)?;
            Ok(Exit::of_reply(reply.status()))
        }
        Err(error @ CallError::Pending { .. }) if !json => {
            waits(&error, who.user.as_ref(), &program);
            Ok(Exit::of_call_error(&error))
        }
        Err(error) => {
            if let CallError::NotRegistered { tool, .. } = &error {
                tell_who_declares(tool, &toolbay);
            }
            Err(error.into())
        }
    }
}

/// Tells what waits, and how to look at it. Who asks may decide about it unless a second person must, so the command names them.
fn waits(error: &CallError, who: Option<&Named>, program: &Program) {
    let CallError::Pending { id, running, input, .. } = error else { return };
    let who = who.map_or_else(|| "USER".to_owned(), Named::to_string);
    let look = program.command(["approvals", "show", id.as_str(), "--as", &who]);
    let help = match (running, input) {
        (true, _) => {
            "somebody has approved it, and it runs: make the same call again to get its result"
                .to_owned()
        }
        (false, true) => {
            format!("`{look}` shows what to type in; afterwards the same call gives its result")
        }
        (false, false) => format!(
            "`{look}` shows it and how to decide; afterwards the same call gives its result"
        ),
    };
    report::waiting(&report::chain(error), Some(&help));
}

/// A tool that a provider declares and does not list is no mistake of whoever calls it.
fn tell_who_declares(tool: &str, toolbay: &Toolbay) {
    let providers = toolbay.providers();
    let declares = |provider: &&ProviderStatus| {
        provider.declared.iter().any(|declared| declared.name.as_str() == tool)
    };
    if let Some(provider) = providers.iter().find(declares) {
        let id = &provider.id;
        report::note(&format!(
            "provider {id} declares {tool} and does not list it: it may need a table [providers.{id}] in {}, then `toolbay refresh`",
            config::FILE_NAME
        ));
    }
}

/// What to do about the error, where it does not say that itself.
pub(super) fn help(error: &CallError) -> Option<String> {
    match error {
        CallError::NotRegistered { nearest, .. } if nearest.is_empty() => {
            Some("`toolbay list` shows the tools".to_owned())
        }
        CallError::NotRegistered { nearest, .. } => {
            let names: Vec<&str> = nearest.iter().map(|name| name.as_str()).collect();
            Some(format!("did you mean {}? `toolbay list` shows the tools", names.join(", ")))
        }
        CallError::Denied { tool, .. } => Some(format!(
            "nothing was run; `toolbay explain {tool}`, with the --agent and --as of the call, says why and what to do"
        )),
        CallError::ApprovalRequired { .. } => Some("nothing was run".to_owned()),
        CallError::Reply { source: ReplyError::OverLimit { .. }, .. } => Some(format!(
            "ask the tool for less, or raise result_bytes under [limits] in {}",
            config::FILE_NAME
        )),
        CallError::Schema { provider, .. } | CallError::Reply { provider, .. } => {
            Some(format!("report it to the vendor of {provider}"))
        }
        _ => None,
    }
}
