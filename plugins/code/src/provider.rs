//! The provider: two typed tools, offered where there is a root to search.

use toolbay_plugin_api::{
    Arguments, ConfigError, Context, Failure, Provider, Reply, State, Tool, ToolDefinition,
    ToolSpec,
};

use crate::{
    config::{Config, Limits},
    read::{Excerpt, ReadArguments, code_read},
    roots::Roots,
    search::{Found, SearchArguments, code_search},
};

/// The provider, and what its two tools share.
#[derive(Debug)]
pub struct Code {
    roots: Roots,
    limits: Limits,
}

impl Code {
    pub(crate) const fn roots(&self) -> &Roots {
        &self.roots
    }

    pub(crate) const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What the model reads of a tool, with the roots' names where it must write them.
    fn description(&self, spec: &ToolSpec) -> String {
        match self.roots.prefixes() {
            None => spec.description().to_owned(),
            Some(names) => {
                format!("{} Each path begins with one of: {names}.", spec.description())
            }
        }
    }
}

impl State for Code {
    type Config = Config;

    fn create(config: Config) -> Result<Self, ConfigError> {
        Ok(Self { roots: Roots::new(config.roots)?, limits: config.limits })
    }
}

impl Provider for Code {
    type Config = Config;

    const TOOLS: &'static [ToolSpec] = &[code_search::SPEC, code_read::SPEC];

    fn create(config: Config) -> Result<Self, ConfigError> {
        <Self as State>::create(config)
    }

    fn tools(&self) -> Vec<ToolDefinition> {
        if self.roots.is_empty() {
            return Vec::new();
        }
        let (search, read) = (code_search::SPEC, code_read::SPEC);
        vec![
            ToolDefinition::new::<SearchArguments>(&search)
                .description(self.description(&search))
                .output::<Found>(),
            ToolDefinition::new::<ReadArguments>(&read)
                .description(self.description(&read))
                .output::<Excerpt>(),
        ]
    }

    fn execute(
        &self,
        tool: &str,
        arguments: &Arguments<'_>,
        context: &Context<'_>,
    ) -> Result<Reply, Failure> {
        match tool {
            "code_search" => <code_search as Tool>::execute(self, arguments.parse()?, context),
            "code_read" => <code_read as Tool>::execute(self, arguments.parse()?, context),
            _ => Err(Failure::new(format!("there is no tool {tool:?} here"))),
        }
    }
}
