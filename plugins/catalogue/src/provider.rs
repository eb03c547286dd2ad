//! What the two tools share: a catalogue, by whose content they are described.

use toolbay_plugin_api::{
    ConfigError, ConfiguredPath, Failure, State, ToolDefinition,
    serde_json::{Map, Value, json},
};

use crate::{config::Config, entries::Entries, text::entries as counted};

/// What the tools share: a catalogue, where a file is configured.
#[derive(Debug)]
pub struct Catalogue(Option<Entries>);

impl Catalogue {
    /// The entries, for a tool that is called although none is offered.
    pub(crate) fn entries(&self) -> Result<&Entries, Failure> {
        self.0.as_ref().ok_or_else(|| {
            Failure::new("there is no catalogue: the operator has not set a `file` for it")
        })
    }
}

impl State for Catalogue {
    type Config = Config;

    const PATHS: &'static [ConfiguredPath] = &[ConfiguredPath::read("file")];

    fn create(config: Config) -> Result<Self, ConfigError> {
        match &config.file {
            Some(path) => Entries::load(path, &config).map(Some).map(Self),
            None => Ok(Self(None)),
        }
    }

    fn list(&self, tools: Vec<ToolDefinition>) -> Vec<ToolDefinition> {
        let Some(entries) = &self.0 else { return Vec::new() };
        let (id, summary) = (id(entries), summary(entries));
        let described = |tool: ToolDefinition| match tool.name() {
            "catalogue_search" => {
                let description = format!("{}\n\n{summary}", tool.description());
                tool.with_description(description)
                    .with_input_schema(|schema| with_filters(schema, entries))
            }
            _ => {
                let description = format!("{} {id}\n\n{summary}", tool.description());
                tool.with_description(description)
            }
        };
        tools.into_iter().map(described).collect()
    }
}

/// What an id is, for the model.
fn id(entries: &Entries) -> String {
    match entries.columns().id() {
        Some(column) => {
            let name = &entries.columns().names()[column];
            format!("The id is what stands in {name}, {}.", entries.values(column))
        }
        None => format!("The id is the entry's number, 1 to {}.", entries.len()),
    }
}

/// What is in the catalogue, for the model.
fn summary(entries: &Entries) -> String {
    let (name, count) = (entries.name(), counted(entries.len()));
    format!("The catalogue {name:?} has {count} with the columns {}.", entries.columns().listed())
}

/// The schema of a search's arguments, with the columns as the names of the filters.
fn with_filters(mut schema: Value, entries: &Entries) -> Value {
    let names = entries.columns().names().iter().enumerate();
    let filters = names.map(|(at, name)| {
        (name.clone(), json!({ "type": "string", "description": entries.values(at) }))
    });
    let filters = Value::Object(filters.collect::<Map<_, _>>());
    if let Some(properties) = schema.pointer_mut("/properties/filters") {
        properties["properties"] = filters;
        properties["additionalProperties"] = json!(false);
    }
    schema
}
