//! The binary `toolbay`, as an operator uses it.
#![cfg(test)]

use std::{
    fs,
    process::{Command, Output},
};

use serde_json::{Value, json};
use toolbay_tests::{Home, host_binary};

const GREETING: &str = "toolbay-plugin-greeting";
const ECHO: &str = "toolbay-fixture-echo";
const MISBEHAVING: &str = "toolbay-fixture-misbehaving";

fn toolbay(home: &Home, arguments: &[&str]) -> Output {
    Command::new(host_binary()).arg("--home").arg(home.path()).args(arguments).output().unwrap()
}

/// What a command printed, which must have succeeded.
fn printed(home: &Home, arguments: &[&str]) -> String {
    let output = toolbay(home, arguments);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {complained}");
    String::from_utf8(output.stdout).unwrap()
}

fn json_of(home: &Home, arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(home, arguments)).unwrap()
}

fn refreshed(packages: &[&str]) -> Home {
    let home = Home::with(packages);
    printed(&home, &["refresh"]);
    home
}

#[test]
fn a_greeting_is_printed_and_nothing_else() {
    let home = refreshed(&[GREETING]);
    for (arguments, expected) in [
        (&["call", "greet", "language=de"][..], "Hallo.\n"),
        (&["call", "greet", r#"{"language": "de", "name": "Ada"}"#], "Hallo, Ada.\n"),
        (&["call", "greet"], "Hello.\n"),
    ] {
        assert_eq!(printed(&home, arguments), expected, "{arguments:?}");
    }
}

#[test]
fn each_kind_of_end_has_its_exit_code_and_words() {
    let home = refreshed(&[GREETING, ECHO, MISBEHAVING]);
    let cases: [(&[&str], i32, &[&str]); 8] = [
        (&["call", "misbehave", "mode=fail"], 1, &["the service said no"]),
        (&["call"], 2, &["TOOL"]),
        (&["call", "greet", "language=fr"], 3, &["language", "\"en\"", "\"de\"", "\"fr\""]),
        (&["call", "gret"], 3, &["gret", "greet"]),
        (&["call", "undeclared", "text=x"], 3, &["toolDisabled"]),
        (&["call", "greet", "--agent", "nobody"], 3, &["nobody"]),
        (&["call", "misbehave", "mode=panic"], 4, &["a misfortune in a call", "lib.rs:"]),
        (&["inspect", "no-such-provider"], 3, &["no-such-provider"]),
    ];
    for (arguments, code, words) in cases {
        let output = toolbay(&home, arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        let all = format!("{said}{}", String::from_utf8_lossy(&output.stdout));
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {all}");
        for word in words {
            assert!(all.contains(word), "{arguments:?}: {word:?} is missing in {all}");
        }
    }
}

#[test]
fn programs_get_json() {
    let home = refreshed(&[GREETING, ECHO]);
    let listed = json_of(&home, &["list", "--json"]);
    assert!(listed.to_string().contains("\"greet\""), "{listed}");

    let reply = json_of(&home, &["call", "forms", "--json"]);
    assert_eq!((&reply["outcome"], &reply["structured"]), (&json!("ok"), &json!({ "count": 2 })));
    assert_eq!(reply["artifacts"].as_array().unwrap().len(), 2, "an operator sees artifacts");

    let refused = toolbay(&home, &["call", "greet", "language=fr", "--json"]);
    let refused: Value = serde_json::from_slice(&refused.stdout).unwrap();
    assert_eq!(refused["error"]["code"], "invalid_arguments");
    assert_eq!(refused["error"]["party"], "caller");
}

#[test]
fn a_plugin_that_prints_leaves_the_output_alone() {
    let home = refreshed(&[MISBEHAVING]);
    let output = toolbay(&home, &["call", "misbehave", "mode=print"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "well\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains("a line on standard output"));
}

#[test]
fn configuration_reaches_providers_and_people_and_mistakes_are_named() {
    let home = Home::with(&[ECHO, MISBEHAVING]);
    home.configuration(
        "[providers.misbehaving]\nwords = \"from the file\"\n\n[users]\nadmins = [\"ada\"]\n",
    );
    printed(&home, &["refresh"]);
    printed(&home, &["agent", "create", "helper", "--config", r#"whoami={"greeting": "hi"}"#]);
    assert!(printed(&home, &["inspect", "misbehaving"]).contains("from the file"));
    let answer = printed(&home, &["call", "whoami", "--agent", "helper", "--as", "ada"]);
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!((&answer["agent"], &answer["config"]["greeting"]), (&json!("helper"), &json!("hi")));
    assert_eq!(answer["actor"], json!({ "kind": "user", "name": "ada", "admin": true }));

    for (text, words) in [
        ("[plugin]\n", &["plugin", "plugins"][..]),
        ("[limits]\ntext_byte = 1\n", &["text_byte", "text_bytes"]),
        ("[agents.helper.tools.whoami]\n", &["toolbay.toml", "toolbay agent create"]),
        ("[users\n", &["toolbay.toml"]),
    ] {
        home.configuration(text);
        let output = toolbay(&home, &["list"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(5), "{text}: {said}");
        for word in words {
            assert!(said.contains(word), "{text:?}: {word:?} is missing in {said}");
        }
    }
}

#[test]
fn a_plugin_that_is_not_taken_is_told_with_its_remedy() {
    let home = Home::with(&[GREETING]);
    std::os::unix::fs::symlink(toolbay_tests::library(ECHO), home.plugin("link.so")).unwrap();
    let output = toolbay(&home, &["refresh"]);
    assert_eq!(output.status.code(), Some(3), "some were not taken");
    let said = String::from_utf8_lossy(&output.stderr).into_owned()
        + &String::from_utf8_lossy(&output.stdout);
    for word in ["link.so", "symbolic_link", "copy the library", "greet"] {
        assert!(said.contains(word), "{word:?} is missing in {said}");
    }
    let output = toolbay(&home, &["refresh", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["rejections"][0]["code"], "symbolic_link");
    assert_eq!(report["rejections"][0]["stage"], "inspect");
}

#[test]
fn inspecting_runs_no_plugin_code() {
    // A library whose constructor would leave a trace.
    let home = Home::new();
    let note = toolbay_tests::note_define("starter");
    let folder = format!("-DFOLDER={:?}", home.path().display().to_string());
    let library = home.plugin("starter.so");
    toolbay_tests::c_library(
        "constructor_thread.c",
        &library,
        &[note.as_ref(), folder.as_ref(), "-lgcc_s".as_ref()],
    );
    fs::write(home.path().join("go"), "").unwrap();
    let said = printed(&home, &["inspect", library.to_str().unwrap()]);
    assert!(said.contains("starter") && said.contains("greet"), "{said}");
    assert!(!home.path().join("done").exists(), "its constructor did not run");
}

#[test]
fn completions_and_version_are_printed() {
    let home = Home::new();
    assert!(printed(&home, &["completions", "bash"]).contains("toolbay"));
    assert!(printed(&home, &["--version"]).starts_with("toolbay "));
}
