//! What the registry knows of a provider.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use toolbay_loader::{Entry, ProviderStatus, Registry, Schema, ToolDefinition, ToolName};

use crate::{
    commands::{
        CommandError,
        row::{DeclarationsRow, DeclaredRow, declared_effect},
    },
    exit::Exit,
    output::Output,
};

#[derive(Serialize)]
struct ProviderJson<'a> {
    id: &'a str,
    version: &'a str,
    hash: String,
    signer: String,
    tools: Vec<ToolJson<'a>>,
    /// Declared, and not in the registry under the provider's name.
    not_listed: Vec<DeclaredRow<'a>>,
}

#[derive(Serialize)]
struct ToolJson<'a> {
    name: &'a str,
    aliases: Vec<&'a str>,
    label: &'a str,
    summary: &'a str,
    description: &'a str,
    declarations: DeclarationsRow<'a>,
    input_schema: &'a RawValue,
    output_schema: Option<&'a RawValue>,
}

impl<'a> From<&'a ToolDefinition> for ToolJson<'a> {
    fn from(tool: &'a ToolDefinition) -> Self {
        Self {
            name: tool.name().as_str(),
            aliases: tool.aliases().iter().map(ToolName::as_str).collect(),
            label: tool.label(),
            summary: tool.summary(),
            description: tool.description(),
            declarations: DeclarationsRow::from(tool.declarations()),
            input_schema: tool.schema().as_raw(),
            output_schema: tool.output_schema().map(Schema::as_raw),
        }
    }
}

pub(super) fn show(
    provider: &ProviderStatus,
    registry: &Registry,
    json: bool,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let is_own = |entry: &&Arc<Entry>| *entry.provider() == provider.id;
    let tools: Vec<&ToolDefinition> =
        registry.iter().filter(is_own).map(|entry| &**entry.definition()).collect();
    let not_listed = provider
        .declared
        .iter()
        .filter(|declared| !tools.iter().any(|tool| *tool.name() == declared.name));
    let (id, version, hash) = (&provider.id, &provider.version, provider.hash);
    if json {
        output.json(&ProviderJson {
            id: id.as_str(),
            version,
            hash: hash.to_string(),
            signer: provider.signer.to_string(),
            tools: tools.iter().map(|tool| ToolJson::from(*tool)).collect(),
            not_listed: not_listed.map(DeclaredRow::from).collect(),
        })?;
        return Ok(Exit::Done);
    }
    let signer = &provider.signer;
    output.text(&format!("provider   {id} {version}\nsha256     {hash}\nsigned by  {signer}"))?;
    for tool in &tools {
        output.text(&tool_lines(tool))?;
    }
    for tool in not_listed {
        output
            .text(&format!("\n{} is declared and not listed now: {}", tool.name, tool.summary))?;
    }
    Ok(Exit::Done)
}

fn tool_lines(tool: &ToolDefinition) -> String {
    let description = tool.description().replace('\n', "\n  ");
    let schema = serde_json::from_str::<serde_json::Value>(tool.schema().as_str());
    let schema = schema.map(|schema| format!("{schema:#}")).unwrap_or_default();
    format!(
        "\n{} ({}; {})\n  {description}\n  arguments: {}",
        tool.name(),
        tool.label(),
        declared_effect(tool.declarations()),
        schema.replace('\n', "\n  ")
    )
}
