//! Reads JSON in which no object has a member twice: of two, one reader takes the first and another the last, and what was checked would
//! not be what the tool gets.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

/// A JSON value without a member that is there twice, however deep. The error of a text that has such a member is of the category
/// [`Data`](serde_json::error::Category::Data), which no other is.
///
/// ```
/// use toolbay_core::UniqueMembers;
///
/// assert!(serde_json::from_str::<UniqueMembers>(r#"{"a": [{"b": 1}]}"#).is_ok());
/// assert!(serde_json::from_str::<UniqueMembers>(r#"{"a": [{"b": 1, "b": 1}]}"#).is_err());
/// ```
#[derive(Debug)]
pub struct UniqueMembers(pub Value);

impl<'de> Deserialize<'de> for UniqueMembers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader).map(Self)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(UniqueMembers(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((name, UniqueMembers(value))) = members.next_entry::<String, _>()? {
            if object.insert(name, value).is_some() {
                return Err(A::Error::custom("a member is there twice"));
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Error, error::Category};

    use super::*;

    fn read(text: &str) -> Result<Value, Error> {
        serde_json::from_str(text).map(|UniqueMembers(value)| value)
    }

    #[test]
    fn what_has_no_member_twice_reads_as_any_reader_reads_it() {
        let texts = [
            "null",
            "[true, false, -1, 18446744073709551615, 1.5, 1e300, 123456789012345678901]",
            r#"{"a": {"a": "\u00e9", "b": []}, "b": [{"a": 1}, {"a": 1}], "A": {}}"#,
        ];
        for text in texts {
            assert_eq!(read(text).unwrap(), serde_json::from_str::<Value>(text).unwrap(), "{text}");
        }
    }

    #[test]
    fn a_member_that_is_there_twice_is_told_from_what_is_no_json() {
        let twice = [
            r#"{"a": 1, "a": 1}"#,
            r#"{"a": 1, "\u0061": 2}"#,
            r#"[{"b": {"a": null, "c": 1, "a": []}}]"#,
        ];
        for text in twice {
            assert_eq!(read(text).unwrap_err().classify(), Category::Data, "{text}");
        }
        let deep = "[".repeat(200) + &"]".repeat(200);
        for text in ["", "{", "{'a': 1}", r#"{"a": 1} {}"#, "[1e999]", "[\"\\ud800\"]", &deep] {
            assert_ne!(read(text).unwrap_err().classify(), Category::Data, "{text}");
        }
    }
}
