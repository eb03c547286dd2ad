//! The fields that a person fills in, as far as a schema says what they are.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;
use toolbay_loader::Schema;

#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Field {
    pub(super) name: String,
    /// What it takes, in words.
    pub(super) takes: String,
    pub(super) required: bool,
    pub(super) description: Option<String>,
}

/// The fields of a schema, the required ones first.
pub(super) fn fields(schema: &Schema) -> Vec<Field> {
    // It was JSON when it was parsed.
    let schema: Value = serde_json::from_str(schema.as_str()).unwrap_or_default();
    let required: BTreeSet<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object().into_iter().flatten();
    let mut fields: Vec<Field> = properties
        .map(|(name, property)| Field {
            name: name.clone(),
            takes: takes(property),
            required: required.contains(name.as_str()),
            description: property["description"].as_str().map(str::to_owned),
        })
        .collect();
    fields.sort_by_key(|field| !field.required);
    fields
}

fn takes(property: &Value) -> String {
    if let Some(words) = property["enum"].as_array() {
        let words: Vec<String> = words.iter().map(Value::to_string).collect();
        return format!("one of {}", words.join(", "));
    }
    match &property["type"] {
        Value::String(one) => one.clone(),
        Value::Array(several) => {
            let several: Vec<&str> = several.iter().filter_map(Value::as_str).collect();
            several.join(" or ")
        }
        _ => "as its schema says".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_says_what_it_takes() {
        let schema = Schema::parse(
            r##"{"type": "object", "required": ["size", "code"], "properties": {
                "code": {"type": "string", "description": "From the letter."},
                "note": {"type": ["string", "null"]},
                "size": {"enum": ["s", 2]},
                "when": {"$ref": "#/$defs/When"}
            }}"##,
        );
        let field = |name: &str, takes: &str, required, description: Option<&str>| Field {
            name: name.to_owned(),
            takes: takes.to_owned(),
            required,
            description: description.map(str::to_owned),
        };
        let expected = [
            field("code", "string", true, Some("From the letter.")),
            field("size", "one of \"s\", 2", true, None),
            field("note", "string or null", false, None),
            field("when", "as its schema says", false, None),
        ];
        assert_eq!(fields(&schema.unwrap()), expected);
    }
}
