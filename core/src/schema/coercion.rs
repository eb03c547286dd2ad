//! Reads what a model or a person wrote as the types that a schema wants, where there is no doubt what was meant.

use std::collections::BTreeSet;

use serde_json::{Map, Number, Value};

use super::{
    shape::{Accepted, Place, Shape},
    types::Types,
};
use crate::json;

/// The levels of arrays and objects that every reader of JSON takes, and beyond which nothing is read out of a text.
const MAX_DEPTH: usize = 127;

/// Keywords of a root that speak of members besides `properties`: what they allow is for the schema to say.
const OF_MEMBERS: [&str; 16] = [
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "dependentSchemas",
    "dependentRequired",
    "dependencies",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "enum",
    "const",
];

/// The types that a schema wants, as far as it takes to read values of other types as those.
///
/// Models write `"3"` for a number and a text for a list of one, and words on a command line are texts all of them. A value is read
/// as another only where its own type is not accepted, and a text is not:
///
/// | wanted | read |
/// |---|---|
/// | integer | a text that is an integer in JSON and nothing else |
/// | number | a text that is a number in JSON and nothing else |
/// | boolean | the texts `true`, `false`, `1` and `0`, and the numbers 1 and 0 |
/// | null | the text `null` |
/// | array | the JSON text of an array; otherwise a text that is not blank, a number or a boolean, where it can be the only item |
/// | object | the JSON text of an object |
///
/// So for items and members of any depth, through references in the schema and through alternatives of which only one accepts
/// arrays or objects. Everything else stays as it is, `"3.5"` for an integer too: the validation says what was expected.
///
/// ```
/// use serde_json::{Map, Value};
/// use toolbay_core::Schema;
///
/// let schema = Schema::parse(r#"{"type": "object", "properties": {
///     "limit": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}
/// }}"#)?;
/// let mut arguments: Map<String, Value> = serde_json::from_str(r#"{"limit": "3", "tags": "a", "more": "5"}"#)?;
/// schema.coercion().coerce(&mut arguments);
/// assert_eq!(Value::from(arguments).to_string(), r#"{"limit":3,"more":"5","tags":["a"]}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Coercion {
    shape: Shape,
    /// Whether the declared members are all that there are.
    is_closed: bool,
}

/// What was done to arguments before they were validated.
#[derive(Debug, Default)]
pub(crate) struct Adapted {
    /// The names that the schema does not know, which were dropped.
    pub(crate) undeclared: BTreeSet<String>,
    /// The names whose values changed.
    pub(crate) coerced: BTreeSet<String>,
}

impl Adapted {
    pub(crate) fn is_unchanged(&self) -> bool {
        self.undeclared.is_empty() && self.coerced.is_empty()
    }
}

impl Coercion {
    pub(super) fn read(schema: &Value) -> Self {
        let shape = Shape::read(schema);
        let is_closed = is_closed(schema, &shape);
        Self { shape, is_closed }
    }

    /// Reads each declared argument as what the schema wants.
    pub fn coerce(&self, arguments: &mut Map<String, Value>) {
        self.coerce_members(arguments, |_| {});
    }

    /// Whether the schema says that the argument of this name can be a list.
    pub fn takes_list(&self, name: &str) -> bool {
        self.types(name).is_some_and(|types| types != Types::ANY && types.accepts(Types::ARRAY))
    }

    /// Whether there is an argument of this name that can be a text.
    pub fn takes_text(&self, name: &str) -> bool {
        self.types(name).is_some_and(|types| types.accepts(Types::STRING))
    }

    /// Drops the arguments that the schema does not know, and reads the others as what it wants.
    ///
    /// A name is unknown where the schema declares names and leaves no room for others: a model must not get a refusal for a
    /// member that it made up, nor the tool a member that it never asked for.
    pub(crate) fn adapt(&self, arguments: &mut Map<String, Value>) -> Adapted {
        let mut adapted = Adapted::default();
        if self.is_closed {
            let root = self.shape.at(Shape::ROOT);
            arguments.retain(|name, _| {
                let is_declared = root.member(name).is_some();
                if !is_declared {
                    adapted.undeclared.insert(name.clone());
                }
                is_declared
            });
        }
        self.coerce_members(arguments, |name| {
            adapted.coerced.insert(name.to_owned());
        });
        adapted
    }

    /// Whether the schema knows every name.
    pub(crate) fn knows_all(&self, arguments: &Map<String, Value>) -> bool {
        let root = self.shape.at(Shape::ROOT);
        !self.is_closed || arguments.keys().all(|name| root.member(name).is_some())
    }

    fn types(&self, name: &str) -> Option<Types> {
        let place = self.shape.at(Shape::ROOT).member(name)?;
        Some(self.shape.at(place).types)
    }

    fn coerce_members(&self, members: &mut Map<String, Value>, mut changed: impl FnMut(&str)) {
        let root = self.shape.at(Shape::ROOT);
        for (name, value) in members {
            if let Some(place) = root.member(name)
                && self.coerce_at(place, value, 1, true)
            {
                changed(name);
            }
        }
    }

    /// Reads the value, with this many arrays and objects around it, as what is accepted at a place. Says whether that changed it.
    fn coerce_at(&self, place: Place, value: &mut Value, depth: usize, may_wrap: bool) -> bool {
        let accepted = self.shape.at(place);
        let mut changed = false;
        if !accepted.types.accepts(Types::of(value).or(Types::STRING)) {
            let read = read(value, accepted.types, MAX_DEPTH.saturating_sub(depth))
                .or_else(|| self.wrapped(value, accepted, depth).filter(|_| may_wrap));
            if let Some(read) = read {
                *value = read;
                changed = true;
            }
        }
        match value {
            Value::Array(items) => {
                if let Some(item) = accepted.item {
                    for value in items {
                        changed |= self.coerce_at(item, value, depth + 1, true);
                    }
                }
            }
            Value::Object(members) => {
                for (name, value) in members {
                    if let Some(member) = accepted.member(name) {
                        changed |= self.coerce_at(member, value, depth + 1, true);
                    }
                }
            }
            _ => {}
        }
        changed
    }

    /// The array of this one item, where an array is wanted and its items can be that. A blank text is no item.
    fn wrapped(&self, value: &Value, accepted: &Accepted, depth: usize) -> Option<Value> {
        let is_item = match value {
            Value::String(text) => !text.trim().is_empty(),
            Value::Number(_) | Value::Bool(_) => true,
            _ => false,
        };
        if !is_item || depth >= MAX_DEPTH || !accepted.types.accepts(Types::ARRAY) {
            return None;
        }
        let mut item = value.clone();
        if let Some(place) = accepted.item {
            // A schema whose arrays hold such arrays would have no end of wrapping.
            self.coerce_at(place, &mut item, depth + 1, false);
            if !self.shape.at(place).types.accepts(Types::of(&item)) {
                return None;
            }
        }
        Some(Value::Array(vec![item]))
    }
}

/// The value that this one means, where types other than its own are wanted.
fn read(value: &Value, wanted: Types, levels: usize) -> Option<Value> {
    match value {
        Value::String(text) => number(text, wanted)
            .or_else(|| word(text, wanted))
            .or_else(|| json(text, wanted, levels)),
        Value::Number(number) if wanted.accepts(Types::BOOLEAN) => match number.as_u64()? {
            0 => Some(Value::Bool(false)),
            1 => Some(Value::Bool(true)),
            _ => None,
        },
        _ => None,
    }
}

fn number(text: &str, wanted: Types) -> Option<Value> {
    // A number in JSON has no space around it, which a parser would skip.
    let is_bare = text.starts_with(|first: char| first == '-' || first.is_ascii_digit())
        && text.ends_with(|last: char| last.is_ascii_digit());
    if !is_bare || !wanted.accepts(Types::INTEGER.or(Types::FRACTION)) {
        return None;
    }
    let number: Number = serde_json::from_str(text).ok()?;
    let is_integer = number.is_i64() || number.is_u64();
    let number = Value::Number(number);
    // `3.0` is no integer as a text, though it is one as a number.
    let is_wanted = wanted.accepts(Types::of(&number));
    (is_wanted && (is_integer || wanted.accepts(Types::FRACTION))).then_some(number)
}

fn word(text: &str, wanted: Types) -> Option<Value> {
    match text {
        "true" | "1" if wanted.accepts(Types::BOOLEAN) => Some(Value::Bool(true)),
        "false" | "0" if wanted.accepts(Types::BOOLEAN) => Some(Value::Bool(false)),
        "null" if wanted.accepts(Types::NULL) => Some(Value::Null),
        _ => None,
    }
}

/// The array or object of a JSON text that nests no deeper than this.
fn json(text: &str, wanted: Types, levels: usize) -> Option<Value> {
    let kind = match text.trim_ascii_start().as_bytes().first()? {
        b'[' => Types::ARRAY,
        b'{' => Types::OBJECT,
        _ => return None,
    };
    let value = wanted.accepts(kind).then(|| serde_json::from_str(text).ok())??;
    (json::depth(text) <= levels).then_some(value)
}

/// Whether a schema's `properties` are all the members that it knows.
fn is_closed(schema: &Value, shape: &Shape) -> bool {
    let forbids = |keyword| schema.get(keyword).is_none_or(|others| *others == Value::Bool(false));
    let root = shape.at(Shape::ROOT);
    let mut required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    root.has_members()
        && forbids("additionalProperties")
        && forbids("unevaluatedProperties")
        && !OF_MEMBERS.iter().any(|keyword| schema.get(keyword).is_some())
        && required.all(|name| name.as_str().is_some_and(|name| root.member(name).is_some()))
}
