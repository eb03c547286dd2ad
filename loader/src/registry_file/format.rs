//! The form of the registry file's content, apart from the types that it is read into: changing those does not change the file.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use thiserror::Error;
use toolbay_core::{DefinitionError, NameError, Schema, SchemaError, ToolDefinition};

use super::Contents;
use crate::{
    bundle::{BundlePath, PathError},
    error::RegistryFileError,
    file_declarations::{DeclarationsError, FileDeclared},
    provider::Registered,
    signature::NotAKeyId,
    store::NotAHash,
    trust::Signer,
    verify::{DeclaredTool, StoredPlugin},
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
    /// The entry of the store, and the library's place in it.
    entry: String,
    library: String,
    bundled: bool,
    /// None of a plugin that nobody has signed.
    signer: Option<FileSigner>,
    declared: Vec<FileDeclared>,
    tools: Vec<FileTool>,
}

/// Who signed a plugin, and with which key.
#[derive(Serialize, Deserialize)]
struct FileSigner {
    publisher: String,
    key: String,
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
    #[error("library: {0}")]
    Library(PathError),
    #[error(transparent)]
    Key(#[from] NotAKeyId),
    #[error(transparent)]
    Declarations(#[from] DeclarationsError),
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
    let plugin = &registered.plugin;
    FileProvider {
        id: plugin.id.to_string(),
        version: plugin.version.to_string(),
        sha256: plugin.hash.to_string(),
        entry: plugin.entry.to_string(),
        library: plugin.library.clone(),
        bundled: plugin.bundled,
        signer: match &plugin.signer {
            Signer::Nobody => None,
            Signer::Publisher { key, name } => {
                Some(FileSigner { publisher: name.clone(), key: key.to_string() })
            }
        },
        declared: plugin.declared.iter().map(FileDeclared::from).collect(),
        tools: registered.tools.iter().map(|tool| tool_to_file(tool)).collect(),
    }
}

fn provider_from_file(file: FileProvider) -> Result<Registered, DecodeError> {
    let declared =
        file.declared.into_iter().map(DeclaredTool::try_from).collect::<Result<Vec<_>, _>>()?;
    let tools = file
        .tools
        .into_iter()
        .map(|tool| tool_from_file(tool, &declared).map(Arc::new))
        .collect::<Result<_, _>>()?;
    let signer = match file.signer {
        None => Signer::Nobody,
        Some(FileSigner { publisher, key }) => {
            Signer::Publisher { key: key.parse()?, name: publisher }
        }
    };
    let plugin = StoredPlugin {
        id: file.id.parse()?,
        version: file.version.parse()?,
        hash: file.sha256.parse()?,
        entry: file.entry.parse()?,
        library: library(file.library)?,
        bundled: file.bundled,
        signer,
        declared,
    };
    Ok(Registered { plugin, tools })
}

/// A place within an entry of the store: the file makes nothing trusted, and must lead nowhere else.
fn library(path: String) -> Result<String, DecodeError> {
    match path.parse::<BundlePath>() {
        Ok(_) => Ok(path),
        Err(error) => Err(DecodeError::Library(error)),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::ContentHash;

    const FILE: &str = r#"{
  "generation": 7,
  "providers": [
    {
      "id": "notes",
      "version": "1.2.3",
      "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      "entry": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
      "library": "x86_64-linux-gnu/libnotes.so",
      "bundled": true,
      "signer": {
        "publisher": "Example Ltd",
        "key": "0123456789ABCDEF"
      },
      "declared": [
        {
          "name": "note_add",
          "aliases": [
            "add_note"
          ],
          "label": "Add",
          "summary": "Adds a note.",
          "effect": "non_idempotent_write",
          "data_class": "editor_content",
          "group": "content",
          "egress": "none",
          "kind": "write",
          "requires_admin": false,
          "enabled_by_default": true,
          "requires_approval": true,
          "loop_budget": 3,
          "input": {"type": "object",  "properties": {"pin": {}}}
        },
        {
          "name": "note_read",
          "aliases": [],
          "label": "Read",
          "summary": "",
          "effect": "read_only",
          "data_class": "secret_adjacent",
          "group": null,
          "egress": "own_site",
          "kind": "read",
          "requires_admin": true,
          "enabled_by_default": false,
          "requires_approval": false
        }
      ],
      "tools": [
        {
          "name": "note_read",
          "description": "Reads a note.",
          "input_schema": {"type":"object","properties":{}}
        }
      ]
    }
  ]
}"#;

    #[test]
    fn the_content_reads_back_as_it_was_written_and_its_bytes_never_change() {
        let contents = decode(&RawValue::from_string(FILE.to_owned()).unwrap()).unwrap();
        let [provider] = &contents.providers[..] else { panic!("one provider") };
        let provider = &provider.plugin;
        assert_eq!(
            (provider.hash, provider.entry),
            (ContentHash::of(b""), ContentHash::of(b"abc"))
        );
        assert_eq!(provider.declared[0].declarations.loop_budget, Some(3));
        assert!(provider.declared[0].declarations.input.is_some());
        assert_eq!(provider.declared[1].declarations.group, None);
        assert_eq!(encode(&contents).unwrap().get(), FILE);
    }

    #[test]
    fn a_library_lies_within_its_entry() {
        for outside in ["../a.so", "/lib/a.so", "a//b.so", ""] {
            let file = FILE.replace("x86_64-linux-gnu/libnotes.so", outside);
            let error = decode(&RawValue::from_string(file).unwrap()).unwrap_err();
            assert!(matches!(error, DecodeError::Library(_)), "{outside}: {error}");
        }
    }
}
