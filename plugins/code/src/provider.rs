//! What the two tools share: the roots, without which neither is offered.

use toolbay_plugin_api::{ConfigError, ConfiguredPath, State, ToolDefinition};

use crate::{
    config::{Config, Limits},
    roots::Roots,
};

/// What the tools share: the roots and the limits of a call.
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
}

impl State for Code {
    type Config = Config;

    const PATHS: &'static [ConfiguredPath] =
        &[ConfiguredPath::read("roots"), ConfiguredPath::read("roots.path")];

    fn create(config: Config) -> Result<Self, ConfigError> {
        Ok(Self { roots: Roots::new(config.roots)?, limits: config.limits })
    }

    fn list(&self, tools: Vec<ToolDefinition>) -> Vec<ToolDefinition> {
        if self.roots.is_empty() {
            return Vec::new();
        }
        let Some(names) = self.roots.prefixes() else { return tools };
        let described = |tool: ToolDefinition| {
            let description =
                format!("{} Each path begins with one of: {names}.", tool.description());
            tool.with_description(description)
        };
        tools.into_iter().map(described).collect()
    }
}
