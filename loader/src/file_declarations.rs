//! The form that declarations have in the host's files, apart from the type that they are read into.

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::value::RawValue;
use thiserror::Error;
use toolbay_core::{Declarations, NameError, Schema, SchemaError, UnknownWord};

use crate::verify::DeclaredTool;

/// A tool as its note declares it: one object of names and declarations.
#[derive(Serialize)]
pub(crate) struct FileDeclared {
    #[serde(flatten)]
    pub(crate) names: FileNames,
    #[serde(flatten)]
    pub(crate) declarations: FileDeclarations,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct FileNames {
    name: String,
    aliases: Vec<String>,
    label: String,
    summary: String,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct FileDeclarations {
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

/// Why well-formed content is no declarations.
#[derive(Debug, Error)]
pub(crate) enum DeclarationsError {
    /// A name or a group breaks the rule for its kind.
    ///
    /// Resolution: as for the file.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A word is none that this release knows.
    ///
    /// Resolution: as for the file.
    #[error(transparent)]
    Word(#[from] UnknownWord),
    /// The schema of an input is none.
    ///
    /// Resolution: as for the file.
    #[error(transparent)]
    Schema(#[from] SchemaError),
}

impl From<&Declarations> for FileDeclarations {
    fn from(declarations: &Declarations) -> Self {
        Self {
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
}

impl TryFrom<FileDeclarations> for Declarations {
    type Error = DeclarationsError;

    fn try_from(file: FileDeclarations) -> Result<Self, DeclarationsError> {
        Ok(Self {
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
        })
    }
}

/// What serde makes of flattened members can't hold a schema as text, so that each part reads the object for itself.
impl<'de> Deserialize<'de> for FileDeclared {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = <&RawValue>::deserialize(deserializer)?.get();
        Ok(Self {
            names: serde_json::from_str(object).map_err(D::Error::custom)?,
            declarations: serde_json::from_str(object).map_err(D::Error::custom)?,
        })
    }
}

impl From<&DeclaredTool> for FileDeclared {
    fn from(tool: &DeclaredTool) -> Self {
        let names = FileNames {
            name: tool.name.to_string(),
            aliases: tool.aliases.iter().map(ToString::to_string).collect(),
            label: tool.label.clone(),
            summary: tool.summary.clone(),
        };
        Self { names, declarations: FileDeclarations::from(&tool.declarations) }
    }
}

impl TryFrom<FileDeclared> for DeclaredTool {
    type Error = DeclarationsError;

    fn try_from(file: FileDeclared) -> Result<Self, DeclarationsError> {
        let FileDeclared { names, declarations } = file;
        Ok(Self {
            name: names.name.parse()?,
            aliases: names.aliases.iter().map(|alias| alias.parse()).collect::<Result<_, _>>()?,
            label: names.label,
            summary: names.summary,
            declarations: declarations.try_into()?,
        })
    }
}
