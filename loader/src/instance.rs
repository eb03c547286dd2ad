//! A running provider: from what its functions give to tools and replies, wherever it runs.

use std::{collections::BTreeMap, time::Instant};

use serde_json::value::RawValue;
use toolbay_abi::{
    extensions::MAY_VIEWER_READ,
    note::Note,
    reply_status,
    wire::{Definition, Fault, ViewerQuestion},
};
use toolbay_core::{
    BackendError, Caller, RawReply, ReplyStatus, Schema, ToolDefinition, ToolName, ValidCall,
};

use crate::{
    bundle::BundledTool,
    encode,
    entries::{Broken, Crash, Entries, EntryCall, EntryReply},
    plugin_text::one_line,
    rejection::{Reason, Stage},
    verify::{self, DeclaredTool},
};

/// The longest list of definitions that is taken from a plugin, in bytes.
const MAX_DEFINITIONS: usize = 8 * 1024 * 1024;

/// The code of a plugin that ended its process.
pub(crate) const CRASHED: &str = "crashed";

/// The code of a plugin that did not come back in time.
pub(crate) const HUNG: &str = "hung";

/// The most bytes of a plugin's own words in a rejection.
const MAX_WORDS: usize = 2_000;

/// A running provider. Dropping it ends it.
pub(crate) struct Instance(Box<dyn Entries>);

impl Instance {
    /// The provider whose functions these are.
    pub(crate) fn new(entries: impl Entries + 'static) -> Self {
        Self(Box::new(entries))
    }

    /// Why it does not answer any more; `None` while it does.
    pub(crate) fn ended(&self) -> Option<Crash> {
        self.0.ended()
    }

    /// Whether its code runs in this process.
    pub(crate) fn is_in_host(&self) -> bool {
        self.0.is_in_host()
    }

    /// Calls a tool.
    pub(crate) fn execute(
        &self,
        call: &ValidCall<'_>,
        deadline: Option<Instant>,
    ) -> Result<RawReply, BackendError> {
        let reply = self.0.execute(&entry_call(call, deadline)).map_err(broken_off)?;
        let EntryReply { status, text, rest } = reply;
        let status = match status {
            reply_status::OK => ReplyStatus::Ok,
            reply_status::FAILED => ReplyStatus::Failed,
            // The tool stopped by itself; what stopped it is the deadline where nobody cancelled.
            reply_status::CANCELLED if !call.is_cancelled() && is_over(deadline) => {
                return Err(BackendError::DeadlineExceeded);
            }
            reply_status::CANCELLED => ReplyStatus::Cancelled,
            other => {
                let message = format!("expected a reply status from 0 to 2, found {other}");
                return Err(BackendError::Fault { message, location: None });
            }
        };
        Ok(RawReply { status, text, rest })
    }

    /// Asks a tool what a call would do.
    pub(crate) fn preview(
        &self,
        call: &ValidCall<'_>,
    ) -> Result<Option<Vec<String>>, BackendError> {
        let json = self.0.preview(&entry_call(call, None)).map_err(broken_off)?;
        serde_json::from_slice(&json).map_err(|error| {
            let message = format!("expected a preview as a JSON array of lines or null: {error}");
            BackendError::Fault { message, location: None }
        })
    }

    /// Asks a tool whether somebody may read what its previews show; `None` where it does not say, or is of a release that can't be asked.
    pub(crate) fn may_viewer_read(
        &self,
        call: &ValidCall<'_>,
        viewer: &Caller,
    ) -> Result<Option<bool>, BackendError> {
        let (id, version) = MAY_VIEWER_READ;
        let contract = |error: serde_json::Error| BackendError::Fault {
            message: format!("expected true, false or null: {error}"),
            location: None,
        };
        let question = ViewerQuestion {
            tool: call.definition().name().as_str().into(),
            arguments: serde_json::from_str(call.arguments()).map_err(contract)?,
            viewer: encode::context(viewer),
            tool_config: call.tool_config(),
        };
        let question = serde_json::to_vec(&question).map_err(contract)?;
        match self.0.extension(id, version, &question).map_err(broken_off)? {
            Some(answer) => serde_json::from_slice(&answer).map_err(contract),
            None => Ok(None),
        }
    }
}

/// The tools of a list, a JSON array of definitions, made whole with what its note declares of them, and why the others are left out: those of a
/// bundle must be as its manifest promises them. `declared` are those of the note that may be listed.
pub(crate) fn adapted(
    json: &[u8],
    note: &Note,
    declared: &[DeclaredTool],
    promised: Option<&[BundledTool]>,
) -> Result<(Vec<ToolDefinition>, Vec<Reason>), Reason> {
    if json.len() > MAX_DEFINITIONS {
        let (expected, found) =
            (format!("at most {MAX_DEFINITIONS} bytes"), format!("{} bytes", json.len()));
        let remedy = "list fewer tools, or shorter schemas";
        return Err(Reason::plugin(Stage::Adapt, "definitions_too_large", expected, found, remedy));
    }
    let listed: Vec<Definition> = serde_json::from_slice(json).map_err(|error| {
        let expected = "a JSON array of definitions";
        Reason::plugin(Stage::Adapt, "bad_definitions", expected, error.to_string(), REPORT)
    })?;
    // In the note's order, which no configuration changes, so that the registry file does not depend on the provider's mood.
    let (mut tools, mut left_out) = (Vec::new(), Vec::new());
    let mut by_name: BTreeMap<String, Vec<Definition>> = BTreeMap::new();
    for definition in listed {
        by_name.entry(definition.name.clone()).or_default().push(definition);
    }
    let mut listed = BTreeMap::new();
    for (name, mut definitions) in by_name {
        match (definitions.pop(), definitions.len()) {
            (Some(definition), 0) => drop(listed.insert(name, definition)),
            // Which of them is meant nobody can tell.
            (_, others) => left_out.push(Reason::plugin(
                Stage::Adapt,
                "duplicate_tool",
                "each tool once",
                format!("{} {} times", one_line(&name, 100), others + 1),
                "list the tool once; the others are not affected",
            )),
        }
    }
    for declared in declared {
        if let Some(definition) = listed.remove(declared.name.as_str()) {
            let adapted = adapt(declared, &definition).and_then(|tool| {
                let kept = promised.map_or(Ok(()), |all| verify::check_definition(all, &tool));
                kept.map(|()| tool)
            });
            match adapted {
                Ok(tool) => tools.push(tool),
                Err(reason) => left_out.push(reason),
            }
        }
    }
    // Of one that the note declares with a mistake, or not as its manifest does, that has been told.
    let in_note = |name: &String| note.tools.iter().any(|tool| tool.name == *name);
    left_out.extend(listed.into_keys().filter(|name| !in_note(name)).map(|name| {
        let expected = "tools that the note declares";
        let remedy = "name the tool in export_provider! or in Provider::TOOLS";
        Reason::plugin(Stage::Adapt, "undeclared_tool", expected, one_line(&name, 100), remedy)
    }));
    Ok((tools, left_out))
}

fn entry_call<'a>(call: &'a ValidCall<'_>, deadline: Option<Instant>) -> EntryCall<'a> {
    EntryCall {
        tool: call.definition().name().as_str(),
        arguments: call.arguments(),
        context: Caller::encoded(call.caller(), encode::caller),
        tool_config: call.tool_config().map_or("", RawValue::get).as_bytes(),
        cancel: call.cancel(),
        progress: call.progress(),
        deadline,
    }
}

const REPORT: &str = "report it to the plugin's vendor";

fn adapt(declared: &DeclaredTool, definition: &Definition) -> Result<ToolDefinition, Reason> {
    let bad = |code, expected: &str, error: &dyn std::error::Error| {
        let found = format!("{}: {error}", declared.name);
        Reason::plugin(
            Stage::Adapt,
            code,
            expected,
            found,
            "correct the tool; the others are not affected",
        )
    };
    let schema = |text: &RawValue| {
        Schema::parse(text.get())
            .map_err(|error| bad("bad_schema", "a JSON Schema of an object", &error))
    };
    let output_schema = definition.output_schema.as_deref().map(schema).transpose()?;
    let definition = declared
        .define(definition.description.clone(), schema(&definition.input_schema)?, output_schema)
        .map_err(|error| bad("bad_definition", "a definition within the limits", &error))?;
    // Compiled now, when the operator is looking, and kept for the calls.
    definition
        .validator()
        .and_then(|_| definition.output_validator())
        .map_err(|error| bad("bad_schema", "a JSON Schema that compiles", &*error))?;
    Ok(definition)
}

fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| deadline <= Instant::now())
}

fn broken_off(broken: Broken) -> BackendError {
    match broken {
        Broken::Fault(Fault::Panic { message, location }) => {
            BackendError::Fault { message, location }
        }
        Broken::Fault(other) => BackendError::Fault { message: said(&other), location: None },
        Broken::Crashed(Crash { how, .. }) => BackendError::Crashed { how },
        Broken::DeadlineExceeded => BackendError::DeadlineExceeded,
        Broken::Cancelled => BackendError::Cancelled,
    }
}

/// Why a plugin is not taken that broke off at this stage.
pub(crate) fn refused(stage: Stage, broken: &Broken) -> Reason {
    let refused = |code, found: &str| Reason::plugin(stage, code, "an answer", found, REPORT);
    let fault = match broken {
        Broken::Fault(fault) => fault,
        Broken::Crashed(Crash { how, hung: false }) => return refused(CRASHED, how),
        Broken::Crashed(Crash { how, hung: true }) => return refused(HUNG, how),
        Broken::DeadlineExceeded | Broken::Cancelled => {
            return refused(HUNG, "none in time");
        }
    };
    match fault {
        Fault::Panic { .. } => refused("panicked", &said(fault)),
        Fault::Config { .. } => Reason::plugin(
            stage,
            "bad_configuration",
            "a configuration that the provider accepts",
            said(fault),
            "correct it in the host's configuration of this provider, then refresh; restart a host that was running meanwhile",
        )
        .by_environment(),
        other => refused("provider_failed", &said(other)),
    }
}

/// What a fault says, in words of the plugin's that are cut and escaped.
pub(crate) fn said(fault: &Fault) -> String {
    let text = match fault {
        Fault::Panic { message, location } => {
            format!("a panic at {}: {message}", location.as_deref().unwrap_or("an unknown place"))
        }
        Fault::Config { path, problem } if path == "." => problem.clone(),
        Fault::Config { path, problem } => format!("{path}: {problem}"),
        Fault::Contract { problem } | Fault::Provider { problem } => problem.clone(),
        _ => "a fault of a kind that this release does not know".to_owned(),
    };
    one_line(&text, MAX_WORDS)
}

/// Which of the registered tools a provider no longer lists in the same words.
pub(crate) fn changed<'a>(
    registered: impl Iterator<Item = &'a ToolDefinition>,
    listed: &[ToolDefinition],
) -> Vec<ToolName> {
    registered
        .filter(|registered| !listed.contains(registered))
        .map(|registered| registered.name().clone())
        .collect()
}
