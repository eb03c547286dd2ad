//! What a schema accepts for one argument, as far as it helps to read a text from a command line.

use serde_json::{Number, Value};

/// The types of values that a schema accepts.
#[derive(Debug)]
pub(super) struct Accepted<'s> {
    root: &'s Value,
    text: bool,
    number: bool,
    boolean: bool,
    null: bool,
    object: bool,
    /// The schemas of items, where lists are accepted.
    lists: Vec<&'s Value>,
    /// The references that were followed: a schema can refer to itself.
    followed: Vec<&'s str>,
}

impl<'s> Accepted<'s> {
    /// What the root schema accepts for the argument of this name.
    pub(super) fn of_argument(root: &'s Value, name: &str) -> Self {
        let schema = root.get("properties").and_then(|properties| properties.get(name));
        let mut accepted = Self::nothing(root);
        accepted.add(schema.unwrap_or(&Value::Null));
        accepted
    }

    /// What the items of lists must be, where lists are accepted.
    pub(super) fn items(&self) -> Option<Self> {
        if self.lists.is_empty() {
            return None;
        }
        let mut items = Self::nothing(self.root);
        for schema in &self.lists {
            items.add(schema);
        }
        Some(items)
    }

    /// The text as a value of the types that are accepted, alone in a list where only lists are. Where it is none of them it stays
    /// a text: the validation of the call says what was expected.
    pub(super) fn value(&self, text: &str) -> Value {
        match (self.single(text), self.items()) {
            (Value::String(text), Some(items)) if !self.text => {
                Value::Array(vec![items.single(&text)])
            }
            (value, _) => value,
        }
    }

    fn single(&self, text: &str) -> Value {
        if self.text {
            return Value::from(text);
        }
        if self.number
            && let Ok(number) = serde_json::from_str::<Number>(text)
        {
            return Value::Number(number);
        }
        match text {
            "true" if self.boolean => return Value::Bool(true),
            "false" if self.boolean => return Value::Bool(false),
            "null" if self.null => return Value::Null,
            _ => {}
        }
        match serde_json::from_str(text) {
            Ok(object @ Value::Object(_)) if self.object => object,
            Ok(list @ Value::Array(_)) if !self.lists.is_empty() => list,
            _ => Value::from(text),
        }
    }

    fn nothing(root: &'s Value) -> Self {
        Self {
            root,
            text: false,
            number: false,
            boolean: false,
            null: false,
            object: false,
            lists: Vec::new(),
            followed: Vec::new(),
        }
    }

    fn add(&mut self, schema: &'s Value) {
        if let Some(pointer) = schema.get("$ref").and_then(Value::as_str)
            && let Some(target) = pointer.strip_prefix('#').and_then(|path| self.root.pointer(path))
            && !self.followed.contains(&pointer)
        {
            self.followed.push(pointer);
            self.add(target);
        }
        match schema.get("type") {
            Some(Value::String(name)) => self.add_type(name, schema),
            Some(Value::Array(names)) => {
                for name in names.iter().filter_map(Value::as_str) {
                    self.add_type(name, schema);
                }
            }
            _ => {
                let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
                for value in listed.chain(schema.get("const")) {
                    self.add_type(type_of(value), schema);
                }
            }
        }
        for keyword in ["anyOf", "oneOf", "allOf"] {
            for schema in schema.get(keyword).and_then(Value::as_array).into_iter().flatten() {
                self.add(schema);
            }
        }
    }

    fn add_type(&mut self, name: &str, schema: &'s Value) {
        match name {
            "string" => self.text = true,
            "integer" | "number" => self.number = true,
            "boolean" => self.boolean = true,
            "null" => self.null = true,
            "object" => self.object = true,
            "array" => self.lists.push(schema.get("items").unwrap_or(&Value::Null)),
            _ => {}
        }
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
