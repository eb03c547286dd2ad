//! Tables as JSON lines: an object in each line, whose names are the columns.

use std::{collections::HashMap, fmt};

use toolbay_plugin_api::{
    serde::de::{Deserialize, Deserializer, MapAccess, Visitor},
    serde_json::{self, Value},
};

use super::{Problem, Row, Table, TableError};
use crate::config::Limits;

/// Reads the table. The columns are all names that occur, in the order in which they first do; what an object lacks is empty.
pub(super) fn parse(text: &str, limits: &Limits) -> Result<Table, TableError> {
    let mut table = Table::default();
    let mut places = HashMap::<String, usize>::new();
    for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        let object = match serde_json::from_str::<Object>(text) {
            Ok(object) => object,
            Err(error) => {
                table.faults.add(line, Problem::Json { column: error.column() });
                continue;
            }
        };
        let mut fields = vec![String::new(); table.columns.len()];
        for (name, value) in object.0 {
            let next = table.columns.len();
            let place = *places.entry(name.to_lowercase()).or_insert(next);
            if place == next {
                table.add_column(&name)?;
                fields.push(String::new());
            }
            fields[place] = field(&value);
        }
        table.push(Row { line, fields }, limits)?;
    }
    if table.columns.is_empty() {
        return match table.faults.into_first() {
            Some(fault) => Err(TableError::NoGoodRow(fault)),
            None => Err(TableError::NoColumns),
        };
    }
    for row in &mut table.rows {
        row.fields.resize(table.columns.len(), String::new());
    }
    Ok(table)
}

/// A value as text: scalars as they are, lists of them with commas between, the rest as JSON.
fn field(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.trim().to_owned(),
        Value::Array(values)
            if values.iter().all(|value| !value.is_array() && !value.is_object()) =>
        {
            values.iter().map(field).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// An object with its names in the order of the text, which `serde_json::Map` does not keep.
struct Object(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Object(entries))
            }
        }

        deserializer.deserialize_map(Entries)
    }
}
