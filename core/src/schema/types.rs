//! The types of JSON values that a schema accepts at one place.

use serde_json::{Number, Value};

/// A set of types. A whole number and one with a fraction are different types, because `number` accepts both and `integer` one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Types {
    pub(super) const NONE: Self = Self(0);
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(1 << 1);
    pub(super) const INTEGER: Self = Self(1 << 2);
    pub(super) const FRACTION: Self = Self(1 << 3);
    pub(super) const STRING: Self = Self(1 << 4);
    pub(super) const ARRAY: Self = Self(1 << 5);
    pub(super) const OBJECT: Self = Self(1 << 6);
    pub(super) const ANY: Self = Self((1 << 7) - 1);

    /// The type of this value.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if is_whole(number) => Self::INTEGER,
            Value::Number(_) => Self::FRACTION,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    /// The types that a schema's own `type`, `enum` and `const` accept.
    pub(super) fn declared(schema: &Value) -> Self {
        let by_type = match schema.get("type") {
            Some(Value::String(name)) => Self::named(name),
            Some(Value::Array(names)) => {
                Self::union(names.iter().filter_map(Value::as_str).map(Self::named))
            }
            _ => Self::ANY,
        };
        let by_enum = match schema.get("enum").and_then(Value::as_array) {
            Some(values) => Self::union(values.iter().map(Self::of)),
            None => Self::ANY,
        };
        let by_const = schema.get("const").map_or(Self::ANY, Self::of);
        by_type.and(by_enum).and(by_const)
    }

    fn named(name: &str) -> Self {
        match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::INTEGER.or(Self::FRACTION),
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => Self::ANY,
        }
    }

    pub(super) fn union(all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter().fold(Self::NONE, Self::or)
    }

    pub(super) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether one of these types is among them.
    pub(super) const fn accepts(self, types: Self) -> bool {
        self.0 & types.0 != 0
    }
}

fn is_whole(number: &Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_declared_is_never_less_than_what_is_valid() {
        let cases = [
            (r#"{}"#, Types::ANY),
            ("true", Types::ANY),
            (r#"{"type":"number"}"#, Types::INTEGER.or(Types::FRACTION)),
            (r#"{"type":["integer","null"]}"#, Types::INTEGER.or(Types::NULL)),
            (r#"{"enum":["a",2.0,null]}"#, Types::STRING.or(Types::INTEGER).or(Types::NULL)),
            (r#"{"const":0.5}"#, Types::FRACTION),
            (r#"{"type":"number","enum":["a",1]}"#, Types::INTEGER),
            (r#"{"type":"string","const":1}"#, Types::NONE),
            (r#"{"type":"any"}"#, Types::ANY),
        ];
        for (schema, expected) in cases {
            let schema = serde_json::from_str(schema).unwrap();
            assert_eq!(Types::declared(&schema), expected, "{schema}");
        }
    }
}
