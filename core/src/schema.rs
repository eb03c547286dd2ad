//! The JSON Schema of a tool's arguments or result: raw text until a validator is compiled from it.

mod coercion;
mod shape;
mod types;

use std::{
    cmp::Ordering,
    collections::BTreeSet,
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use jsonschema::{PatternOptions, ValidationError};
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, Visitor},
};
use serde_json::{Value, value::RawValue};
use thiserror::Error;

pub(crate) use self::coercion::Adapted;
pub use self::coercion::Coercion;
use crate::{excerpt::excerpt, json};

/// Why a text is no schema of a tool.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The text is longer than [`Schema::MAX_BYTES`].
    ///
    /// Resolution: shorten descriptions, or take fewer arguments.
    #[error("schema too large: expected at most {limit} bytes, found {found}")]
    TooLarge {
        /// The bytes that are allowed.
        limit: usize,
        /// The bytes that there are.
        found: usize,
    },
    /// It nests deeper than [`Schema::MAX_DEPTH`].
    ///
    /// Resolution: flatten it.
    #[error("schema nested too deeply: expected at most {limit} levels, found {found}")]
    TooDeep {
        /// The levels that are allowed.
        limit: usize,
        /// The levels that there are.
        found: usize,
    },
    /// It is no JSON object with distinct members.
    ///
    /// Resolution: write one, with each member once.
    #[error("schema is not a JSON object with distinct members")]
    NotAnObject(#[source] serde_json::Error),
    /// It does not say `"type": "object"`: arguments are always an object.
    ///
    /// Resolution: put what it describes into an object.
    #[error(
        "schema does not describe an object: expected \"type\": \"object\" at its root, found {found}"
    )]
    NotOfObjects {
        /// The `type` in the text, cut to 80 characters.
        found: String,
    },
    /// The dialect's meta-schema refuses it, or it refers to what is not in it.
    ///
    /// Resolution: correct it at the pointer, and copy in what it refers to.
    #[error(
        "schema does not compile at {pointer:?}: expected a valid schema without references to other documents"
    )]
    Invalid {
        /// Where in the schema, as a JSON pointer.
        pointer: String,
        /// What the validator says of it.
        source: Box<ValidationError<'static>>,
    },
}

/// A JSON Schema of objects, as the text in which it came.
///
/// Absent or empty `properties` are `{}` from the start, whatever the source wrote, because some model providers refuse a schema
/// without them or with `[]`. Everything else is kept to the byte. Cloning is cheap.
///
/// ```
/// use toolbay_core::Schema;
///
/// let schema = Schema::parse(r#"{"type": "object", "properties": []}"#)?;
/// assert_eq!(schema.as_str(), r#"{"type":"object","properties":{}}"#);
/// # Ok::<(), toolbay_core::SchemaError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Schema(Arc<RawValue>);

impl Schema {
    /// The most bytes that a schema may have.
    pub const MAX_BYTES: usize = 64 * 1024;

    /// The most levels of arrays and objects that a schema may have.
    pub const MAX_DEPTH: usize = 32;

    /// Steps after which a pattern with look-around gives up on a text, as if it did not match.
    const BACKTRACK_LIMIT: usize = 100_000;

    /// Bytes that one compiled pattern may take.
    const PATTERN_BYTES: usize = 1024 * 1024;

    /// Reads a schema and checks its size, depth and root; the rest is checked by [`Schema::compile`], which costs much more.
    ///
    /// # Errors
    ///
    /// Every [`SchemaError`] but [`SchemaError::Invalid`].
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        if text.len() > Self::MAX_BYTES {
            return Err(SchemaError::TooLarge { limit: Self::MAX_BYTES, found: text.len() });
        }
        let members: Members<'_> = serde_json::from_str(text).map_err(SchemaError::NotAnObject)?;
        let depth = json::depth(text);
        if depth > Self::MAX_DEPTH {
            return Err(SchemaError::TooDeep { limit: Self::MAX_DEPTH, found: depth });
        }
        match members.get("type") {
            Some(r#""object""#) => {}
            other => {
                let found = excerpt(other.unwrap_or("none"), 80).into_owned();
                return Err(SchemaError::NotOfObjects { found });
            }
        }
        let text = match members.get("properties") {
            Some(properties) if !is_empty_array(properties) => text.to_owned(),
            _ => members.with_empty_properties(),
        };
        let raw = RawValue::from_string(text).map_err(SchemaError::NotAnObject)?;
        Ok(Self(Arc::from(raw)))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// The text, for embedding in a JSON document.
    pub fn as_raw(&self) -> &RawValue {
        &self.0
    }

    /// The names of the members that it lists.
    pub fn properties(&self) -> BTreeSet<String> {
        let schema: Value = serde_json::from_str(self.as_str()).unwrap_or_default();
        let properties = schema.get("properties").and_then(Value::as_object);
        properties.into_iter().flatten().map(|(name, _)| name.clone()).collect()
    }

    /// The schema as a value without the words that decide nothing about what fits: titles, descriptions, examples and comments. A member
    /// that is named like one of them stays.
    pub(crate) fn without_annotations(&self) -> Value {
        let mut schema = serde_json::from_str(self.as_str()).unwrap_or_default();
        remove_annotations(&mut schema);
        schema
    }

    /// Compiles a validator. The dialect is the one that `$schema` names, or 2020-12; no reference leaves the text.
    ///
    /// # Errors
    ///
    /// [`SchemaError::Invalid`] where the dialect's meta-schema refuses the text, or a reference has no target in it.
    pub fn compile(&self) -> Result<Validator, SchemaError> {
        let schema: Value =
            serde_json::from_str(self.as_str()).map_err(SchemaError::NotAnObject)?;
        let patterns = PatternOptions::fancy_regex()
            .backtrack_limit(Self::BACKTRACK_LIMIT)
            .size_limit(Self::PATTERN_BYTES);
        let compiled =
            jsonschema::options().offline().with_pattern_options(patterns).build(&schema).map_err(
                |error| SchemaError::Invalid {
                    pointer: error.instance_path().to_string(),
                    source: Box::new(error),
                },
            )?;
        let (never_blank, coercion) = (never_blank(&schema), Coercion::read(&schema));
        Ok(Validator { schema: compiled, never_blank, coercion })
    }

    /// The types that it wants, for reading texts as those. A [`Validator`] has the same.
    pub fn coercion(&self) -> Coercion {
        // It was JSON when it was parsed.
        Coercion::read(&serde_json::from_str(self.as_str()).unwrap_or_default())
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Schema {}

impl PartialOrd for Schema {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Schema {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl Ord for Schema {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

/// A compiled [`Schema`].
#[derive(Debug)]
pub struct Validator {
    schema: jsonschema::Validator,
    never_blank: Box<[String]>,
    coercion: Coercion,
}

impl Validator {
    /// Whether the value fits the schema, and no required argument is a blank text.
    ///
    /// A model that has no value for a required argument often sends an empty one. A schema that means to allow a blank text says
    /// so with `minLength`, `enum` or `const`.
    pub fn is_valid(&self, arguments: &Value) -> bool {
        self.schema.is_valid(arguments) && self.blank(arguments).next().is_none()
    }

    /// The types that the schema wants, for reading texts as those.
    pub fn coercion(&self) -> &Coercion {
        &self.coercion
    }

    /// Everything in which the value misses the schema, found at once; blank arguments are told by [`Validator::blank`].
    pub(crate) fn errors<'v>(&'v self, arguments: &'v Value) -> Vec<ValidationError<'v>> {
        self.schema.iter_errors(arguments).collect()
    }

    /// The first thing in which the value misses the schema.
    pub(crate) fn first_error<'v>(&'v self, arguments: &'v Value) -> Option<ValidationError<'v>> {
        self.schema.validate(arguments).err()
    }

    /// The required arguments that are blank and must not be.
    pub(crate) fn blank<'v>(&'v self, arguments: &'v Value) -> impl Iterator<Item = &'v str> {
        let is_blank = |name: &&str| {
            arguments.get(name).and_then(Value::as_str).is_some_and(|text| text.trim().is_empty())
        };
        self.never_blank.iter().map(String::as_str).filter(is_blank)
    }
}

fn never_blank(schema: &Value) -> Box<[String]> {
    let allows_blank = |name: &str| {
        ["minLength", "enum", "const"]
            .iter()
            .any(|keyword| schema["properties"][name].get(keyword).is_some())
    };
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    required
        .filter_map(Value::as_str)
        .filter(|name| !allows_blank(name))
        .map(str::to_owned)
        .collect()
}

/// Keywords whose members are names and not keywords.
const NAMED: [&str; 5] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Keywords whose value is data, in which nothing is a keyword.
const DATA: [&str; 3] = ["enum", "const", "default"];

fn remove_annotations(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            for annotation in ["title", "description", "examples", "$comment"] {
                members.remove(annotation);
            }
            for (keyword, value) in members.iter_mut() {
                match value {
                    Value::Object(named) if NAMED.contains(&keyword.as_str()) => {
                        named.values_mut().for_each(remove_annotations);
                    }
                    value if !DATA.contains(&keyword.as_str()) => remove_annotations(value),
                    _ => {}
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(remove_annotations),
        _ => {}
    }
}

fn is_empty_array(json: &str) -> bool {
    json.strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .is_some_and(|inside| inside.trim().is_empty())
}

/// The members of a JSON object in their order, names and values as texts.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Members<'a> {
    fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.get())
    }

    /// The object as text, its `properties` replaced by `{}` or added as that.
    fn with_empty_properties(&self) -> String {
        let others = self.0.iter().filter(|(key, _)| key != "properties");
        let mut text = String::from("{");
        for (key, value) in others {
            let key = Value::from(key.as_str());
            text.push_str(&format!("{key}:{},", value.get()));
        }
        text.push_str(r#""properties":{}}"#);
        text
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut names = BTreeSet::new();
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                    if !names.insert(name.clone()) {
                        let name = excerpt(&name, 80);
                        return Err(A::Error::custom(format_args!("member {name:?} occurs twice")));
                    }
                    members.push((name, value));
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(Object).map(Self)
    }
}
