//! The official Python SDK lists and calls the tools over `toolbay serve --stdio`, in both eras of the protocol.
//!
//! `TOOLBAY_PYTHON` names a Python with the package `mcp`; without it these tests say that they did not run, unless
//! `TOOLBAY_REQUIRE_PYTHON` is set, as it is in CI.
#![cfg(test)]

use std::{path::Path, process::Command};

use serde_json::{Value, json};
use toolbay_tests::{Home, host_binary, python};

/// What a session of the SDK saw, or `None` where there is no Python for it.
fn session(mode: &str) -> Option<Value> {
    let Some(python) = python() else {
        eprintln!("NOT RUN: TOOLBAY_PYTHON names no Python with the package mcp");
        return None;
    };
    let home = Home::with(&[
        "toolbay-plugin-greeting",
        "toolbay-fixture-echo",
        "toolbay-fixture-misbehaving",
    ]);
    home.refreshed();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/mcp_session.py");
    let output = Command::new(python)
        .arg(script)
        .arg(mode)
        .args([host_binary().as_path(), home.path()])
        .output()
        .unwrap();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complained}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn check(mode: &str, version: &str) {
    let Some(seen) = session(mode) else { return };
    assert_eq!(seen["version"], version);

    let mut tools: Vec<_> = seen["tools"].as_object().unwrap().keys().collect();
    tools.sort();
    assert_eq!(
        tools,
        ["counted", "echo", "forms", "greet", "misbehave", "whoami"],
        "what is offered, no more"
    );
    let greet = &seen["tools"]["greet"];
    assert_eq!((&greet["read_only"], &greet["schema"]["type"]), (&json!(true), &json!("object")));

    let calls = &seen["calls"];
    let text = |call: &str| calls[call]["text"].as_str().unwrap();
    let ok = |call: &str| !calls[call]["is_error"].as_bool().unwrap();
    assert!(ok("greeted") && text("greeted") == "Hallo.");
    assert!(!ok("refused") && text("refused").contains("\"en\" or \"de\""), "{}", text("refused"));
    assert!(ok("printed") && text("printed") == "well", "printing leaves the protocol whole");
    assert!(!ok("panicked") && !text("panicked").contains("misfortune"));
    assert!(!ok("failed") && text("failed") == "the service said no");
    assert!(ok("well"), "after all of that");

    let forms = ["text", "image", "audio", "resource", "resource", "text"];
    assert_eq!(calls["forms"]["types"], json!(forms));
    assert_eq!(calls["forms"]["structured"], json!({ "count": 2 }));
    assert_eq!(calls["counted"]["structured"], json!({ "characters": 2 }));
    // The client refuses a success that lacks what the tool's output schema promises, and would show nothing of it.
    assert!(!ok("too_much") && text("too_much").contains("is left out"), "{}", text("too_much"));
    assert!(!seen.to_string().contains("secret of the people"), "artifacts stay with people");

    let whoami: Value = serde_json::from_str(text("whoami")).unwrap();
    assert_eq!(whoami["actor"], json!({ "kind": "anonymous" }));
    assert_eq!(seen["progress"], json!([[1.0, 2.0, "half way"], [2.0, 2.0, null]]));

    let unknown = seen["unknown"].as_str().unwrap();
    assert!(unknown.contains("gret") && unknown.contains("greet"), "{unknown}");
}

#[test]
fn a_client_of_the_newest_protocol_lists_and_calls() {
    check("auto", "2026-07-28");
}

#[test]
fn a_client_of_the_protocol_with_sessions_lists_and_calls() {
    check("legacy", "2025-11-25");
}
