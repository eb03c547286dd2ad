//! The names that nearly every plugin needs: `use toolbay_plugin_api::prelude::*;`

pub use crate::{
    Artifact, Block, ConfigError, ConfiguredPath, Context, DataClass, Effect, Egress, Failure,
    Kind, NoConfig, Provider, Reply, State, Tool, ToolDefinition, ToolSpec, WriteKind, arguments,
    config, export_provider, output, tool,
};
