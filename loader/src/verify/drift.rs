//! Holds what a bundle's manifest promises of tools against what the code says of them: what differs is refused, by its field.

use serde_json::Value;
use toolbay_core::ToolDefinition;

use super::DeclaredTool;
use crate::{
    bundle::{BundledDefinition, BundledTool},
    file_declarations::FileDeclared,
    plugin_text::one_line,
    rejection::{Reason, Stage},
};

/// The most characters of a value in a message.
const MAX_SHOWN: usize = 200;

/// The tools that the manifest promises as the note declares them, and why the others are left out.
pub(super) fn compare(
    promised: &[BundledTool],
    declared: Vec<DeclaredTool>,
) -> (Vec<DeclaredTool>, Vec<Reason>) {
    let mut left_out = Vec::new();
    for tool in promised {
        if !declared.iter().any(|declared| declared.name == tool.declared.name) {
            left_out.push(drift(
                &tool.declared.name,
                "tool",
                "in the manifest",
                "not in the library's note",
            ));
        }
    }
    let mut same = Vec::new();
    for tool in declared {
        match promised.iter().find(|promised| promised.declared.name == tool.name) {
            None => left_out.push(drift(
                &tool.name,
                "tool",
                "not in the manifest",
                "in the library's note",
            )),
            Some(promised) => match first_difference(&promised.declared, &tool) {
                None => same.push(tool),
                Some((field, said, found)) => {
                    left_out.push(drift(&tool.name, &field, &said, &found))
                }
            },
        }
    }
    (same, left_out)
}

/// Checks that a tool is registered as the manifest promises it.
///
/// # Errors
///
/// The first field that differs. A definition that depends on the configuration is promised by nobody.
pub(crate) fn check_definition(
    promised: &[BundledTool],
    tool: &ToolDefinition,
) -> Result<(), Reason> {
    let Some(promised) = promised.iter().find(|promised| promised.declared.name == *tool.name())
    else {
        return Err(drift(tool.name(), "tool", "not in the manifest", "listed by the code"));
    };
    let BundledDefinition::Fixed { description, input_schema, output_schema } =
        &promised.definition
    else {
        return Ok(());
    };
    let schema = |schema: Option<&str>| schema.map_or(Value::Null, parsed);
    let fields = [
        ("description", Value::from(description.as_str()), Value::from(tool.description())),
        ("input_schema", parsed(input_schema.as_raw().get()), parsed(tool.schema().as_raw().get())),
        (
            "output_schema",
            schema(output_schema.as_ref().map(|schema| schema.as_raw().get())),
            schema(tool.output_schema().map(|schema| schema.as_raw().get())),
        ),
    ];
    match fields.into_iter().find(|(_, said, found)| said != found) {
        Some((field, said, found)) => Err(drift(tool.name(), field, &shown(&said), &shown(&found))),
        None => Ok(()),
    }
}

/// A field of the bundle as a whole that differs.
pub(super) fn differs(field: &str, said: &str, found: &str) -> Reason {
    let expected = format!(
        "{field} {} in the library's note, as the manifest has it",
        one_line(said, MAX_SHOWN)
    );
    let found = format!("{field} {}", one_line(found, MAX_SHOWN));
    Reason::plugin(Stage::Verify, "drift", expected, found, REMEDY)
}

const REMEDY: &str = "pack the bundle again, so that its manifest says what its code does";

fn drift(tool: &impl std::fmt::Display, field: &str, said: &str, found: &str) -> Reason {
    let expected = format!("{field} of tool {tool}: {}", one_line(said, MAX_SHOWN));
    Reason::plugin(Stage::Adapt, "drift", expected, one_line(found, MAX_SHOWN), REMEDY)
}

/// The first member in which two declarations differ, with both values.
fn first_difference(said: &DeclaredTool, found: &DeclaredTool) -> Option<(String, String, String)> {
    let members = |tool: &DeclaredTool| match serde_json::to_value(FileDeclared::from(tool)) {
        Ok(Value::Object(members)) => members,
        _ => serde_json::Map::new(),
    };
    let (said, found) = (members(said), members(found));
    let names = said.keys().chain(found.keys());
    let mut differing = names.filter(|name| said.get(*name) != found.get(*name));
    let name = differing.next()?;
    let value = |members: &serde_json::Map<String, Value>| {
        members.get(name).map_or_else(|| "not said".to_owned(), shown)
    };
    Some((name.clone(), value(&said), value(&found)))
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        value => value.to_string(),
    }
}
