//! What the attribute makes of declarations that no plugin of this repository has.

#![cfg(test)]

use toolbay_plugin_api::{prelude::*, testing::Plugin};

const FORM: &str = r#"{ "type": "object", "properties": { "word": { "type": "string" } } }"#;

#[arguments]
struct Nothing {}

/// Asks by a constant.
#[tool(effect = ReadOnly, input = FORM, loop_budget = 2 + 1)]
fn by_constant(_: Nothing) -> Result<Reply, Failure> {
    Ok(Reply::text("asked"))
}

/// Asks by what a macro makes.
#[tool(effect = ReadOnly, input = concat!("{ \"title\": ", "\"a form\" }"))]
fn by_macro(_: Nothing) -> Result<Reply, Failure> {
    Ok(Reply::text("asked"))
}

/// Asks nobody.
#[tool(effect = ReadOnly)]
fn plain(_: Nothing) -> Result<Reply, Failure> {
    Ok(Reply::text("answered"))
}

export_provider! { id: "declared", tools: [by_constant, by_macro, plain] }

#[test]
fn the_note_has_the_form_and_the_budget_of_each_tool() {
    let tools = Plugin::declared::<ExportedProvider>().unwrap();
    let said = tools.iter().map(|tool| (tool.input.as_deref(), tool.loop_budget));
    assert_eq!(
        said.collect::<Vec<_>>(),
        [(Some(FORM), Some(3)), (Some("{ \"title\": \"a form\" }"), None), (None, None)]
    );
}
