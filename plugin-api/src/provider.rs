//! The dynamic level: a provider that computes its tools at run time.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::{Value, value::RawValue};
use toolbay_abi::wire::{Definition, Fault};

use crate::{
    config::{ConfigError, without_position},
    configured::ConfiguredPath,
    context::Context,
    reply::{Failure, Reply},
    spec::ToolSpec,
};

/// A provider that computes its tools at run time.
///
/// Most plugins are better off with [`Tool`](crate::Tool)s. This level is for those whose tools depend on the configuration: none
/// while a file is missing, or descriptions that name what is in it. Whatever it lists must be declared in [`TOOLS`](Self::TOOLS).
pub trait Provider: Send + Sync + Sized + 'static {
    /// The configuration; [`NoConfig`](crate::NoConfig) where there is none. Give optional fields a default: a host that has no
    /// configuration for the provider sends an empty object.
    type Config: DeserializeOwned;

    /// Every tool that the provider may ever list, with its declarations.
    const TOOLS: &'static [ToolSpec];

    /// Which values of the configuration are folders or files. In a process of its own the provider reaches no others.
    const PATHS: &'static [ConfiguredPath] = &[];

    /// Which values of the configuration are endpoints, each a URL or `host:port`: the names of the members with dots between them. In a process
    /// of its own, tools whose egress is [`Egress::ConfiguredEndpoint`](crate::Egress::ConfiguredEndpoint) reach no other ports; where none is named, any.
    const ENDPOINTS: &'static [&'static str] = &[];

    /// Makes the provider from its configuration.
    ///
    /// # Errors
    ///
    /// [`ConfigError`], with the place in the configuration and what was expected and found there. A configuration that is merely
    /// incomplete is no error: list no tools instead.
    fn create(config: Self::Config) -> Result<Self, ConfigError>;

    /// The tools that it offers now. An empty list is normal.
    fn tools(&self) -> Vec<ToolDefinition>;

    /// Runs one of them.
    ///
    /// # Errors
    ///
    /// [`Failure`], whose message the model reads.
    fn execute(
        &self,
        tool: &str,
        arguments: &Arguments<'_>,
        context: &Context<'_>,
    ) -> Result<Reply, Failure>;

    /// Says line by line what a call would do, without doing it; `None` where there is nothing to say. The person who approves the
    /// call reads it, so it must be the truth, and the same each time.
    fn preview(
        &self,
        tool: &str,
        arguments: &Arguments<'_>,
        context: &Context<'_>,
    ) -> Option<Vec<String>> {
        let _ = (tool, arguments, context);
        None
    }

    /// Whether somebody may read what the preview of a call shows; `None` where the tool does not say. A host asks it of each person who
    /// looks at a call that waits for approval, and withholds the preview where it is false.
    ///
    /// `viewer` is that person, and never who calls: what the caller may read says nothing here.
    fn may_viewer_read(
        &self,
        tool: &str,
        arguments: &Arguments<'_>,
        viewer: &Context<'_>,
    ) -> Option<bool> {
        let _ = (tool, arguments, viewer);
        None
    }
}

/// The arguments of a call: JSON text that the host has validated against the tool's schema.
#[derive(Debug, Clone, Copy)]
pub struct Arguments<'a>(&'a str);

impl<'a> Arguments<'a> {
    pub(crate) const fn new(json: &'a str) -> Self {
        Self(json)
    }

    /// The JSON text.
    pub const fn json(&self) -> &'a str {
        self.0
    }

    /// Parses them.
    ///
    /// # Errors
    ///
    /// [`Failure`] that names the argument, for what the schema lets through and `T` refuses.
    pub fn parse<T: serde::Deserialize<'a>>(&self) -> Result<T, Failure> {
        serde_json::from_str(self.0).or_else(|_| {
            // Tracking the path makes parsing slower, so only what has failed already is parsed with it.
            let mut deserializer = serde_json::Deserializer::from_str(self.0);
            serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
                let path = error.path().to_string();
                let problem = without_position(&error.into_inner());
                Failure::new(format!("argument {path}: {problem}"))
            })
        })
    }
}

/// A tool as the provider lists it: its name, what the model reads of it, and the schema of its arguments.
#[derive(Debug, Clone)]
pub struct ToolDefinition {
    name: &'static str,
    description: String,
    input_schema: Value,
    output_schema: Option<Value>,
}

impl ToolDefinition {
    /// The tool of this spec, with arguments of type `A`.
    pub fn new<A: JsonSchema>(spec: &ToolSpec) -> Self {
        Self {
            name: spec.name(),
            description: spec.description().to_owned(),
            input_schema: schema_of::<A>(),
            output_schema: None,
        }
    }

    /// The tool's name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What the model reads of it.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// A description that is known only now, in place of the spec's.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// A schema that is known only now, in place of the type's or made from it. Its root must be an object.
    #[must_use]
    pub fn with_input_schema(mut self, schema: impl FnOnce(Value) -> Value) -> Self {
        self.input_schema = schema(self.input_schema);
        self
    }

    /// The schema of the structured result.
    #[must_use]
    pub fn with_output<T: JsonSchema>(mut self) -> Self {
        self.output_schema = Some(schema_of::<T>());
        self
    }

    pub(crate) fn encode(self) -> Result<Definition, Fault> {
        Ok(Definition {
            name: self.name.to_owned(),
            description: self.description,
            input_schema: raw(&self.input_schema)?,
            output_schema: self.output_schema.as_ref().map(raw).transpose()?,
        })
    }
}

fn raw(schema: &Value) -> Result<Box<RawValue>, Fault> {
    serde_json::value::to_raw_value(schema)
        .map_err(|error| Fault::Provider { problem: format!("a schema can't be written: {error}") })
}

/// The JSON Schema (2020-12) of a type, without what only costs a model tokens: the dialect, the Rust type's name, and references
/// to definitions that stand elsewhere.
fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema.to_value()
}
