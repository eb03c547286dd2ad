//! From the text of the arguments to a call that a tool can rely on.

mod violation;

use std::{fmt, sync::Arc, time::Duration};

use serde_json::{Value, value::RawValue};
use thiserror::Error;

pub use self::violation::Violation;
use self::violation::violations;
use crate::{
    caller::Caller,
    definition::ToolDefinition,
    gate::Authorized,
    history::RunHistory,
    json,
    name::ProviderId,
    registry::Entry,
    request::{CancelToken, ProgressSink},
    schema::{Schema, SchemaError},
};

/// Why arguments were refused. The message is for the model, which can correct its call by it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ArgumentsError {
    /// They are longer than the limit.
    ///
    /// Resolution: send less, or raise the limit.
    #[error("the arguments are too large: expected at most {limit} bytes, found {found}")]
    TooLarge {
        /// The bytes that are allowed.
        limit: usize,
        /// The bytes that there are.
        found: usize,
    },
    /// They are no JSON text.
    ///
    /// Resolution: correct the text at that place.
    #[error(
        "the arguments are not valid JSON: expected a JSON object, found an error at line {line} column {column}"
    )]
    NotJson {
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
        /// What the parser says.
        source: serde_json::Error,
    },
    /// They are JSON, but no object.
    ///
    /// Resolution: put them into an object, each under its name.
    #[error("the arguments are not a JSON object: expected an object such as {{}}, found {found}")]
    NotAnObject {
        /// What they are, such as `an array`.
        found: &'static str,
    },
    /// They miss the tool's schema.
    ///
    /// Resolution: change what each violation names.
    #[error("{}", Sentences(.violations))]
    Invalid {
        /// In what; at most ten.
        violations: Vec<Violation>,
    },
    /// The tool's own schema does not compile: the plugin's fault, not the caller's.
    ///
    /// Resolution: report it to the vendor.
    #[error("the tool's schema does not compile, so no arguments can be checked")]
    Schema(#[source] Arc<SchemaError>),
}

struct Sentences<'a>(&'a [Violation]);

impl fmt::Display for Sentences<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, violation) in self.0.iter().enumerate() {
            let separator = if at == 0 { "" } else { "; " };
            write!(f, "{separator}{violation}")?;
        }
        Ok(())
    }
}

/// A call that passed the gates and whose arguments fit the schema. Only a [`Pipeline`](crate::Pipeline) makes one.
#[must_use]
#[derive(Clone, Copy)]
pub struct ValidCall<'a> {
    authorized: Authorized<'a>,
    arguments: &'a str,
}

impl<'a> ValidCall<'a> {
    /// The arguments: a JSON object as the caller wrote it, `{}` where the caller wrote nothing.
    pub fn arguments(&self) -> &'a str {
        self.arguments
    }

    /// The tool. Under whichever name it was called, this has its own.
    pub fn definition(&self) -> &'a ToolDefinition {
        self.authorized.entry().definition()
    }

    /// Who contributed the tool.
    pub fn provider(&self) -> &'a ProviderId {
        self.entry().provider()
    }

    pub(crate) fn authorized(&self) -> Authorized<'a> {
        self.authorized
    }

    /// The tool with what executes it.
    pub fn entry(&self) -> &'a Entry {
        self.authorized.entry()
    }

    /// Who calls.
    pub fn caller(&self) -> &'a Caller {
        self.authorized.request().caller()
    }

    /// The calling agent's settings of this tool, kept under its name or one of its former names.
    pub fn tool_config(&self) -> Option<&'a RawValue> {
        let configs = &self.caller().agent()?.tool_config;
        self.entry().names().find_map(|name| configs.get(name)).map(|config| &**config)
    }

    /// The time that is left.
    pub fn deadline(&self) -> Option<Duration> {
        self.authorized.request().deadline()
    }

    /// How the call can be cancelled.
    pub fn cancel(&self) -> Option<&'a CancelToken> {
        self.authorized.request().cancel()
    }

    /// Whether the call is no longer wanted.
    pub fn is_cancelled(&self) -> bool {
        self.authorized.request().is_cancelled()
    }

    /// What the run has called so far.
    pub fn history(&self) -> Option<&'a RunHistory> {
        self.authorized.request().history()
    }

    /// Where the call's progress goes.
    pub fn progress(&self) -> Option<&'a Arc<dyn ProgressSink>> {
        self.authorized.request().progress()
    }
}

/// Checks the arguments of an authorized request, of at most `limit` bytes, against the tool's schema.
pub(crate) fn validate(
    authorized: Authorized<'_>,
    limit: usize,
) -> Result<ValidCall<'_>, ArgumentsError> {
    let text = authorized.request().arguments();
    let value = parse(text, limit)?;
    let arguments = if text.trim_ascii().is_empty() { "{}" } else { text };
    let definition = authorized.entry().definition();
    let validator = definition.validator().map_err(ArgumentsError::Schema)?;
    if !validator.is_valid(&value) {
        let violations = violations(validator, definition.schema(), &value, arguments.len());
        return Err(ArgumentsError::Invalid { violations });
    }
    Ok(ValidCall { authorized, arguments })
}

/// The arguments as an object of at most `limit` bytes; no text is an empty one.
fn parse(text: &str, limit: usize) -> Result<Value, ArgumentsError> {
    if text.len() > limit {
        return Err(ArgumentsError::TooLarge { limit, found: text.len() });
    }
    let text = if text.trim_ascii().is_empty() { "{}" } else { text };
    let value: Value = serde_json::from_str(text).map_err(|source| ArgumentsError::NotJson {
        line: source.line(),
        column: source.column(),
        source,
    })?;
    if !value.is_object() {
        return Err(ArgumentsError::NotAnObject { found: json::kind(&value) });
    }
    Ok(value)
}

/// Reads what an agent's call of a tool gives beside what a person will type in: arguments that fit the tool's schema but for those of
/// the input, without these.
pub(crate) fn before_input(
    authorized: Authorized<'_>,
    limit: usize,
    input: &Schema,
) -> Result<Value, ArgumentsError> {
    let text = authorized.request().arguments();
    let mut value = parse(text, limit)?;
    let typed = input.properties();
    if let Value::Object(members) = &mut value {
        members.retain(|name, _| !typed.contains(name));
    }
    let definition = authorized.entry().definition();
    let validator = definition.validator().map_err(ArgumentsError::Schema)?;
    let mut violations = violations(validator, definition.schema(), &value, text.len());
    violations.retain(|violation| !typed.contains(&violation.argument));
    match violations.is_empty() {
        true => Ok(value),
        false => Err(ArgumentsError::Invalid { violations }),
    }
}

/// Puts what a person typed in into what the agent gave: of both, only what the input's schema declares comes from the person, and
/// nothing else does.
pub(crate) fn with_input(
    given: Value,
    typed: Value,
    input: &Schema,
) -> Result<Value, ArgumentsError> {
    let names = input.properties();
    let (Value::Object(mut given), Value::Object(mut typed)) = (given, typed) else {
        return Err(ArgumentsError::NotAnObject { found: "something else" });
    };
    typed.retain(|name, _| names.contains(name));
    let typed = Value::Object(typed);
    let validator = input.compile().map_err(|error| ArgumentsError::Schema(Arc::new(error)))?;
    if !validator.is_valid(&typed) {
        let violations = violations(&validator, input, &typed, 0);
        return Err(ArgumentsError::Invalid { violations });
    }
    given.retain(|name, _| !names.contains(name));
    if let Value::Object(typed) = typed {
        given.extend(typed);
    }
    Ok(Value::Object(given))
}
