//! `toolbay call`: calls one tool and prints its reply.

mod interrupt;
mod json;
mod shown;

use std::{fs::File, sync::Arc};

use toolbay_loader::{CallError, CallRequest, CancelToken, ProviderStatus, Reply, Toolbay};

pub(super) use self::interrupt::InterruptError;
use self::json::{ErrorJson, ReplyJson};
use crate::{
    arguments::Given,
    caller::caller,
    cli::CallArgs,
    commands::{CommandError, open, suggest_refresh, warn_about_agent},
    config::{self, HostConfig},
    exit::Exit,
    output::Output,
    report,
};

pub(super) fn call(
    args: CallArgs,
    config: HostConfig,
    input: File,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let CallArgs { tool, arguments, json, caller: who } = args;
    let given = Given::parse(&arguments)?;
    let caller = caller(&who, &config.agents)?;
    let toolbay = Arc::new(open(config.loader)?);
    warn_about_agent(&caller, &toolbay);
    let registry = toolbay.registry();
    let schema = registry.get(&tool).map(|entry| entry.definition().schema());
    let limit = toolbay.config().limits.argument_bytes;
    let arguments = given.into_json(schema, input, limit)?;

    let result = interrupt::until_interrupted({
        let toolbay = Arc::clone(&toolbay);
        move |cancel: &CancelToken| {
            let request = CallRequest::new(&tool, &arguments, &caller).with_cancel(cancel);
            toolbay.call(&request)
        }
    })?;
    if toolbay.providers().is_empty() {
        suggest_refresh(toolbay.config());
    }
    if let Err(CallError::NotRegistered { tool, .. }) = &result {
        tell_who_declares(tool, &toolbay);
    }
    match (result, json) {
        (Ok(reply), true) => {
            output.json(&ReplyJson::from(&reply))?;
            Ok(Exit::of_reply(reply.status()))
        }
        (Ok(reply), false) => {
            show(&reply, output)?;
            Ok(Exit::of_reply(reply.status()))
        }
        (Err(error), true) => {
            output.json(&ErrorJson::from(&error))?;
            Ok(Exit::of_call_error(&error))
        }
        (Err(error), false) => Err(CommandError::Call(Box::new(error))),
    }
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

fn show(reply: &Reply, output: &mut Output) -> Result<(), CommandError> {
    output.text(&shown::reply(reply))?;
    match reply.artifacts().len() {
        0 => {}
        1 => report::note("one more result, for people alone, is shown by --json"),
        count => {
            report::note(&format!("{count} more results, for people alone, are shown by --json"))
        }
    }
    Ok(())
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
        CallError::Denied { .. } => {
            Some("nothing was run; `toolbay list --all` shows which tools can be used".to_owned())
        }
        CallError::ApprovalRequired { .. } => {
            Some("nothing was run: a person must approve the call first, for which this release has no way yet".to_owned())
        }
        CallError::Schema { provider, .. } | CallError::Reply { provider, .. } => {
            Some(format!("report it to the vendor of {provider}"))
        }
        _ => None,
    }
}
