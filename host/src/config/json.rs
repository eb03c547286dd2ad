//! TOML tables for providers and tools, which read JSON.

use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Number, Value, value::RawValue};

/// A TOML table as JSON text. Dates and times become strings.
pub(super) struct JsonTable(Box<RawValue>);

impl JsonTable {
    pub(super) fn into_raw(self) -> Box<RawValue> {
        self.0
    }
}

impl<'de> Deserialize<'de> for JsonTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let table = toml::Table::deserialize(deserializer)?;
        let object = object(table, "").map_err(|NotFinite { key, found }| {
            de::Error::custom(format_args!(
                "{key}: expected a finite number, since JSON has no other, found {found}"
            ))
        })?;
        serde_json::value::to_raw_value(&object).map(Self).map_err(de::Error::custom)
    }
}

/// A number that JSON does not have, with the top-level key that holds it.
struct NotFinite {
    key: String,
    found: f64,
}

fn object(table: toml::Table, key: &str) -> Result<Map<String, Value>, NotFinite> {
    table
        .into_iter()
        .map(|(name, value)| {
            let value = json(value, if key.is_empty() { &name } else { key })?;
            Ok((name, value))
        })
        .collect()
}

fn json(value: toml::Value, key: &str) -> Result<Value, NotFinite> {
    Ok(match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => Value::from(number),
        toml::Value::Float(found) => match Number::from_f64(found) {
            Some(number) => Value::Number(number),
            None => return Err(NotFinite { key: key.to_owned(), found }),
        },
        toml::Value::Boolean(flag) => Value::Bool(flag),
        toml::Value::Datetime(datetime) => Value::String(datetime.to_string()),
        toml::Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| json(item, key)).collect::<Result<_, _>>()?)
        }
        toml::Value::Table(table) => Value::Object(object(table, key)?),
    })
}
