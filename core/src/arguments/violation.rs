//! What a schema misses in arguments, in words that let a model correct them.

use std::{collections::BTreeSet, fmt};

use jsonschema::{
    ValidationError,
    error::{TypeKind, ValidationErrorKind as Missed},
    paths::{Location, LocationSegment},
};
use serde_json::Value;

use crate::{
    excerpt::excerpt,
    nearest::similar,
    schema::{Schema, Validator},
};

/// The most violations that are told of one call, and the most unknown names.
const MAX_VIOLATIONS: usize = 10;

/// The most characters of a found value.
const MAX_FOUND: usize = 80;

/// The most values, names or alternatives that an expectation lists.
const MAX_LISTED: usize = 20;

/// One thing in which arguments miss the schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which argument, as a path such as `filter.tags[2]`; empty where it is the arguments as a whole.
    pub argument: String,
    /// What the schema wants there.
    pub expected: String,
    /// What is there, cut to 80 characters.
    pub found: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.argument.as_str() {
            "" => f.write_str("the arguments")?,
            argument => write!(f, "argument {argument:?}")?,
        }
        write!(f, ": expected {}, found {}", self.expected, self.found)
    }
}

/// The most bytes of arguments in which every violation is looked for. The validator finds them all at once, and those of a
/// megabyte of wrong items fill a hundred.
const MAX_SEARCHED: usize = 64 * 1024;

/// In what arguments of this many `bytes` miss the schema: everything, up to [`MAX_VIOLATIONS`], or the first thing in large ones.
/// After it come the names that were dropped as `undeclared`: a misspelt one would otherwise look like a missing one.
pub(super) fn violations(
    validator: &Validator,
    schema: &Schema,
    arguments: &Value,
    bytes: usize,
    undeclared: &BTreeSet<String>,
) -> Vec<Violation> {
    let schema: Value = serde_json::from_str(schema.as_str()).unwrap_or_default();
    let errors = match bytes <= MAX_SEARCHED {
        true => validator.errors(arguments),
        false => validator.first_error(arguments).into_iter().collect(),
    };
    let missed = errors.into_iter().flat_map(|error| described(&error, &schema));
    let blank = validator.blank(arguments).map(|name| Violation {
        argument: name.to_owned(),
        expected: "a text that is not blank (required)".to_owned(),
        found: "a blank one".to_owned(),
    });
    let unknown = undeclared.iter().map(|name| unknown(name, "", Some(&schema)));
    missed.chain(blank).take(MAX_VIOLATIONS).chain(unknown.take(MAX_VIOLATIONS)).collect()
}

fn described(error: &ValidationError<'_>, schema: &Value) -> Vec<Violation> {
    let path = path(error.instance_path());
    match error.kind() {
        Missed::Required { property: Value::String(name) } => vec![Violation {
            argument: member(&path, name),
            expected: match declared_type(parent(error, schema), name) {
                Some(declared) => format!("{declared} (required)"),
                None => "a value (required)".to_owned(),
            },
            found: "nothing".to_owned(),
        }],
        Missed::AdditionalProperties { unexpected }
        | Missed::UnevaluatedProperties { unexpected } => unexpected
            .iter()
            .take(MAX_VIOLATIONS)
            .map(|name| unknown(name, &path, parent(error, schema)))
            .collect(),
        missed => vec![Violation {
            argument: path,
            expected: expected(missed),
            found: shown(error.instance()),
        }],
    }
}

/// The schema in which the missed keyword stands.
fn parent<'s>(error: &ValidationError<'_>, schema: &'s Value) -> Option<&'s Value> {
    let (parent, _) = error.schema_path().as_str().rsplit_once('/')?;
    schema.pointer(parent)
}

fn declared_type(schema: Option<&Value>, name: &str) -> Option<String> {
    match schema?.get("properties")?.get(name)?.get("type")? {
        Value::String(declared) => Some(with_article(declared)),
        Value::Array(declared) => Some(alternatives(
            declared.iter().filter_map(Value::as_str).map(with_article).collect(),
        )),
        _ => None,
    }
}

/// A name that the schema at the path does not know.
fn unknown(name: &str, path: &str, schema: Option<&Value>) -> Violation {
    Violation {
        argument: member(path, &excerpt(name, MAX_FOUND)),
        expected: known_name(name, schema),
        found: "an unknown name".to_owned(),
    }
}

fn known_name(unknown: &str, schema: Option<&Value>) -> String {
    let known = schema
        .and_then(|schema| schema.get("properties"))
        .and_then(Value::as_object)
        .map(|properties| properties.keys().map(String::as_str).collect::<Vec<_>>())
        .unwrap_or_default();
    let near = similar(unknown, known.iter().copied(), 1);
    let quoted = |name: &&str| format!("{:?}", excerpt(name, MAX_FOUND));
    match (near.first(), known.as_slice()) {
        (_, []) => "no arguments here".to_owned(),
        (Some(near), _) => format!("a declared name such as {}", quoted(near)),
        (None, known) => format!("a declared name: {}", one_of(known.iter().map(quoted))),
    }
}

/// What a keyword wants, as a phrase that follows "expected".
fn expected(missed: &Missed) -> String {
    match missed {
        Missed::Enum { options } => {
            let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
            format!("one of {}", one_of(options.iter().map(shown)))
        }
        Missed::Constant { expected_value } => shown(expected_value),
        Missed::Type { kind: TypeKind::Single(single) } => with_article(single.as_str()),
        Missed::Type { kind: TypeKind::Multiple(types) } => {
            alternatives(types.iter().map(|single| with_article(single.as_str())).collect())
        }
        Missed::Minimum { limit } => format!("at least {limit}"),
        Missed::Maximum { limit } => format!("at most {limit}"),
        Missed::ExclusiveMinimum { limit } => format!("more than {limit}"),
        Missed::ExclusiveMaximum { limit } => format!("less than {limit}"),
        Missed::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
        Missed::MinLength { limit } => format!("at least {limit} characters"),
        Missed::MaxLength { limit } => format!("at most {limit} characters"),
        Missed::MinItems { limit } => format!("at least {limit} items"),
        Missed::MaxItems { limit } => format!("at most {limit} items"),
        Missed::MinProperties { limit } => format!("at least {limit} members"),
        Missed::MaxProperties { limit } => format!("at most {limit} members"),
        Missed::UniqueItems => "items that differ from each other".to_owned(),
        Missed::Pattern { pattern } => {
            format!("a text that matches the pattern {}", excerpt(pattern, MAX_FOUND))
        }
        Missed::Format { format } => format!("a text in the format {}", excerpt(format, MAX_FOUND)),
        Missed::FalseSchema => "nothing here".to_owned(),
        Missed::PropertyNames { error } => format!("a name that is {}", expected(error.kind())),
        Missed::AnyOf { context } | Missed::OneOfNotValid { context } => alternatives(
            context.iter().filter_map(|branch| branch.first()).map(alternative).collect(),
        ),
        Missed::OneOfMultipleValid { .. } => {
            "a value that fits one of the alternatives only".to_owned()
        }
        other => format!("a value that satisfies {:?}", excerpt(other.keyword(), MAX_FOUND)),
    }
}

/// What one branch of alternatives wants, where it fails first.
fn alternative(error: &ValidationError<'static>) -> String {
    match error.kind() {
        Missed::Required { property } => format!("an object with {}", shown(property)),
        missed => expected(missed),
    }
}

fn alternatives(phrases: Vec<String>) -> String {
    let mut distinct: Vec<String> = Vec::new();
    for phrase in phrases {
        if distinct.len() < MAX_LISTED && !distinct.contains(&phrase) {
            distinct.push(phrase);
        }
    }
    match distinct.is_empty() {
        true => "one of the alternatives".to_owned(),
        false => distinct.join(" or "),
    }
}

fn one_of(items: impl ExactSizeIterator<Item = String>) -> String {
    let left_out = items.len().saturating_sub(MAX_LISTED);
    let mut list = items.take(MAX_LISTED).collect::<Vec<_>>().join(", ");
    if left_out > 0 {
        list.push_str(&format!(" and {left_out} more"));
    }
    list
}

fn with_article(json_type: &str) -> String {
    match json_type {
        "null" => "null".to_owned(),
        "array" | "integer" | "object" => format!("an {json_type}"),
        other => format!("a {}", excerpt(other, MAX_FOUND)),
    }
}

fn shown(value: &Value) -> String {
    excerpt(&value.to_string(), MAX_FOUND).into_owned()
}

fn path(location: &Location) -> String {
    location.segments().fold(String::new(), |path, segment| match segment {
        LocationSegment::Property(name) => member(&path, &excerpt(&name, MAX_FOUND)),
        LocationSegment::Index(index) => format!("{path}[{index}]"),
    })
}

fn member(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
