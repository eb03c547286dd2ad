//! Opening a home opens no library: the first call of one of its tools does.
#![cfg(test)]

use std::fs;

use serde_json::json;
use toolbay_tests::{Home, call, nobody};

fn mapped(part: &str) -> bool {
    fs::read_to_string("/proc/self/maps").unwrap().contains(part)
}

// The only test of this file: what is mapped is the whole process's.
#[test]
fn opening_lists_the_tools_without_opening_a_library() {
    let home = Home::with(&["toolbay-plugin-greeting"]);
    // In a process of its own, so that this one has never opened the library.
    let status = std::process::Command::new(toolbay_tests::host_binary())
        .args(["--home".as_ref(), home.path().as_os_str(), "refresh".as_ref()])
        .output()
        .unwrap();
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));

    // Edge case 2.
    let toolbay = home.open();
    let names: Vec<_> = toolbay
        .tools(&nobody())
        .iter()
        .map(|entry| entry.definition().name().to_string())
        .collect();
    assert_eq!(names, ["greet"]);
    assert!(!toolbay.providers()[0].running);
    assert!(!mapped("greeting-"), "listing opens nothing");

    assert_eq!(call(&toolbay, "greet", &json!({})).unwrap().model_text(), "Hello.");
    assert!(toolbay.providers()[0].running);
    assert!(mapped("greeting-"), "the first call opens the library");
}
