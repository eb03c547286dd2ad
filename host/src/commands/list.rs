//! `toolbay list`: the tools, and why some can't be used.

use std::sync::Arc;

use serde::{Serialize, Serializer};
use toolbay_loader::{Caller, Decision, Entry, ProviderStatus, Registry, ToolName, offered};

use crate::{
    caller::caller,
    cli::ListArgs,
    commands::{
        CommandError, open,
        row::{DeclarationsRow, effect_words},
        suggest_refresh, warn_about_agent,
    },
    config::HostConfig,
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
            Self::Denied(reason) => reason,
            Self::NotListed => "notListed",
            Self::NameTaken => "nameTaken",
        }
    }

    fn of(entry: &Entry, caller: &Caller) -> Self {
        let decision = Decision::of(entry, caller);
        match decision.reason.filter(|_| !decision.allowed) {
            Some(reason) => Self::Denied(reason.as_str()),
            None if entry.needs_approval() => Self::NeedsApproval,
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
    config: HostConfig,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let caller = caller(&args.caller, &config.agents)?;
    let toolbay = open(config.loader)?;
    warn_about_agent(&caller, &toolbay);
    let registry = toolbay.registry();
    let providers = toolbay.providers();
    let mut rows: Vec<ToolRow<'_>> = match args.all {
        true => registry.iter().map(|entry| registered(entry, &caller)).collect(),
        false => offered(&registry, &caller).map(|entry| registered(entry, &caller)).collect(),
    };
    if args.all {
        rows.extend(providers.iter().flat_map(|provider| left_out(provider, &registry)));
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
        report::note(&format!(
            "none of {none_of} tools can be used; `toolbay list --all` says why"
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

fn registered<'a>(entry: &'a Arc<Entry>, caller: &Caller) -> ToolRow<'a> {
    let definition = entry.definition();
    let name = definition.name().as_str();
    ToolRow {
        name,
        label: definition.label(),
        summary: definition.summary(),
        provider: entry.provider().as_str(),
        provider_version: entry.provider_version(),
        aliases: entry.names().skip(1).map(ToolName::as_str).collect(),
        state: State::of(entry, caller),
        declarations: DeclarationsRow::from(definition.declarations()),
        effect: effect_words(definition.declarations()),
    }
}

/// The tools that a provider declares and that are not in the registry as its own.
fn left_out<'a>(
    provider: &'a ProviderStatus,
    registry: &'a Registry,
) -> impl Iterator<Item = ToolRow<'a>> {
    let is_own = |name: &ToolName| {
        registry.get(name.as_str()).is_some_and(|entry| {
            entry.definition().name() == name && *entry.provider() == provider.id
        })
    };
    provider.declared.iter().filter(move |tool| !is_own(&tool.name)).map(|tool| ToolRow {
        name: tool.name.as_str(),
        label: &tool.label,
        summary: &tool.summary,
        provider: provider.id.as_str(),
        provider_version: &provider.version,
        aliases: Vec::new(),
        state: match provider.tools.contains(&tool.name) {
            true => State::NameTaken,
            false => State::NotListed,
        },
        declarations: DeclarationsRow::from(&tool.declarations),
        effect: effect_words(&tool.declarations),
    })
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
