//! The provider: two tools over a file, described by what is in it.

use toolbay_plugin_api::{
    Arguments, ConfigError, Context, Failure, Provider, Reply, State, Tool, ToolDefinition,
    ToolSpec,
    schemars::generate::SchemaSettings,
    serde_json::{Map, Value, json},
};

use crate::{
    config::Config,
    entries::Entries,
    entry::{Entry, EntryArguments, catalogue_entry},
    search::{Found, SearchArguments, catalogue_search},
    text::entries as counted,
};

/// The provider: a catalogue, where a file is configured.
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

    fn create(config: Config) -> Result<Self, ConfigError> {
        match &config.file {
            Some(path) => Entries::load(path, &config).map(Some).map(Self),
            None => Ok(Self(None)),
        }
    }
}

impl Provider for Catalogue {
    type Config = Config;

    const TOOLS: &'static [ToolSpec] = &[catalogue_search::SPEC, catalogue_entry::SPEC];

    fn create(config: Config) -> Result<Self, ConfigError> {
        <Self as State>::create(config)
    }

    fn tools(&self) -> Vec<ToolDefinition> {
        self.0.as_ref().map(|entries| vec![search(entries), entry(entries)]).unwrap_or_default()
    }

    fn execute(
        &self,
        tool: &str,
        arguments: &Arguments<'_>,
        context: &Context<'_>,
    ) -> Result<Reply, Failure> {
        match tool {
            "catalogue_search" => {
                <catalogue_search as Tool>::execute(self, arguments.parse()?, context)
            }
            "catalogue_entry" => {
                <catalogue_entry as Tool>::execute(self, arguments.parse()?, context)
            }
            _ => Err(Failure::new(format!("there is no tool {tool:?} here"))),
        }
    }
}

fn search(entries: &Entries) -> ToolDefinition {
    let spec = catalogue_search::SPEC;
    ToolDefinition::new::<SearchArguments>(&spec)
        .description(format!("{}\n\n{}", spec.description(), summary(entries)))
        .input_schema(search_schema(entries))
        .output::<Found>()
}

fn entry(entries: &Entries) -> ToolDefinition {
    let spec = catalogue_entry::SPEC;
    let id = match entries.columns().id() {
        Some(column) => {
            let name = &entries.columns().names()[column];
            format!("The id is what stands in {name}, {}.", entries.values(column))
        }
        None => format!("The id is the entry's number, 1 to {}.", entries.len()),
    };
    ToolDefinition::new::<EntryArguments>(&spec)
        .description(format!("{} {id}\n\n{}", spec.description(), summary(entries)))
        .output::<Entry>()
}

/// What is in the catalogue, for the model.
fn summary(entries: &Entries) -> String {
    let (name, count) = (entries.name(), counted(entries.len()));
    format!("The catalogue {name:?} has {count} with the columns {}.", entries.columns().listed())
}

/// The schema of a search's arguments, with the columns as the names of the filters.
fn search_schema(entries: &Entries) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<SearchArguments>();
    schema.remove("title");
    let mut schema = schema.to_value();
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
