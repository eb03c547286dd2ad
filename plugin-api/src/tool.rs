//! The typed level: one type per tool, whose schema and parsing follow from its arguments.

use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::{
    config::{ConfigError, NoConfig},
    configured::ConfiguredPath,
    context::Context,
    provider::{Arguments, Provider, ToolDefinition},
    reply::{Failure, Reply},
    spec::ToolSpec,
};

/// One tool of a provider whose tools share `S`. The [`tool`](crate::tool) attribute makes it from a function; from one that takes no
/// state, for every `S`.
pub trait Tool<S: State = ()>: 'static {
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
        state: &S,
        arguments: Self::Arguments,
        context: &Context<'_>,
    ) -> Result<Reply, Failure>;

    /// The tool as it is listed. It is enough to override it where the result has a schema; what depends on the configuration is
    /// [`State::list`]'s to say.
    fn define() -> ToolDefinition {
        ToolDefinition::new::<Self::Arguments>(&Self::SPEC)
    }

    /// Says line by line what a call would do, without doing it; see [`Provider::preview`].
    fn preview(
        state: &S,
        arguments: Self::Arguments,
        context: &Context<'_>,
    ) -> Option<Vec<String>> {
        let _ = (state, arguments, context);
        None
    }

    /// Whether `viewer` may read what the preview of a call shows; see [`Provider::may_viewer_read`].
    fn may_viewer_read(
        state: &S,
        arguments: Self::Arguments,
        viewer: &Context<'_>,
    ) -> Option<bool> {
        let _ = (state, arguments, viewer);
        None
    }
}

/// What the tools of a provider share: made once from the configuration, then read by every call. It may be private to the plugin.
///
/// ```
/// use toolbay_plugin_api::{prelude::*, testing::Plugin};
/// # use toolbay_plugin_api::serde_json::json;
///
/// #[config]
/// struct Config {
///     signature: Option<String>,
/// }
///
/// struct Signer(String);
///
/// impl State for Signer {
///     type Config = Config;
///
///     fn create(config: Config) -> Result<Self, ConfigError> {
///         match config.signature.as_deref() {
///             Some("") => Err(ConfigError::at("signature", "expected a name, found nothing")),
///             signature => Ok(Self(signature.unwrap_or_default().to_owned())),
///         }
///     }
///
///     fn list(&self, tools: Vec<ToolDefinition>) -> Vec<ToolDefinition> {
///         if self.0.is_empty() { Vec::new() } else { tools }
///     }
/// }
///
/// #[arguments]
/// struct Letter {
///     /// The letter's text.
///     text: String,
/// }
///
/// /// A letter that is signed.
/// #[output]
/// struct Signed {
///     lines: Vec<String>,
/// }
///
/// /// Signs a letter.
/// #[tool(effect = ReadOnly, output = Signed, enabled)]
/// fn sign(signer: &Signer, letter: Letter) -> Result<Reply, Failure> {
///     let lines = vec![letter.text, signer.0.clone()];
///     Ok(Reply::text(lines.join("\n")).structured(Signed { lines }))
/// }
///
/// /// Counts the words of a letter.
/// #[tool(effect = ReadOnly, enabled)]
/// fn count(letter: Letter) -> Result<Reply, Failure> {
///     Ok(Reply::text(letter.text.split_whitespace().count().to_string()))
/// }
///
/// export_provider! { id: "letters", state: Signer, tools: [sign, count] }
///
/// # fn main() -> Result<(), toolbay_plugin_api::wire::Fault> {
/// let unconfigured = Plugin::create::<ExportedProvider>(&json!({}))?;
/// assert!(unconfigured.tools()?.is_empty());
/// let ada = Plugin::create::<ExportedProvider>(&json!({ "signature": "Ada" }))?;
/// assert!(ada.tools()?[0].output_schema.is_some());
/// let signed = ada.call("sign", &json!({ "text": "Dear Charles" }))?;
/// assert_eq!(signed.structured, Some(json!({ "lines": ["Dear Charles", "Ada"] })));
/// # Ok(())
/// # }
/// ```
pub trait State: Send + Sync + Sized + 'static {
    /// The configuration; see [`Provider::Config`].
    type Config: DeserializeOwned;

    /// Which values of the configuration are folders or files; see [`Provider::PATHS`].
    const PATHS: &'static [ConfiguredPath] = &[];

    /// Which values of the configuration are endpoints; see [`Provider::ENDPOINTS`].
    const ENDPOINTS: &'static [&'static str] = &[];

    /// Makes the state.
    ///
    /// # Errors
    ///
    /// [`ConfigError`], with the place in the configuration and what was expected and found there.
    fn create(config: Self::Config) -> Result<Self, ConfigError>;

    /// The tools that are offered with this configuration: all of them, unless this says otherwise. It may leave tools out, none at
    /// all being normal while something is missing, and may describe them by what is configured.
    fn list(&self, tools: Vec<ToolDefinition>) -> Vec<ToolDefinition> {
        tools
    }
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
    may_viewer_read: fn(&S, &Arguments<'_>, &Context<'_>) -> Option<bool>,
}

impl<S: State> TypedTool<S> {
    /// The row of the tool `T`.
    pub const fn of<T: Tool<S>>() -> Self {
        Self {
            spec: T::SPEC,
            define: T::define,
            execute: |state, arguments, context| T::execute(state, arguments.parse()?, context),
            preview: |state, arguments, context| {
                arguments.parse().ok().and_then(|arguments| T::preview(state, arguments, context))
            },
            // Arguments that don't fit have no preview either.
            may_viewer_read: |state, arguments, viewer| {
                let arguments = arguments.parse().ok()?;
                T::may_viewer_read(state, arguments, viewer)
            },
        }
    }
}

/// The tools of a provider, as the export macro lists them.
///
/// What they share is a parameter and no associated type, so that it may be a private type of the plugin.
pub trait ToolTable<S: State>: Send + Sync + 'static {
    /// Their specs, for the note.
    const SPECS: &'static [ToolSpec];
    /// Their rows, in the same order.
    const TOOLS: &'static [TypedTool<S>];
}

/// The provider that a table of tools makes.
#[derive(Debug)]
pub struct Typed<T, S> {
    state: S,
    table: PhantomData<T>,
}

impl<T: ToolTable<S>, S: State> Typed<T, S> {
    /// Tables are a handful of rows: comparing names is quicker than hashing them.
    fn row(tool: &str) -> Result<&'static TypedTool<S>, Failure> {
        T::TOOLS
            .iter()
            .find(|row| row.spec.name() == tool)
            .ok_or_else(|| Failure::new(format!("there is no tool {tool:?} here")))
    }
}

impl<T: ToolTable<S>, S: State> Provider for Typed<T, S> {
    type Config = S::Config;

    const TOOLS: &'static [ToolSpec] = T::SPECS;

    const PATHS: &'static [ConfiguredPath] = S::PATHS;

    const ENDPOINTS: &'static [&'static str] = S::ENDPOINTS;

    fn create(config: Self::Config) -> Result<Self, ConfigError> {
        S::create(config).map(|state| Self { state, table: PhantomData })
    }

    fn tools(&self) -> Vec<ToolDefinition> {
        self.state.list(T::TOOLS.iter().map(|row| (row.define)()).collect())
    }

    fn execute(
        &self,
        tool: &str,
        arguments: &Arguments<'_>,
        context: &Context<'_>,
    ) -> Result<Reply, Failure> {
        (Self::row(tool)?.execute)(&self.state, arguments, context)
    }

    fn preview(
        &self,
        tool: &str,
        arguments: &Arguments<'_>,
        context: &Context<'_>,
    ) -> Option<Vec<String>> {
        (Self::row(tool).ok()?.preview)(&self.state, arguments, context)
    }

    fn may_viewer_read(
        &self,
        tool: &str,
        arguments: &Arguments<'_>,
        viewer: &Context<'_>,
    ) -> Option<bool> {
        (Self::row(tool).ok()?.may_viewer_read)(&self.state, arguments, viewer)
    }
}
