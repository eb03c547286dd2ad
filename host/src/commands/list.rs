//! `toolbay list`: the tools, and why some can't be used.

use std::sync::Arc;

use serde::{Serialize, Serializer};
use toolbay_loader::{Caller, Decision, Entry, Origin, ProviderStatus, ToolName};

use crate::{
    caller::caller,
    cli::ListArgs,
    commands::{
        CommandError, Opened, Setup,
        left_out::{Absence, LeftOut, left_out},
        row::{DeclarationsRow, declared_effect, effect_words},
        suggest_refresh, warn_about_agent,
    },
    exit::Exit,
    output::{Output, Table},
    report,
};

#[derive(Serialize)]
struct ListJson<'a> {
    generation: u64,
    tools: Vec<ToolRow<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    providers: Option<Vec<ProviderRow<'a>>>,
}

#[derive(Serialize)]
struct ToolRow<'a> {
    name: &'a str,
    label: &'a str,
    summary: &'a str,
    provider: &'a str,
    provider_version: &'a str,
    /// Former names that lead to the tool.
    aliases: Vec<&'a str>,
    state: State,
    /// Whether it is offered only because its gate observes.
    observed_only: bool,
    declarations: DeclarationsRow<'a>,
    #[serde(skip)]
    effect: String,
}

#[derive(Serialize)]
struct ProviderRow<'a> {
    id: &'a str,
    version: &'a str,
    hash: String,
    tools: usize,
    declared: usize,
}

/// Whether the caller can use a tool.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Offered,
    NeedsApproval,
    NeedsInput,
    /// A gate refuses; its word.
    Denied(&'static str),
    /// Its provider declares it and does not list it now.
    NotListed,
    /// Another provider has the name.
    NameTaken,
}

impl State {
    fn as_str(self) -> &'static str {
        match self {
            Self::Offered => "offered",
            Self::NeedsApproval => "needsApproval",
            Self::NeedsInput => "needsInput",
            Self::Denied(reason) => reason,
            Self::NotListed => "notListed",
            Self::NameTaken => "nameTaken",
        }
    }

    fn of(entry: &Entry, decision: &Decision) -> Self {
        match decision.reason.filter(|_| !decision.allowed) {
            Some(reason) => Self::Denied(reason.as_str()),
            None if entry.needs_approval() => Self::NeedsApproval,
            None if entry.definition().declarations().input.is_some() => Self::NeedsInput,
            None => Self::Offered,
        }
    }
}

impl Serialize for State {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

pub(super) fn list(
    args: &ListArgs,
    setup: Setup,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let Opened { toolbay, people, .. } = setup.open()?;
    let caller = caller(&args.caller, &people, &toolbay)?;
    warn_about_agent(&caller, &toolbay);
    let registry = toolbay.registry();
    let providers = toolbay.providers();
    let shown = registry.iter().filter_map(|entry| registered(entry, &caller, args.all));
    let mut rows: Vec<ToolRow<'_>> = shown.collect();
    if args.all {
        rows.extend(left_out(&providers, &registry).map(ToolRow::from));
    }
    let none_of = match (rows.is_empty(), args.all) {
        (true, false) => providers.iter().map(|provider| provider.declared.len()).sum(),
        _ => 0,
    };
    if args.json {
        let providers = args.all.then(|| providers.iter().map(ProviderRow::from).collect());
        output.json(&ListJson { generation: registry.generation(), tools: rows, providers })?;
    } else {
        show(&rows, args.all, output)?;
    }
    if providers.is_empty() {
        suggest_refresh(toolbay.config());
    } else if none_of > 0 {
        let agent =
            caller.agent().map(|agent| format!(" --agent {}", agent.name)).unwrap_or_default();
        report::note(&format!(
            "none of {none_of} tools can be used; `toolbay list --all{agent}` says why"
        ));
    }
    Ok(Exit::Done)
}

fn show(rows: &[ToolRow<'_>], all: bool, output: &mut Output) -> Result<(), CommandError> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut table = match all {
        true => Table::new(["NAME", "PROVIDER", "EFFECT", "STATE", "SUMMARY"]),
        false => Table::new(["NAME", "PROVIDER", "EFFECT", "SUMMARY"]),
    };
    for row in rows {
        if all {
            let provider = format!("{} {}", row.provider, row.provider_version);
            let summary = row.summary.lines().next().unwrap_or_default();
            let summary = match row.aliases.as_slice() {
                [] => summary.to_owned(),
                aliases => format!("{summary} (also {})", aliases.join(", ")),
            };
            table.row([row.name, &provider, &row.effect, row.state.as_str(), &summary]);
        } else {
            table.row([row.name, row.provider, &row.effect, row.summary]);
        }
    }
    Ok(output.table(table)?)
}

/// A registered tool, where it is offered, or where all are wanted and the caller may know of it: names of remote tools that nobody but
/// an administrator can use are for administrators.
fn registered<'a>(entry: &'a Arc<Entry>, caller: &Caller, all: bool) -> Option<ToolRow<'a>> {
    let decision = Decision::of(entry, caller);
    let may_know = caller.actor().is_admin() || entry.origin() == Origin::Local;
    let is_shown = decision.allowed || all && may_know;
    if !is_shown {
        return None;
    }
    let definition = entry.definition();
    let declared = definition.declarations();
    Some(ToolRow {
        name: definition.name().as_str(),
        label: definition.label(),
        summary: definition.summary(),
        provider: entry.provider().as_str(),
        provider_version: entry.provider_version(),
        aliases: entry.names().skip(1).map(ToolName::as_str).collect(),
        state: State::of(entry, &decision),
        observed_only: decision.observed_only,
        declarations: DeclarationsRow::from(declared),
        effect: effect_words(declared.effect, entry.needs_approval()),
    })
}

impl<'a> From<LeftOut<'a>> for ToolRow<'a> {
    fn from(LeftOut { provider, tool, absence }: LeftOut<'a>) -> Self {
        Self {
            name: tool.name.as_str(),
            label: &tool.label,
            summary: &tool.summary,
            provider: provider.id.as_str(),
            provider_version: &provider.version,
            aliases: Vec::new(),
            state: match absence {
                Absence::NameTaken => State::NameTaken,
                Absence::NotListed => State::NotListed,
            },
            observed_only: false,
            declarations: DeclarationsRow::from(&tool.declarations),
            effect: declared_effect(&tool.declarations),
        }
    }
}

impl<'a> From<&'a ProviderStatus> for ProviderRow<'a> {
    fn from(provider: &'a ProviderStatus) -> Self {
        Self {
            id: provider.id.as_str(),
            version: &provider.version,
            hash: provider.hash.to_string(),
            tools: provider.tools.len(),
            declared: provider.declared.len(),
        }
    }
}
