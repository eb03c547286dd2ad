//! From a file in a plugin directory to a reply, and across a restart.
#![cfg(test)]

use std::fs;

use serde_json::json;
use toolbay_loader::{CallError, Outcome};
use toolbay_tests::{Home, call};

const GREETING: &str = "toolbay-plugin-greeting";
const ECHO: &str = "toolbay-fixture-echo";

#[test]
fn a_vendors_library_serves_its_tool() {
    let home = Home::with(&[GREETING]);
    let toolbay = home.refreshed();
    let reply = call(&toolbay, "greet", &json!({ "language": "de" })).unwrap();
    assert_eq!(reply.model_text(), "Hallo.");
    assert_eq!(reply.text().as_str(), "Hallo.");
}

#[test]
fn a_refresh_in_another_process_is_taken_over() {
    let home = Home::with(&[GREETING]);
    let first = home.refreshed();
    assert!(!first.reload().unwrap(), "nothing is new");

    home.install(ECHO);
    home.refreshed();
    assert!(first.reload().unwrap());
    assert_eq!(call(&first, "echo", &json!({ "text": "ä" })).unwrap().model_text(), "ä");
    assert_eq!(call(&first, "greet", &json!({})).unwrap().model_text(), "Hello.");

    fs::remove_file(home.plugin(&format!("{ECHO}.so"))).unwrap();
    home.refreshed();
    assert!(first.reload().unwrap());
    let error = call(&first, "echo", &json!({ "text": "ä" })).unwrap_err();
    assert!(matches!(error, CallError::NotRegistered { .. }), "{error}");
}

#[test]
fn a_new_file_at_the_old_path_answers_as_itself() {
    let home = Home::new();
    let path = home.plugin("plugin.so");
    fs::copy(toolbay_tests::library(GREETING), &path).unwrap();
    let toolbay = home.refreshed();
    assert_eq!(call(&toolbay, "greet", &json!({})).unwrap().model_text(), "Hello.");

    // The dynamic linker would answer with the library that it has already opened under this path.
    fs::remove_file(&path).unwrap();
    fs::copy(toolbay_tests::library(ECHO), &path).unwrap();
    toolbay.refresh().unwrap();
    assert_eq!(call(&toolbay, "echo", &json!({ "text": "new" })).unwrap().model_text(), "new");
    assert_eq!(call(&toolbay, "greet", &json!({})).unwrap_err().code(), "not_registered");
}

#[test]
fn a_tool_that_declares_nothing_is_off_and_reserved_tools_are_refused() {
    let home = Home::with(&[ECHO]);
    let toolbay = home.refreshed();
    for (tool, code) in [("undeclared", "tool_disabled"), ("for_admins", "requires_admin")] {
        assert_eq!(call(&toolbay, tool, &json!({})).unwrap_err().code(), code, "{tool}");
    }
    drop(toolbay);
    for record in home.audit() {
        assert_eq!(record["outcome"], Outcome::Refused.as_str());
        assert_eq!(record["provider"], "echo");
        assert_eq!(record["actor"], "anonymous");
    }
    assert_eq!(home.audit().len(), 2, "one record for each call");
}

#[test]
fn refused_arguments_name_the_argument_and_what_is_allowed() {
    let home = Home::with(&[GREETING, ECHO]);
    let toolbay = home.refreshed();
    let cases = [
        ("greet", json!({ "language": "fr" }), &["language", "\"en\"", "\"de\"", "\"fr\""][..]),
        // A name that the tool does not have is told where something is missing anyway.
        ("echo", json!({ "txet": "a" }), &["txet", "text", "required"]),
        ("echo", json!({}), &["text", "required"]),
        ("echo", json!({ "text": 7 }), &["text", "string", "7"]),
        ("ehco", json!({}), &["ehco", "echo"]),
    ];
    for (tool, arguments, words) in cases {
        let error = call(&toolbay, tool, &arguments).unwrap_err();
        let text = error.model_text();
        for word in words {
            assert!(text.contains(word), "{tool} {arguments}: {word:?} is missing in {text:?}");
        }
    }
}

#[test]
fn arguments_are_read_as_what_the_tool_takes() {
    // Edge cases 37 and 38: nothing is renamed, and what has another type is read as the wanted one where it is plain.
    let home = Home::with(&[GREETING, ECHO]);
    let toolbay = home.refreshed();
    let cases = [
        ("greet", json!({ "langauge": "de" }), "Hello."),
        ("greet", json!({ "language": "de", "loud": true }), "Hallo."),
    ];
    for (tool, arguments, expected) in cases {
        let reply = call(&toolbay, tool, &arguments).unwrap();
        assert_eq!(reply.text().as_str(), expected, "{arguments}");
    }
}
