//! The form of the registry file's content, apart from the types that it is read into: changing those does not change the file.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use thiserror::Error;
use toolbay_core::{
    Declarations, DefinitionError, NameError, Schema, SchemaError, ToolDefinition, UnknownWord,
};

use super::Contents;
use crate::{
    error::RegistryFileError, provider::Registered, store::NotAHash, verify::DeclaredTool,
};

#[derive(Serialize, Deserialize)]
struct FileContents {
    generation: u64,
    providers: Vec<FileProvider>,
}

#[derive(Serialize, Deserialize)]
struct FileProvider {
    id: String,
    version: String,
    sha256: String,
    declared: Vec<FileDeclared>,
    tools: Vec<FileTool>,
}

#[derive(Serialize, Deserialize)]
struct FileDeclared {
    name: String,
    aliases: Vec<String>,
    label: String,
    summary: String,
    effect: String,
    data_class: String,
    group: Option<String>,
    egress: String,
    kind: String,
    requires_admin: bool,
    enabled_by_default: bool,
    requires_approval: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    loop_budget: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input: Option<Box<RawValue>>,
}

/// A tool of the declared ones that the provider listed, with what it says of it at run time.
#[derive(Serialize, Deserialize)]
struct FileTool {
    name: String,
    description: String,
    input_schema: Box<RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output_schema: Option<Box<RawValue>>,
}

/// Why well-formed content can't be used.
#[derive(Debug, Error)]
pub(super) enum DecodeError {
    #[error("content in another form: {0}")]
    Form(#[from] serde_json::Error),
    #[error(transparent)]
    Name(#[from] NameError),
    #[error("version: {0}")]
    Version(#[from] semver::Error),
    #[error(transparent)]
    Hash(#[from] NotAHash),
    #[error(transparent)]
    Word(#[from] UnknownWord),
    #[error(transparent)]
    Schema(#[from] SchemaError),
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    #[error("tool {name:?}, which its provider does not declare")]
    Undeclared { name: String },
}

pub(super) fn encode(contents: &Contents) -> Result<Box<RawValue>, RegistryFileError> {
    let file = FileContents {
        generation: contents.generation,
        providers: contents.providers.iter().map(provider_to_file).collect(),
    };
    serde_json::to_string_pretty(&file)
        .and_then(RawValue::from_string)
        .map_err(|source| RegistryFileError::Encode { source })
}

pub(super) fn decode(registry: &RawValue) -> Result<Contents, DecodeError> {
    let file: FileContents = serde_json::from_str(registry.get())?;
    let providers = file.providers.into_iter().map(provider_from_file).collect::<Result<_, _>>()?;
    Ok(Contents { generation: file.generation, providers })
}

fn provider_to_file(registered: &Registered) -> FileProvider {
    FileProvider {
        id: registered.id.to_string(),
        version: registered.version.to_string(),
        sha256: registered.hash.to_string(),
        declared: registered.declared.iter().map(declared_to_file).collect(),
        tools: registered.tools.iter().map(|tool| tool_to_file(tool)).collect(),
    }
}

fn provider_from_file(file: FileProvider) -> Result<Registered, DecodeError> {
    let declared =
        file.declared.into_iter().map(declared_from_file).collect::<Result<Vec<_>, _>>()?;
    let tools = file
        .tools
        .into_iter()
        .map(|tool| tool_from_file(tool, &declared).map(Arc::new))
        .collect::<Result<_, _>>()?;
    Ok(Registered {
        id: file.id.parse()?,
        version: file.version.parse()?,
        hash: file.sha256.parse()?,
        declared,
        tools,
    })
}

fn declared_to_file(tool: &DeclaredTool) -> FileDeclared {
    let declarations = &tool.declarations;
    FileDeclared {
        name: tool.name.to_string(),
        aliases: tool.aliases.iter().map(ToString::to_string).collect(),
        label: tool.label.clone(),
        summary: tool.summary.clone(),
        effect: declarations.effect.to_string(),
        data_class: declarations.data_class.to_string(),
        group: declarations.group.as_ref().map(ToString::to_string),
        egress: declarations.egress.to_string(),
        kind: declarations.kind.to_string(),
        requires_admin: declarations.requires_admin,
        enabled_by_default: declarations.enabled_by_default,
        requires_approval: declarations.requires_approval,
        loop_budget: declarations.loop_budget,
        input: declarations.input.as_ref().map(|schema| schema.as_raw().to_owned()),
    }
}

fn declared_from_file(file: FileDeclared) -> Result<DeclaredTool, DecodeError> {
    Ok(DeclaredTool {
        name: file.name.parse()?,
        aliases: file.aliases.iter().map(|alias| alias.parse()).collect::<Result<_, _>>()?,
        label: file.label,
        summary: file.summary,
        declarations: Declarations {
            effect: file.effect.parse()?,
            data_class: file.data_class.parse()?,
            group: file.group.map(|group| group.parse()).transpose()?,
            requires_admin: file.requires_admin,
            enabled_by_default: file.enabled_by_default,
            requires_approval: file.requires_approval,
            egress: file.egress.parse()?,
            kind: file.kind.parse()?,
            loop_budget: file.loop_budget,
            input: file.input.map(|schema| Schema::parse(schema.get())).transpose()?,
        },
    })
}

fn tool_to_file(tool: &ToolDefinition) -> FileTool {
    FileTool {
        name: tool.name().to_string(),
        description: tool.description().to_owned(),
        input_schema: tool.schema().as_raw().to_owned(),
        output_schema: tool.output_schema().map(|schema| schema.as_raw().to_owned()),
    }
}

fn tool_from_file(
    file: FileTool,
    declared: &[DeclaredTool],
) -> Result<ToolDefinition, DecodeError> {
    let Some(declared) = declared.iter().find(|declared| declared.name.as_str() == file.name)
    else {
        return Err(DecodeError::Undeclared { name: file.name });
    };
    let definition = declared.define(
        file.description,
        Schema::parse(file.input_schema.get())?,
        file.output_schema.map(|schema| Schema::parse(schema.get())).transpose()?,
    )?;
    Ok(definition)
}
