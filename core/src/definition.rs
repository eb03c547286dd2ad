//! A tool as models, people and gates see it.

use std::{
    cmp::Ordering,
    sync::{Arc, OnceLock},
};

use thiserror::Error;

use crate::{
    declaration::{Declarations, Origin},
    name::ToolName,
    schema::{Schema, SchemaError, Validator},
};

/// What a definition is made of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DefinitionParts {
    /// The name that models call.
    pub name: ToolName,
    /// Former names, under which stored assignments still reach the tool; at most [`ToolDefinition::MAX_ALIASES`].
    pub aliases: Vec<ToolName>,
    /// The name that people read; at most [`ToolDefinition::MAX_LABEL_BYTES`].
    pub label: Option<String>,
    /// One line for people; at most [`ToolDefinition::MAX_SUMMARY_BYTES`].
    pub summary: Option<String>,
    /// What the tool does, for the model; not blank, and at most [`ToolDefinition::MAX_DESCRIPTION_BYTES`].
    pub description: String,
    /// The schema of the arguments.
    pub schema: Schema,
    /// The schema of the structured result, where there is one.
    pub output_schema: Option<Schema>,
    /// What the tool's code declares.
    pub declarations: Declarations,
}

/// Why parts make no definition.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// The description is blank: no model would know when to call the tool.
    ///
    /// Resolution: say what the tool does, and when to call it.
    #[error("description of {tool} is blank: expected what the tool does, in words for a model")]
    DescriptionBlank {
        /// The tool.
        tool: ToolName,
    },
    /// A text is too long.
    ///
    /// Resolution: shorten it.
    #[error("{part} of {tool} too long: expected at most {limit} bytes, found {found}")]
    TooLong {
        /// The tool.
        tool: ToolName,
        /// Which part, such as `description`.
        part: &'static str,
        /// The bytes that are allowed.
        limit: usize,
        /// The bytes that there are.
        found: usize,
    },
    /// A text has a control character, with which it could imitate other output.
    ///
    /// Resolution: remove the character.
    #[error(
        "{part} of {tool} has a control character: expected text, found {found:?} at byte {at}"
    )]
    ControlCharacter {
        /// The tool.
        tool: ToolName,
        /// Which part, such as `label`.
        part: &'static str,
        /// The character.
        found: char,
        /// Where it is, in bytes from the start.
        at: usize,
    },
    /// The tool waits for a person twice: for an approval, which a writing tool always needs, and for an input. The two would alternate
    /// for ever.
    ///
    /// Resolution: declare it read-only and without approval, or drop the input.
    #[error(
        "{tool} asks for an input and needs approval: expected one of the two; a tool that writes always needs approval"
    )]
    ApprovalAndInput {
        /// The tool.
        tool: ToolName,
    },
    /// There are too many aliases.
    ///
    /// Resolution: drop the oldest ones.
    #[error("{tool} has too many aliases: expected at most {limit}, found {found}")]
    TooManyAliases {
        /// The tool.
        tool: ToolName,
        /// The number that is allowed.
        limit: usize,
        /// The number that there are.
        found: usize,
    },
}

/// One function that an agent can call: its name, description, schema and declarations.
///
/// ```
/// use toolbay_core::{Declarations, DefinitionParts, Schema, ToolDefinition};
///
/// let greet = ToolDefinition::new(DefinitionParts {
///     name: "greet".parse()?,
///     aliases: vec!["hello".parse()?],
///     label: None,
///     summary: None,
///     description: "Greets somebody.".to_owned(),
///     schema: Schema::parse(r#"{"type": "object", "properties": {"name": {"type": "string"}}}"#)?,
///     output_schema: None,
///     declarations: Declarations::default(),
/// })?;
/// assert_eq!((greet.label(), greet.summary()), ("greet", "Greets somebody."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ToolDefinition {
    parts: DefinitionParts,
    /// Here and not in a registry, so that the next registry finds it compiled.
    validator: OnceLock<Result<Validator, Arc<SchemaError>>>,
    output_validator: OnceLock<Result<Validator, Arc<SchemaError>>>,
}

impl ToolDefinition {
    /// The most aliases that a tool may have.
    pub const MAX_ALIASES: usize = 16;

    /// The most bytes of a label.
    pub const MAX_LABEL_BYTES: usize = 256;

    /// The most bytes of a summary.
    pub const MAX_SUMMARY_BYTES: usize = 1024;

    /// The most bytes of a description.
    pub const MAX_DESCRIPTION_BYTES: usize = 16 * 1024;

    /// Checks the parts. Line feeds and tabs are the only control characters that a description may have; label and summary may
    /// have none.
    ///
    /// # Errors
    ///
    /// [`DefinitionError`] for the first part that breaks its rule.
    pub fn new(parts: DefinitionParts) -> Result<Self, DefinitionError> {
        if parts.description.trim().is_empty() {
            return Err(DefinitionError::DescriptionBlank { tool: parts.name });
        }
        if parts.aliases.len() > Self::MAX_ALIASES {
            return Err(DefinitionError::TooManyAliases {
                tool: parts.name,
                limit: Self::MAX_ALIASES,
                found: parts.aliases.len(),
            });
        }
        let declared = &parts.declarations;
        if declared.input.is_some() && declared.needs_approval(Origin::Local) {
            return Err(DefinitionError::ApprovalAndInput { tool: parts.name });
        }
        let texts: [(&'static str, Option<&String>, usize, &[char]); 3] = [
            ("label", parts.label.as_ref(), Self::MAX_LABEL_BYTES, &[]),
            ("summary", parts.summary.as_ref(), Self::MAX_SUMMARY_BYTES, &[]),
            ("description", Some(&parts.description), Self::MAX_DESCRIPTION_BYTES, &['\n', '\t']),
        ];
        for (part, text, limit, allowed) in texts {
            let Some(text) = text else { continue };
            let tool = || parts.name.clone();
            if text.len() > limit {
                return Err(DefinitionError::TooLong {
                    tool: tool(),
                    part,
                    limit,
                    found: text.len(),
                });
            }
            let refused =
                |&(_, char): &(usize, char)| char.is_control() && !allowed.contains(&char);
            if let Some((at, found)) = text.char_indices().find(refused) {
                return Err(DefinitionError::ControlCharacter { tool: tool(), part, found, at });
            }
        }
        Ok(Self { parts, validator: OnceLock::new(), output_validator: OnceLock::new() })
    }

    /// The name that models call.
    pub fn name(&self) -> &ToolName {
        &self.parts.name
    }

    /// Former names. Which of them lead to the tool is decided in a [`Plan`](crate::Plan).
    pub fn aliases(&self) -> &[ToolName] {
        &self.parts.aliases
    }

    /// The name that people read; the tool's name where it has no other.
    pub fn label(&self) -> &str {
        self.parts.label.as_deref().unwrap_or(self.parts.name.as_str())
    }

    /// One line for people; the description where there is no other.
    pub fn summary(&self) -> &str {
        self.parts.summary.as_deref().unwrap_or(&self.parts.description)
    }

    /// What the tool does, for the model.
    pub fn description(&self) -> &str {
        &self.parts.description
    }

    /// The schema of the arguments.
    pub fn schema(&self) -> &Schema {
        &self.parts.schema
    }

    /// The schema of the structured result, where there is one.
    pub fn output_schema(&self) -> Option<&Schema> {
        self.parts.output_schema.as_ref()
    }

    /// What the tool's code declares.
    pub fn declarations(&self) -> &Declarations {
        &self.parts.declarations
    }

    /// What the definition was made of, such as for writing it to a file.
    pub fn parts(&self) -> &DefinitionParts {
        &self.parts
    }

    /// The validator of the arguments, compiled by whoever asks first.
    ///
    /// # Errors
    ///
    /// [`SchemaError::Invalid`], each time, where the schema does not compile.
    pub fn validator(&self) -> Result<&Validator, Arc<SchemaError>> {
        let compile = || self.parts.schema.compile().map_err(Arc::new);
        self.validator.get_or_init(compile).as_ref().map_err(Arc::clone)
    }

    /// The validator of the structured result, where the tool promises one, compiled by whoever asks first.
    ///
    /// # Errors
    ///
    /// [`SchemaError::Invalid`], each time, where the schema does not compile.
    pub fn output_validator(&self) -> Result<Option<&Validator>, Arc<SchemaError>> {
        let Some(schema) = &self.parts.output_schema else { return Ok(None) };
        let compile = || schema.compile().map_err(Arc::new);
        self.output_validator.get_or_init(compile).as_ref().map(Some).map_err(Arc::clone)
    }
}

impl PartialEq for ToolDefinition {
    fn eq(&self, other: &Self) -> bool {
        self.parts == other.parts
    }
}

impl Eq for ToolDefinition {}

impl PartialOrd for ToolDefinition {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ToolDefinition {
    fn cmp(&self, other: &Self) -> Ordering {
        self.parts.cmp(&other.parts)
    }
}
