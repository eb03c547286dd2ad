//! The typed level: one type per tool, whose schema and parsing follow from its arguments.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::{
    config::{ConfigError, NoConfig},
    context::Context,
    provider::{Arguments, Provider, ToolDefinition},
    reply::{Failure, Reply},
    spec::ToolSpec,
};

/// One tool. The [`tool`](crate::tool) attribute makes it from a function.
pub trait Tool: 'static {
    /// What the provider's tools share; `()` for nothing.
    type State: State;

    /// The arguments. Their JSON Schema is what the model reads and what the host validates against, so document each field.
    type Arguments: DeserializeOwned + JsonSchema;

    /// Name, description and declarations.
    const SPEC: ToolSpec;

    /// Does the work.
    ///
    /// # Errors
    ///
    /// [`Failure`], whose message the model reads.
    fn execute(
        state: &Self::State,
        arguments: Self::Arguments,
        context: &Context<'_>,
    ) -> Result<Reply, Failure>;

    /// Says line by line what a call would do, without doing it; see [`Provider::preview`].
    fn preview(
        state: &Self::State,
        arguments: Self::Arguments,
        context: &Context<'_>,
    ) -> Option<Vec<String>> {
        let _ = (state, arguments, context);
        None
    }
}

/// What the tools of a provider share: made once from the configuration, then read by every call.
pub trait State: Send + Sync + Sized + 'static {
    /// The configuration; see [`Provider::Config`].
    type Config: DeserializeOwned;

    /// Makes the state.
    ///
    /// # Errors
    ///
    /// [`ConfigError`], with the place in the configuration and what was expected and found there.
    fn create(config: Self::Config) -> Result<Self, ConfigError>;
}

impl State for () {
    type Config = NoConfig;

    fn create(_: NoConfig) -> Result<Self, ConfigError> {
        Ok(())
    }
}

/// A [`Tool`] as a row of a table.
pub struct TypedTool<S> {
    spec: ToolSpec,
    define: fn() -> ToolDefinition,
    execute: fn(&S, &Arguments<'_>, &Context<'_>) -> Result<Reply, Failure>,
    preview: fn(&S, &Arguments<'_>, &Context<'_>) -> Option<Vec<String>>,
}

impl<S: State> TypedTool<S> {
    /// The row of the tool `T`.
    pub const fn of<T: Tool<State = S>>() -> Self {
        Self {
            spec: T::SPEC,
            define: || ToolDefinition::new::<T::Arguments>(&T::SPEC),
            execute: |state, arguments, context| T::execute(state, arguments.parse()?, context),
            preview: |state, arguments, context| {
                arguments.parse().ok().and_then(|arguments| T::preview(state, arguments, context))
            },
        }
    }
}

/// The tools of a provider, as the export macro lists them.
pub trait ToolTable: Send + Sync + 'static {
    /// What they share.
    type State: State;
    /// Their specs, for the note.
    const SPECS: &'static [ToolSpec];
    /// Their rows, in the same order.
    const TOOLS: &'static [TypedTool<Self::State>];
}

/// The provider that a table of tools makes.
#[derive(Debug)]
pub struct Typed<T: ToolTable>(T::State);

impl<T: ToolTable> Typed<T> {
    /// Tables are a handful of rows: comparing names is quicker than hashing them.
    fn row(tool: &str) -> Result<&'static TypedTool<T::State>, Failure> {
        T::TOOLS
            .iter()
            .find(|row| row.spec.name() == tool)
            .ok_or_else(|| Failure::new(format!("there is no tool {tool:?} here")))
    }
}

impl<T: ToolTable> Provider for Typed<T> {
    type Config = <T::State as State>::Config;

    const TOOLS: &'static [ToolSpec] = T::SPECS;

    fn create(config: Self::Config) -> Result<Self, ConfigError> {
        T::State::create(config).map(Self)
    }

    fn tools(&self) -> Vec<ToolDefinition> {
        T::TOOLS.iter().map(|row| (row.define)()).collect()
    }

    fn execute(
        &self,
        tool: &str,
        arguments: &Arguments<'_>,
        context: &Context<'_>,
    ) -> Result<Reply, Failure> {
        (Self::row(tool)?.execute)(&self.0, arguments, context)
    }

    fn preview(
        &self,
        tool: &str,
        arguments: &Arguments<'_>,
        context: &Context<'_>,
    ) -> Option<Vec<String>> {
        (Self::row(tool).ok()?.preview)(&self.0, arguments, context)
    }
}
