//! From the text of the arguments to a call that a tool can rely on.

mod unique;
mod violation;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
    time::Duration,
};

use serde_json::{Map, Value, value::RawValue};
use thiserror::Error;

pub use self::unique::UniqueMembers;
pub use self::violation::Violation;
use self::violation::violations;
use crate::{
    caller::Caller,
    definition::ToolDefinition,
    gate::Authorized,
    history::RunHistory,
    json,
    limits::LimitScope,
    name::ProviderId,
    registry::Entry,
    request::{CallRequest, CancelToken, ProgressSink},
    schema::{Adapted, Schema, SchemaError, Validator},
};

/// Why arguments were refused. The message is for the model, which can correct its call by it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ArgumentsError {
    /// They are longer than the limit.
    ///
    /// Resolution: send less, or raise the limit.
    #[error(
        "the arguments are too large: expected at most {limit} bytes{}, found {found}",
        whose(.scope.as_ref())
    )]
    TooLarge {
        /// The bytes that are allowed.
        limit: usize,
        /// Whose limit it is; `None` where it is that of all calls.
        scope: Option<LimitScope>,
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
    /// They have one name twice, and each reader of them could take another of the two.
    ///
    /// Resolution: give each argument once.
    #[error(
        "the arguments have a name twice: expected each once in its object, found a second one at line {line} column {column}"
    )]
    Twice {
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
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
        /// In what, at most ten, and up to ten names of arguments that the tool does not have.
        violations: Vec<Violation>,
    },
    /// The tool's own schema does not compile: the plugin's fault, not the caller's.
    ///
    /// Resolution: report it to the vendor.
    #[error("the tool's schema does not compile, so no arguments can be checked")]
    Schema(#[source] Arc<SchemaError>),
}

fn whose(scope: Option<&LimitScope>) -> String {
    scope.map(|scope| format!(" in calls of {scope}")).unwrap_or_default()
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
#[derive(Clone)]
pub struct ValidCall<'a> {
    authorized: Authorized<'a>,
    arguments: Cow<'a, str>,
}

impl<'a> ValidCall<'a> {
    /// The arguments: a JSON object as the caller wrote it, `{}` where the caller wrote nothing. What was read as another type, or
    /// dropped because the tool has no such argument, is written anew; the values of the others still are the caller's own text.
    pub fn arguments(&self) -> &str {
        &self.arguments
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

    /// The same call with a request that differs in nothing but the time that is left.
    pub(crate) fn in_time<'b>(&'b self, request: &'b CallRequest<'b>) -> ValidCall<'b> {
        let arguments = Cow::Borrowed(&*self.arguments);
        ValidCall { authorized: self.authorized.in_time(request), arguments }
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

/// Reads the arguments of an authorized request, of at most `limit` bytes, as what the tool's schema wants, and checks them
/// against it.
pub(crate) fn validate(
    authorized: Authorized<'_>,
    limit: usize,
) -> Result<ValidCall<'_>, ArgumentsError> {
    let text = authorized.request().arguments();
    let members = parse(text, limit)?;
    let text = or_none(text);
    let definition = authorized.entry().definition();
    let validator = definition.validator().map_err(ArgumentsError::Schema)?;
    // What fits as it is needs no reading as anything else, and most arguments do.
    let fits = validator.coercion().knows_all(&members);
    let value = Value::Object(members);
    if fits && validator.is_valid(&value) {
        return Ok(ValidCall { authorized, arguments: Cow::Borrowed(text) });
    }
    let Value::Object(members) = value else {
        return Err(ArgumentsError::NotAnObject { found: json::kind(&value) });
    };
    adapt(authorized, validator, text, members)
}

/// Reads arguments as what the schema wants, and checks them then.
#[cold]
fn adapt<'a>(
    authorized: Authorized<'a>,
    validator: &Validator,
    text: &'a str,
    mut value: Map<String, Value>,
) -> Result<ValidCall<'a>, ArgumentsError> {
    let definition = authorized.entry().definition();
    let adapted = validator.coercion().adapt(&mut value);
    let arguments = match adapted.is_unchanged() {
        true => Cow::Borrowed(text),
        false => Cow::Owned(rewritten(text, &value, &adapted)),
    };
    let value = Value::Object(value);
    if !validator.is_valid(&value) {
        let violations =
            violations(validator, definition.schema(), &value, text.len(), &adapted.undeclared);
        return Err(ArgumentsError::Invalid { violations });
    }
    Ok(ValidCall { authorized, arguments })
}

/// The members as text, those that did not change as they stand in the text that they were read from: a number can have more
/// digits there than a value keeps.
fn rewritten(text: &str, members: &Map<String, Value>, adapted: &Adapted) -> String {
    // It was read once already.
    let written: BTreeMap<String, &RawValue> = serde_json::from_str(text).unwrap_or_default();
    let mut rewritten = String::with_capacity(text.len());
    for (name, value) in members {
        rewritten.push(if rewritten.is_empty() { '{' } else { ',' });
        rewritten.push_str(&Value::from(name.as_str()).to_string());
        rewritten.push(':');
        match written.get(name) {
            Some(written) if !adapted.coerced.contains(name) => rewritten.push_str(written.get()),
            _ => rewritten.push_str(&value.to_string()),
        }
    }
    rewritten.push_str(if rewritten.is_empty() { "{}" } else { "}" });
    rewritten
}

/// The arguments as an object of at most `limit` bytes; no text is an empty one.
fn parse(text: &str, limit: usize) -> Result<Map<String, Value>, ArgumentsError> {
    if text.len() > limit {
        return Err(ArgumentsError::TooLarge { limit, scope: None, found: text.len() });
    }
    let UniqueMembers(value) = serde_json::from_str(or_none(text)).map_err(|source| {
        let (line, column) = (source.line(), source.column());
        match source.is_data() {
            true => ArgumentsError::Twice { line, column },
            false => ArgumentsError::NotJson { line, column, source },
        }
    })?;
    match value {
        Value::Object(members) => Ok(members),
        other => Err(ArgumentsError::NotAnObject { found: json::kind(&other) }),
    }
}

/// No text means no arguments.
fn or_none(text: &str) -> &str {
    if text.trim_ascii().is_empty() { "{}" } else { text }
}

/// Reads what an agent's call of a tool gives beside what a person will type in: arguments that fit the tool's schema but for those of
/// the input, without these.
pub(crate) fn before_input(
    authorized: Authorized<'_>,
    limit: usize,
    input: &Schema,
) -> Result<Value, ArgumentsError> {
    let text = authorized.request().arguments();
    let mut given = parse(text, limit)?;
    let typed = input.properties();
    given.retain(|name, _| !typed.contains(name));
    let definition = authorized.entry().definition();
    let validator = definition.validator().map_err(ArgumentsError::Schema)?;
    let undeclared = validator.coercion().adapt(&mut given).undeclared;
    let value = Value::Object(given);
    let mut violations =
        violations(validator, definition.schema(), &value, text.len(), &undeclared);
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
    let validator = input.compile().map_err(|error| ArgumentsError::Schema(Arc::new(error)))?;
    validator.coercion().adapt(&mut typed);
    let typed = Value::Object(typed);
    if !validator.is_valid(&typed) {
        let violations = violations(&validator, input, &typed, 0, &BTreeSet::new());
        return Err(ArgumentsError::Invalid { violations });
    }
    given.retain(|name, _| !names.contains(name));
    if let Value::Object(typed) = typed {
        given.extend(typed);
    }
    Ok(Value::Object(given))
}
